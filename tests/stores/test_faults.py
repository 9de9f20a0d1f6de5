"""A disk that fills up, a store that is deleted or replaced under a run: the run hears of it, and what was there stays."""

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import StoreError
from proctor.schema.results.manifest import RunSummary
from proctor.schema.results.run_result import Outcome
from proctor.stores.sql import leases, run_state
from proctor.stores.sql.store import SqlStore
from proctor.stores.sqlite.connection import Connection
from tests.stores.sample_runs import Heard, begun, opened, records


def _fill(store: SqlStore, heard: Heard, *, cases: int, size: int = 0) -> str:
    """Write a run, one commit a case; return the error message if it could not be finished, else an empty text."""
    try:
        writer = begun(store, cases=cases, heard=heard)
    except StoreError as error:
        return str(error)
    for position in range(cases):
        writer.put(records(position, size=size), position)
        heard.wait_for(position + 1)
    try:
        writer.finish(RunSummary(outcome=Outcome.PASSED, counts={"passed": cases}), complete=True)
    except StoreError as error:
        return str(error)
    return ""


def _see_that_it_is_sound(path: Path, acknowledged: list[object]) -> None:
    """Exactly what was acknowledged is there, whole; and what is left can be done now."""
    store = opened(path)
    assert store._database.rows("PRAGMA integrity_check") == [("ok",)]
    if not list(store.runs()):
        assert acknowledged == []
        return
    run = store.load("run1")
    done = [i for i, case in enumerate(run.cases) if case.outcome is Outcome.PASSED]
    assert done == acknowledged
    assert all(case.trials[0].trial is not None for case in run.cases if case.trials)
    writer = store.resume("run1", Heard())
    for position in set(range(len(run.cases))) - set(done):
        writer.put(records(position))
    writer.finish(RunSummary(outcome=Outcome.PASSED), complete=True)
    assert store.load("run1").counts == {Outcome.PASSED: len(run.cases)}
    store.close()


# --- disk full -----------------------------------------------------------------------------------------------------------

_LIMITED = """
import json, resource, sys
sys.path[:0] = [{source!r}, {root!r}]
from pathlib import Path
from tests.stores.sample_runs import Heard, opened
from tests.stores.test_faults import _fill
store, heard = opened(Path({path!r})), Heard()
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
said = _fill(store, heard, cases=40, size=3000)
print(json.dumps([said, heard.tokens, heard.failed]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits of this kind")
@pytest.mark.parametrize("limit", [40_000, 150_000, 300_000])
def test_a_file_that_may_not_grow_ends_the_run_and_keeps_what_was_there(
    path: Path, root: Path, limit: int
) -> None:
    opened(path).close()
    code = _LIMITED.format(source=str(root / "src"), root=str(root), path=str(path), limit=limit)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    message, acknowledged, refused = json.loads(done.stdout.splitlines()[-1])
    assert str(path) in message
    assert "disk" in message
    assert acknowledged == list(range(len(acknowledged)))
    assert not refused or refused == list(range(len(acknowledged), 40))
    _see_that_it_is_sound(path, acknowledged)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if (
        shutil.which("mount") is None
        or subprocess.run(mount, capture_output=True, check=False).returncode != 0
    ):
        pytest.skip("a small disk cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.slow
def test_a_disk_that_fills_up_ends_the_run_and_keeps_what_was_there(
    small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, heard = small_disk / "runs.db", Heard()
    store = opened(path)
    message = _fill(store, heard, cases=400, size=3000)
    assert str(path) in message
    assert "disk is full" in message
    assert "proctor resume" in message
    assert 0 < len(heard.tokens) < 400
    assert heard.tokens + heard.failed == list(range(400))
    run = store.load("run1")  # on the full disk still
    assert [case.outcome for case in run.cases[: len(heard.tokens)]] == [Outcome.PASSED] * len(heard.tokens)
    assert run.counts[Outcome.NOT_RUN] == 400 - len(heard.tokens)
    for suffix in ("", "-wal"):
        if Path(f"{path}{suffix}").exists():
            shutil.copyfile(f"{path}{suffix}", f"{tmp_path / 'larger.db'}{suffix}")
    # the last page of the disk decides whether the run could be released, or is free when its lease has ended
    for module in (run_state, leases):
        monkeypatch.setattr(module, "held_by", lambda *_: None)
    _see_that_it_is_sound(tmp_path / "larger.db", heard.tokens)


class _Failing(sqlite3.Connection):
    """A connection of which one statement fails."""

    left = -1

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        if _counts(sql):
            _Failing.left -= 1
            if _Failing.left == 0:
                error = sqlite3.OperationalError("database or disk is full")
                error.sqlite_errorname = "SQLITE_FULL"
                raise error
        return super().execute(sql, *values)


def _counts(sql: str) -> bool:
    return sql.startswith(("INSERT", "UPDATE", "COMMIT", "DELETE"))


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **options: connect(*a, factory=_Failing, **options))


@pytest.mark.slow
@pytest.mark.usefixtures("failing")
@pytest.mark.parametrize(("cases", "least"), [(4, 20), pytest.param(30, 200, marks=pytest.mark.nightly)])
def test_whichever_write_fails_nothing_is_half_written(tmp_path: Path, cases: int, least: int) -> None:
    """Every write of a run fails once, the first, the second … until a run needs no more."""
    for n in range(1, 1000):
        path, heard = tmp_path / f"{n}.db", Heard()
        store = opened(path)
        _Failing.left = n
        message = _fill(store, heard, cases=cases)
        reached, _Failing.left = _Failing.left <= 0, -1
        store.close()
        assert bool(message) == reached, f"write {n}: {message}"
        if not reached:
            break
        assert "the disk is full" in message
        _see_that_it_is_sound(path, heard.tokens)
    else:
        pytest.fail("there was always one more write")
    print(f"each of {n - 1} writes has failed once")
    assert n > least


# --- taken away ----------------------------------------------------------------------------------------------------------


def _replace(path: Path) -> None:
    other = opened(path.with_name("other.db"))
    other.close()
    path.with_name("other.db").replace(path)


def _folder_gone(path: Path) -> None:
    shutil.rmtree(path.parent)


@pytest.mark.skipif(
    sys.platform == "win32", reason="on Windows a file in use can be neither deleted nor replaced"
)
@pytest.mark.parametrize(
    ("take", "message"),
    [
        (lambda path: path.unlink(), "the store was deleted while it was in use"),
        (lambda path: path.rename(path.with_name("moved.db")), "the store was deleted while it was in use"),
        (_replace, "the store was replaced by another file while it was in use"),
        (_folder_gone, "the store was deleted while it was in use"),
    ],
    ids=["deleted", "moved", "replaced", "folder deleted"],
)
def test_a_store_that_is_taken_away_is_noticed_at_the_next_commit(
    tmp_path: Path, take: Callable[[Path], object], message: str
) -> None:
    path, heard = tmp_path / "folder" / "runs.db", Heard()
    store = opened(path)
    writer = begun(store, heard=heard)
    writer.put(records(0), "before")
    heard.wait_for(1)
    take(path)
    writer.put(records(1), "after")
    writer.put(records(2), "later")
    with pytest.raises(StoreError, match=message):
        writer.finish(RunSummary(), complete=True)
    assert (heard.tokens, heard.failed) == (["before"], ["after", "later"])
    with pytest.raises(StoreError, match=message):
        begun(store, "another")


def test_failure_of_a_writer_is_reported_for_every_token_and_at_the_end(path: Path) -> None:
    heard = Heard()
    store = opened(path)
    writer = begun(store, heard=heard)
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE verdicts")
    connection.close()
    for token in range(3):
        writer.put(records(token), token)
    with pytest.raises(StoreError, match="no such table: verdicts"):
        writer.finish(RunSummary(), complete=True)
    assert (heard.tokens, heard.failed) == ([], [0, 1, 2])
    writer.put(records(0), "too late")
    with pytest.raises(StoreError, match="no such table: verdicts"):
        writer.finish(RunSummary(), complete=True)


def test_a_word_that_cannot_be_passed_on_does_not_stop_the_writer(path: Path) -> None:
    """The listener of commits may be gone: the writer still writes every record."""
    store = opened(path)

    def gone(tokens: object, error: Exception | None) -> None:
        raise RuntimeError("listener is gone")

    writer = begun(store, heard=gone)  # type: ignore[arg-type]  # a listener of another kind
    for position in range(3):
        writer.put(records(position), position)
    writer.finish(RunSummary(), complete=True)
    assert store.load("run1").counts == {Outcome.PASSED: 3}


def test_use_of_a_closed_store_is_an_error(path: Path) -> None:
    store = opened(path)
    store.close()
    with pytest.raises(StoreError, match="the store has been closed"):
        list(store.runs())


def test_a_connection_held_by_another_process_is_waited_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Longer than SQLite itself waits."""
    monkeypatch.setattr("proctor.stores.sqlite.file.PATIENCE", 0.01)
    store, heard = opened(path), Heard()
    writer = begun(store, heard=heard)
    other = Connection(sqlite3.connect(path, isolation_level=None), "other")
    with other.transaction():
        writer.put(records(0), "token")
        assert heard.calls == []
    heard.wait_for(1)
    assert heard.tokens == ["token"]
    writer.close()
    other.close()
