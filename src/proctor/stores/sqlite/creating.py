"""A new store's file: written whole under a name of its own, then given its name, by one process only."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from proctor.common.atomic_write import sync_folder
from proctor.errors import StoreError
from proctor.stores.sqlite import migrations

_PAGE = 4096  # a commit writes whole pages, and evidence is compressed to less


def write_empty_store(path: Path) -> None:
    """Write a store without runs."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute(f"PRAGMA page_size = {_PAGE}")
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        migrations.bring_up_to_date(connection, 0)
        connection.execute("COMMIT")
    finally:
        connection.close()


def put_in_place(new: Path, path: Path) -> None:
    """Give the file its name, unless another process was first."""
    try:
        os.link(new, path)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        with _alone(path):
            if path.exists():
                return
            new.rename(path)
    sync_folder(path.parent)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let one at a time give a store its name: by a lock such as SQLite needs there anyway, which ends with its process."""
    lock = path.with_name(f".{path.name}.lock")
    with _NAMING, lock.open("wb") as file:
        with suppress(ImportError, OSError):  # Windows, which renames nothing to a name that is taken
            import fcntl

            fcntl.lockf(file, fcntl.LOCK_EX)
        yield
        with suppress(OSError):  # whoever waits for it finds the store afterwards
            lock.unlink()


_NAMING = threading.Lock()
"""Locks of files are held against other processes, not against threads."""


def make_folder(folder: Path) -> None:
    """Make the folder of a store where it is not there.

    Raises:
        StoreError: a file is in its place.
    """
    if folder.is_dir():
        return
    if folder.exists():
        raise StoreError(f"{folder}: expected a folder for the store, this is a file")
    folder.mkdir(parents=True, exist_ok=True)
    if folder.name == ".proctor":  # what was run here is no source
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
