"""The tool calls of a trial, each with its response and its position."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from proctor.metrics.base import CaseView
from proctor.metrics.matchers.base import ABSENT
from proctor.schema.format.content import FunctionCall, FunctionResponse

__all__ = ["Made", "calls_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """One tool call that the agent made."""

    name: str
    args: dict[str, Any] | None
    turn: int = 0
    """Counted from 0."""
    index: int = 0
    """Its position in the turn, from 0."""
    response: Any = ABSENT
    """The response of the tool; `ABSENT` if none is recorded or needed."""


def calls_of(case: CaseView, *, with_responses: bool = False) -> list[list[Made]]:
    """Return the calls of each turn, in order."""
    turns = []
    for number, turn in enumerate(case.turns):
        calls = turn.tool_calls
        answers = (
            _answers(calls, case.actual[number].tool_responses) if with_responses else [ABSENT] * len(calls)
        )
        turns.append(
            [
                Made(call.name or "", call.args, number, index, answer)
                for index, (call, answer) in enumerate(zip(calls, answers, strict=True))
            ]
        )
    return turns


def _answers(calls: Sequence[FunctionCall], responses: Sequence[FunctionResponse]) -> list[Any]:
    """Return each call's response: the last one with its id, or else the next response without id of the same tool."""
    by_id = {each.id: each.response for each in responses if each.id}
    without_id: defaultdict[str | None, deque[Any]] = defaultdict(deque)
    for each in responses:
        if not each.id:
            without_id[each.name].append(each.response)
    answers = []
    for call in calls:
        if call.id and call.id in by_id:
            answers.append(by_id[call.id])
        else:
            answers.append(without_id[call.name].popleft() if without_id[call.name] else ABSENT)
    return answers
