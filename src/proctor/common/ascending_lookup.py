"""Look up values by ascending keys in a stream, of which only one value is in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

Value = TypeVar("Value")


class AscendingLookup(Generic[Value]):
    """The values of a stream of keys and values with ascending keys, for a caller that asks for ascending keys."""

    def __init__(self, items: Iterator[tuple[int, Value]]) -> None:
        """Read nothing yet."""
        self._items = items
        self._current: tuple[int, Value] | None = None

    def get(self, key: int) -> Value | None:
        """Return the value of `key`; `None` if the stream has none."""
        while self._current is None or self._current[0] < key:
            self._current = next(self._items, None)
            if self._current is None:
                return None
        return self._current[1] if self._current[0] == key else None
