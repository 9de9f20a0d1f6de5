"""What people write about runs: stored apart from the run, replaced, copied, deleted with it, and checked."""

import sqlite3
from pathlib import Path

import pytest

from proctor.errors import StoreError, UnknownNameError
from proctor.schema.results.manifest import RunAnnotation
from proctor.stores.open import open_store_url
from proctor.stores.sql import database
from proctor.stores.sql.store import SqlStore
from tests.stores.sample_runs import write_run

FIRST = RunAnnotation("release 1.4", "two lines\nof a note", starred=True)


def test_an_annotation_is_replaced_and_an_empty_one_removed(store: SqlStore) -> None:
    write_run(store, "run1")
    write_run(store, "run2")
    assert store.annotations() == {}
    store.annotate("run1", FIRST)
    store.annotate("run2", RunAnnotation(starred=True))
    assert store.annotations() == {"run1": FIRST, "run2": RunAnnotation(starred=True)}
    store.annotate("run1", RunAnnotation("other"))
    store.annotate("run2", RunAnnotation())
    assert store.annotations() == {"run1": RunAnnotation("other")}


def test_the_run_stays_as_it_was(store: SqlStore) -> None:
    write_run(store, "run1")
    before = (store.record("run1"), store.manifest("run1"), list(store.attempts("run1")))
    store.annotate("run1", FIRST)
    assert (store.record("run1"), store.manifest("run1"), list(store.attempts("run1"))) == before


def test_it_is_deleted_with_the_run(store: SqlStore) -> None:
    write_run(store, "run1")
    store.annotate("run1", FIRST)
    store.delete(["run1"])
    assert store.annotations() == {}
    with pytest.raises(UnknownNameError, match="run1"):
        store.annotate("run1", FIRST)


def test_a_store_that_is_opened_for_reading_shows_it_and_does_not_change(path: Path) -> None:
    with_run(path)
    reading = open_store_url(f"sqlite:{path}", read_only=True)
    assert reading.annotations() == {"run1": FIRST}
    with pytest.raises(StoreError, match="for reading only"):
        reading.annotate("run1", RunAnnotation())


def test_a_store_of_an_older_version_has_none(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = database.schema_files()
    monkeypatch.setattr(database, "schema_files", lambda: files[:10])
    store = open_store_url(f"sqlite:{path}")
    write_run(store, "run1")
    store.close()
    monkeypatch.undo()
    assert open_store_url(f"sqlite:{path}", read_only=True).annotations() == {}


def test_a_damaged_one_is_reported_and_hides_no_run(path: Path) -> None:
    with_run(path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE run_annotations SET note = 'x'")
    assert "damaged" in open_store_url(f"sqlite:{path}", read_only=True).annotations()["run1"].note


def with_run(path: Path) -> None:
    store = open_store_url(f"sqlite:{path}")
    write_run(store, "run1")
    store.annotate("run1", FIRST)
    store.close()
