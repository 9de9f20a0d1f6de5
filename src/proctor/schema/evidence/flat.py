"""Plain values under plain names, as most arguments of most calls are: what can be kept as it is, and how long it is."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["flat_size"]

_LONG = 2**63
_MOST = 64  # a dict of more entries is looked at one by one
_SMALL = frozenset({bool, type(None)})


def flat_size(given: dict[Any, Any]) -> int:
    """Count the characters of plain values under plain names; -1 for any other.

    Plain are short ASCII identifiers as keys, and as values ASCII texts without NUL, whole numbers of 63 bits, finite
    ones, true, false and null: any store holds them, and nothing in them can be changed.
    """
    if len(given) > _MOST:
        return -1
    size = 0
    for key, item in given.items():  # one loop for all questions: this runs for every call of every trial
        if type(key) is not str or not key.isidentifier():
            return -1
        kind = type(item)
        if kind is str:
            if not item.isascii() or "\0" in item:
                return -1
            size += len(item)
        elif kind is int:
            if not -_LONG < item < _LONG:
                return -1
        elif not (kind in _SMALL or (kind is float and math.isfinite(item))):
            return -1
        size += len(key)
    return size
