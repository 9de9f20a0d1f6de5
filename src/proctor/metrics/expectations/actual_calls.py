"""The tool calls of a trial, each with its response and its place."""

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
    """One tool call."""

    name: str
    args: dict[str, Any] | None
    turn: int = 0
    """Counted from 0."""
    index: int = 0
    """Its place in the turn, from 0."""
    response: Any = ABSENT
    """What the tool answered; absent where nothing is recorded, or nobody asks."""


def calls_of(case: CaseView, *, with_responses: bool = False) -> list[list[Made]]:
    """The calls of each turn, in order."""
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
    """Each call's response: the last one of its id; without id the next of its tool that has none, either."""
    by_id = {each.id: each.response for each in responses if each.id}
    waiting: defaultdict[str | None, deque[Any]] = defaultdict(deque)
    for each in responses:
        if not each.id:
            waiting[each.name].append(each.response)
    found = []
    for call in calls:
        if call.id and call.id in by_id:
            found.append(by_id[call.id])
        else:
            found.append(waiting[call.name].popleft() if waiting[call.name] else ABSENT)
    return found
