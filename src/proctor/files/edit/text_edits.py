"""A text and the changes to it, collected first and made at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Comment(NamedTuple):
    """A comment in a text, and where it begins."""

    start: int
    text: str


class SplicedText:
    """A text of which some parts go and others come; the parts must not overlap."""

    def __init__(self, text: str) -> None:
        self.source = text
        self._splices: list[tuple[int, int, str]] = []

    def undo(self, count: int) -> None:
        """Take back all changes but the first `count`."""
        del self._splices[count:]

    @property
    def changes(self) -> int:
        """How many changes there are."""
        return len(self._splices)

    def comments(self) -> Iterator[Comment]:
        """Return the comments of the old text."""
        return iter(())

    def lost(self, first_line: int = 1) -> Iterator[tuple[int, str]]:
        """Return the comments that stand in what goes, and not in what comes in its place, with their lines."""
        for comment in self.comments() if self._splices else ():
            for start, end, new in self._splices:
                if start <= comment.start < end and comment.text not in new:
                    yield first_line + self.source.count("\n", 0, comment.start), comment.text

    def text(self) -> str:
        """Return the text with all changes made."""
        pieces, at = [], 0
        for start, end, new in sorted(self._splices, key=lambda splice: splice[:2]):
            pieces += [self.source[at:start], new]
            at = end
        return "".join([*pieces, self.source[at:]])
