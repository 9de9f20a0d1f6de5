"""The spans of a turn that was traced, nested as they were, each with the step of the conversation that it belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from proctor.reports.evidence.value_text import value_text
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.span import Span, SpanKind
from proctor.schema.evidence.trial import Turn
from proctor.web.pages.case.span_models import AttributePart, SpanPart
from proctor.web.pages.case.texts import MOST_TEXT, Clip, clip

__all__ = ["cut_from", "is_traced", "traced_parts"]

_NAME = 200
_VALUE = 2_000
_MOST_NOTES = 50
_SAME_MOMENT = 0.001
"""Seconds by which clocks, and what they are rounded to, may differ."""
_CUT = re.compile(r"… \[cut: (\d[\d,]*) characters in all\]\Z")


def is_traced(turn: Turn) -> bool:
    """Whether there are spans of it."""
    return turn.trace is not None and bool(turn.trace.spans)


def cut_from(turns: Sequence[Turn]) -> list[str]:
    """Return what of the spans of some turns is not there, or not as it was."""
    found = []
    for number, turn in enumerate(turns, 1):
        if turn.trace is None:
            continue
        if turn.trace.left_out:
            found.append(f"turn {number}: {turn.trace.left_out:,} more spans were not kept")
        found += [f"turn {number}: {note.removeprefix('spans: ')}" for note in turn.trace.notes]
    more = len(found) - _MOST_NOTES
    return [*found[:_MOST_NOTES], f"and {more} more of the kind"] if more > 0 else found


def traced_parts(index: int, turn: Turn, origin: float) -> Iterator[SpanPart]:
    """Yield the spans of a turn, each before what it encloses, in order of time."""
    steps = _Steps(turn.events)
    for span, depth in _nested(turn.trace.spans if turn.trace is not None else ()):
        begin = span.started_at
        start = max(0.0, begin - origin) if begin is not None and begin > origin - _SAME_MOMENT else None
        yield SpanPart(
            kind=span.kind.value,
            name=span.name[:_NAME] or "(no name)",
            depth=1 + depth,
            turn=index,
            call=steps.of(span),
            author=(span.agent or "")[:_NAME],
            start=start,
            seconds=span.duration,
            timing="none" if start is None or span.duration is None else "span",
            failed=span.error is not None,
            input_tokens=span.input_tokens,
            output_tokens=span.output_tokens,
            request=_said(span.request),
            response=_said(span.response),
            error=_said(span.error),
            attributes=[
                AttributePart(name=name[:_NAME], value=clip(_shown(value), _VALUE))
                for name, value in span.attributes.items()
            ],
        )


def _shown(value: object) -> str:
    return value if isinstance(value, str) else value_text(value)


def _said(text: str | None) -> Clip | None:
    """A text, or its beginning; what was cut when it was kept counts as left out, too."""
    if not text:
        return None
    found = clip(text)
    if (mark := _CUT.search(text)) is not None:
        shown = text[: min(MOST_TEXT, mark.start())]
        found = Clip(text=shown, left_out=max(0, int(mark[1].replace(",", "")) - len(shown)))
    return found


# --- nesting ----------------------------------------------------------------------------------------------------------


def _nested(spans: Sequence[Span]) -> Iterator[tuple[Span, int]]:
    """Yield each span once with its depth, from 0; one whose parent is not there, or that would enclose itself, is outermost."""
    ordered = sorted(spans, key=_begin)
    places: dict[str, int] = {}
    for place, span in enumerate(ordered):
        places.setdefault(span.id, place)
    inside: dict[int | None, list[int]] = {}
    for place, span in enumerate(ordered):
        around = places.get(span.parent_id or "")
        inside.setdefault(None if around == place else around, []).append(place)
    seen: set[int] = set()
    for root in [*inside.get(None, ()), *range(len(ordered))]:  # the latter: what only circles lead to
        waiting = [(root, 0)]
        while waiting:
            place, depth = waiting.pop()
            if place in seen:
                continue
            seen.add(place)
            yield ordered[place], depth
            waiting += [(one, depth + 1) for one in reversed(inside.get(place, ()))]


def _begin(span: Span) -> float:
    return span.started_at if span.started_at is not None else float("inf")


# --- steps ------------------------------------------------------------------------------------------------------------


class _Steps:
    """The calls of a turn, and which span belongs to which."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._open: list[tuple[int, str | None, str | None]] = []
        """Calls that no tool's span was found for: place, id and name."""
        self._asked: list[tuple[int, Event]] = []
        """Events with calls, and the place of the first of these."""
        place = 0
        for event in events:
            if event.partial or event.author.lower() == "user":
                continue
            first = place
            for part in (event.content.parts or ()) if event.content is not None else ():
                if (call := part.function_call) is not None:
                    self._open.append((place, call.id, call.name))
                    place += 1
            if place > first:
                self._asked.append((first, event))

    def of(self, span: Span) -> int | None:
        """Return the place of the call that a tool's span executed, or of the first one that a model's asked for."""
        if span.kind is SpanKind.TOOL:
            return self._executed(span)
        return self._asked_for(span) if span.kind is SpanKind.MODEL else None

    def _executed(self, span: Span) -> int | None:
        by_id = (one for one in self._open if span.call_id and one[1] == span.call_id)
        named = (one for one in self._open if one[2] and one[2] in (span.name, *span.name.split(" ")))
        found = next(by_id, None) or next(named, None)
        if found is None:
            return None
        self._open.remove(found)
        return found[0]

    def _asked_for(self, span: Span) -> int | None:
        """By the time of the event that was made of what the model answered: within its span, or at its end."""
        if span.started_at is None or span.duration is None:
            return None
        first, last = span.started_at - _SAME_MOMENT, span.started_at + span.duration + _SAME_MOMENT
        for place, event in self._asked:
            whose = span.agent is None or span.agent == event.author
            if whose and first <= (event.timestamp or 0.0) <= last:
                return place
        return None
