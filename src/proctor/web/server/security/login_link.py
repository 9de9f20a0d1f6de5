"""The address with the token: on a terminal, else in a file that only the user can read, never in a log."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from proctor.errors import StoreError
from proctor.stores.sqlite.creating import make_folder

FOLDER = ".proctor"


@contextmanager
def login_file(root: Path, port: int, link: str) -> Iterator[Path | None]:
    """Keep `link` in a file of the project while the server runs; `None` if it cannot be written.

    The file is new, and only its owner can read it (0600). Whatever an earlier server left in its place is removed.
    """
    folder = root / FOLDER
    path = folder / f"web-{port}.url"
    try:
        make_folder(folder)
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{link}\n")
    except (OSError, StoreError):
        with suppress(OSError):
            path.unlink(missing_ok=True)
        yield None
        return
    try:
        yield path
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)
