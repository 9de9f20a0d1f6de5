"""What of a text a person sees: nothing of characters without width, and whole characters only."""

from __future__ import annotations

import re
from unicodedata import category

from proctor.metrics.text.unicode_words import OPTIONAL, kinds

__all__ = ["is_blank", "stands_whole", "trimmed", "without_invisible"]

_UNSEEN = "\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff\uffa0"
_EDGES = re.compile(f"\\A[\\s\u200d{_UNSEEN}]+|[\\s\u200d{_UNSEEN}]+\\Z")
_INVISIBLE = re.compile(f"[{_UNSEEN}]|\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])")


def trimmed(text: str) -> str:
    """`text` without white space and invisible characters (of zero width, marks of direction) at both ends."""
    return _EDGES.sub("", text)


def is_blank(text: str) -> bool:
    """Whether nothing of a text is to be seen."""
    return not trimmed(text)


def without_invisible(text: str) -> str:
    """`text` without characters that nobody sees: "pass\u200bword" is "password"; what joins emoji stays."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def stands_whole(part: str, text: str, start: int) -> bool:
    """Whether `part`, found in `text` at `start`, cuts through nothing that a person sees as one character.

    An accent or vowel sign behind it, a skin tone, the rest of a family of emoji, half a flag would be cut off; points of
    Arabic and Hebrew may be left out. A part that begins with such a mark is looked for as it is.
    """
    begins_within = category(part[0]).startswith("M") or kinds(part[0]) == "x"
    return (begins_within or not _cuts(text, start)) and not _cuts(text, start + len(part))


def _cuts(text: str, index: int) -> bool:
    if not 0 < index < len(text) or text[index].isascii():
        return False
    before, here = text[index - 1], text[index]
    if here in "\ufe0e\ufe0f":  # says only how the one before is drawn
        return _cuts(text, index + 1)
    if kinds(here) == "r":
        flags = re.search("[\U0001f1e6-\U0001f1ff]*\\Z", text[:index])
        return flags is not None and len(flags[0]) % 2 == 1
    if here == "\u200d" or before == "\u200d":
        return kinds(text[index + 1 : index + 2] if here == "\u200d" else here) == "e"
    is_mark = category(here).startswith("M") and not any(ord(here) in points for points in OPTIONAL)
    return is_mark or kinds(here) == "x"
