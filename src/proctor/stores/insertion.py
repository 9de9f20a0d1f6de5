"""Rows into tables, many with one statement: each statement lets other threads run, and waiting for them costs more."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache
from typing import Any

_MOST = 64


@cache
def _statement(table: str, columns: str, conflict: str, rows: int) -> str:
    places = f"({', '.join('?' * (columns.count(',') + 1))})"
    return f"INSERT INTO {table} ({columns}) VALUES {', '.join([places] * rows)} {conflict}".rstrip()  # noqa: S608 - names of this room's own tables


def insert(
    connection: sqlite3.Connection,
    table: str,
    columns: str,
    rows: Sequence[tuple[Any, ...]],
    conflict: str = "",
) -> int:
    """Insert `rows`, and return how many were inserted or changed."""
    done, start = 0, 0
    while start < len(rows):
        count = min(
            _MOST, 1 << ((len(rows) - start).bit_length() - 1)
        )  # few lengths, so that statements are kept
        values = [value for row in rows[start : start + count] for value in row]
        done += connection.execute(_statement(table, columns, conflict, count), values).rowcount
        start += count
    return done
