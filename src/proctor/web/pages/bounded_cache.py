"""A cache of bounded size for values that take long to make."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

_Value = TypeVar("_Value")


class BoundedCache(Generic[_Value]):
    """The values that were used last. Any thread may use it.

    The sizes of the values add up to `limit` at most; a value that is larger is not stored.
    """

    def __init__(self, limit: int) -> None:
        """`limit`: in the unit of the sizes that `get` receives: bytes, or a number of values."""
        self._limit = limit
        self._entries: OrderedDict[Hashable, tuple[_Value, int, object]] = OrderedDict()
        self._making: dict[Hashable, Lock] = {}
        self._total = 0
        self._lock = Lock()

    def get(
        self,
        key: Hashable | None,
        make: Callable[[], _Value],
        size: Callable[[_Value], int] = lambda _: 1,
        *,
        stamp: object = None,
    ) -> _Value:
        """Return the value of `key` if it was stored with the same `stamp`, else what `make` returns.

        Without a key nothing is stored. If several threads request the same key at once, one of them makes the value.
        """
        if key is None:
            return make()
        with self._lock:
            making = self._making.setdefault(key, Lock())
        with making:
            try:
                with self._lock:
                    entry = self._entries.get(key)
                    if entry is not None and entry[2] == stamp:
                        self._entries.move_to_end(key)
                        return entry[0]
                value = make()
                self._store(key, value, size(value), stamp)
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return value

    def forget(self, key: Hashable) -> None:
        """Remove a value."""
        with self._lock:
            self._remove(key)

    def _store(self, key: Hashable, value: _Value, size: int, stamp: object) -> None:
        with self._lock:
            self._remove(key)
            if size > self._limit:
                return
            self._entries[key] = value, size, stamp
            self._total += size
            while self._total > self._limit:
                self._remove(next(iter(self._entries)))

    def _remove(self, key: Hashable) -> None:
        if (entry := self._entries.pop(key, None)) is not None:
            self._total -= entry[1]
