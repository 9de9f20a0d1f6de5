"""The store's schema: numbered SQL files, applied in order, each in the same transaction as its number."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from functools import cache

from proctor.errors import StoreError

APPLICATION_ID = 0x50524354  # "PRCT", in the header of every store


@cache
def files() -> tuple[tuple[int, str], ...]:
    """Return every version with its SQL, in order."""
    from importlib.resources import files as resources

    found = [
        (int(file.name.partition("_")[0]), file.read_text(encoding="utf-8"))
        for file in resources("proctor.stores.sqlite").joinpath("schema").iterdir()
        if file.name.endswith(".sql")
    ]
    return tuple(sorted(found))


def newest() -> int:
    """Return the version that this code writes."""
    return files()[-1][0]


def check(version: int, name: str) -> None:
    """See that this code knows a store's version.

    Raises:
        StoreError: a newer Proctor wrote it.
    """
    if version > newest():
        raise StoreError(
            f"{name}: written by a newer Proctor (its store has version {version}, this one knows up to {newest()}). "
            "Update Proctor, or name another store with --store; it was not touched"
        )


def bring_up_to_date(connection: sqlite3.Connection, version: int) -> None:
    """Apply what came after `version`, within the transaction that is open."""
    for number, sql in files():
        if number > version:
            for statement in statements(sql):
                connection.execute(statement)
            connection.execute(
                "INSERT INTO schema_versions (version, applied_at) VALUES (?, ?)", (number, time.time())
            )
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {newest()}")


def statements(sql: str) -> Iterator[str]:
    """Split a script; sqlite3's own `executescript` would commit what is open."""
    held = ""
    for line in sql.splitlines(keepends=True):
        held += line
        if sqlite3.complete_statement(held):
            yield held
            held = ""
    if held.strip():
        yield held
