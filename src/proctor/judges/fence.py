"""Fences: what others wrote stands between lines that it cannot contain, and nowhere else.

The instructions (the metric's prompt, what the fence looks like, the number of the ballot) are the system message; they
are put together from our own texts only. The material is the user message: every passage between two lines that carry
a token of 128 random bits, drawn for this call and compared with the material, so that nothing in it can end its
passage, begin another, or reach the instructions. Texts are joined, never filled into templates: braces, percent signs
and the like stay what they are.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence

from proctor.judges.base import Passage

__all__ = ["fenced", "new_token", "read_fenced"]

_HALF = re.compile("[\ud800-\udfff]")
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ,.'()/_-]{0,79}")


def new_token(passages: Sequence[Passage], draw: Callable[[], str] = lambda: secrets.token_hex(16)) -> str:
    """Return a random token that no passage contains, in whatever case of its letters."""
    while True:
        token = draw()
        if not any(token in passage.text.casefold() for passage in passages):
            return token


def fenced(passages: Sequence[Passage], token: str) -> str:
    """Return the passages, each within its fence, one after the other.

    Half a character, which no request can carry, becomes U+FFFD; else every text is as it came.

    Raises:
        ValueError: a label that may not stand outside a fence, or a token that a passage contains.
    """
    pieces = []
    for passage in passages:
        if not _LABEL.fullmatch(passage.label):
            raise ValueError(f"no label for a passage: {passage.label!r}")
        if token in passage.text.casefold():
            raise ValueError("the material contains the token of its fence")
        text = _HALF.sub("\ufffd", passage.text)
        pieces.append(f"{_opening(passage.label, token)}\n{text}\n{_closing(passage.label, token)}")
    return "\n\n".join(pieces)


def read_fenced(text: str, token: str) -> list[Passage]:
    """Return the passages of a text that `fenced` made: what stands inside, and that nothing stands outside.

    Raises:
        ValueError: the text is not of that form.
    """
    found = []
    rest = text
    while rest:
        opening = re.match(rf"<<<BEGIN {token} ({_LABEL.pattern})>>>\n", rest)
        if opening is None:
            raise ValueError("something stands outside the fences")
        label = opening[1]
        inside, closing, rest = rest[opening.end() :].partition(f"\n{_closing(label, token)}")
        if not closing or (rest and not rest.startswith("\n\n")):
            raise ValueError("a passage does not end where it should")
        found.append(Passage(label, inside))
        rest = rest.removeprefix("\n\n")
    return found


def _opening(label: str, token: str) -> str:
    return f"<<<BEGIN {token} {label}>>>"


def _closing(label: str, token: str) -> str:
    return f"<<<END {token} {label}>>>"
