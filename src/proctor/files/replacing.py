"""Files that are written piece by piece and are there whole, or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def new_file(path: Path) -> Iterator[TextIO]:
    """Open a text file that takes the place of `path` when it is complete and on disk; its folder is made.

    A crash at any moment, or an exception inside, leaves what was there before.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    target = path.resolve()  # a symbolic link stays one
    draft = target.with_name(f".{target.name[:180]}.{secrets.token_hex(6)}.tmp")
    try:
        with draft.open("x", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Make new names in a folder durable, where folders can be synced (not on Windows)."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
