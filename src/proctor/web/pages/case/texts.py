"""Texts on a page: long ones are cut, and the differences between two texts are marked."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.reports.evidence import blocks
from proctor.reports.evidence.word_diff import elide, word_difference
from proctor.schema.format.wire_model import PageModel

__all__ = ["MOST_TEXT", "Clip", "Marked", "Piece", "clip", "marked_pieces", "text_difference"]

MOST_TEXT = 20_000
"""The characters of one text that a page contains; the evidence has all of them."""
_CONTEXT = 1_000


class Clip(PageModel):
    """A text or, if it is long, its beginning."""

    text: str
    left_out: int
    """The number of characters that were cut."""


class Piece(PageModel):
    """A piece of text; `changed`: the two sides differ here."""

    text: str
    changed: bool


class Marked(PageModel):
    """A text in pieces."""

    pieces: list[Piece]
    left_out: int
    """The number of characters that `…` replaces."""


def clip(text: str, most: int = MOST_TEXT) -> Clip:
    """Return a text of at most `most` characters."""
    return Clip(text=text[:most], left_out=max(0, len(text) - most))


def marked_pieces(pieces: Sequence[blocks.Piece]) -> Marked:
    """Return the page's model of pieces; if they are long, only the text around the changes."""
    total = sum(len(piece.text) for piece in pieces)
    kept = (
        list(pieces)
        if total <= MOST_TEXT
        else _truncate(elide(list(pieces), context=_CONTEXT, longest=MOST_TEXT))
    )
    left_out = total - sum(len(piece.text) for piece in kept)
    return Marked(
        pieces=[Piece(text=piece.text, changed=piece.changed) for piece in kept], left_out=max(0, left_out)
    )


def _truncate(pieces: Sequence[blocks.Piece]) -> list[blocks.Piece]:
    kept: list[blocks.Piece] = []
    room = 2 * MOST_TEXT
    for piece in pieces:
        if room <= 0:
            break
        kept.append(blocks.Piece(piece.text[:room], piece.changed))
        room -= len(piece.text)
    return kept


def text_difference(expected: str, actual: str) -> tuple[Marked, Marked]:
    """Return an expected and an actual text with the differing words marked."""
    left, right = word_difference(expected, actual)
    return marked_pieces(left), marked_pieces(right)
