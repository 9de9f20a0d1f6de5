"""A SQLite database (see `Database`): one connection for many threads, transactions, and errors as `StoreError`.

A store in memory is such a connection.
"""

from __future__ import annotations

import sqlite3
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.errors import StoreError
from proctor.stores.artefacts import Artefacts, StoreId
from proctor.stores.sql.database import (
    AFTER_DAMAGE,
    Row,
    apply_schema,
    check_version,
    damage_error,
    newest_version,
)

APPLICATION_ID = 0x50524354  # "PRCT", in the header of every store


def connect_to(database: str | Path, *, uri: bool = False, timeout: float = 5.0) -> sqlite3.Connection:
    """Open a connection in autocommit mode that any thread may use, with the functions that the store's SQL uses."""
    connection = sqlite3.connect(
        database, uri=uri, timeout=timeout, isolation_level=None, check_same_thread=False
    )
    connection.create_function("unix_now", 0, lambda: time.time())  # noqa: PLW0108 - the clock may be replaced by a test
    return connection


def migrate_tables(connection: sqlite3.Connection, version: int) -> None:
    """Apply what came after `version`, within the transaction that is open."""
    apply_schema(connection, version, split_statements)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {newest_version()}")


def split_statements(sql: str) -> Iterator[str]:
    """Split a script; sqlite3's own `executescript` would commit what is open."""
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        yield statement


PATIENCE = 30.0
"""Seconds that SQLite itself waits for another process."""
TRIES = 4
_DELETION_CACHE = -65_536
"""The page cache of a deletion, as SQLite takes it: 64 MiB, used only as far as pages change."""


class Connection:
    """A connection to a store, for any thread: one at a time."""

    def __init__(
        self,
        raw: sqlite3.Connection,
        name: str,
        lock: threading.RLock | None = None,
        *,
        in_use: InUse | None = None,
        artefacts: Artefacts | None = None,
    ) -> None:
        """Take an open connection in autocommit mode, the store's name for messages, and its claim to the file."""
        self._in_use = in_use
        self.artefacts = artefacts or Artefacts()
        self.raw = raw
        self.name = name
        self.lock = lock or threading.RLock()

    def identity(self) -> StoreId:
        """Return the number of the file in its file system: a copy has another one, also in place of the original."""
        _, _, path = self.row("PRAGMA database_list") or ("", "", "")
        return StoreId(f"sqlite-{Path(path).stat().st_ino:x}" if path else "memory", self.name)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Ask, and return every row."""
        with self.lock, sqlite_errors(self.name):
            return self.raw.execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """Ask, and return the first row, if any."""
        with self.lock, sqlite_errors(self.name):
            row: Row | None = self.raw.execute(sql, values).fetchone()
            return row

    @contextmanager
    def transaction(self, *, exclusive: bool = True) -> Iterator[sqlite3.Connection]:
        """Hold the store for writing; all changes are committed, or, after an exception, none."""
        with self.lock, sqlite_errors(self.name):
            begin_to_write(self.raw)
            try:
                # a newer Proctor may have changed the tables since they were opened
                check_version(self.raw.execute("PRAGMA user_version").fetchone()[0], self.name)
                yield self.raw
                self.raw.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let several questions see one state of the store."""
        with self.lock, sqlite_errors(self.name):
            within = self.raw.in_transaction
            if not within:
                self.raw.execute("BEGIN")
            try:
                yield
            finally:
                if not within:
                    self._roll_back()

    @contextmanager
    def deletion(self) -> Iterator[sqlite3.Connection]:
        """Hold the store for deleting much of it; the commit also shortens the file.

        The time of `incremental_vacuum` would grow with the square of the deleted pages. With a page cache of a few megabytes
        SQLite would write most pages to its log before the commit cuts them off.
        """
        with self.lock, sqlite_errors(self.name):
            (cache_size,) = self.raw.execute("PRAGMA cache_size").fetchone()
            self.raw.execute(f"PRAGMA cache_size = {_DELETION_CACHE}")
            try:
                with self.transaction() as transaction:
                    transaction.execute("PRAGMA auto_vacuum = FULL")
                    yield transaction
            finally:
                with suppress(sqlite3.Error):  # while others write: then later commits shorten the file, too
                    self.raw.execute(f"PRAGMA cache_size = {cache_size}")
                    self.raw.execute("PRAGMA auto_vacuum = INCREMENTAL")

    def close(self) -> None:
        """Let go of it."""
        with self.lock, sqlite_errors(self.name):
            self.raw.close()
            if self._in_use is not None:
                self._in_use.end()

    def _roll_back(self) -> None:
        if self.raw.in_transaction:
            with suppress(sqlite3.Error):  # some errors end a transaction by themselves
                self.raw.execute("ROLLBACK")


def begin_to_write(raw: sqlite3.Connection) -> None:
    """Begin a transaction that holds the store for writing, however long another process takes over its own."""
    for tries in range(TRIES):
        try:
            raw.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError as error:
            if not is_waiting(error) or tries == TRIES - 1:
                raise


@contextmanager
def sqlite_errors(name: str) -> Iterator[None]:
    """Turn an error of SQLite into a `StoreError` that names the store and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(error_text(error, name)) from error
    except UnicodeDecodeError as error:
        raise damage_error(name, "a text in it is none") from error


def error_text(error: sqlite3.Error, name: str) -> str:
    """Return what an error means for the store called `name`."""
    code = _name_of(error)
    for beginning, words in _MEANINGS.items():
        if code.startswith(beginning):
            return f"{name}: {words} ({error})"
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
        return f"{name}: the store has been closed"
    return f"{name}: the store cannot be used: {error}" + (f" ({code})" if code else "")


def _name_of(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", None) or ""


def is_waiting(error: sqlite3.OperationalError) -> bool:
    """Return whether another process holds the store, so that a later try may succeed."""
    return _name_of(error) in _WAITING


_WAITING = {
    "SQLITE_BUSY",
    "SQLITE_BUSY_RECOVERY",
    "SQLITE_BUSY_SNAPSHOT",
    "SQLITE_BUSY_TIMEOUT",
    "SQLITE_LOCKED",
}
_MEANINGS = {
    "SQLITE_FULL": "the disk is full. Make room, then continue the run with `proctor resume`",
    "SQLITE_CORRUPT": f"the store is damaged. {AFTER_DAMAGE}",
    "SQLITE_NOTADB": f"the store is damaged or is none. {AFTER_DAMAGE}",
    "SQLITE_READONLY_DBMOVED": "the file was moved or deleted while it was in use",
    "SQLITE_READONLY": "the store cannot be written. Make the file and its folder writable, or name another with --store",
    "SQLITE_CANTOPEN": "the store cannot be opened. Check that the file and its folder exist and that you may read and write them",
    "SQLITE_BUSY": "another process has held the store for minutes. Wait for it or stop it, then try again",
    "SQLITE_LOCKED": "another process has held the store for minutes. Wait for it or stop it, then try again",
    "SQLITE_PROTOCOL": "another process has held the store for minutes. Wait for it or stop it, then try again",
    "SQLITE_IOERR": "reading or writing the store failed. Is the disk full, or the file gone?",
    "SQLITE_TOOBIG": "something is larger than the 1 GB that a row may hold",
}


# --- Which files this process has open in SQLite: no other code in it may open and close one of them ------------------


_counts: Counter[tuple[int, int]] = Counter()
_lock = threading.Lock()


class InUse:
    """One connection's claim to a file, from before it is opened until after it is closed."""

    def __init__(self, path: Path, look: Callable[[], None] | None = None) -> None:
        """Claim the file at `path`. `look`, which may open and close it, is called only if no code in this process has it open."""
        stat = path.stat()
        key = stat.st_dev, stat.st_ino
        with _lock:
            if look is not None and not _counts[key]:
                look()
            _counts[key] += 1
        self._end = weakref.finalize(self, _release, key)

    def end(self) -> None:
        """Give it up; once more changes nothing."""
        self._end()


def _release(key: tuple[int, int]) -> None:
    with _lock:
        _counts[key] -= 1
        if _counts[key] <= 0:
            del _counts[key]


# --- Stores in memory: one database for each name, until the process ends ---------------------------------------------


_opening = threading.Lock()
_databases: dict[str, Connection] = {}


class _Shared(Connection):
    """A connection that all stores of one name share: `close` leaves it open."""

    def close(self) -> None:
        pass


@dataclass(slots=True)
class Memory:
    """The database of a store in memory."""

    name: str
    warnings: list[str] = field(default_factory=list)
    artefacts: Artefacts = field(default_factory=Artefacts)

    def open(self) -> Connection:
        """Return the one connection of this name."""
        with _opening:
            if self.name not in _databases:
                _databases[self.name] = self._create_database()
            return _databases[self.name]

    def connect(self) -> Connection:
        """Return the same connection: a second one would be a second database."""
        return self.open()

    def check_place(self) -> None:
        """Do nothing: a store in memory cannot be deleted or replaced."""

    def close(self) -> None:
        """Leave the database open for a later store of the same name."""

    def _create_database(self) -> Connection:
        raw = connect_to(":memory:")
        raw.execute("BEGIN")
        migrate_tables(raw, 0)
        raw.execute("COMMIT")
        return _Shared(raw, self.name)
