"""Small agents and sets that the engine's tests run for real."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from proctor.agents.base import Agent, Session
from proctor.engine.execution.run import Run
from proctor.engine.execution.run_control import NoProgress, Progress
from proctor.engine.planning.plan import Plan, make_plan
from proctor.engine.planning.set_plan import EvalSetSource, SetRequest
from proctor.engine.run_options import RunOptions
from proctor.schema.evidence.event import Event
from proctor.schema.format.case import EvalSet
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.content import Content
from proctor.schema.results.run_result import RunResult

EXACT = EvalConfig(criteria={"tool_trajectory_avg_score": 1.0})
TEXT = EvalConfig(criteria={"response_match_score": 0.8})


def turn(ask: str, *, expect: str | None = "ok", calls: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return one expected turn: the user's message, the expected answer and calls."""
    expected: dict[str, Any] = {
        "user_content": {"role": "user", "parts": [{"text": ask}]},
        "intermediate_data": {"tool_uses": [{"name": name, "args": {}} for name in calls]},
    }
    if expect is not None:
        expected["final_response"] = {"role": "model", "parts": [{"text": expect}]}
    return expected


def case(eval_id: str, *turns: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """One case; by default a single turn whose text is the case's id."""
    return {"eval_id": eval_id, "conversation": list(turns) or [turn(eval_id)], **fields}


def eval_set(*cases: dict[str, Any], eval_set_id: str = "set") -> EvalSet:
    """A set of cases."""
    return EvalSet.model_validate({"eval_set_id": eval_set_id, "eval_cases": list(cases)})


def text_of(message: Content) -> str:
    """The text of a user message."""
    return "".join(part.text or "" for part in message.parts or [])


class Scripted:
    """Answers "ok", except where `script` (by the user's text) does something else."""

    def __init__(self, script: Mapping[str, Callable[[Session], AsyncIterator[Event]]] | None = None) -> None:
        self.script = dict(script or {})

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Follow the script."""
        act = self.script.get(text_of(message))
        if act is None:
            yield Event.said("ok")
            return
        async for event in act(session):
            yield event


def plan_of(given: EvalSet, config: EvalConfig = EXACT, **options: Any) -> tuple[Plan, RunOptions]:
    """Plan a run of one set."""
    chosen = RunOptions(**options)
    return make_plan([SetRequest(EvalSetSource(given), config, "given")], chosen), chosen


async def run(
    agent: Agent,
    given: EvalSet,
    config: EvalConfig = EXACT,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> RunResult:
    """Plan and run one set."""
    plan, chosen = plan_of(given, config, **options)
    return await Run(plan, agent, "scripted", chosen, progress or NoProgress())()
