"""A span as far as evidence needs it, and the trees that spans of a trace make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from proctor.quick_dataclasses import dataclass, field

SECOND = 1_000_000_000
"""Nanoseconds, in which spans are timed."""


@dataclass(slots=True)
class SpanEvent:
    """Something that a span, or a log record that belongs to it, says of one moment."""

    name: str
    time: int
    attributes: dict[str, Any]
    body: Any = None
    """What a log record carries besides."""


@dataclass(slots=True, eq=False)
class Span:
    """One timed thing of a trace. Times are nanoseconds since 1970; 0 is "not said"."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start: int = 0
    end: int = 0
    attributes: dict[str, Any] = field(default_factory=dict)
    events: list[SpanEvent] = field(default_factory=list)
    is_error: bool = False
    status: str = ""
    """What its status says beyond ok and error."""
    scope: str = ""
    """The instrumentation that made it."""
    resource: dict[str, Any] = field(default_factory=dict)
    dropped: int = 0
    """Attributes and events that whoever exported it left out."""
    place: str = ""
    """`file:line` that it was read from."""
    kind: Any = None
    """What it is about, once somebody has asked: see `conventions.kind_of`."""
    parent: Span | None = None
    children: list[Span] = field(default_factory=list)

    @property
    def seconds(self) -> float | None:
        """How long it took; `None` where that is not said, or makes no sense."""
        return (self.end - self.start) / SECOND if 0 < self.start <= self.end else None

    def first(self, *names: str) -> Any:
        """Return the first of these attributes that it has."""
        return next((self.attributes[name] for name in names if name in self.attributes), None)

    def text(self, *names: str) -> str:
        """Return the first of these attributes that is a text with something in it."""
        told = self.attributes
        for name in names:  # a loop: this runs many times for every span
            value = told.get(name)
            if value and isinstance(value, str):
                return value
        return ""

    def above(self) -> Iterator[Span]:
        """Return the spans that enclose it, from the inside."""
        span = self.parent
        while span is not None:
            yield span
            span = span.parent


@dataclass(slots=True)
class Forest:
    """The spans of any number of traces, each below its parent."""

    roots: list[Span] = field(default_factory=list)
    """In order of time."""
    doubled: int = 0
    """Spans that came more than once."""
    circles: int = 0
    """Spans that would enclose themselves."""


def grown(spans: Iterable[Span]) -> Forest:
    """Put spans below their parents, children in order of time; a span that came twice counts once.

    Of two with the same ids the one that says more is taken. One whose parent is not there is a root; so is one of each
    circle of spans.
    """
    forest = Forest()
    known: dict[tuple[str, str], Span] = {}
    for span in spans:
        key = span.trace_id, span.span_id
        if (earlier := known.get(key)) is not None:
            forest.doubled += 1
            span = max(earlier, span, key=_says)  # noqa: PLW2901 - the one of the two that is taken
        known[key] = span
    for span in known.values():
        parent = known.get((span.trace_id, span.parent_id)) if span.parent_id else None
        if parent is None:
            forest.roots.append(span)
        else:
            span.parent = parent
    _cut_circles(known.values(), forest)
    for span in sorted(known.values(), key=order):
        if span.parent is not None:
            span.parent.children.append(span)
    forest.roots.sort(key=order)
    return forest


def order(span: Span) -> tuple[int, int, str]:
    """The order of time, the same for every order of reading."""
    return span.start, span.end, span.span_id


def _says(span: Span) -> tuple[int, int]:
    return len(span.attributes) + len(span.events), span.end


def _cut_circles(spans: Iterable[Span], forest: Forest) -> None:
    """Make a root of one span of each circle, so that none is lost and every walk ends."""
    safe: set[int] = set()
    for span in spans:
        path: list[Span] = []
        seen: set[int] = set()
        here: Span | None = span
        while here is not None and id(here) not in safe:
            if id(here) in seen:
                here.parent = None
                forest.roots.append(here)
                forest.circles += 1
                break
            seen.add(id(here))
            path.append(here)
            here = here.parent
        safe.update(map(id, path))
