"""Which files this process has open in SQLite: nobody else in it may open and close one of them.

On POSIX systems a process loses all its locks on a file as soon as it closes any descriptor of it, be it one that was
opened to read a few bytes (https://www.sqlite.org/howtocorrupt.html, 2.2). Another process then takes the store for
unused, folds its log up, and what this one reads of it is torn.
"""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path

_counts: Counter[tuple[int, int]] = Counter()
_lock = threading.Lock()


class InUse:
    """One connection's claim to a file, from before it is opened until after it is closed."""

    def __init__(self, path: Path, look: Callable[[], None] | None = None) -> None:
        """Claim the file at `path`. `look`, which may open and close it, is called only where nobody here has it open."""
        found = path.stat()
        key = found.st_dev, found.st_ino
        with _lock:
            if look is not None and not _counts[key]:
                look()
            _counts[key] += 1
        self._end = weakref.finalize(self, _let_go, key)

    def end(self) -> None:
        """Give it up; once more changes nothing."""
        self._end()


def _let_go(key: tuple[int, int]) -> None:
    with _lock:
        _counts[key] -= 1
        if _counts[key] <= 0:
            del _counts[key]
