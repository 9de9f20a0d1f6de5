"""Count the statements that stores execute: on a server, each costs a round trip."""

import re
import sqlite3
from collections import Counter
from typing import Any

import pytest


def counted_statements(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Return a counter of the statements of all stores that are opened from now on, by their first word."""
    found: Counter[str] = Counter()
    connect = sqlite3.connect

    def counting(*given: Any, **named: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*given, **named)
        connection.set_trace_callback(lambda sql: found.update(re.findall(r"\w+", sql)[:1]))
        return connection

    monkeypatch.setattr(sqlite3, "connect", counting)
    return found
