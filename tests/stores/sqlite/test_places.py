"""Where a store may be, what is refused there, and what happens to it from outside."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from proctor.errors import SetupError, StoreError
from proctor.stores.open import open_store_url
from proctor.stores.sql.database import newest_version
from tests.stores.sample_runs import Heard, begun, opened, records, write_run

needs_posix = pytest.mark.skipif(os.name != "posix", reason="names and links as POSIX has them")


def _write_and_read(url: str) -> None:
    store = open_store_url(url)
    write_run(store)
    store.close()
    again = open_store_url(url, read_only=True)
    assert again.find("latest") == "run1"
    again.close()


def _files(folder: Path) -> set[str]:
    """Compare, except for the files that SQLite leaves in the folder of a file that was only read."""
    return {file.name for file in folder.iterdir() if not file.name.endswith(("-wal", "-shm"))}


ODD = [
    "a?b.db",
    "a#b.db",
    "a%20b.db",
    " a b ",
    "\u202egpj.db",
    "e\u0301.db",
    "a\nb.db",
    "'a\".db",
    "-a.db",
    "...",
    "d/../e.db",
]


@needs_posix
@pytest.mark.parametrize("name", [*ODD, pytest.param(os.fsdecode(b"\xff\xfe.db"), id="no text")])
def test_any_name_of_a_file_will_do(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    _write_and_read(name)
    assert _files(tmp_path) == {"d", Path(name).name}


@needs_posix
def test_a_path_may_begin_with_two_slashes(tmp_path: Path) -> None:
    _write_and_read(f"/{tmp_path}/runs.db")
    _write_and_read(f"sqlite:///{tmp_path}/others.db")
    assert _files(tmp_path) == {"runs.db", "others.db"}


def test_unknown_home_folder_is_reported() -> None:
    with pytest.raises(SetupError, match=r"unknown user 'no_such_user'\. .* \./~no_such_user/runs\.db"):
        open_store_url("~no_such_user/runs.db")


NO_FILES: dict[str, Callable[[Path], None]] = {
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a socket": lambda path: socket.socket(socket.AF_UNIX).bind(str(path)),
    "a device": lambda path: path.symlink_to("/dev/null"),
}


@needs_posix
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.timeout(20)
@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("what", NO_FILES)
def test_path_that_is_not_a_file_is_refused_at_once(tmp_path: Path, what: str, *, read_only: bool) -> None:
    path = tmp_path / "it"
    NO_FILES[what](path)
    with pytest.raises(StoreError, match=f"{path}: expected a file for the store, this is a (folder|device)"):
        open_store_url(str(path), read_only=read_only)


# --- links ---------------------------------------------------------------------------------------------------------------


@needs_posix
@pytest.mark.parametrize("there", [True, False], ids=["a store", "nothing yet"])
def test_link_leads_to_the_store_and_its_log_is_in_the_folder_of_the_store(
    tmp_path: Path, *, there: bool
) -> None:
    (tmp_path / "far").mkdir()
    path, link = tmp_path / "far" / "runs.db", tmp_path / "link.db"
    if there:
        opened(path).close()
    link.symlink_to(path)
    store = opened(link)
    writer = begun(store)
    direct = opened(path)
    assert direct.find("latest") == "run1"
    with pytest.raises(StoreError, match="is being worked on"):
        direct.resume("run1", Heard())
    writer.close()
    assert {file.name for file in tmp_path.iterdir()} == {"far", "link.db"}
    assert link.is_symlink()


@needs_posix
def test_behind_a_link_what_a_killed_writer_left_in_the_log_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, left, link = tmp_path / "runs.db", tmp_path / "left" / "runs.db", tmp_path / "link.db"
    store, heard = opened(path), Heard()
    writer = begun(store, heard=heard)
    writer.put(records(0), "token")
    heard.wait_for(1)
    left.parent.mkdir()
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{path}{suffix}", f"{left}{suffix}")
    writer.close()
    link.symlink_to(left)
    with monkeypatch.context() as patched:
        patched.setattr("proctor.stores.sqlite.file._connect", _as_where_nothing_can_be_written(left))
        shown = open_store_url(str(link), read_only=True)
    assert [case.outcome.value for case in shown.load("run1").cases] == ["passed", "not_run", "not_run"]
    shown.close()


def _as_where_nothing_can_be_written(path: Path) -> Callable[[Path, str], sqlite3.Connection]:
    """Open nothing at `path`: an existing second file in its folder cannot be used."""
    from proctor.stores.sqlite.file import _connect

    def connected(where: Path, how: str) -> sqlite3.Connection:
        if where == path and how == "mode=ro":
            raise sqlite3.OperationalError("attempt to write a readonly database")
        return _connect(where, how)

    return connected


def test_partial_commit_is_undone_in_a_read_only_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a write-ahead log (a network drive) the old pages are in a journal, and half of the new ones in the file."""
    path, left = tmp_path / "runs.db", tmp_path / "left" / "runs.db"
    store = opened(path)
    write_run(store, cases=50)
    store.close()
    left.parent.mkdir()
    raw = sqlite3.connect(path, isolation_level=None)
    for statement in ("PRAGMA journal_mode = DELETE", "PRAGMA cache_size = 1", "BEGIN IMMEDIATE"):
        raw.execute(statement)
    raw.execute("UPDATE trials SET evidence = zeroblob(5000)")
    for suffix in ("", "-journal"):
        shutil.copyfile(f"{path}{suffix}", f"{left}{suffix}")
    raw.execute("ROLLBACK")
    raw.close()
    monkeypatch.setattr("proctor.stores.sqlite.file._connect", _as_where_nothing_can_be_written(left))
    shown = open_store_url(str(left), read_only=True)
    assert [
        trial.trial.eval_id for case in shown.load("run1").cases for trial in case.trials if trial.trial
    ] == [f"case_{number}" for number in range(50)]
    shown.close()


def test_store_deleted_after_a_read_is_created_again(path: Path) -> None:
    """A process that only reads leaves an empty log."""
    write_run(opened(path))
    reader = open_store_url(str(path), read_only=True)
    assert list(reader.runs())
    opened(path).close()
    reader.close()
    path.unlink()
    path.with_name(f"{path.name}-wal").write_bytes(b"")
    assert list(opened(path).runs()) == []


# --- from outside --------------------------------------------------------------------------------------------------------


def test_store_changed_by_a_newer_proctor_is_not_written(path: Path) -> None:
    store, heard = opened(path), Heard()
    writer = begun(store, heard=heard)
    writer.put(records(0), "before")
    heard.wait_for(1)
    newer = sqlite3.connect(path, isolation_level=None)
    newer.execute("ALTER TABLE trials RENAME COLUMN evidence TO body")
    newer.execute(f"PRAGMA user_version = {newest_version() + 1}")
    writer.put(records(1), "after")
    heard.wait_for(2)
    with pytest.raises(StoreError, match="written by a newer Proctor"):
        store.resume("run1", Heard())
    writer.close()
    assert (heard.tokens, heard.failed) == (["before"], ["after"])
    assert newer.execute("SELECT COUNT(*) FROM trials").fetchone() == (1,)
    newer.close()
