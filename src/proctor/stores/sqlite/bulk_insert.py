"""Rows into tables, many with one statement: each statement lets other threads run, and waiting for them costs more."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

_MOST = 64

Row = tuple[Any, ...]


@cache
def _statement(table: str, columns: str, conflict: str, rows: int) -> str:
    places = f"({', '.join('?' * (columns.count(',') + 1))})"
    return f"INSERT INTO {table} ({columns}) VALUES {', '.join([places] * rows)} {conflict}".rstrip()  # noqa: S608 - names of this room's own tables


def insert(
    connection: sqlite3.Connection,
    table: str,
    columns: str,
    rows: Sequence[Row],
    conflict: str = "",
) -> int:
    """Insert `rows`, and return how many were inserted or changed."""
    return sum(_insert(connection, table, columns, some, conflict) for some in _pieces(rows))


def insert_or(
    connection: sqlite3.Connection,
    table: str,
    columns: str,
    rows: Sequence[Row],
    instead: Callable[[Row], bool],
) -> list[Row]:
    """Insert `rows`; if some exist already, `instead` handles each and returns whether it was new.

    Returns those that were new. What a statement that fails has done is undone by SQLite; elsewhere it would take a
    savepoint.
    """
    new: list[Row] = []
    for some in _pieces(rows):
        try:
            _insert(connection, table, columns, some, "")
            new += some
        except sqlite3.IntegrityError:
            new += [row for row in some if instead(row)]
    return new


def _insert(
    connection: sqlite3.Connection, table: str, columns: str, rows: Sequence[Row], conflict: str
) -> int:
    values = [value for row in rows for value in row]
    return connection.execute(_statement(table, columns, conflict, len(rows)), values).rowcount


def _pieces(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Cut into few different lengths, so that statements are kept."""
    start = 0
    while start < len(rows):
        count = min(_MOST, 1 << ((len(rows) - start).bit_length() - 1))
        yield rows[start : start + count]
        start += count
