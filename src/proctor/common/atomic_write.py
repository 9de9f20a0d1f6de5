"""Atomic writes: a file is replaced as a whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def new_file(path: Path, *, errors: str = "strict") -> Iterator[TextIO]:
    """Open a text file (UTF-8, newlines as written) that takes the place of `path` when it is complete and on disk.

    After a crash or an exception inside the block, the previous file is unchanged. The mode of the file is preserved. A link
    remains a link, and its target is replaced. A pipe or a device is written directly. `errors` has the meaning of `open`,
    for characters that UTF-8 cannot encode.

    Raises:
        OSError: the file cannot be written or is read-only, or its folder does not exist.
    """
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", errors=errors, newline="\n") as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(13, "the file is read-only", str(target))
    # without tempfile, so that a new file gets the default mode
    draft = target.with_name(f".{target.name[:180]}.{secrets.token_hex(6)}.tmp")
    try:
        with draft.open("x", encoding="utf-8", errors=errors, newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            draft.chmod(mode)
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Make new names in a folder durable, where folders can be synced (not on Windows, nor on every network drive)."""
    if os.name == "nt":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # a folder to which files can be added, but not listed
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)
