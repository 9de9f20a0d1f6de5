"""Stores in memory: one database for each name, until the process ends."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import dataclass, field

from proctor.stores.sqlite import migrations
from proctor.stores.sqlite.connection import Connection

_lock = threading.Lock()
_databases: dict[str, Connection] = {}


class _Shared(Connection):
    """A connection that all stores of one name share: `close` leaves it open."""

    def close(self) -> None:
        pass


@dataclass(slots=True)
class Memory:
    """The database of a store in memory."""

    name: str
    warnings: list[str] = field(default_factory=list)

    def open(self) -> Connection:
        """Return the one connection of this name."""
        with _lock:
            if self.name not in _databases:
                _databases[self.name] = self._create_database()
            return _databases[self.name]

    def connect(self) -> Connection:
        """Return the same connection: a second one would be a second database."""
        return self.open()

    def check_place(self) -> None:
        """Do nothing: a store in memory cannot be deleted or replaced."""

    def close(self) -> None:
        """Leave the database open for a later store of the same name."""

    def _create_database(self) -> Connection:
        raw = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        raw.execute("BEGIN")
        migrations.bring_up_to_date(raw, 0)
        raw.execute("COMMIT")
        return _Shared(raw, self.name)
