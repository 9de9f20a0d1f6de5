"""ROUGE-1: how many words two texts share.

The definition is C.-Y. Lin's "ROUGE: A Package for Automatic Evaluation of Summaries" (2004) with the tokenizer that
google-adk puts before it: NFKC, lower case, one token per character in scripts that are written without spaces, and
Porter stems for ASCII words of more than three characters. It sees a bag of words: their order does not count.
"""

from __future__ import annotations

from typing import NamedTuple
from unicodedata import category, normalize

from proctor.metrics.porter import stem

__all__ = ["Rouge", "rouge_1", "tokenize", "words"]

CACHED_WORDS = 50_000
"""Enough for the vocabulary of a large run; about 8 MB. A full cache starts again from nothing."""

# Chinese, Japanese and Korean: each character is a word of its own.
SEPARATE = (range(0x4E00, 0xA000), range(0x3040, 0x3100), range(0xAC00, 0xD7B0))
# Thai, Lao, Khmer, Myanmar: each base character begins a word; marks, and whatever follows, stay with it.
UNSPACED = (range(0x0E00, 0x0E80), range(0x0E80, 0x0F00), range(0x1780, 0x1800), range(0x1000, 0x10A0))


class Rouge(NamedTuple):
    """ROUGE-1 of a candidate against a reference; each figure is between 0 and 1."""

    precision: float
    """The part of the candidate's words that the reference has."""
    recall: float
    """The part of the reference's words that the candidate has."""
    fmeasure: float
    """The harmonic mean of both."""


class _Characters(dict[int, str]):
    """What the tokenizer makes of each character, worked out once per character (a table for `str.translate`)."""

    def __missing__(self, code: int) -> str:
        if len(self) >= CACHED_WORDS:
            self.clear()
        made = self[code] = _spaced(code)
        return made


class _Stems(dict[str, str]):
    """The token of each word, worked out once per word."""

    def __missing__(self, word: str) -> str:
        if len(self) >= CACHED_WORDS:
            self.clear()
        made = self[word] = stem(word) if len(word) > 3 and word.isascii() else word
        return made


_characters = _Characters()
_stems = _Stems()


def words(text: str) -> list[str]:
    """The words of `text` as they are written, in lower case; as many as `tokenize` gives."""
    if not text.isascii():
        text = normalize("NFKC", text)
    return text.lower().translate(_characters).split()


def tokenize(text: str) -> list[str]:
    """The words of `text` as ROUGE counts them; empty for a text without letters and digits."""
    return [*map(_stems.__getitem__, words(text))]


def rouge_1(reference: str, candidate: str) -> Rouge:
    """ROUGE-1 of `candidate` against `reference`; all zero where either has no words."""
    expected, actual = tokenize(reference), tokenize(candidate)
    if not expected or not actual:
        return Rouge(0.0, 0.0, 0.0)
    shared = _shared(expected, actual)
    if not shared:
        return Rouge(0.0, 0.0, 0.0)
    precision, recall = shared / len(actual), shared / len(expected)
    return Rouge(precision, recall, 2 * precision * recall / (precision + recall))


def _shared(expected: list[str], actual: list[str]) -> int:
    """How many words both have, each counted as often as it occurs in both."""
    left: dict[str, int] = {}
    for word in expected:
        left[word] = left.get(word, 0) + 1
    shared = 0
    for word in actual:
        if count := left.get(word):
            left[word] = count - 1
            shared += 1
    return shared


def _spaced(code: int) -> str:
    character = chr(code)
    if any(code in block for block in SEPARATE):
        return f" {character} "
    is_mark = category(character).startswith("M")
    if not is_mark and any(code in block for block in UNSPACED):
        return f" {character}"
    return character if is_mark or character.isalnum() else " "
