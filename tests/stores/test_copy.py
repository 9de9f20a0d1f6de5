"""Whole stores are copied: what comes out of the copy is what comes out of the source."""

import itertools
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import StoreError
from proctor.runs.importing.import_runs import copy_runs
from proctor.schema.results.manifest import RunAnnotation
from proctor.schema.results.run_result import Outcome
from proctor.stores.base import AnswerRecord
from proctor.stores.labels import StoredLabel, StoredLook
from proctor.stores.open import open_store_url
from proctor.stores.sql import database
from proctor.stores.sql.store import SqlStore
from tests.cli.project import in_this_process
from tests.stores.postgres.server import PostgresServer
from tests.stores.sample_runs import Heard, begun, manifest, opened, records, scoring, write_run

LOOK = StoredLook(cases=("h1",), alpha=0.05, budget=20, began_at=1.0)


def _fill(store: SqlStore) -> None:
    """Write runs of every state: finished, scored twice, repeated trials, labelled, unfinished, and one that is deleted."""
    write_run(store, "gone")
    write_run(store, "whole", cases=250)
    again = store.begin_scoring("whole", scoring(0.9), Heard())
    again.put([*records(0, value=0.2, outcome=Outcome.FAILED)[1:], AnswerRecord("key", b"answer")])
    again.close()
    store.label("whole", [StoredLabel(position=1, number=0, passes=True, note="good")])
    store.annotate("whole", RunAnnotation("release", "two lines\nof it", starred=True))
    unfinished = begun(store, "part")
    unfinished.put(records(0))
    unfinished.put(records(0, attempt=1))
    unfinished.close()
    store.delete(["gone"])
    store.record_look(LOOK, lambda _: None)


def _content(store: SqlStore) -> list[Any]:
    """Return everything that the contract shows of a store."""
    content: list[Any] = [
        store.answer("key"),
        store.looks(),
        store.calibrations(),
        store.index(),
        store.annotations(),
    ]
    for entry in store.index():
        run_id = entry.run_id
        scorings = store.scorings(run_id)
        content += [store.manifest(run_id), scorings, list(store.planned(run_id)), store.labels(run_id)]
        content += [list(store.attempts(run_id))]
        for number in range(1, len(scorings) + 1):
            content += [
                store.summary(run_id, number),
                store.standing(run_id, number),
                store.outcomes(run_id, number),
            ]
            content += [[repr(case) for case in store.load(run_id, number).cases]]
            content += [[(name, repr(case), case.reason) for name, case in store.verdicts(run_id, number)]]
    return content


@pytest.mark.slow
def test_copy_has_everything(store: SqlStore, postgres: PostgresServer, tmp_path: Path) -> None:
    _fill(store)
    with closing(open_store_url(postgres.new_url())) as on_server:
        assert isinstance(on_server, SqlStore)
        for source, target in itertools.pairwise([store, on_server, opened(tmp_path / "copy.db")]):
            copied = [target.copy_run(source, entry.run_id) for entry in reversed(source.index())]
            target.copy_calibrations_and_looks(source)
            assert copied == [True, True]
            assert _content(target) == _content(store)


@pytest.mark.slow
def test_copying_again_copies_only_what_is_new(tmp_path: Path) -> None:
    source, target = opened(tmp_path / "a.db"), opened(tmp_path / "b.db")
    _fill(source)
    url = str(tmp_path / "a.db")
    assert list(copy_runs(url, target)) == [("whole", True), ("part", True)]
    write_run(source, "later")
    assert list(copy_runs(url, target)) == [("whole", False), ("part", False), ("later", True)]
    assert target.looks() == [LOOK]
    assert [entry.run_id for entry in target.index()] == ["later", "part", "whole"]


@pytest.mark.slow
def test_copied_run_is_resumed_and_deleted(tmp_path: Path) -> None:
    source, target = opened(tmp_path / "a.db"), opened(tmp_path / "b.db")
    _fill(source)
    list(copy_runs(str(tmp_path / "a.db"), target))
    writer = target.resume("part", Heard())
    writer.put(records(1))
    writer.close()
    assert [case.outcome for case in target.load("part").cases] == [
        Outcome.PASSED,
        Outcome.PASSED,
        Outcome.NOT_RUN,
    ]
    target.delete(["whole", "part"])
    for table in ("documents", "answers", "trials", "labels"):
        assert target._database.rows(f"SELECT COUNT(*) FROM {table}") == [(0,)]


def test_another_run_of_the_same_id_is_refused(tmp_path: Path) -> None:
    source, target = opened(tmp_path / "a.db"), opened(tmp_path / "b.db")
    write_run(source)
    target.begin(manifest(cases=7), [], scoring(), Heard()).close()
    with pytest.raises(StoreError, match="has another run named run1"):
        target.copy_run(source, "run1")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE trials SET evidence = x'00' WHERE position = 2",
        "UPDATE scores SET scores = x'00' WHERE position = 2",
        "UPDATE verdicts SET verdict = '{}' WHERE position = 2",
        "UPDATE planned SET eval_id = 'x' WHERE position = 2",
        "UPDATE labels SET note = 'x'",
        "UPDATE documents SET body = x'00'",
        "UPDATE answers SET body = x'00'",
        "UPDATE judgings SET counts = '{}'",
        "UPDATE runs SET agent = 'x'",
        "DELETE FROM documents",
    ],
)
def test_damaged_run_is_not_copied(tmp_path: Path, change: str) -> None:
    source, target = opened(tmp_path / "a.db"), opened(tmp_path / "b.db")
    _fill(source)
    writer = source.resume("part", Heard())
    writer.put([AnswerRecord("key", b"answer")])
    writer.close()
    source.close()
    with sqlite3.connect(tmp_path / "a.db") as raw:
        assert raw.execute(change).rowcount
    raw.close()
    with pytest.raises(StoreError, match="is damaged"):
        list(copy_runs(str(tmp_path / "a.db"), target))
    rows = [target._database.rows(f"SELECT COUNT(*) FROM {table}") for table in ("trials", "documents")]
    assert rows == [[(0,)], [(0,)]] or len(target.index()) == 1


def test_rows_that_are_missing_are_reported_by_the_copy(tmp_path: Path) -> None:
    source, target = opened(tmp_path / "a.db"), opened(tmp_path / "b.db")
    write_run(source)
    source.close()
    with sqlite3.connect(tmp_path / "a.db") as raw:
        raw.execute("DELETE FROM trials WHERE position = 1")
    raw.close()
    with pytest.raises(StoreError, match="rows of run run1 are missing"):
        list(copy_runs(str(tmp_path / "a.db"), target))
    assert target.index() == []


def test_store_of_an_older_version_is_updated_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = database.schema_files()
    with monkeypatch.context() as earlier:
        earlier.setattr(database, "schema_files", lambda: files[:3])
        write_run(opened(tmp_path / "a.db"))
    with pytest.raises(StoreError, match=r"`proctor runs --store .*a\.db` updates them; then copy it"):
        list(copy_runs(str(tmp_path / "a.db"), opened(tmp_path / "b.db")))


@pytest.mark.slow
def test_command_imports_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _fill(opened(tmp_path / "a.db"))
    first, second = (in_this_process("import", "a.db", "--store", "b.db") for _ in range(2))
    assert [line.split()[0] for line in first.stdout.splitlines()] == ["whole", "part"]
    assert (first.returncode, first.stderr) == (0, "")
    assert (second.returncode, second.stdout) == (0, "")
    assert second.stderr == "a.db: 2 of its runs were here already\n"


def test_every_table_is_copied_or_counted() -> None:
    """A new table must be named in `copy.py`, in a module that it uses, or here with the reason."""
    from proctor.stores.sql import annotations, copy, media

    text = "".join(Path(str(module.__file__)).read_text() for module in (annotations, copy, media))
    tables = itertools.chain.from_iterable(
        [word.split("(")[0].strip() for word in sql.split("CREATE TABLE")[1:]]
        for _, sql in database.schema_files()
    )
    # a store has its own versions and totals; the tallies of members are in the totals of the run that is copied, which one
    # process resumes with its own limits; a batch of judges belongs to the store whose command waits for it
    # the row of a run is written as that of a new one (`insert_head`)
    counted = {"schema_versions", "totals", "members", "purses", "purse_parts", "judge_batches", "runs"}
    assert [
        name
        for name in tables
        if name not in counted and f'"{name}' not in text and f"FROM {name}" not in text
    ] == []
