"""What of a text a person sees: nothing of characters without width, and whole characters only."""

from __future__ import annotations

import re
from unicodedata import category, decomposition, normalize

from proctor.metrics.text.unicode_words import OPTIONAL, ZERO_WIDTH_JOINER, kinds

__all__ = [
    "as_seen",
    "folded",
    "is_blank",
    "stands_whole",
    "trimmed",
    "with_flags_apart",
    "without_invisible",
]

_UNSEEN = "\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff\uffa0"
_UNSEEN_ONE = re.compile(f"[\u200d{_UNSEEN}]")
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
APART = "\ufdd0"
"""No character: it is put behind each flag."""
_INVISIBLE = re.compile(f"[{_UNSEEN}]|\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])")


def trimmed(text: str) -> str:
    """`text` without white space and invisible characters (of zero width, marks of direction) at both ends."""
    text = text.strip()
    start, end = 0, len(text)
    while start < end and _is_unseen(text[start]):
        start += 1
    while start < end and _is_unseen(text[end - 1]):
        end -= 1
    return text[start:end]


def _is_unseen(character: str) -> bool:
    return character.isspace() or (not character.isascii() and _UNSEEN_ONE.match(character) is not None)


def is_blank(text: str) -> bool:
    """Whether nothing of a text is to be seen."""
    return not trimmed(text)


def without_invisible(text: str) -> str:
    """`text` without characters that nobody sees: "pass\u200bword" is "password"; what joins emoji stays."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def as_seen(text: str) -> str:
    """`text` as a person reads it: without invisible characters, letters and digits of other widths and fonts as plain ones.

    Signs with a meaning of their own (², ½, ①) stay: 10² is not 102.
    """
    if text.isascii():
        return text
    return normalize("NFC", "".join(map(_plain, without_invisible(text))))


def _plain(character: str) -> str:
    drawn = decomposition(character).partition(" ")[0]
    return normalize("NFKC", character) if drawn in _WAYS_OF_DRAWING else character


_WAYS_OF_DRAWING = frozenset({"<wide>", "<narrow>", "<font>"})


def folded(text: str) -> str:
    """`text` for finding what is forbidden: without invisible characters, all that is compatible in Unicode made equal (NFKC)."""
    return text if text.isascii() else normalize("NFKC", without_invisible(text))


def with_flags_apart(text: str) -> str:
    """Each flag with a sign of its own behind it: two letters make one, and those of two neighbours would make others."""
    return text if text.isascii() else _FLAG.sub(rf"\g<0>{APART}", text)


def stands_whole(part: str, text: str, start: int) -> bool:
    """Whether `part`, found in `text` at `start`, cuts through nothing that a person sees as one character.

    An accent or vowel sign behind it, a skin tone, the rest of a family of emoji, half a flag would be cut off; points of
    Arabic and Hebrew may be left out. A part that begins with such a mark is looked for as it is. Flags stand apart.
    """
    begins_within = category(part[0]).startswith("M") or kinds(part[0]) == "x"
    return (begins_within or not _cuts(text, start)) and not _cuts(text, start + len(part))


def _cuts(text: str, index: int) -> bool:
    if not 0 < index < len(text):
        return False
    here = _after_variants(text, index)
    if here == len(text) or text[here].isascii():
        return False
    before, sign = text[here - 1], text[here]
    if kinds(sign) == "r":
        return kinds(before) == "r"
    if ZERO_WIDTH_JOINER in {sign, before}:
        joined = text[here + 1 : here + 2] if sign == ZERO_WIDTH_JOINER else sign
        return kinds(joined) == "e"
    is_mark = category(sign).startswith("M") and not any(ord(sign) in points for points in OPTIONAL)
    return is_mark or kinds(sign) == "x"


def _after_variants(text: str, index: int) -> int:
    """Behind the signs that say only how the character before is drawn."""
    while index < len(text) and text[index] in "\ufe0e\ufe0f":
        index += 1
    return index
