"""A text as a page edits it, with one kind of line end; and back, each line with the end that it had."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher

_END = re.compile(r"\r\n|\r|\n")
_BOM = "\ufeff"
_MOST = (
    3_000  # changed lines that are paired with those they were made of; more get the end that most lines have
)


def plain(text: str) -> str:
    """Return a text without a byte-order mark, its lines ended by a line feed, as browsers give it back."""
    return _END.sub("\n", text.removeprefix(_BOM))


def with_ends_of(text: str, before: str) -> str:
    """Return an edited `plain` text in the form of the text that it was made of: what stayed has its bytes again."""
    if text == plain(before):
        return before
    mark = _BOM if before.startswith(_BOM) else ""
    ends = [*_END.findall(before), ""]
    usual = Counter(ends[:-1]).most_common(1)[0][0] if len(ends) > 1 else "\n"
    if {*ends[:-1]} <= {usual}:
        return mark + plain(text).replace("\n", usual)
    lines = plain(text).split("\n")
    found = [usual] * len(lines)
    for old, new in _pairs(plain(before).split("\n"), lines):
        found[new] = ends[old] or usual
    made = "".join(line + end for line, end in zip(lines, [*found[:-1], ""], strict=True))
    if plain(made) != plain(text):  # a lone carriage return came to stand before an empty line
        made = plain(text).replace("\n", usual)
    return mark + made


def _pairs(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Which lines are the same, by their numbers."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = next((at for at in range(shorter - head) if old[-1 - at] != new[-1 - at]), shorter - head)
    pairs = [(at, at) for at in range(head)]
    pairs += [(len(old) - at, len(new) - at) for at in range(1, tail + 1)]
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(left), len(right)) <= _MOST:
        for one, other, size in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks():
            pairs += [(head + one + at, head + other + at) for at in range(size)]
    return pairs
