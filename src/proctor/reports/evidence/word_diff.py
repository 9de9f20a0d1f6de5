"""Which words of two texts differ."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from proctor.reports.evidence.blocks import Piece, Pieces

MOST_WORDS = 400
"""Words compared on either side, common beginning and end aside; beyond that the whole stretch counts as changed."""

_LEAST_IN_COMMON = 0.2
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+|\s+|[^\w\s]")


def word_difference(expected: str, actual: str) -> tuple[Pieces, Pieces]:
    """Return both texts in pieces; joined again, the pieces of each are the whole text.

    Texts that share next to nothing are one changed piece each: chance matches of small words would only confuse.
    """
    wanted, made = _WORD.findall(expected), _WORD.findall(actual)
    start, end = _common_ends(wanted, made)
    middle = wanted[start : len(wanted) - end], made[start : len(made) - end]
    changes = _changes(*middle)
    sides = (
        [
            (False, wanted[:start]),
            *((changed, words) for changed, words, _ in changes),
            (False, wanted[len(wanted) - end :]),
        ],
        [
            (False, made[:start]),
            *((changed, words) for changed, _, words in changes),
            (False, made[len(made) - end :]),
        ],
    )
    return _join_stretches(sides[0]), _join_stretches(sides[1])


def _common_ends(wanted: list[str], made: list[str]) -> tuple[int, int]:
    shorter = min(len(wanted), len(made))
    start = 0
    while start < shorter and wanted[start] == made[start]:
        start += 1
    end = 0
    while end < shorter - start and wanted[-1 - end] == made[-1 - end]:
        end += 1
    return start, end


def _changes(wanted: list[str], made: list[str]) -> list[tuple[bool, list[str], list[str]]]:
    """Stretches of both sides in order: (differs, words expected, words made)."""
    if max(len(wanted), len(made)) > MOST_WORDS:
        return [(True, wanted, made)]
    matcher = SequenceMatcher(None, wanted, made, autojunk=False)
    if matcher.ratio() < _LEAST_IN_COMMON:
        return [(True, wanted, made)]
    found = [(tag != "equal", wanted[a:b], made[c:d]) for tag, a, b, c, d in matcher.get_opcodes()]
    return [
        (changed or _is_bridge(found, index), left, right)
        for index, (changed, left, right) in enumerate(found)
    ]


def _is_bridge(found: list[tuple[bool, list[str], list[str]]], index: int) -> bool:
    """Return whether only white space separates two changes, so that they are one change."""
    inside = 0 < index < len(found) - 1
    return inside and all(word.isspace() for word in found[index][1])


def _join_stretches(stretches: list[tuple[bool, list[str]]]) -> Pieces:
    pieces: Pieces = []
    for changed, words in stretches:
        text = "".join(words)
        if not text:
            continue
        if pieces and pieces[-1].changed == changed:
            text = pieces.pop().text + text
        pieces.append(Piece(text, changed))
    return pieces


def elide(pieces: Pieces, *, context: int = 40, longest: int = 400) -> Pieces:
    """Return `pieces` with the middle of long unchanged stretches, and the tail of long changed ones, cut out.

    `context` characters are kept on the sides of an unchanged stretch that touch a change.
    """
    last = len(pieces) - 1
    return [
        Piece(_shorten(piece.text, longest), changed=True)
        if piece.changed
        else Piece(_middle_out(piece.text, context if n else 0, context if n < last else 0, context))
        for n, piece in enumerate(pieces)
    ]


def _shorten(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _middle_out(text: str, head: int, tail: int, context: int) -> str:
    if len(text) <= max(head + tail, context) + 40:  # nothing is gained by hiding a few words
        return text
    if not head and not tail:
        return _shorten(text, 80)
    before, after = (
        _whole_words(text[:head], from_end=False),
        _whole_words(text[len(text) - tail :], from_end=True),
    )
    return f"{before} … {after if tail else ''}".strip(" ")


def _whole_words(text: str, *, from_end: bool) -> str:
    """Drop the word that a cut went through, where that leaves anything."""
    kept = text.partition(" ")[2] if from_end else text.rpartition(" ")[0]
    return kept or text
