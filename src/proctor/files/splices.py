"""A text and the changes to it, collected first and made at once."""

from __future__ import annotations


class SplicedText:
    """A text of which some parts go and others come; the parts must not overlap."""

    def __init__(self, text: str) -> None:
        self.source = text
        self._splices: list[tuple[int, int, str]] = []

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The parts of the old text that go, in order."""
        return sorted((start, end) for start, end, _ in self._splices)

    def text(self) -> str:
        """Return the text with all changes made."""
        pieces, at = [], 0
        for start, end, new in sorted(self._splices, key=lambda splice: splice[:2]):
            pieces += [self.source[at:start], new]
            at = end
        return "".join([*pieces, self.source[at:]])
