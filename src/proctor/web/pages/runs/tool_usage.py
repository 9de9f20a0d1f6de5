"""The tool calls of a run, counted from its evidence: how often each tool was called, how long it took, and its errors.

The evidence is read as JSON: validating the models of 10,000 trials would take ten times as long.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.common.inline_code import shorten_prose
from proctor.common.json_values import json_line
from proctor.schema.format.wire_model import PageModel
from proctor.web.pages.base import p95
from proctor.web.pages.case.page_parts import OpenCalls

Json = Mapping[str, Any]

_MOST_ERRORS = 3
_LONGEST_ERROR = 160


class ToolError(PageModel):
    """An error of a tool, and the number of calls that returned it."""

    text: str
    calls: int


class ToolFigures(PageModel):
    """The calls of one tool in all trials of a run."""

    name: str
    calls: int
    cases: int
    timed: int
    """The calls whose duration is known."""
    mean_seconds: float | None
    p95_seconds: float | None
    total_seconds: float | None
    failed: int
    """The calls that returned an error, or whose span ended with one."""
    errors: list[ToolError]
    """The most frequent errors."""


@dataclass(slots=True)
class _Call:
    """One call: its tool, its begin, and what is known of its end."""

    name: str
    begin: float | None
    seconds: float | None = None
    error: str = ""


@dataclass(slots=True)
class _Tool:
    calls: int = 0
    positions: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)


class ToolUsage:
    """Counts the calls of tools, trial by trial."""

    def __init__(self) -> None:
        self._tools: dict[str, _Tool] = {}

    def add(self, position: int, evidence: Json) -> None:
        """Count the calls in the evidence of a trial of the case at `position`, in the order of the cases."""
        for turn in evidence.get("turns") or ():
            for call in _calls(turn):
                self._count(position, call)

    def _count(self, position: int, call: _Call) -> None:
        tool = self._tools.setdefault(call.name, _Tool())
        tool.calls += 1
        if not tool.positions or tool.positions[-1] != position:
            tool.positions.append(position)
        if call.seconds is not None:
            tool.seconds.append(call.seconds)
        if call.error:
            tool.errors[shorten_prose(call.error, _LONGEST_ERROR)] += 1

    def positions(self) -> dict[str, list[int]]:
        """Return the positions of the cases, by tool."""
        return {name: tool.positions for name, tool in self._tools.items()}

    def figures(self) -> list[ToolFigures]:
        """Return the figures of each tool, the most frequent first."""
        ordered = sorted(self._tools.items(), key=lambda item: (-item[1].calls, item[0]))
        return [_figures(name, tool) for name, tool in ordered]


def _figures(name: str, tool: _Tool) -> ToolFigures:
    total = math.fsum(tool.seconds) if tool.seconds else None
    return ToolFigures(
        name=name,
        calls=tool.calls,
        cases=len(tool.positions),
        timed=len(tool.seconds),
        mean_seconds=None if total is None else total / len(tool.seconds),
        p95_seconds=p95(tool.seconds),
        total_seconds=total,
        failed=tool.errors.total(),
        errors=[ToolError(text=text, calls=calls) for text, calls in tool.errors.most_common(_MOST_ERRORS)],
    )


def _calls(turn: Json) -> list[_Call]:
    calls: list[tuple[_Call, str | None]] = []
    waiting: OpenCalls[_Call] = OpenCalls()
    for event, part in _parts(turn):
        if (function_call := part.get("function_call")) and function_call.get("name"):
            call = _Call(str(function_call["name"]), event.get("timestamp"))
            calls.append((call, function_call.get("id")))
            waiting.add(call, function_call.get("id"), call.name)
        elif response := part.get("function_response"):
            _end(waiting.take(response.get("id"), response.get("name")), response, event.get("timestamp"))
    _measure(calls, turn)
    return [call for call, _ in calls]


def _parts(turn: Json) -> Iterator[tuple[Json, Json]]:
    for event in turn.get("events") or ():
        if not event.get("partial"):
            for part in (event.get("content") or {}).get("parts") or ():
                yield event, part


def _end(call: _Call | None, response: Json, at: float | None) -> None:
    if call is None:
        return
    if at is not None and call.begin is not None and at >= call.begin:
        call.seconds = at - call.begin
    call.error = _error_text(response.get("response"))


def _measure(calls: Sequence[tuple[_Call, str | None]], turn: Json) -> None:
    """Take the measured durations and the errors of the calls that were traced."""
    untraced: OpenCalls[_Call] = OpenCalls()
    for call, call_id in calls:
        untraced.add(call, call_id, call.name)
    for span in _tool_spans(turn):
        name = str(span.get("name") or "")
        traced = untraced.take(span.get("call_id"), name, *name.split(" "))
        if traced is not None:
            if span.get("duration") is not None:
                traced.seconds = span["duration"]
            traced.error = traced.error or str(span.get("error") or "")


def _tool_spans(turn: Json) -> list[Json]:
    spans = (turn.get("trace") or {}).get("spans") or ()
    return [span for span in spans if span.get("kind") == "tool"]


def _error_text(response: object) -> str:
    """Return the error that a response reports (`error`, MCP's `isError`, `status: error`); empty if it reports none."""
    if not isinstance(response, Mapping):
        return ""
    error = response.get("error")
    if not error and (response.get("isError") is True or response.get("status") == "error"):
        texts = (response.get(name) for name in ("error_message", "message", "content"))
        error = next(filter(None, texts), "error")
    return error if isinstance(error, str) else json_line(error) if error else ""
