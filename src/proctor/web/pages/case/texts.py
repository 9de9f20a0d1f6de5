"""Text on a page: what an agent said, cut where it is longer than anybody reads, and two texts with what differs marked."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.reports.evidence import blocks
from proctor.reports.evidence.word_diff import elided, word_difference
from proctor.schema.results.page_model import PageModel

__all__ = ["MOST_TEXT", "Clip", "Marked", "Piece", "clip", "marked", "text_difference"]

MOST_TEXT = 20_000
"""Characters of one text that a page has; the evidence itself has all of them."""
_CONTEXT = 1_000


class Clip(PageModel):
    """A text, or its beginning."""

    text: str
    left_out: int
    """Characters beyond what is here."""


class Piece(PageModel):
    """A stretch of text; `changed` where the two sides differ in it."""

    text: str
    changed: bool


class Marked(PageModel):
    """A text in pieces."""

    pieces: list[Piece]
    left_out: int
    """Characters that gave way to `…`."""


def clip(text: str, most: int = MOST_TEXT) -> Clip:
    """Return a text of at most `most` characters."""
    return Clip(text=text[:most], left_out=max(0, len(text) - most))


def marked(pieces: Sequence[blocks.Piece]) -> Marked:
    """Return pieces for a page: whole, but where they are longer than anybody reads only what is around the changes."""
    total = sum(len(piece.text) for piece in pieces)
    kept = (
        list(pieces)
        if total <= MOST_TEXT
        else _bounded(elided(list(pieces), context=_CONTEXT, longest=MOST_TEXT))
    )
    left_out = total - sum(len(piece.text) for piece in kept)
    return Marked(
        pieces=[Piece(text=piece.text, changed=piece.changed) for piece in kept], left_out=max(0, left_out)
    )


def _bounded(pieces: Sequence[blocks.Piece]) -> list[blocks.Piece]:
    kept: list[blocks.Piece] = []
    room = 2 * MOST_TEXT
    for piece in pieces:
        if room <= 0:
            break
        kept.append(blocks.Piece(piece.text[:room], piece.changed))
        room -= len(piece.text)
    return kept


def text_difference(expected: str, actual: str) -> tuple[Marked, Marked]:
    """Return an expected and an actual text, with the words marked in which they differ."""
    wanted, made = word_difference(expected, actual)
    return marked(wanted), marked(made)
