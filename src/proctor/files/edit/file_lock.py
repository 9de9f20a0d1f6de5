"""One writer at a time: whoever reads a file, changes it and writes it back does so alone, in this process and others."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakValueDictionary

_guard = threading.Lock()


class _Turn:
    """What threads of this process take turns by."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


_turns: WeakValueDictionary[str, _Turn] = WeakValueDictionary()


@contextmanager
def alone_with(path: Path) -> Iterator[None]:
    """Be the only one who changes the files of the folder that `path` is in, among those who ask here.

    Other processes wait, too, where folders can be locked (not on Windows, nor on every network drive); an editor that
    asks nobody is noticed by what the file says.
    """
    folder = str(Path(os.path.realpath(path)).parent)
    with _guard:
        turn = _turns.setdefault(folder, _Turn())
    with turn.lock:
        handle = _locked(folder)
        try:
            yield
        finally:
            if handle is not None:
                os.close(handle)  # which gives the lock back


def _locked(folder: str) -> int | None:
    try:
        import fcntl
    except ImportError:
        return None
    handle: int | None = None
    try:
        handle = os.open(folder, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError:
        if handle is not None:
            os.close(handle)
        return None
    return handle
