"""What judges answered: kept across runs, as long as any of them rests on it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from proctor.schema.results.manifest import RunSummary
from proctor.stores.base import AnswerRecord
from proctor.stores.sql import database
from proctor.stores.sql.store import SqlStore
from proctor.stores.sqlite.file import open_sqlite_store
from tests.stores.sample_runs import begun, opened, write_run

LONG = b'{"answer": "' + b"x" * 5_000 + b'"}'


def keep(store: SqlStore, run_id: str, **answers: bytes) -> None:
    """A run that asked a judge; an empty answer was known from before."""
    writer = begun(store, run_id)
    writer.put([AnswerRecord(key, answer) for key, answer in answers.items()])
    writer.finish(RunSummary(), complete=False)


@pytest.mark.slow
@pytest.mark.parametrize("answer", [b"{}", b'{"a": "\xc3\xbc"}', LONG], ids=["short", "UTF-8", "long"])
def test_answer_is_read_back_unchanged(store: SqlStore, answer: bytes) -> None:
    keep(store, "run1", key=answer)
    assert store.answer("key") == answer
    assert store.answer("other") is None


def test_an_answer_is_on_disk_with_what_is_put_after_it(path: Path) -> None:
    keep(opened(path), "run1", key=LONG)
    assert opened(path, read_only=True).answer("key") == LONG


def test_a_later_answer_takes_its_place_and_a_use_takes_none(store: SqlStore) -> None:
    keep(store, "run1", key=b"old")
    keep(store, "run2", key=b"new")
    keep(store, "run3", key=b"")
    assert store.answer("key") == b"new"


def test_an_answer_and_its_use_in_one_commit(store: SqlStore) -> None:
    writer = begun(store, "run1")
    writer.put([AnswerRecord("key", b"said"), AnswerRecord("other", b"said")])
    writer.put([AnswerRecord("key", b"")])
    writer.finish(RunSummary(), complete=False)
    assert store.answer("key") == store.answer("other") == b"said"


def test_an_answer_goes_with_the_last_run_that_rests_on_it(store: SqlStore) -> None:
    keep(store, "run1", shared=b"1", own=b"2")
    keep(store, "run2", shared=b"")
    store.delete(["run1"])
    assert (store.answer("shared"), store.answer("own")) == (b"1", None)
    store.delete(["run2"])
    assert store.answer("shared") is None


@pytest.mark.parametrize("change", ["body = X'7b7d'", "crc = crc + 1", "name = 'key'"])
def test_an_answer_that_is_not_what_was_written_is_none(path: Path, change: str) -> None:
    keep(opened(path), "run1", key=b'{"answer": 1}', lost=b'{"answer": 2}')
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("DELETE FROM answers WHERE name = 'key'" if "name" in change else "SELECT 1")
        where = "lost" if "name" in change else "key"
        raw.execute(f"UPDATE answers SET {change} WHERE name = '{where}'")
    assert opened(path).answer("key") is None


def test_a_store_of_before_gets_room_for_answers(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = database.schema_files()[:2]
    with monkeypatch.context() as earlier:
        earlier.setattr(database, "schema_files", lambda: before)
        with closing(open_sqlite_store(str(path))) as old:
            write_run(old, "run1")
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (2,)
    store = opened(path)
    keep(store, "run2", key=b"said")
    assert store.answer("key") == b"said"
    assert len(store.load("run1").cases) == 3
