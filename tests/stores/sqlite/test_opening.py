"""Which store a URL means, and which files are none: those are refused, named, and not touched."""

import errno
import hashlib
import os
import secrets
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from proctor.cli.eval import failed_cases
from proctor.common.registry import STORES
from proctor.errors import SetupError, StoreError, UnknownNameError
from proctor.runs.storage.lookup import EndedCases
from proctor.schema.results.manifest import Manifest, PlannedCase, RunRecord, ScoringManifest
from proctor.schema.results.run_result import Outcome
from proctor.stores.base import Store
from proctor.stores.open import open_store_url, sqlite_path
from proctor.stores.sql import database
from proctor.stores.sqlite.connection import APPLICATION_ID
from proctor.stores.sqlite.file import SqliteFile
from proctor.web.server.runs import repeat_run
from tests.stores.sample_runs import Heard, begun, opened, records, write_run

# --- URLs ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:runs.db", "runs.db"),
        ("sqlite:///runs.db", "runs.db"),
        ("sqlite:///sub/runs.db", "sub/runs.db"),
        ("sqlite:////srv/runs.db", "/srv/runs.db"),
        ("sqlite:/srv/runs.db", "/srv/runs.db"),
        ("SQLite:runs.db", "runs.db"),
        ("runs.db", "runs.db"),
        ("./odd:name.db", "./odd:name.db"),
        ("a b?c#d%20.db", "a b?c#d%20.db"),
        ("C:/runs.db", "C:/runs.db"),
        (r"C:\runs.db", r"C:\runs.db"),
        ("sqlite:///C:/runs.db", "C:/runs.db"),
        ("~/runs.db", str(Path("~/runs.db").expanduser())),
    ],
)
def test_the_file_that_a_url_means(url: str, path: str) -> None:
    assert sqlite_path(url) == Path(path)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("sqlite:", "names no file"),
        ("sqlite:///", "names no file"),
        ("", "names no file"),
        ("sqlite://host/runs.db", "names a host"),
        ("sqlite:///:memory:", "is called memory:"),
        (":memory:", "is called memory:"),
        ("runs\x00.db", "names no file"),
    ],
)
def test_a_url_that_names_no_file_is_refused(url: str, message: str) -> None:
    with pytest.raises(SetupError, match=message):
        open_store_url(url)


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("sqllite:///runs.db", "sqlite"),
        ("memry:", "memory"),
        ("akd:agents", "adk"),
        ("mongodb://host/db", None),
    ],
)
def test_an_unknown_scheme_is_refused_with_the_closest_one(url: str, meant: str | None) -> None:
    with pytest.raises(UnknownNameError) as raised:
        open_store_url(url)
    assert "No store scheme named" in str(raised.value)
    assert "Known: sqlite, postgres, postgresql, memory, adk (adk:DIR only takes results" in str(raised.value)
    assert ("Did you mean" in str(raised.value)) == (meant is not None)
    assert meant is None or f"Did you mean {meant!r}?" in str(raised.value)


class CloudStore(Store):
    """A store of another package, whose methods are those of a store in memory."""

    def __init__(self, url: str, *, read_only: bool) -> None:
        self.url, self.read_only = url, read_only
        self._store = open_store_url("memory:cloud")

    def record(self, run_id: str) -> RunRecord:
        return self._store.record(run_id)

    def manifest(self, run_id: str) -> Manifest:
        return self._store.manifest(run_id)

    def scorings(self, run_id: str) -> list[ScoringManifest]:
        return self._store.scorings(run_id)

    def planned(self, run_id: str, positions: Sequence[int] | None = None) -> Iterator[PlannedCase]:
        return self._store.planned(run_id, positions)

    def outcomes(self, run_id: str, scoring: int) -> dict[int, Outcome]:  # type: ignore[override]  # without a default
        return self._store.outcomes(run_id, scoring)


@pytest.fixture
def cloud() -> Iterator[None]:
    yield
    STORES.remove("cloud")


@pytest.mark.usefixtures("cloud")
def test_a_scheme_of_another_package_is_opened_by_it() -> None:
    STORES.add("cloud", CloudStore)
    store = open_store_url("cloud:bucket", read_only=True)
    assert isinstance(store, CloudStore)
    assert (store.url, store.read_only) == ("cloud:bucket", True)


@pytest.mark.usefixtures("cloud")
def test_a_store_of_another_package_reads_the_details_of_a_run_one_after_another() -> None:
    STORES.add("cloud", CloudStore)
    here = opened(Path("memory:cloud"))
    write_run(here)
    assert open_store_url("cloud:bucket").details("run1") == here.details("run1")


@pytest.mark.usefixtures("cloud")
@pytest.mark.parametrize(
    "read",
    [EndedCases.read, failed_cases._failed_cases_of_run, repeat_run._check_failures],
    ids=["bless", "--failed", "repeat"],
)
def test_outcomes_are_read_with_the_number_of_the_scoring(read: Callable[[Store, str], object]) -> None:
    STORES.add("cloud", CloudStore)
    write_run(opened(Path("memory:cloud")), run_id := secrets.token_hex(4))
    with suppress(SetupError):  # no case failed
        read(open_store_url("cloud:bucket"), run_id)


@pytest.mark.usefixtures("cloud")
def test_a_store_of_another_package_that_lacks_a_method_is_refused() -> None:
    STORES.add("cloud", lambda url, *, read_only: (url, read_only))
    with pytest.raises(
        SetupError, match=r"the store of the scheme 'cloud' lacks begin, .*details, .* another version"
    ):
        open_store_url("cloud:bucket")


# --- new files -----------------------------------------------------------------------------------------------------------


def test_a_store_is_made_with_its_folder_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "deep" / ".proctor" / "odd ?name#%.db"
    store = opened(path)
    write_run(store)
    store.close()
    store = opened(path)
    assert store.find("latest") == "run1"
    store.close()
    assert (path.parent / ".gitignore").read_text() == "*\n"
    assert sorted(file.name for file in path.parent.iterdir()) == [".gitignore", path.name]


def test_only_the_folder_that_is_ours_is_kept_out_of_git(tmp_path: Path) -> None:
    opened(tmp_path / "results" / "runs.db").close()
    assert [file.name for file in (tmp_path / "results").iterdir()] == ["runs.db"]


@pytest.mark.parametrize("links", [True, False], ids=["", "a file system without links"])
def test_of_two_processes_that_make_a_store_the_first_one_wins(
    path: Path, links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both saw that there was none; the other one has made it, and begun a run, in between."""

    def no_links(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "not supported")

    if not links:
        monkeypatch.setattr(os, "link", no_links)
    write_run(opened(path))
    SqliteFile(path, read_only=False)._make()
    assert opened(path).find("latest") == "run1"
    assert [file.name for file in path.parent.iterdir() if file.name.startswith(".")] == []


def test_a_store_has_its_mark_and_its_version(path: Path) -> None:
    opened(path).close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert connection.execute("PRAGMA user_version").fetchone() == (database.newest_version(),)
    assert [row[0] for row in connection.execute("SELECT version FROM schema_versions")] == [
        number for number, _ in database.schema_files()
    ]
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_the_numbered_files_are_plain_sql() -> None:
    numbers = [number for number, _ in database.schema_files()]
    assert numbers == list(range(1, len(numbers) + 1))
    for _, sql in database.schema_files():
        assert "PRAGMA" not in sql
        assert "WITHOUT ROWID" not in sql
        assert "AUTOINCREMENT" not in sql


def test_failed_migration_leaves_the_store_unchanged(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened(path)
    write_run(store)
    store.close()
    script = "CREATE TABLE later (id INTEGER PRIMARY KEY);\nINSERT INTO nowhere VALUES (1);\n"
    before = path.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(database, "schema_files", lambda: (*_FILES, (len(_FILES) + 1, script)))
        with pytest.raises(StoreError, match="no such table: nowhere"):
            opened(path)
    assert path.read_bytes() == before
    assert opened(path).find("latest") == "run1"


def test_a_store_of_an_older_version_is_brought_up_to_date(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(path)
    write_run(store)
    store.close()
    script = "CREATE TABLE later (id INTEGER PRIMARY KEY);\nINSERT INTO later (id) VALUES (1);\n"
    monkeypatch.setattr(database, "schema_files", lambda: (*_FILES, (len(_FILES) + 1, script)))
    store = opened(path)
    assert store._database.rows("SELECT id FROM later") == [(1,)]
    assert len(store.load("run1").cases) == 3
    store.close()
    opened(path).close()


_FILES = database.schema_files()


def test_old_sqlite_of_a_python_is_reported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(StoreError, match=r"needs SQLite 3\.35\.0 or newer, this Python has"):
        opened(path)


# --- files that are not a store ----------------------------------------------------------------------------------------------------


def _random_bytes(path: Path) -> None:
    path.write_bytes(hashlib.sha256(b"seed").digest() * 300)


def _of_another_application(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE runs (id); INSERT INTO runs VALUES (1);")
    connection.close()


def _of_another_application_with_a_mark(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript("PRAGMA application_id = 252006673; CREATE TABLE runs (id);")
    connection.close()


def _newer(path: Path) -> None:
    opened(path).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {database.newest_version() + 1}")
    connection.close()


def _cut_short(path: Path) -> None:
    opened(path).close()
    path.write_bytes(path.read_bytes()[:60])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_random_bytes, "this file is not a store"),
        (lambda path: path.write_text('{"eval_set_id": "a"}'), "this file is not a store"),
        (lambda path: path.write_bytes(b""), "this file is empty, not a store"),
        (_of_another_application, "a database of another application"),
        (_of_another_application_with_a_mark, "a database of another application"),
        (_newer, "written by a newer Proctor"),
        (_cut_short, "this file is not a store"),
        (lambda path: path.mkdir(), "expected a file for the store, this is a folder"),
    ],
    ids=["random", "json", "empty", "other application", "marked", "newer", "cut short", "folder"],
)
@pytest.mark.parametrize("read_only", [False, True])
def test_file_that_is_not_a_store_is_refused_and_unchanged(
    path: Path, make: Callable[[Path], object], message: str, read_only: bool
) -> None:
    make(path)
    before = _state(path)
    with pytest.raises(StoreError) as raised:
        opened(path, read_only=read_only)
    assert message in str(raised.value)
    assert str(path) in str(raised.value)
    assert _state(path) == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def _state(path: Path) -> object:
    return path.is_dir() or (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino)


def test_the_log_of_a_store_that_is_gone_is_not_mixed_into_a_new_one(path: Path) -> None:
    store = opened(path)
    writer = begun(store)
    writer.put(records(0))
    log = path.with_name(path.name + "-wal")
    kept = log.read_bytes()
    writer.close()
    store.close()
    path.unlink()
    log.write_bytes(kept)
    with pytest.raises(StoreError, match="belongs to a deleted store"):
        opened(path)
    assert not path.exists()
    assert log.read_bytes() == kept


def test_a_store_that_is_not_there_cannot_be_read(path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        opened(path, read_only=True)
    assert list(path.parent.iterdir()) == []


def test_file_in_the_place_of_a_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="file: expected a folder for the store, this is a file"):
        opened(tmp_path / "file" / "runs.db")


# --- reading only --------------------------------------------------------------------------------------------------------


def test_a_store_opened_for_reading_is_not_written(path: Path) -> None:
    store = opened(path)
    write_run(store, done=[0])
    store.close()
    before = path.read_bytes()
    store = opened(path, read_only=True)
    assert len(store.load("run1").cases) == 3
    for change in (
        lambda: begun(store, "run2"),
        lambda: store.resume("run1", Heard()),
        lambda: store.delete(["run1"]),
    ):
        with pytest.raises(StoreError, match="opened for reading only"):
            change()
    store.close()
    assert path.read_bytes() == before


def test_reader_sees_later_commits_of_a_writer(path: Path) -> None:
    store, heard = opened(path), Heard()
    writer = begun(store, heard=heard)
    reader = opened(path, read_only=True)
    for count in (1, 2):
        writer.put(records(count), count)
        heard.wait_for(count)
        assert len(reader.outcomes("run1", 1)) == count
    writer.close()


_AS_AN_ORDINARY_USER = """
import os, sys
sys.path[:0] = [{source!r}, {root!r}]
from pathlib import Path
from proctor.errors import StoreError
from proctor.stores.sqlite.file import open_sqlite_store
from tests.stores.sample_runs import opened, write_run
write_run(open_sqlite_store("memory:"))  # late imports: only root may read where Python is, at times
[one.trial for case in open_sqlite_store("memory:").load("run1").cases for one in case.trials]
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
path = Path({path!r})
try:
{body}
except StoreError as error:
    print("StoreError:", error)
"""


def _as_an_ordinary_user(path: Path, body: str, root: Path) -> str:
    """Return the output of a process that is not root, for any user of the tests."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    code = _AS_AN_ORDINARY_USER.format(source=str(root / "src"), root=str(root), path=str(path), body=lines)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


_SHOW = """
store = opened(path, read_only=True)
run = store.load("run1")
print([case.outcome.value for case in run.cases], [one.trial.eval_id for case in run.cases for one in case.trials])
"""
_SHOWN = "['passed', 'passed', 'not_run'] ['case_0', 'case_1']"


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder to which everybody finds the way; that of pytest itself is for its own user only."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        for one in folder.iterdir():
            one.chmod(0o755)


@pytest.fixture
def unwritable(place: Path) -> Path:
    """A store in a folder that may only be read."""
    path = place / "theirs" / "runs.db"
    store = opened(path)
    write_run(store, done=[0, 1])
    store.close()
    path.chmod(0o444)
    path.parent.chmod(0o555)
    return path


@pytest.mark.slow
def test_folder_without_permission_is_reported(place: Path, root: Path) -> None:
    (place / "theirs").mkdir(mode=0o700)
    (place / "theirs").chmod(0o000)
    output = _as_an_ordinary_user(place / "theirs" / "runs.db", "opened(path)", root)
    assert output.startswith(
        f"StoreError: {place / 'theirs' / 'runs.db'}: the store cannot be opened: Permission denied"
    )


@pytest.mark.slow
@pytest.mark.parametrize("where", ["folder", "file", "both"])
def test_a_store_that_cannot_be_written_is_refused_before_anything_is_run(
    unwritable: Path, root: Path, where: str
) -> None:
    if where == "file":
        unwritable.parent.chmod(0o777)
    if where == "folder":
        unwritable.parent.chmod(0o755)
        unwritable.chmod(0o666)
        unwritable.parent.chmod(0o555)
    output = _as_an_ordinary_user(unwritable, "opened(path)", root)
    assert output.startswith("StoreError:")
    assert "cannot be written" in output or "you may read and write them" in output
    assert str(unwritable.parent) in output


@pytest.mark.slow
def test_a_store_cannot_be_made_in_a_folder_that_is_not_ours(place: Path, root: Path) -> None:
    folder = place / "theirs"
    folder.mkdir()
    folder.chmod(0o555)
    output = _as_an_ordinary_user(folder / "runs.db", "opened(path)", root)
    assert output.startswith("StoreError:")
    assert "you may read and write them" in output
    folder.chmod(0o755)
    assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_a_store_that_cannot_be_written_can_be_read(unwritable: Path, root: Path) -> None:
    assert _as_an_ordinary_user(unwritable, _SHOW, root) == _SHOWN


@pytest.mark.slow
def test_store_with_an_active_writer_elsewhere_can_be_read(unwritable: Path, root: Path) -> None:
    unwritable.chmod(0o644)
    unwritable.parent.chmod(0o755)
    store = opened(unwritable)
    writer = store.resume("run1", Heard())
    unwritable.chmod(0o444)
    unwritable.parent.chmod(0o555)
    assert _as_an_ordinary_user(unwritable, _SHOW, root) == _SHOWN
    writer.close()


@pytest.mark.slow
def test_store_of_a_killed_writer_can_be_read_from_a_read_only_folder(place: Path, root: Path) -> None:
    """All of its runs are still in the log, and reading a log needs a second file in the folder."""
    path, left = place / "mine" / "runs.db", place / "left" / "runs.db"
    store, heard = opened(path), Heard()
    writer = begun(store, "later", heard=heard)
    writer.put(records(0), "token")
    heard.wait_for(1)
    left.parent.mkdir()
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{path}{suffix}", f"{left}{suffix}")
    writer.close()
    left.parent.chmod(0o555)
    before = {file.name: file.read_bytes() for file in left.parent.iterdir()}
    shown = _as_an_ordinary_user(left, _SHOW.replace("run1", "later"), root)
    assert shown == "['passed', 'not_run', 'not_run'] ['case_0']"
    assert {file.name: file.read_bytes() for file in left.parent.iterdir()} == before


@pytest.mark.slow
def test_file_without_permission_is_reported(unwritable: Path, root: Path) -> None:
    unwritable.chmod(0o000)
    assert "Permission denied" in _as_an_ordinary_user(unwritable, "opened(path, read_only=True)", root)


# --- file systems --------------------------------------------------------------------------------------------------------


def test_store_without_write_ahead_logging_works_with_a_warning(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system without shared memory: SQLite's `unix-dotfile` has none, either."""
    _without_shared_memory(monkeypatch)
    store = opened(path)
    write_run(store)
    assert [warning for warning in store.warnings if "write-ahead logging is not possible" in warning]
    assert len(store.load("run1").cases) == 3
    store.close()
    assert opened(path).find("latest") == "run1"


def test_a_store_in_write_ahead_mode_is_opened_where_that_is_not_possible(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(path)
    write_run(store)
    store.close()
    _without_shared_memory(monkeypatch)
    store = opened(path)
    assert len(store.warnings) == 1
    write_run(store, "run2")
    assert [run.run_id for run in store.runs()] == ["run2", "run1"]
    store.close()


def _without_shared_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.connect

    def elsewhere(name: str, **options: object) -> sqlite3.Connection:
        return connect(f"{name}&vfs=unix-dotfile" if options.get("uri") else name, **options)  # type: ignore[call-overload,no-any-return]  # handed on

    monkeypatch.setattr(sqlite3, "connect", elsewhere)


# --- a file system that is mounted read-only -----------------------------------------------------------------------------

_MOUNTED_READ_ONLY = """
import sys
sys.path[:0] = [{source!r}, {root!r}]
from pathlib import Path
from proctor.errors import StoreError
from tests.stores.sample_runs import opened
for path in map(Path, {paths!r}):
    for read_only in (False, True):
        try:
            store = opened(path, read_only=read_only)
            print([case.outcome.value for run in store.runs() for case in store.load(run.run_id).cases])
        except StoreError as error:
            print(error)
"""


def _mounted_read_only(folder: Path, code: str) -> list[str]:
    """Return the output of a process with `folder` mounted read-only, in a separate name space."""
    mounted = f"mount --bind '{folder}' '{folder}' && mount -o remount,ro,bind '{folder}'"
    if subprocess.run(["unshare", "-rm", "sh", "-c", mounted], capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    command = ["unshare", "-rm", "sh", "-c", f'{mounted} && exec "$0" -c "$1"', sys.executable, code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("unshare") is None, reason="only Linux has name spaces to mount in")
def test_store_on_a_read_only_file_system_is_readable_and_gives_the_reason(place: Path, root: Path) -> None:
    """One that was closed, one whose writer was killed and that has all in its log, and one that is not there."""
    closed, killed, none = place / "closed.db", place / "killed.db", place / "none.db"
    store = opened(closed)
    write_run(store, done=[0, 1])
    store.close()
    left, heard = opened(place / "left.db"), Heard()
    writer = begun(left, "later", heard=heard)
    writer.put(records(0), "token")
    heard.wait_for(1)
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{place / 'left.db'}{suffix}", f"{killed}{suffix}")
    writer.close()
    paths = [str(path) for path in (closed, killed, none)]
    code = _MOUNTED_READ_ONLY.format(source=str(root / "src"), root=str(root), paths=paths)
    refused = "the store cannot be written, its file system is mounted read-only."
    assert _mounted_read_only(place, code) == [
        f"{closed}: {refused} What is in it can be shown and exported; for what is new, name another with --store",
        "['passed', 'passed', 'not_run']",
        f"{killed}: {refused} What is in it can be shown and exported; for what is new, name another with --store",
        "['passed', 'not_run', 'not_run']",
        f"{none}: {refused} For what is new, name another with --store",
        f"{none}: there is no store. Nothing has been run with it yet; check the path",
    ]
