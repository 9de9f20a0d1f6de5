"""Reads the contents of spans, each once; of a model call that several spans tell of, from all of them."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.files.traces.contents import Contents, contents_of
from proctor.files.traces.semantic_conventions import Kind, kind_of
from proctor.files.traces.span_tree import Span


class Reader:
    """Reads the contents of spans, each once."""

    def __init__(self) -> None:
        self._read: dict[int, Contents] = {}
        self._around: dict[int, bool] = {}

    def of(self, span: Span) -> Contents:
        """Return what one span says; of a model's, with what spans of the same call inside of it say besides."""
        if (found := self._read.get(id(span))) is None:
            found = contents_of(span)
            if kind_of(span) is Kind.MODEL:
                for inner in same_call(span) if not self.is_around(span) else ():
                    found = found.filled(contents_of(inner))
            self._read[id(span)] = found
        return found

    def is_around(self, span: Span) -> bool:
        """Whether a model's span is about several calls, as of a client that calls tools by itself: each is inside."""
        if kind_of(span) is not Kind.MODEL or not span.children:
            return False
        if (known := self._around.get(id(span))) is None:
            known = self._around[id(span)] = len(list(self._answering(span))) > 1
        return known

    def _answering(self, span: Span) -> Iterator[Span]:
        """The outermost model's spans inside of one that say what was answered."""
        waiting = list(span.children)
        while waiting:
            inner = waiting.pop()
            kind = kind_of(inner)
            if kind is Kind.MODEL and self.of(inner).said is not None:
                yield inner
            elif kind in (Kind.MODEL, Kind.OTHER):
                waiting += inner.children


def same_call(span: Span) -> Iterator[Span]:
    """Return the model's spans inside of a model's span that tell of the same call once more."""
    waiting = list(reversed(span.children))
    while waiting:
        inner = waiting.pop()
        kind = kind_of(inner)
        if kind is Kind.MODEL:
            yield inner
        if kind in (Kind.MODEL, Kind.OTHER):
            waiting += reversed(inner.children)
