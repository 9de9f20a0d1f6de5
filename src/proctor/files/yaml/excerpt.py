"""The part of a YAML set that contains some of its cases, at their offsets: a set may have thousands of cases."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from typing import NamedTuple

from proctor.files.yaml.parser import is_parsable

_FIRST_CASE = re.compile(
    r"(?:\A(?:---)?|^(?:cases|eval_cases|evalCases):)[ \t]*(?:#[^\n]*)?(?:\r?\n[ \t]*(?:#[^\n]*)?)*^( *)-( +)",
    re.MULTILINE,
)
_ID = (
    r"(?:case|eval_id|evalId): +(?:\"([^\"\\\n]*)\"|'([^'\n]*)'|(\w[^\n:#]*?))[ \t]*\r?(?: #[^\n]*)?(?=\n|\Z)"
)
_ANCHOR = re.compile(r"&(?<![^\s\[{,]&)[^\s,\[\]{}]")
_ANCHOR_OR_ALIAS = re.compile(r"[&*](?<![^\s\[{,][&*])[^\s,\[\]{}]")
_SPECIAL = ("\0", "\x85", "\u2028", "\u2029", "\ufeff")
"""Characters that the reader refuses anywhere in a file, and a byte-order mark."""


class Excerpt(NamedTuple):
    """A text with some of the cases of a set; the others are comments. Lines and offsets are those of the set."""

    ids: list[str]
    """The ids of its cases, in order."""
    text: str


def excerpt(text: str, ids: Collection[str]) -> Excerpt | None:
    """Return the part of a set that has the cases with these ids, each with the one after it, and the last case.

    The case after it shows whether a change goes beyond a case. `None` if the set cannot be parsed, or the cases cannot be read
    alone: an anchor that may concern them, a case without an id in a plain form, a list on one line, an unknown or a duplicate id.
    """
    starts, every = _cases(text)
    positions = _positions(every, {*ids})
    if not positions:
        return None
    parts, at, ends = [text[: starts[0]]], starts[0], [*starts[1:], len(text)]
    for index in positions:
        parts += [text[at : starts[index]], text[starts[index] : ends[index]]]
        at = ends[index]
    if not _can_be_read_alone(parts):
        return None
    visible = [_as_comment(part) if number % 2 else part for number, part in enumerate(parts)]
    return Excerpt([every[index] for index in positions], "".join(visible))


def _positions(every: Sequence[str], ids: Collection[str]) -> list[int]:
    """Return the positions of the cases with these ids, of those after them and of the last case; empty if ids are not clear."""
    indexes = [index for index, name in enumerate(every) if name in ids]
    if not indexes or len(indexes) != len(ids) or len({*every}) < len(every):
        return []
    last = len(every) - 1
    return sorted({*indexes, *(min(index + 1, last) for index in indexes), last})


def _can_be_read_alone(parts: Sequence[str]) -> bool:
    """Return whether cases can be read without the others: `parts` are the text before all cases, then other cases and a case in turn.

    In a quoted text a line may look like a case, but no document can begin there.
    """
    has_anchor = any(map(_ANCHOR.search, parts[1:]))
    if has_anchor and any(map(_ANCHOR_OR_ALIAS.search, parts[2::2])):
        return False
    return is_parsable("\n---\n".join(parts[:-1]))


def _cases(text: str) -> tuple[list[int], list[str]]:
    """Return the offset of the line of each case, and the ids.

    Empty if a line between the cases has no deeper indentation, or a case has no id in a plain form, or several.
    """
    first = _FIRST_CASE.search(text)
    if first is None or any(char in text for char in _SPECIAL) or text.count("\r") != text.count("\r\n"):
        return [], []
    indent, space = first.groups()
    dashes = re.compile(rf"^{indent}- ", re.MULTILINE).finditer(text, first.start(1))
    starts = [match.start() for match in dashes]
    other = re.compile(rf"\n(?!{indent}(?:- | )|[ \t]*(?:#|\r?(?:\n|\Z)))")
    matches = [*re.compile(rf"^{indent}[- ]{space}{_ID}", re.MULTILINE).finditer(text, starts[0])]
    owners = [bisect_right(starts, match.start()) for match in matches]
    if owners != [*range(1, len(starts) + 1)] or other.search(text, starts[0], starts[-1] - 1):
        return [], []
    return starts, [next(filter(None, match.groups()), "") for match in matches]


def _as_comment(lines: str) -> str:
    """Return a comment with as many characters and line ends as some whole lines."""
    ends = lines.count("\n")
    return "#" * (len(lines) - ends) + "\n" * ends
