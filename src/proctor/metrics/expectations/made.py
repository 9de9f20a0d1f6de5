"""The tool calls of a trial, each with its response and its place."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from proctor.metrics.base import CaseView
from proctor.metrics.matchers.base import ABSENT
from proctor.schema.content import FunctionCall, FunctionResponse

__all__ = ["Made", "calls_of", "declared_tools", "known_tools"]


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


def declared_tools(case: CaseView) -> set[str]:
    """The names of the tools that the agents declare, where they declare any."""
    names: set[str] = set()
    for turn in case.actual:
        if turn.app_details is not None:
            for agent in turn.app_details.agent_details.values():
                names.update(_names(agent.tool_declarations))
    return names


def _names(declarations: Any) -> set[str]:
    names: set[str] = set()
    for each in declarations if isinstance(declarations, list) else ():
        if not isinstance(each, dict):
            continue
        inside = each.get("function_declarations", each.get("functionDeclarations"))
        if inside is not None:
            names |= _names(inside)
        elif isinstance(each.get("name"), str):
            names.add(each["name"])
    return names


def known_tools(case: CaseView) -> set[str]:
    """Every tool that is declared, expected in the recorded conversation, or was called."""
    expected = {call.name or "" for turn in case.expected or () for call in turn.tool_calls}
    called = {call.name or "" for turn in case.turns for call in turn.tool_calls}
    return declared_tools(case) | expected | called
