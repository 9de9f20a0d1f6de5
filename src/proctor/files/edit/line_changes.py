"""The lines that edits of a text change; only the lines around each edit are compared."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, pairwise
from typing import NamedTuple

from proctor.common.safe_text import lines_of

Splice = tuple[int, int, str]
"""The start and the end of a replaced range of a text, and its new text."""

_MOST_COMPARED = 2_000
"""The largest number of lines that are compared with one another; more lines are shown as replaced."""


class LineChange(NamedTuple):
    """Adjacent lines that are replaced."""

    before: int
    """The number of lines before it in the old text."""
    removed: list[str]
    after: int
    """The number of lines before it in the new text."""
    added: list[str]

    @property
    def end(self) -> int:
        """The number of old lines up to its end."""
        return self.before + len(self.removed)


class LineGroup(NamedTuple):
    """Changes near each other, and the unchanged lines around them."""

    before: int
    """The number of lines before it in the old text."""
    after: int
    lines: list[tuple[str, str]]
    """Each line with its sign: a space, `-` or `+`."""

    def header(self) -> str:
        """Return the line `@@ -1,3 +1,4 @@` of a unified diff."""
        old, new = (sum(sign != other for sign, _ in self.lines) for other in "+-")
        return f"@@ -{_range_text(self.before, old)} +{_range_text(self.after, new)} @@"


def _range_text(start: int, length: int) -> str:
    if length == 1:
        return str(start + 1)
    return f"{start + bool(length)},{length}"


_BLOCK = 1 << 12
"""Characters of a text whose lines are found together."""


class TextLines:
    """The lines of a text. Only the blocks that are asked for are split: a set may have a million lines, of which few change."""

    def __init__(self, text: str, block: int = _BLOCK) -> None:
        self.text, self._block = text, block
        counts = (text.count("\n", at, at + block) for at in range(0, len(text), block))
        self._before = list(accumulate(counts, initial=0))
        """The number of line ends before each block."""
        self._starts: dict[int, list[int]] = {}
        """By block, the offset after each line end in it."""

    def __len__(self) -> int:
        return self._before[-1] + 1

    def start(self, line: int) -> int:
        """Return the offset at which a line starts, counted from 0; after the last line that of the end."""
        if not 0 < line < len(self):
            return 0 if line <= 0 else len(self.text)
        block = bisect_left(self._before, line) - 1
        if block not in self._starts:
            ends = _LINE_END.finditer(self.text, block * self._block, (block + 1) * self._block)
            self._starts[block] = [match.end() for match in ends]
        return self._starts[block][line - self._before[block] - 1]

    def line_at(self, offset: int) -> int:
        """Return the line of an offset."""
        block = min(offset // self._block, len(self._before) - 1)
        return self._before[block] + self.text.count("\n", block * self._block, offset)

    def between(self, first: int, end: int) -> list[str]:
        """Return the lines from `first` up to `end`, or up to the last one."""
        return lines_of(self.text[self.start(first) : self.start(end)])


_LINE_END = re.compile("\n")


def line_changes(lines: TextLines, splices: Sequence[Splice]) -> list[LineChange]:
    """Return the lines of a text that some splices change; these are sorted, and do not overlap."""
    shift = 0
    changes: list[LineChange] = []
    for first, last, inside in _line_ranges(lines, splices):
        begin, end = lines.start(first), lines.start(last + 1)
        old = lines_of(lines.text[begin:end])
        new = lines_of(_spliced(lines.text, begin, end, inside))
        changes += _compare(old, new, first, first + shift)
        shift += len(new) - len(old)
    return changes


def _line_ranges(lines: TextLines, splices: Iterable[Splice]) -> Iterator[tuple[int, int, list[Splice]]]:
    """Yield the first and the last line of each group of splices that share lines, and the splices."""
    first, last, inside = 0, -1, list[Splice]()
    for splice in splices:
        begin, end = map(lines.line_at, splice[:2])
        if inside and begin > last:
            yield first, last, inside
            inside = []
        first = first if inside else begin
        last = max(last, end) if inside else end
        inside.append(splice)
    if inside:
        yield first, last, inside


def _spliced(text: str, begin: int, end: int, splices: Iterable[Splice]) -> str:
    pieces, at = [], begin
    for start, stop, new in splices:
        pieces += [text[at:start], new]
        at = stop
    return "".join([*pieces, text[at:end]])


def _compare(old: list[str], new: list[str], before: int, after: int) -> Iterator[LineChange]:
    """Yield the differences between two groups of lines that start at the lines `before` and `after`."""
    ahead = _common(old, new)
    behind = _common(old[ahead:][::-1], new[ahead:][::-1])
    old, new = old[ahead : len(old) - behind], new[ahead : len(new) - behind]
    before, after = before + ahead, after + ahead
    if max(len(old), len(new)) > _MOST_COMPARED:
        yield LineChange(before, old, after, new)
        return
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield LineChange(before + a, old[a:b], after + c, new[c:d])


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the number of equal lines at the start."""
    shortest = min(len(one), len(other))
    return next((index for index in range(shortest) if one[index] != other[index]), shortest)


# --- groups with the unchanged lines around ----------------------------------------------------------------------------


def group_changes(lines: TextLines, changes: Sequence[LineChange], context: int) -> list[LineGroup]:
    """Return changes of a text with up to `context` unchanged lines before and after each."""
    ends = [one.before - other.end > 2 * context for other, one in pairwise(changes)]
    borders = [0, *(index for index, is_end in enumerate(ends, 1) if is_end), len(changes)]
    return [_group(lines, changes[a:b], context) for a, b in pairwise(borders) if a < b]


def _group(lines: TextLines, changes: Sequence[LineChange], context: int) -> LineGroup:
    first, at = changes[0], max(0, changes[0].before - context)
    signed, start = list[tuple[str, str]](), at
    for change in changes:
        signed += [(" ", line) for line in lines.between(at, change.before)]
        signed += [("-", line) for line in change.removed]
        signed += [("+", line) for line in change.added]
        at = change.end
    signed += [(" ", line) for line in lines.between(at, at + context)]
    return LineGroup(start, first.after - (first.before - start), signed)
