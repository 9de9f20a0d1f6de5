"""Stores in memory: one database for each name, for as long as the process lives."""

from __future__ import annotations

import sqlite3
import threading

from proctor.common.quick_dataclasses import dataclass, field
from proctor.stores.sqlite import migrations
from proctor.stores.sqlite.connection import Connection

_lock = threading.Lock()
_databases: dict[str, Connection] = {}


class _Shared(Connection):
    """A connection that everybody has in common: letting go of it leaves it open."""

    def close(self) -> None:
        pass


@dataclass(slots=True)
class Memory:
    """The place of a store in memory."""

    name: str
    warnings: list[str] = field(default_factory=list)

    def open(self) -> Connection:
        """Return the one connection of this name."""
        with _lock:
            if self.name not in _databases:
                _databases[self.name] = self._made()
            return _databases[self.name]

    def connect(self) -> Connection:
        """Return the same one: another would be another database."""
        return self.open()

    def check_place(self) -> None:
        """Nobody can take it away."""

    def close(self) -> None:
        """Leave it for whoever opens the same name later."""

    def _made(self) -> Connection:
        raw = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        raw.execute("BEGIN")
        migrations.bring_up_to_date(raw, 0)
        raw.execute("COMMIT")
        return _Shared(raw, self.name)
