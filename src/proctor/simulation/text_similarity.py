"""How alike two texts are, by their words: the same answer every time, and nobody is asked."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

__all__ = ["NEAR", "likeness"]

NEAR = 0.6
"""From here on two scenarios are taken for the same one in other words."""
_WORD = re.compile(r"\w+")


def likeness(one: str, other: str) -> float:
    """Return how much two texts share, from 0 to 1: of their words and pairs of neighbouring words, the share in both.

    Case, punctuation and blanks do not count; what stands twice counts twice (a Jaccard index of multisets). Two texts
    of ten words that differ in one have 0.73, the same request for another city and day about 0.4.
    """
    first, second = _features(one), _features(other)
    union = (first | second).total()
    return (first & second).total() / union if union else 1.0


def _features(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return Counter([*((word,) for word in words), *pairwise(words)])
