"""Looks at held-out cases in a store: counted before the test, checked, and kept when runs are deleted."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from proctor.errors import NoLooksLeftError, StoreError
from proctor.stores.labels import StoredLook
from proctor.stores.sql import database
from proctor.stores.sql.store import SqlStore
from proctor.stores.sqlite.file import open_sqlite_store
from tests.stores.sample_runs import write_run

LOOKS = [StoredLook(cases=("a", "b"), alpha=0.05, budget=20, began_at=1.5), StoredLook(cases=("b",), alpha=0.01, budget=3, began_at=2.0)]  # fmt: skip


def _accept(_earlier: Sequence[StoredLook]) -> None:
    """Accept any earlier looks."""


def test_looks_return_in_order_and_each_check_receives_the_earlier_ones(store: SqlStore) -> None:
    seen: list[list[StoredLook]] = []
    for look in LOOKS:
        store.record_look(look, lambda earlier: seen.append([*earlier]))
    assert seen == [[], LOOKS[:1]]
    assert store.looks() == LOOKS


def test_a_refused_look_is_not_stored(store: SqlStore) -> None:
    store.record_look(LOOKS[0], _accept)

    def refuse(_earlier: Sequence[StoredLook]) -> None:
        raise NoLooksLeftError("used up")

    with pytest.raises(NoLooksLeftError):
        store.record_look(LOOKS[1], refuse)
    assert store.looks() == LOOKS[:1]
    store.record_look(LOOKS[1], _accept)
    assert store.looks() == LOOKS


def test_looks_remain_when_runs_are_deleted(store: SqlStore) -> None:
    write_run(store, "run1")
    store.record_look(LOOKS[0], _accept)
    store.delete(["run1"])
    assert store.looks() == LOOKS[:1]


def test_a_store_that_is_for_reading_only_takes_no_look(path: Path) -> None:
    open_sqlite_store(str(path)).close()
    reading = open_sqlite_store(str(path), read_only=True)
    with pytest.raises(StoreError, match="reading only"):
        reading.record_look(LOOKS[0], _accept)
    reading.close()


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param("UPDATE looks SET look = replace(look, '0.05', '0.5') WHERE seq = 1", id="another alpha"),
        pytest.param("DELETE FROM looks WHERE seq = 1", id="the first is lost"),
        pytest.param("DELETE FROM looks WHERE seq = 2", id="the last is lost"),
        pytest.param("UPDATE totals SET value = 1 WHERE name = 'looks'", id="another number of looks"),
    ],
)  # fmt: skip
def test_damaged_looks_are_noticed_and_no_look_is_added(path: Path, damage: str) -> None:
    store = open_sqlite_store(str(path))
    for look in LOOKS:
        store.record_look(look, _accept)
    with sqlite3.connect(path) as raw:
        raw.execute(damage)
    with pytest.raises(StoreError, match="damaged: a look at held-out cases"):
        store.looks()
    with pytest.raises(StoreError, match="damaged"):
        store.record_look(LOOKS[0], _accept)
    store.close()


def test_a_store_of_an_earlier_version_has_no_looks_and_takes_them_after_an_upgrade(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier_files = database.schema_files()[:3]
    with monkeypatch.context() as earlier:
        earlier.setattr(database, "schema_files", lambda: earlier_files)
        open_sqlite_store(str(path)).close()
    reading = open_sqlite_store(str(path), read_only=True)
    assert reading.looks() == []
    reading.close()
    store = open_sqlite_store(str(path))
    store.record_look(LOOKS[0], _accept)
    assert store.looks() == LOOKS[:1]
    store.close()
