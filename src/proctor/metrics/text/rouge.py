"""ROUGE: how many words, pairs of words, or words in order two texts share.

The definition is C.-Y. Lin's "ROUGE: A Package for Automatic Evaluation of Summaries" (2004) with the tokenizer of
google-adk: NFKC, lower case, one token per character in scripts that are written without spaces, and Porter stems
for ASCII words of more than three characters. ROUGE-1 ignores the order of words; ROUGE-2 compares pairs of
neighbours, and ROUGE-L the longest sequence that both texts have in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar
from unicodedata import category, normalize

from proctor.metrics.text.porter import stem

T = TypeVar("T")

CACHED_WORDS = 50_000
"""Enough for the vocabulary of a large run; about 8 MB."""

ASCII_WORD = re.compile("[a-z0-9]+")
# Chinese, Japanese and Korean: each character is a word.
SEPARATE = (range(0x4E00, 0xA000), range(0x3040, 0x3100), range(0xAC00, 0xD7B0))
# Thai, Lao, Khmer, Myanmar: each base character begins a word; marks and following characters belong to it.
UNSPACED = (range(0x0E00, 0x0E80), range(0x0E80, 0x0F00), range(0x1780, 0x1800), range(0x1000, 0x10A0))


class Rouge(NamedTuple):
    """ROUGE of a candidate against a reference; each figure is between 0 and 1."""

    precision: float
    """The part of the candidate's words (pairs, sequence) that the reference has."""
    recall: float
    """The part of the reference's words (pairs, sequence) that the candidate has."""
    fmeasure: float
    """The harmonic mean of both."""


def words(text: str) -> list[str]:
    """Return the words of `text` as they are written, in lower case; as many as `tokenize` returns."""
    if text.isascii():
        return ASCII_WORD.findall(text.lower())
    return "".join(map(_separate, normalize("NFKC", text).lower())).split()


def tokenize(text: str) -> list[str]:
    """Return the words of `text` as ROUGE counts them; empty for a text without letters and digits."""
    return stems(words(text))


def stems(words: Iterable[str]) -> list[str]:
    """Return each word as ROUGE counts it: ASCII words of more than three characters by their Porter stem."""
    return [*map(_token, words)]


@lru_cache(CACHED_WORDS)
def _token(word: str) -> str:
    return stem(word) if len(word) > 3 and word.isascii() else word


def rouge_1(reference: str, candidate: str) -> Rouge:
    """Return ROUGE-1 of `candidate` against `reference`; all zero if either has no words."""
    return rouge_n(tokenize(reference), tokenize(candidate), 1)


def rouge_n(expected: Sequence[Hashable], actual: Sequence[Hashable], n: int) -> Rouge:
    """Return ROUGE-N of two lists of tokens: the runs of `n` tokens that both have; all zero if either is shorter."""
    if n > 1:
        expected, actual = ngrams(expected, n), ngrams(actual, n)
    return _figures(_count_shared(expected, actual), len(expected), len(actual))


def rouge_l(expected: Sequence[Hashable], actual: Sequence[Hashable]) -> Rouge:
    """Return ROUGE-L of two lists of tokens: the longest sequence that both have in order, with others in between."""
    return _figures(longest_common(expected, actual), len(expected), len(actual))


def longest_common(expected: Sequence[Hashable], actual: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence."""
    last = (1 << len(expected)) - 1
    for last in _rows(expected, actual):  # noqa: B007 - only the last row is needed
        pass
    return len(expected) - last.bit_count()


def common_sequence(expected: Sequence[Hashable], actual: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return a longest common subsequence as pairs of positions; of several, always the same one.

    Takes |expected| × |actual| bits of memory.
    """
    rows = [*_rows(expected, actual)]
    pairs = []
    i, j = len(expected), len(actual)
    while i and j:
        if rows[j - 1] >> (i - 1) & 1:
            i -= 1
            continue
        j -= 1
        if not j or rows[j - 1] >> (i - 1) & 1:
            i -= 1
            pairs.append((i, j))
    return pairs[::-1]


def _rows(expected: Sequence[Hashable], actual: Sequence[Hashable]) -> Iterator[int]:
    """Yield for each prefix of `actual` a number with a 0 at each position of `expected` where the common length grows.

    The bit-vector algorithm of H. Hyyrö, "Bit-parallel LCS-length computation revisited" (2004): |actual| steps over
    numbers of |expected| bits.
    """
    places: dict[Hashable, int] = {}
    for index, token in enumerate(expected):
        places[token] = places.get(token, 0) | 1 << index
    row = all_ones = (1 << len(expected)) - 1
    for token in actual:
        if here := row & places.get(token, 0):
            row = (row + here | row - here) & all_ones
        yield row


def ngrams(tokens: Sequence[T], n: int) -> list[tuple[T, ...]]:
    """Return the runs of `n` neighbours, in their order."""
    return [*zip(*(tokens[start:] for start in range(n)), strict=False)]


def _figures(shared: int, expected: int, actual: int) -> Rouge:
    if not shared:
        return Rouge(0.0, 0.0, 0.0)
    precision, recall = shared / actual, shared / expected
    return Rouge(precision, recall, 2 * precision * recall / (precision + recall))


def _count_shared(expected: Iterable[Hashable], actual: Iterable[Hashable]) -> int:
    """Count the items that both have, each as often as it occurs in both."""
    left: dict[Hashable, int] = {}
    for word in expected:
        left[word] = left.get(word, 0) + 1
    shared = 0
    for word in actual:
        if count := left.get(word):
            left[word] = count - 1
            shared += 1
    return shared


@lru_cache(CACHED_WORDS)
def _separate(character: str) -> str:
    code = ord(character)
    if any(code in block for block in SEPARATE):
        return f" {character} "
    is_mark = category(character).startswith("M")
    if not is_mark and any(code in block for block in UNSPACED):
        return f" {character}"
    return character if is_mark or character.isalnum() else " "
