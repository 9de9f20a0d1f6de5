"""The recorded app of google-adk's runs, played again: the same script, the same tools, the same events."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import proctor
from proctor.agents.base import AgentInfo, Session
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content, text_of

Json = dict[str, Any]


def golden(shared: Path, name: str, count: int) -> Json:
    """One recorded file; `count` guards against one that shrank."""
    found: Json = json.loads((shared / "golden" / name).read_text(encoding="utf-8"))
    assert len(found["vectors"]) == count
    return found


class ScriptedApp:
    """The actions of the recorded agent: model turns by the script, tool responses in separate events."""

    def __init__(self, script: dict[str, list[Json]], name: str = "helper") -> None:
        self._script, self._name = script, name

    def describe(self) -> AgentInfo:
        """Return the name alone: instructions and tools do not matter here."""
        return AgentInfo(name=self._name)

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Yield the turns of the model that the script has for this text, and what its tools return."""
        for step in self._script.get(text_of(message), self._script["*"]):
            if "raise" in step:
                raise RuntimeError(step["raise"])
            parts = self._numbered(step["parts"], session)
            yield self._event(
                "model", parts, usage_metadata=step.get("usage"), model_version=step.get("model_version")
            )
            calls = [part["function_call"] for part in parts if "function_call" in part]
            if calls:
                answers = [
                    {"id": c["id"], "name": c["name"], "response": tool(c["name"], **c["args"])}
                    for c in calls
                ]
                stored = {c["args"]["key"]: c["args"]["value"] for c in calls if c["name"] == "remember"}
                yield self._event(
                    "user", [{"function_response": answer} for answer in answers], state_delta=stored or None
                )

    def _event(self, role: str, parts: list[Json], **fields: Any) -> Event:
        return Event.model_validate(
            {"author": self._name, "content": {"role": role, "parts": parts}, **fields}
        )

    def _numbered(self, parts: list[Json], session: Session) -> list[Json]:
        """Give each call a unique id, as the runtime does."""
        numbered = json.loads(json.dumps(parts))
        for part in numbered:
            if "function_call" in part:
                session.memory["calls"] = session.memory.get("calls", 0) + 1
                part["function_call"]["id"] = f"adk-{session.memory['calls']}"
        return list(numbered)


def tool(tool_name: str, **args: Any) -> Json:
    """Do what the recorded tools did."""
    match tool_name:
        case "get_weather":
            return {"city": args["city"], "weather": "sunny", "temp": 21}
        case "add":
            return {"sum": args["a"] + args["b"]}
        case "remember":
            return {"stored": True}
        case _:
            raise RuntimeError("tool failed")


def scripted(shared: Path) -> ScriptedApp:
    """Return the app that all recorded runs used."""
    return ScriptedApp(golden(shared, "service_runs.json", 16)["script"])


# --- config and verdicts -----------------------------------------------------------------------------------------------


def config_of(recorded: Json | None) -> tuple[Json, list[str]]:
    """The recorded config with golden's custom metrics found here, and the metrics that do not exist (an error here)."""
    default = {"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}}
    config = json.loads(
        json.dumps(recorded or default).replace("golden_custom.", "tests.compat.golden.golden_custom.")
    )
    unknown = [name for name in config["criteria"] if name == "no_such_metric"]
    for name in unknown:
        del config["criteria"][name]
    return config, unknown


DURATION = "invocation_duration_v1"


def metrics_of(results: list[Json], unknown: list[str]) -> dict[str, tuple[float | None, int, float | None]]:
    """Return score, status and threshold by name, as recorded; without times and what Proctor refuses in advance."""
    return {
        one["metric_name"]: (one.get("score"), one["eval_status"], one.get("threshold"))
        for one in results
        if one["metric_name"] not in (DURATION, *unknown)
    }


def metrics_here(
    metrics: dict[str, proctor.MetricVerdict], turn: int | None = None
) -> dict[str, tuple[float | None, int, float | None]]:
    """The same of our own verdicts: of one turn, or overall."""
    found = {}
    for name, verdict in metrics.items():
        judged: Any = verdict if turn is None else verdict.per_invocation[turn]
        if name != DURATION:
            found[name] = (judged.score, int(judged.status), verdict.threshold)
    return found
