"""Line ends of a text that a page edits: normalise them to one kind, and restore the original ones."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher

_END = re.compile(r"\r\n|\r|\n")
_BOM = "\ufeff"
_MAX_PAIRED = 3_000
"""The most changed lines that are matched with the old ones; beyond it, every line gets the most frequent line end."""


def normalize_line_ends(text: str) -> str:
    """Return a text without a byte-order mark and with line feeds as line ends, as browsers return it."""
    return _END.sub("\n", text.removeprefix(_BOM))


def restore_line_ends(text: str, before: str) -> str:
    """Give an edited text the line ends of the text `before` that was edited; unchanged lines keep their bytes."""
    if text == normalize_line_ends(before):
        return before
    mark = _BOM if before.startswith(_BOM) else ""
    ends = [*_END.findall(before), ""]
    usual = Counter(ends[:-1]).most_common(1)[0][0] if len(ends) > 1 else "\n"
    if {*ends[:-1]} <= {usual}:
        return mark + normalize_line_ends(text).replace("\n", usual)
    lines = normalize_line_ends(text).split("\n")
    new_ends = [usual] * len(lines)
    for old, new in _equal_lines(normalize_line_ends(before).split("\n"), lines):
        new_ends[new] = ends[old] or usual
    restored = "".join(line + end for line, end in zip(lines, [*new_ends[:-1], ""], strict=True))
    if normalize_line_ends(restored) != normalize_line_ends(
        text
    ):  # a lone carriage return precedes an empty line
        restored = normalize_line_ends(text).replace("\n", usual)
    return mark + restored


def _equal_lines(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return the numbers of equal lines as pairs."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = next((at for at in range(shorter - head) if old[-1 - at] != new[-1 - at]), shorter - head)
    pairs = [(at, at) for at in range(head)]
    pairs += [(len(old) - at, len(new) - at) for at in range(1, tail + 1)]
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(left), len(right)) <= _MAX_PAIRED:
        for old_at, new_at, size in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks():
            pairs += [(head + old_at + at, head + new_at + at) for at in range(size)]
    return pairs
