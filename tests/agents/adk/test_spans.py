"""Spans of google-adk's own tracing, in this process and in workers: each with its own trial and turn."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.agents.adk import tracing
from proctor.agents.load import load_agent
from proctor.schema.evidence.turn import Span, SpanKind
from tests.agents.conftest import ask, new_session

pytestmark = [pytest.mark.needs_adk, pytest.mark.filterwarnings("ignore")]  # google-adk warns about itself

AGENT = '''
import asyncio
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types


async def look(city: str) -> dict[str, Any]:
    """Looks."""
    await asyncio.sleep(0.01)
    if city == "far away":
        await asyncio.sleep(60)
    if city == "nowhere":
        raise LookupError("no such city, api_key=abcdefgh1234567")
    return {"sky": f"over {city}"}


class Looks(BaseLlm):
    """Looks where it is asked to, and reports the result."""

    model: str = "looks-1"

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        last = llm_request.contents[-1].parts[-1]
        await asyncio.sleep(0.01)
        if last.function_response:
            part = types.Part(text=f"Seen: {last.function_response.response}.")
        else:
            part = types.Part(function_call=types.FunctionCall(name="look", args={"city": last.text}))
        tokens = types.GenerateContentResponseUsageMetadata(prompt_token_count=7, candidates_token_count=3)
        content = types.Content(role="model", parts=[part])
        yield LlmResponse(content=content, usage_metadata=tokens, model_version="looks-1")


root_agent = LlmAgent(name="looker", model=Looks(), tools=[look], instruction="Look around.")
'''


@pytest.fixture(autouse=True)
def no_exporter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Isolate the tracing: an earlier test may have started google-adk's own server, which sets up tracing."""
    from opentelemetry.trace import get_tracer_provider

    assert tracing._is_watching()
    monkeypatch.setattr(tracing, "_own", [get_tracer_provider()])


@pytest.fixture
def agent(project: Path) -> str:
    """A file with the agent."""
    (project / "looker.py").write_text(AGENT, encoding="utf-8")
    return str(project / "looker.py")


def case(eval_id: str, *cities: str) -> dict[str, Any]:
    return {
        "eval_id": eval_id,
        "conversation": [{"user_content": {"parts": [{"text": city}]}} for city in cities],
    }


def run(agent: str, *cases: dict[str, Any], **options: Any) -> list[list[list[Span]]]:
    """The spans of each turn of each case."""
    config = {"criteria": {"trajectory_rules": RULES}}
    result = proctor.evaluate_sync(
        agent, {"eval_set_id": "s", "eval_cases": list(cases)}, config=config, **options
    )
    found = []
    for one in result.cases:
        trial = one.trials[0].trial
        assert trial is not None, result.warnings
        found.append([turn.trace.spans if turn.trace else [] for turn in trial.turns])
    return found


RULES = {"threshold": 1.0, "rules": [{"call": "look", "at_most": 9}]}


def test_a_turn_has_the_spans_of_models_tools_and_agents(agent: str) -> None:
    (((*spans,),),) = run(agent, case("a", "Oslo"))
    names = {one.id: one.name for one in spans}
    model, tool, second = [one for one in spans if one.kind in (SpanKind.MODEL, SpanKind.TOOL)]
    assert [one.kind for one in (model, tool, second)] == [SpanKind.MODEL, SpanKind.TOOL, SpanKind.MODEL]
    assert {names.get(one.parent_id or "") for one in (model, tool)} == {"invoke_agent looker"}
    assert "Look around." in (model.request or "")
    assert "Oslo" in (model.request or "")
    assert "look" in (model.response or "")
    assert (tool.request, tool.response) == ('{"city": "Oslo"}', '{"sky": "over Oslo"}')
    assert (model.input_tokens, model.output_tokens, model.agent) == (7, 3, "looker")
    assert all(one.error is None and (one.duration or 0) > 0 for one in spans)
    for one in (model.request, model.response):
        json.loads(one or "")


def test_failed_span_gives_its_reason_without_secrets(agent: str) -> None:
    (((*spans,),),) = run(agent, case("a", "nowhere"))
    (failed,) = [one for one in spans if one.kind is SpanKind.TOOL]
    assert failed.error == "LookupError: no such city, api_key=***"


@pytest.mark.nightly
@pytest.mark.slow
def test_a_turn_that_took_too_long_has_what_began_until_then(agent: str) -> None:
    (((*spans,),),) = run(agent, case("a", "far away"), timeout=4)
    assert [one.kind for one in spans].count(SpanKind.MODEL) == 1
    (tool,) = [one for one in spans if one.name == "execute_tool look"]
    assert tool.started_at is not None


@pytest.mark.nightly(check=1)
@pytest.mark.slow  # starts workers
@pytest.mark.parametrize("options", [{}, {"isolate": True}], ids=["in this process", "in workers"])
def test_trials_at_once_each_have_their_own(agent: str, options: dict[str, Any]) -> None:
    cities = [(f"c{n}x", f"c{n}y") for n in range(12)]
    found = run(agent, *(case(one, one, other) for one, other in cities), concurrency=6, **options)
    for asked, turns in zip(cities, found, strict=True):
        executed = [[one.request for one in spans if one.kind is SpanKind.TOOL] for spans in turns]
        assert executed == [[json.dumps({"city": city})] for city in asked]
        ids = {one.id for spans in turns for one in spans}
        assert all(one.parent_id is None or one.parent_id in ids for spans in turns for one in spans)


def in_a_process(code: str, agent: str, **variables: str) -> Any:
    """Return the output of `code` in a separate process, where `agent` is the file."""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, agent], capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, **variables},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


RUN = """
import json, sys
import proctor
cases = [{"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "Oslo"}]}}]}]
config = {"criteria": {"trajectory_rules": {"threshold": 1.0, "rules": [{"call": "look", "at_most": 9}]}}}
result = proctor.evaluate_sync(sys.argv[1], {"eval_set_id": "s", "eval_cases": cases}, config=config)
assert result.passed
turn = result.cases[0].trials[0].trial.turns[0]
spans = turn.trace.spans if turn.trace else []
kept = [[one.kind.value, one.request] for one in spans if one.kind.value in ("model", "tool")]
"""

EXPORTING = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
exported = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exported))
trace.set_tracer_provider(provider)
"""


@pytest.mark.slow
def test_configured_exporter_gets_its_spans_without_additions(agent: str) -> None:
    script = "print(json.dumps([kept, [[one.name, dict(one.attributes)] for one in exported.get_finished_spans()]]))"
    kept, exported = in_a_process(f"{EXPORTING}{RUN}{script}", agent)
    assert [kind for kind, _ in kept] == ["model", "tool", "model"]
    assert "invoke_agent looker" in [name for name, _ in exported]
    assert "over Oslo" not in json.dumps(exported), "contents are exported on request only"


SWITCHES = [
    ({"OTEL_SDK_DISABLED": "true"}, []),
    ({"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "NO_CONTENT"}, ["model", "tool", "model"]),
]


@pytest.mark.nightly(check=1)
@pytest.mark.slow
@pytest.mark.parametrize(("variables", "kinds"), SWITCHES, ids=["no tracing", "no contents"])
def test_opentelemetrys_own_switches_hold(agent: str, variables: dict[str, str], kinds: list[str]) -> None:
    kept = in_a_process(f"{RUN}print(json.dumps(kept))", agent, **variables)
    assert [kind for kind, _ in kept] == kinds
    assert "Oslo" not in json.dumps(kept)


@pytest.mark.slow
def test_without_opentelemetrys_sdk_it_runs_as_before(agent: str) -> None:
    blocked = "import sys\nsys.modules['opentelemetry.sdk.trace'] = None\n"
    code = f"from proctor.agents.adk import tracing\n{blocked}assert not tracing._is_watching()\nprint('[]')"
    assert in_a_process(code, agent) == []


def test_a_conversation_outside_of_a_run_leaves_them_in_memory(agent: str) -> None:
    session = new_session()
    asyncio.run(ask(load_agent(agent), "Oslo", session))
    assert [one.kind for one in session.memory["spans"]].count(SpanKind.MODEL) == 2
