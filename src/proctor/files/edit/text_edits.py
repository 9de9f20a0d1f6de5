"""A text and the changes to it, which are collected and then applied at once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from proctor.files.edit.line_changes import LineChange, Splice, TextLines, line_changes


class Comment(NamedTuple):
    """A comment in a text, and its offset."""

    start: int
    text: str


class SplicedText:
    """A text and its replaced ranges, which must not overlap."""

    def __init__(self, text: str) -> None:
        self.source = text
        self._splices: list[Splice] = []

    def undo(self, count: int) -> None:
        """Undo all changes except the first `count`."""
        del self._splices[count:]

    @property
    def changes(self) -> int:
        """The number of changes."""
        return len(self._splices)

    @property
    def splices(self) -> list[Splice]:
        """The replaced ranges in the order of the text."""
        return sorted(self._splices, key=lambda splice: splice[:2])

    @cached_property
    def lines(self) -> TextLines:
        """The lines of the original text."""
        return TextLines(self.source)

    def line_changes(self) -> list[LineChange]:
        """Return the lines that change."""
        return line_changes(self.lines, self.splices)

    def comments(self) -> Iterator[Comment]:
        """Return the comments of the original text."""
        return iter(())

    def lost_comments(self, first_line: int = 1) -> list[str]:
        """Return the comments in replaced text that the new text does not contain, each as `LINE: COMMENT`."""
        return [
            f"{first_line + self.source.count(chr(10), 0, comment.start)}: {comment.text}"
            for comment in (self.comments() if self._splices else ())
            for start, end, new in self._splices
            if start <= comment.start < end and comment.text not in new
        ]

    def text(self, original: str | None = None) -> str:
        """Return the text, or another one with the same offsets, with all changes."""
        source = self.source if original is None else original
        pieces, at = [], 0
        for start, end, new in self.splices:
            pieces += [source[at:start], new]
            at = end
        return "".join([*pieces, source[at:]])
