"""The visible part of a text: without characters of zero width, and with whole characters only."""

from __future__ import annotations

import re
from unicodedata import category, decomposition, normalize

from proctor.metrics.text.unicode_words import OPTIONAL, ZERO_WIDTH_JOINER, kinds

_UNSEEN = "\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff\uffa0"
_UNSEEN_ONE = re.compile(f"[\u200d{_UNSEEN}]")
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
APART = "\ufdd0"
"""A non-character that is inserted after each flag."""
_INVISIBLE = re.compile(f"[{_UNSEEN}]|\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])")


def trimmed(text: str) -> str:
    """Return `text` without white space and invisible characters (zero width, direction marks) at both ends."""
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
    """Return whether a text has no visible character."""
    return not trimmed(text)


def is_identical(reference: str, answer: str) -> bool:
    """Return whether two texts are the same apart from white space at the ends, and not blank."""
    visible = trimmed(reference)
    return visible != "" and (reference == answer or visible == trimmed(answer))


def without_invisible(text: str) -> str:
    """Return `text` without invisible characters: "pass\u200bword" is "password"; joiners of emoji stay."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def visible_form(text: str) -> str:
    """Return `text` as a person reads it: without invisible characters, and with plain letters and digits for other widths and fonts.

    Signs with a different meaning (², ½, ①) stay: 10² is not 102.
    """
    if text.isascii():
        return text
    return normalize("NFC", "".join(map(_plain, without_invisible(text))))


def _plain(character: str) -> str:
    form = decomposition(character).partition(" ")[0]
    return normalize("NFKC", character) if form in _WAYS_OF_DRAWING else character


_WAYS_OF_DRAWING = frozenset({"<wide>", "<narrow>", "<font>"})


def folded(text: str) -> str:
    """Return `text` for the search for forbidden texts: without invisible characters, compatible characters made equal (NFKC)."""
    return text if text.isascii() else normalize("NFKC", without_invisible(text))


def with_flags_apart(text: str) -> str:
    """Insert a sign after each flag: two letters make a flag, and letters of neighbouring flags would make others."""
    return text if text.isascii() else _FLAG.sub(rf"\g<0>{APART}", text)


def is_whole_character(part: str, text: str, start: int) -> bool:
    """Return whether `part`, found in `text` at `start`, does not split a visible character.

    A following accent, vowel sign, skin tone, rest of a family of emoji, or half a flag would be split off; optional points
    of Arabic and Hebrew may be missing. A part that begins with such a mark is searched unchanged.
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
    """Return the index after variation selectors, which only change how a character is drawn."""
    while index < len(text) and text[index] in "\ufe0e\ufe0f":
        index += 1
    return index
