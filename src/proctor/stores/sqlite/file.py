"""A store in a SQLite file, which is created completely and checked before it is changed."""

from __future__ import annotations

import os
import secrets
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile
from urllib.parse import quote

from proctor.common.atomic_write import sync_folder
from proctor.errors import StoreError
from proctor.stores.artefacts import Artefacts
from proctor.stores.open import split_url, sqlite_path
from proctor.stores.sql.database import StoreLocation, check_version, newest_version
from proctor.stores.sql.store import SqlStore
from proctor.stores.sqlite.connection import (
    APPLICATION_ID,
    PATIENCE,
    TRIES,
    Connection,
    InUse,
    Memory,
    begin_to_write,
    connect_to,
    is_waiting,
    migrate_tables,
    sqlite_errors,
)

_MAGIC = b"SQLite format 3\x00"
_BESIDE = ("-wal", "-journal")
_MOMENT = 0.01
"""Seconds until a switch of the journal is tried again."""


@dataclass(slots=True)
class SqliteFile:
    """The file of a store."""

    path: Path
    read_only: bool
    name: str = field(init=False)
    """The name in messages: the path as the user wrote it."""
    warnings: list[str] = field(default_factory=list)
    artefacts: Artefacts = field(default_factory=Artefacts)
    _identity: tuple[int, int] | None = None
    _copy: tempfile.TemporaryDirectory[str] | None = None

    def __post_init__(self) -> None:
        """Resolve the path now: code under test may change the working folder or the target of a link."""
        self.name = str(self.path)
        self.path = _real(self.path)

    def open(self) -> Connection:
        """Open the file for the first time; create it if it does not exist and writing is allowed.

        Raises:
            StoreError: the file cannot be used; it has not been changed.
        """
        with _system_errors(self.name):
            if self.path.exists() and not self.path.is_file():  # opening a pipe would block for ever
                what = "a folder" if self.path.is_dir() else "a device, a pipe or the like"
                raise StoreError(f"{self.name}: expected a file for the store, this is {what}")
            if not self.read_only and _is_mounted_read_only(self.path):
                note = "What is in it can be shown and exported; for" if self.path.exists() else "For"
                raise StoreError(
                    f"{self.name}: the store cannot be written, its file system is mounted read-only. {note} what is "
                    "new, name another with --store"
                )
            if not self.path.exists():
                self._make()
            in_use = InUse(self.path, self._check_header)
            self._identity = _identity_of(self.path)
        try:
            with sqlite_errors(self.name):
                return self._open_for_reading(in_use) if self.read_only else self._open_whole(in_use)
        except BaseException:
            in_use.end()
            raise

    def _open_whole(self, in_use: InUse) -> Connection:
        connection = self._open_for_writing()
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return Connection(connection, self.name, in_use=in_use, artefacts=self.artefacts)

    def connect(self) -> Connection:
        """Open one more connection for writing."""
        with _system_errors(self.name):
            in_use = InUse(self.path)
        try:
            with sqlite_errors(self.name):
                return Connection(
                    self._open_for_writing(), self.name, in_use=in_use, artefacts=self.artefacts
                )
        except BaseException:
            in_use.end()
            raise

    def check_place(self) -> None:
        """Check that the file is still the one that was opened.

        Raises:
            StoreError: the file was deleted or replaced.
        """
        try:
            there = _identity_of(self.path)
        except OSError:
            raise StoreError(
                f"{self.name}: the store was deleted while it was in use; everything written after that is lost"
            ) from None
        if there != self._identity:
            raise StoreError(f"{self.name}: the store was replaced by another file while it was in use")

    def close(self) -> None:
        """Delete the temporary copy, if one was made for reading."""
        if self._copy is not None:
            self._copy.cleanup()

    # --- a new one ---------------------------------------------------------------------------------------------------

    def _make(self) -> None:
        """Write the complete file under another name first, so that no reader sees half a store."""
        if self.read_only:
            raise StoreError(
                f"{self.name}: there is no store. Nothing has been run with it yet; check the path"
            )
        for suffix in self._logs():  # a process that only reads leaves an empty one
            # another process may create the store at this moment: its file exists before its log does
            if not self.path.exists():
                raise StoreError(
                    f"{_sibling(self.path, suffix)}: belongs to a deleted store. "
                    f"Put {self.path.name} back, or delete this file"
                )
        make_folder(self.path.parent)
        new = self.path.with_name(f".{self.path.name}.{os.getpid()}-{secrets.token_hex(4)}")
        try:
            with sqlite_errors(self.name):
                write_empty_store(new)
            name_new_file(new, self.path)
        finally:
            # SQLite leaves the journal if the draft could not be written
            for draft in (new, _sibling(new, "-journal")):
                with suppress(OSError):
                    draft.unlink()

    # --- one that is there -------------------------------------------------------------------------------------------

    def _check_header(self) -> None:
        with self.path.open("rb") as file:
            header = file.read(100)
        if not header:
            raise StoreError(
                f"{self.name}: this file is empty, not a store. Delete it, or name another with --store"
            )
        if not header.startswith(_MAGIC) or len(header) < 100:
            raise StoreError(
                f"{self.name}: this file is not a store. Name another with --store; the file was not changed"
            )
        if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
            raise StoreError(
                f"{self.name}: this is a database of another application. Name another with --store; the file was not changed"
            )
        check_version(int.from_bytes(header[60:64], "big"), self.name)

    def _open_for_writing(self) -> sqlite3.Connection:
        connection = _connect(self.path, "mode=rw")
        try:
            self._choose_journal(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA temp_store = MEMORY")
        except BaseException:
            connection.close()
            raise
        return connection

    def _choose_journal(self, connection: sqlite3.Connection) -> None:
        """Use write-ahead logging if the file system supports it, otherwise the plain journal with a warning."""
        try:
            mode = _log_ahead(connection)
        except sqlite3.OperationalError as error:
            if not _is_about_shared_memory(error):
                raise
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
            connection.execute("PRAGMA locking_mode = NORMAL")
            connection.execute("SELECT COUNT(*) FROM totals").fetchone()
        if mode != "wal" and not self.warnings:
            self.warnings.append(
                f"{self.name}: write-ahead logging is not possible on this file system; the store works without it, slower"
            )

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Check that the file can be written, and migrate its schema to the newest version."""
        if not os.access(self.path.parent, os.W_OK):
            raise StoreError(
                f"{self.path.parent}: this folder cannot be written, and a store needs files next to its own. "
                "Make it writable, or name another with --store"
            )
        begin_to_write(connection)
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            check_version(version, self.name)
            if version < newest_version():
                migrate_tables(connection, version)
                connection.execute("COMMIT")
            else:  # BEGIN alone proves nothing: SQLite allows it also on a file that is read-only
                connection.execute("UPDATE totals SET value = value")
                connection.execute("ROLLBACK")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    # --- only to be read ---------------------------------------------------------------------------------------------

    def _open_for_reading(self, in_use: InUse) -> Connection:
        """Open the file for reading, even if its folder cannot be written."""
        try:
            return Connection(
                self._read(self.path, "mode=ro"), self.name, in_use=in_use, artefacts=self.artefacts
            )
        except sqlite3.OperationalError:
            if not self._logs():
                raw = self._read(self.path, "mode=ro&immutable=1")
                return Connection(raw, self.name, in_use=in_use, artefacts=self.artefacts)
        return Connection(
            self._read(self._copy_with_logs(), "mode=rw"), self.name, in_use=in_use, artefacts=self.artefacts
        )

    def _read(self, path: Path, how: str) -> sqlite3.Connection:
        connection = _connect(path, how)
        try:
            check_version(connection.execute("PRAGMA user_version").fetchone()[0], self.name)
            connection.execute("SELECT COUNT(*) FROM totals").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def _copy_with_logs(self) -> Path:
        """Copy a store whose log cannot be read in place: reading it requires a file next to it."""
        self._copy = tempfile.TemporaryDirectory(prefix="proctor-")
        copy = Path(self._copy.name, "store.sqlite3")
        copyfile(self.path, copy)
        for suffix in self._logs():
            copyfile(_sibling(self.path, suffix), _sibling(copy, suffix))
        return copy

    def _logs(self) -> list[str]:
        """Return the files next to the store that belong to its content: a writer is active, or was killed."""
        beside = ((suffix, _sibling(self.path, suffix)) for suffix in _BESIDE)
        return [suffix for suffix, log in beside if log.exists() and log.stat().st_size]


def _connect(path: Path, how: str) -> sqlite3.Connection:
    connection = connect_to(f"file:{quote(os.fsencode(path))}?{how}", uri=True, timeout=PATIENCE)
    connection.text_factory = str
    connection.execute("PRAGMA trusted_schema = OFF")  # a store may come from an untrusted source
    return connection


def _log_ahead(raw: sqlite3.Connection) -> str:
    """Switch to write-ahead logging, and return the kind of journal that there is then.

    Of processes that switch a new store at once SQLite turns all but one away, without waiting at all.
    """
    until = time.monotonic() + PATIENCE * TRIES
    while True:
        try:
            mode: str = raw.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if not is_waiting(error) or time.monotonic() >= until:
                raise
            time.sleep(_MOMENT)
        else:
            return mode


def _real(path: Path) -> Path:
    """Return the target of a path through all links, whether or not it exists."""
    if os.name != "posix":
        return path.absolute()
    return Path("/", os.path.realpath(path).lstrip("/"))  # SQLite reads a host name after two slashes


def _sibling(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _is_mounted_read_only(path: Path) -> bool:
    """Return whether the file system is read-only for every user; SQLite would only report an I/O error."""
    if not hasattr(os, "statvfs"):  # Windows
        return False
    there = next(one for one in (path, *path.parents) if one.exists())
    return bool(os.statvfs(there).f_flag & os.ST_RDONLY)


def _identity_of(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_dev, stat.st_ino


def _is_about_shared_memory(error: sqlite3.OperationalError) -> bool:
    name = getattr(error, "sqlite_errorname", "") or ""
    return name.startswith(("SQLITE_IOERR_SHM", "SQLITE_PROTOCOL", "SQLITE_CANTOPEN", "SQLITE_IOERR_LOCK"))


class _system_errors:  # noqa: N801 - reads as the context manager that it is
    """Turn an error of the operating system into a `StoreError`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise StoreError(
                f"{self._name}: the store cannot be opened: {error.strerror or error}. "
                "Check that the file and its folder exist and that you may read and write them."
            ) from error


# --- A new store's file: written completely under a temporary name, then renamed, by one process only -----------------


_PAGE = 4096  # a commit writes whole pages, and compressed evidence is smaller


def write_empty_store(path: Path) -> None:
    """Write a store without runs."""
    connection = connect_to(path)
    try:
        connection.execute(f"PRAGMA page_size = {_PAGE}")
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        migrate_tables(connection, 0)
        connection.execute("COMMIT")
    finally:
        connection.close()


def name_new_file(new: Path, path: Path) -> None:
    """Give the new file its final name, unless another process has created the store already."""
    try:
        os.link(new, path)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        with _naming_lock(path):
            if path.exists():
                return
            new.rename(path)
    sync_folder(path.parent)


@contextmanager
def _naming_lock(path: Path) -> Iterator[None]:
    """Exclude other processes while a store gets its name, by a file lock, which ends with its process."""
    lock = path.with_name(f".{path.name}.lock")
    with _NAMING, lock.open("wb") as file:
        with suppress(ImportError, OSError):  # Windows, where a rename to an existing name fails
            import fcntl

            fcntl.lockf(file, fcntl.LOCK_EX)
        yield
        with suppress(OSError):  # a process that waits for the lock finds the store next
            lock.unlink()


_NAMING = threading.Lock()
"""Locks of files exclude other processes, not threads."""


def make_folder(folder: Path) -> None:
    """Create the folder of a store if it does not exist.

    Raises:
        StoreError: the path is a file.
    """
    if folder.is_dir():
        return
    if folder.exists():
        raise StoreError(f"{folder}: expected a folder for the store, this is a file")
    folder.mkdir(parents=True, exist_ok=True)
    if folder.name == ".proctor":  # results are not source code
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")


_OLDEST = (3, 35, 0)
"""The first SQLite that has `RETURNING`."""


def open_sqlite_store(url: str, *, read_only: bool = False, artefacts: str = "") -> SqlStore:
    """Open `sqlite:///PATH`, `sqlite:PATH`, a bare path, or `memory:NAME`, whose artefacts are in memory, too.

    Raises:
        SetupError: the URL names no place.
        StoreError: the store cannot be used; it has not been touched.
    """
    if sqlite3.sqlite_version_info < _OLDEST:
        raise StoreError(
            f"{url}: the store needs SQLite {'.'.join(map(str, _OLDEST))} or newer, this Python has {sqlite3.sqlite_version}"
        )
    scheme, rest = split_url(url)
    if scheme == "memory":
        place: StoreLocation = Memory(f"memory:{rest}")
    else:
        place = SqliteFile(sqlite_path(url), read_only, artefacts=Artefacts(artefacts))
    return SqlStore(url, place, read_only=read_only)
