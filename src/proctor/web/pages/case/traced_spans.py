"""The models of a trial over time, and the spans of a traced turn.

Spans keep their nesting; each names the tool call of the conversation to which it belongs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from proctor.common.json_values import json_line
from proctor.engine.usage.costs import AgentCosts
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.turn import Span, SpanKind, Turn
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.model_usage import total_cost
from proctor.web.pages.case.page_parts import MOST_TEXT, Clip, OpenCalls, agent_events, clip

_NAME = 200
_VALUE = 2_000
_MOST_NOTES = 50
_SAME_MOMENT = 0.001
"""Seconds by which clocks may differ, including rounding."""
_CUT = re.compile(r"… \[cut: (\d[\d,]*) characters in all\]\Z")


Timing = Literal["clock", "events", "span", "none"]
"""`clock`: measured; `events`: between the times of two events; `span`: traced; `none`: not recorded."""


class AttributePart(PageModel):
    """An attribute of a span other than request and response."""

    name: str
    value: Clip


class SpanPart(PageModel):
    """One bar of the waterfall."""

    kind: Literal["turn", "agent", "model", "tool", "step", "event"]
    """`step`: any other traced operation."""
    name: str
    depth: int
    """0: a turn."""
    turn: int
    call: int | None
    """The index of a tool's call among the calls of the turn, from 0; for a traced model that of the first call that it
    requested."""
    author: str
    start: float | None
    """Seconds since the trial began."""
    seconds: float | None
    timing: Timing
    failed: bool
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    """The price of a model request in US dollars; null: unknown."""
    request: Clip | None
    """The new part of the request: the user's message, responses of tools; for a tool its call. A traced request is
    complete."""
    response: Clip | None
    error: Clip | None = None
    attributes: list[AttributePart] = Field(default_factory=list)
    """The attributes of a traced span."""


class AgentPart(PageModel):
    """An agent's instructions and tools."""

    name: str
    instructions: Clip | None
    tools: list[str]


class SpansPage(PageModel):
    """A trial over time."""

    run_id: str
    position: int
    number: int
    seconds: float | None
    """The duration of the trial."""
    note: str
    """A sentence about the source of the times."""
    spans: list[SpanPart]
    cut: list[str] = Field(default_factory=list)
    """Notes about traced spans that are missing or shortened."""
    agents: list[AgentPart]
    """The agent's description of itself; empty if there is none."""


def has_spans(turn: Turn) -> bool:
    """Return whether a turn was traced."""
    return turn.trace is not None and bool(turn.trace.spans)


def cut_from(turns: Sequence[Turn]) -> list[str]:
    """Return notes about the missing or shortened spans of some turns."""
    notes = []
    for number, turn in enumerate(turns, 1):
        if turn.trace is None:
            continue
        if turn.trace.left_out:
            notes.append(f"turn {number}: {turn.trace.left_out:,} more spans were not stored")
        notes += [f"turn {number}: {note.removeprefix('spans: ')}" for note in turn.trace.notes]
    more = len(notes) - _MOST_NOTES
    return [*notes[:_MOST_NOTES], f"and {more} similar notes"] if more > 0 else notes


def traced_parts(index: int, turn: Turn, origin: float) -> Iterator[SpanPart]:
    """Yield the spans of a turn in order of time, each before its children."""
    steps = _Steps(turn)
    for span, depth in _nest_spans(turn.trace.spans if turn.trace is not None else ()):
        begin = span.started_at
        start = max(0.0, begin - origin) if begin is not None and begin > origin - _SAME_MOMENT else None
        yield SpanPart(
            kind=span.kind.value,
            name=span.name[:_NAME] or "(no name)",
            depth=1 + depth,
            turn=index,
            call=steps.call_index(span),
            author=(span.agent or "")[:_NAME],
            start=start,
            seconds=span.duration,
            timing="none" if start is None or span.duration is None else "span",
            failed=span.error is not None,
            input_tokens=span.input_tokens,
            output_tokens=span.output_tokens,
            cost=_traced_cost(span),
            request=_clip_text(span.request),
            response=_clip_text(span.response),
            error=_clip_text(span.error),
            attributes=[
                AttributePart(name=name[:_NAME], value=clip(_attribute_text(value), _VALUE))
                for name, value in span.attributes.items()
            ],
        )


def request_cost(model: str, usage: Mapping[str, Any]) -> float | None:
    """Return the price of one model request in US dollars; `None` if it is unknown."""
    costs = AgentCosts()
    costs.add(model, usage)
    return total_cost(costs.spent())


_MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")


def _traced_cost(span: Span) -> float | None:
    if span.kind is not SpanKind.MODEL or span.input_tokens is None or span.output_tokens is None:
        return None
    model = next((str(span.attributes[name]) for name in _MODELS if span.attributes.get(name)), "")
    usage = {"prompt_token_count": span.input_tokens, "candidates_token_count": span.output_tokens}
    return request_cost(model or span.name.rpartition(" ")[2], usage)


def _attribute_text(value: object) -> str:
    return value if isinstance(value, str) else json_line(value)


def _clip_text(text: str | None) -> Clip | None:
    """Return a text or its beginning; the characters that were cut before it was stored count as left out, too."""
    if not text:
        return None
    shortened = clip(text)
    if (mark := _CUT.search(text)) is not None:
        head = text[: min(MOST_TEXT, mark.start())]
        shortened = Clip(text=head, left_out=max(0, int(mark[1].replace(",", "")) - len(head)))
    return shortened


# --- nesting ----------------------------------------------------------------------------------------------------------


def _nest_spans(spans: Sequence[Span]) -> Iterator[tuple[Span, int]]:
    """Yield each span once with its depth, from 0; spans without a known parent, and cycles, start at depth 0."""
    ordered = sorted(spans, key=_begin)
    places: dict[str, int] = {}
    for place, span in enumerate(ordered):
        places.setdefault(span.id, place)
    inside: dict[int | None, list[int]] = {}
    for place, span in enumerate(ordered):
        parent = places.get(span.parent_id or "")
        inside.setdefault(None if parent == place else parent, []).append(place)
    earlier: set[int] = set()
    for root in [*inside.get(None, ()), *range(len(ordered))]:  # the latter for the members of cycles
        waiting = [(root, 0)]
        while waiting:
            place, depth = waiting.pop()
            if place in earlier:
                continue
            earlier.add(place)
            yield ordered[place], depth
            waiting += [(one, depth + 1) for one in reversed(inside.get(place, ()))]


def _begin(span: Span) -> float:
    return span.started_at if span.started_at is not None else float("inf")


# --- steps ------------------------------------------------------------------------------------------------------------


class _Steps:
    """The tool calls of a turn, to find the call of a span."""

    def __init__(self, turn: Turn) -> None:
        self._open: OpenCalls[int] = OpenCalls()
        """The indexes of calls without a tool span."""
        self._asked: list[tuple[int, Event]] = []
        """Events with calls, and the index of the first call."""
        place = 0
        for event, parts in agent_events(turn):
            calls = [part.function_call for part in parts if part.function_call is not None]
            for index, call in enumerate(calls, place):
                self._open.add(index, call.id, call.name)
            if calls:
                self._asked.append((place, event))
            place += len(calls)

    def call_index(self, span: Span) -> int | None:
        """Return the index of the call that a tool span executed, or of the first one that a model span requested."""
        if span.kind is SpanKind.TOOL:
            return self._open.take(span.call_id, span.name, *span.name.split(" "))
        return self._requested_call(span) if span.kind is SpanKind.MODEL else None

    def _requested_call(self, span: Span) -> int | None:
        """Find the event of the model's answer by its time: within the span, or at its end."""
        if span.started_at is None or span.duration is None:
            return None
        first, last = span.started_at - _SAME_MOMENT, span.started_at + span.duration + _SAME_MOMENT
        for place, event in self._asked:
            same_agent = span.agent is None or span.agent == event.author
            if same_agent and first <= (event.timestamp or 0.0) <= last:
                return place
        return None
