"""Open a store in a SQLite file or in memory."""

from __future__ import annotations

import sqlite3

from proctor.errors import StoreError
from proctor.stores.artefacts import Artefacts
from proctor.stores.open import split_url, sqlite_path
from proctor.stores.sql.database import Place
from proctor.stores.sql.store import SqlStore
from proctor.stores.sqlite.file import Memory, SqliteFile

_OLDEST = (3, 35, 0)
"""The first SQLite that has `RETURNING`."""


def open_store(url: str, *, read_only: bool = False, artefacts: str = "") -> SqlStore:
    """Open `sqlite:///PATH`, `sqlite:PATH`, a bare path, or `memory:NAME`, whose artefacts are in memory, too.

    Raises:
        SetupError: the URL names no place.
        StoreError: the store cannot be used; it has not been touched.
    """
    if sqlite3.sqlite_version_info < _OLDEST:
        raise StoreError(
            f"{url}: the store needs SQLite {'.'.join(map(str, _OLDEST))} or newer, this Python has {sqlite3.sqlite_version}"
        )
    scheme, rest = split_url(url)
    if scheme == "memory":
        place: Place = Memory(f"memory:{rest}")
    else:
        place = SqliteFile(sqlite_path(url), read_only, artefacts=Artefacts(artefacts))
    return SqlStore(url, place, read_only=read_only)
