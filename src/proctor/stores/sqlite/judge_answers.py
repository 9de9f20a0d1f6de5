"""Answers of judges in a SQLite store: each is paid for once, however often a run is scored again."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Mapping

from proctor.stores.sqlite.bulk_insert import insert
from proctor.stores.sqlite.connection import Connection
from proctor.stores.sqlite.encoding import PACKED_FROM, checksum, pack, unpack

_NEWER = "ON CONFLICT (name) DO UPDATE SET crc = excluded.crc, body = excluded.body"


class AnsweringStore:
    """The part of a store that has to do with answers of judges."""

    _connection: Connection

    def answer(self, key: str) -> bytes | None:
        """Return what is kept under `key`; `None` where nothing is, or nothing sound: then it is asked for again."""
        row = self._connection.row("SELECT crc, body FROM answers WHERE name = ?", (key,))
        if row is None or row[0] != checksum(f"answer/{key}", row[1]):
            return None
        try:
            return unpack(row[1])
        except zlib.error:
            return None


def write_answers(raw: sqlite3.Connection, run: int, found: Mapping[str, bytes]) -> None:
    """Keep answers, within a transaction; an empty one is there already, and the run rests on it, too."""
    rows = [
        (name, checksum(f"answer/{name}", stored), stored)
        for name, body in found.items()
        if body and (stored := pack(body, PACKED_FROM))
    ]
    insert(raw, "answers", "name, crc, body", rows, _NEWER)
    uses = [(run, name) for name in found]
    insert(raw, "answer_uses", "run, answer", uses, "ON CONFLICT (run, answer) DO NOTHING")
