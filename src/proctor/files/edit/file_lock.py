"""Serialise writers: only one at a time reads a file, changes it and writes it back, in this process and in others."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakValueDictionary

_guard = threading.Lock()


class _FolderLock:
    """The lock of one folder for the threads of this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


_locks: WeakValueDictionary[str, _FolderLock] = WeakValueDictionary()


@contextmanager
def lock_folder(path: Path) -> Iterator[None]:
    """Exclude other users of this function from changing the files of the folder of `path`.

    Other processes wait, too, if the system can lock folders (not on Windows, and not on every network drive). An editor
    does not use this lock; its changes are detected by comparing the file's content.
    """
    folder = str(Path(os.path.realpath(path)).parent)
    with _guard:
        lock = _locks.setdefault(folder, _FolderLock())
    with lock.lock:
        handle = _lock_for_processes(folder)
        try:
            yield
        finally:
            if handle is not None:
                os.close(handle)  # releases the lock


def _lock_for_processes(folder: str) -> int | None:
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
