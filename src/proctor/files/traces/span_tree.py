"""A span as far as evidence needs it, and the trees that spans of a trace make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

SECOND = 1_000_000_000
"""Nanoseconds, in which spans are timed."""


@dataclass(slots=True)
class SpanEvent:
    """An event of a span, or a log record that belongs to it."""

    name: str
    time: int
    attributes: dict[str, object]
    body: object = None
    """What a log record carries besides."""


@dataclass(slots=True, eq=False)
class TraceSpan:
    """One timed operation of a trace. Times are nanoseconds since 1970; 0 means "not stated"."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start: int = 0
    end: int = 0
    attributes: dict[str, object] = field(default_factory=dict)
    events: list[SpanEvent] = field(default_factory=list)
    is_error: bool = False
    status: str = ""
    """The message of its status."""
    scope: str = ""
    """The instrumentation that made it."""
    resource: dict[str, object] = field(default_factory=dict)
    dropped: int = 0
    """The number of attributes and events that the exporter dropped."""
    clashes: bool = False
    """Whether another span has the same id."""
    place: str = ""
    """`file:line` that it was read from."""
    kind: Any = None
    """The cached kind: see `semantic_conventions.kind_of`."""
    parent: TraceSpan | None = None
    children: list[TraceSpan] = field(default_factory=list)

    @property
    def seconds(self) -> float | None:
        """The duration in seconds; `None` if it is not stated, or invalid."""
        return (self.end - self.start) / SECOND if 0 < self.start <= self.end else None

    def first(self, *names: str) -> Any:
        """Return the first of these attributes that it has."""
        return next((self.attributes[name] for name in names if name in self.attributes), None)

    def text(self, *names: str) -> str:
        """Return the first of these attributes that is a text with something in it."""
        attributes = self.attributes
        for name in names:  # a loop: this runs many times for every span
            value = attributes.get(name)
            if value and isinstance(value, str):
                return value
        return ""

    def above(self) -> Iterator[TraceSpan]:
        """Return the spans that enclose it, from the inside."""
        span = self.parent
        while span is not None:
            yield span
            span = span.parent


@dataclass(slots=True)
class Forest:
    """The spans of any number of traces, each below its parent."""

    roots: list[TraceSpan] = field(default_factory=list)
    """In order of time."""
    doubled: int = 0
    """Spans that came more than once."""
    clashes: int = 0
    """Spans that have the id of another one."""
    circles: int = 0
    """Spans that would enclose themselves."""
    unread: list[str] = field(default_factory=list)
    """Files in the same folder that may contain traces and were not read."""


def grown(spans: Iterable[TraceSpan]) -> Forest:
    """Put spans below their parents, children in order of time; a span that came twice counts once.

    Of a span that came twice the one with more details is taken. Two that only have the same id are both kept: they are
    marked, and what is inside of them is put below the one of them. One whose parent is not there is a root; so is one of each
    circle of spans.
    """
    forest = Forest()
    known = _spans_by_id(spans, forest)
    every = [span for group in known.values() for span in group]
    parents = {key: group[0] for key, group in known.items()}
    for span in every:
        parent = parents.get((span.trace_id, span.parent_id)) if span.parent_id else None
        if parent is None:
            forest.roots.append(span)
        else:
            span.parent = parent
    _cut_circles(every, forest)
    for span in sorted(every, key=order):
        if span.parent is not None:
            span.parent.children.append(span)
    forest.roots.sort(key=order)
    return forest


def _spans_by_id(spans: Iterable[TraceSpan], forest: Forest) -> dict[tuple[str, str], list[TraceSpan]]:
    """Return the spans of each id: one, unless several that are not the same one have it."""
    known: dict[tuple[str, str], list[TraceSpan]] = {}
    for span in spans:
        group = known.setdefault((span.trace_id, span.span_id), [])
        same = next((index for index, one in enumerate(group) if _is_same(one, span)), None)
        if same is None:
            group.append(span)
            continue
        forest.doubled += 1
        group[same] = max(group[same], span, key=_completeness)
    for group in known.values():
        group.sort(key=order)
        for span in group if len(group) > 1 else ():
            span.clashes = True
        forest.clashes += len(group) - 1
    return known


_CLOCKS_DIFFER = SECOND // 1000
"""What the same time may differ by as different files write it."""


def _is_same(one: TraceSpan, other: TraceSpan) -> bool:
    """Whether two spans with one id are the same span, exported twice: perhaps once before it ended."""
    if not (one.end and other.end):
        return True
    return abs(one.start - other.start) < _CLOCKS_DIFFER and one.name == other.name


def order(span: TraceSpan) -> tuple[int, int, str]:
    """The order of time, the same for every order of reading."""
    return span.start, span.end, span.span_id


def _completeness(span: TraceSpan) -> tuple[int, int]:
    return len(span.attributes) + len(span.events), span.end


def _cut_circles(spans: Iterable[TraceSpan], forest: Forest) -> None:
    """Make a root of one span of each circle, so that none is lost and every walk ends."""
    safe: set[int] = set()
    for span in spans:
        path: list[TraceSpan] = []
        earlier: set[int] = set()
        here: TraceSpan | None = span
        while here is not None and id(here) not in safe:
            if id(here) in earlier:
                here.parent = None
                forest.roots.append(here)
                forest.circles += 1
                break
            earlier.add(id(here))
            path.append(here)
            here = here.parent
        safe.update(map(id, path))
