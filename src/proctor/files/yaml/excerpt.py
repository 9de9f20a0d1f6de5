"""The part of a YAML set that contains some of its cases, at their offsets: a set may have thousands of cases."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

_FIRST_ITEM = re.compile(r"^( *)- +(?:case|eval_id|evalId): ", re.MULTILINE)
_ID = re.compile(
    r"- +(?:case|eval_id|evalId): +(?:\"([^\"\\\n]*)\"|'([^'\n]*)'|(\w[^\n:#]*?))[ \t]*\r?(?: #[^\n]*)?(?=\n|\Z)"
)
_ANCHOR = re.compile(r"&(?<![^\s\[{,]&)[^\s,\[\]{}]")
_SPECIAL = ("\0", "\x85", "\u2028", "\u2029", "\ufeff")
"""Characters that the reader refuses anywhere in a file, and a byte-order mark."""


class Excerpt(NamedTuple):
    """A text with some of the cases of a set; the others are comments. Lines and offsets are those of the set."""

    ids: list[str]
    """The ids of its cases, in order."""
    text: str


def excerpt(text: str, ids: Collection[str]) -> Excerpt | None:
    """Return the part of a set that has the cases with these ids, each with the one after it, and the last case.

    The case after it shows whether a change goes beyond a case. `None` if the cases cannot be read alone: an anchor, a case that
    does not start with its id, a list on one line, an unknown or a duplicate id.
    """
    starts = _item_starts(text)
    every = _ids_at(text, starts)
    id_set = {*ids}
    if len({*every}) < len(every) or not id_set <= {*every} or not id_set:
        return None
    last = len(every) - 1
    positions = [
        index
        for index, name in enumerate(every)
        if index == last or name in id_set or (index and every[index - 1] in id_set)
    ]
    pieces, at = [text[: starts[0]]], 0
    for index in positions:
        pieces.append(_as_comment(text[starts[at] : starts[index]]))
        at = min(index + 1, last)
        pieces.append(text[starts[index] : starts[at] if at > index else None])
    return Excerpt([every[index] for index in positions], "".join(pieces))


def _item_starts(text: str) -> list[int]:
    """Return the offset of the line of each case; empty if another line between them has no deeper indentation."""
    first = _FIRST_ITEM.search(text)
    if first is None or _has_remote_effect(text):
        return []
    indent = first[1]
    starts = [match.start() + 1 for match in re.finditer(rf"\n{indent}- ", text)]
    if first.start() == 0:
        starts.insert(0, 0)
    other = re.compile(rf"\n(?!{indent}(?:- | )|[ \t]*(?:#|\r?(?:\n|\Z)))")
    return [] if other.search(text, first.end(), starts[-1] - 1) else starts


def _has_remote_effect(text: str) -> bool:
    """Whether a part of a text may concern another part: an anchor, a special character, or two kinds of line ends."""
    return (
        _ANCHOR.search(text) is not None
        or any(char in text for char in _SPECIAL)
        or text.count("\r") != text.count("\r\n")
    )


def _ids_at(text: str, starts: list[int]) -> list[str]:
    """Return the ids of the cases that start on some lines; empty if one does not start with an id in a plain form."""
    matches = [_ID.match(text, text.find("-", start)) for start in starts]
    return [next(filter(None, match.groups()), "") for match in matches if match] if all(matches) else []


def _as_comment(lines: str) -> str:
    """Return a comment with as many characters and line ends as some whole lines."""
    ends = lines.count("\n")
    return "#" * (len(lines) - ends) + "\n" * ends
