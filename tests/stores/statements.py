"""The statements that stores execute: on a server, each costs a round trip."""

import sqlite3
from typing import Any

import pytest


def executed_statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the statements of all stores that are opened from now on, in a list that grows as they are executed."""
    found: list[str] = []
    connect = sqlite3.connect

    def traced(*given: Any, **named: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*given, **named)
        connection.set_trace_callback(found.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    return found
