"""A PostgreSQL database (see `Database`): connections, transactions, locks, and errors as `StoreError`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from proctor.common.optional_packages import import_extra
from proctor.common.secrets import url_without_password
from proctor.errors import SetupError, StoreError
from proctor.stores.artefacts import Artefacts, StoreId
from proctor.stores.sql.database import (
    Cursor,
    LostConnectionError,
    Row,
    Transaction,
    apply_schema,
    check_version,
    newest_version,
)
from proctor.stores.sql.store import SqlStore

if TYPE_CHECKING:
    import psycopg

READ_SECONDS = 30.0
"""How long a query waits for a server that was lost. A run that writes waits longer: see `sql/writer.py`."""
_CONNECT_SECONDS = 10
_PAUSE = 0.2
"""Seconds between two attempts to connect."""
_NOW = "EXTRACT(EPOCH FROM clock_timestamp())::double precision"
_LOCK = "1347568468, hashtext(current_schema())"
"""The lock of a store: shared by all that write, exclusive for what changes the store as a whole."""
_T = TypeVar("_T")


def open_postgres_store(url: str, *, read_only: bool = False, artefacts: str = "") -> SqlStore:
    """Open `postgresql://USER@HOST/DATABASE`; without tables of a store in the database, they are created.

    Raises:
        MissingExtraError: psycopg is not installed.
        SetupError: the URL is not one.
        StoreError: the store cannot be used.
    """
    import_extra("psycopg", extra="postgres", feature="a store in PostgreSQL")
    return SqlStore(url, PostgresPlace(url, read_only, artefacts=Artefacts(artefacts)), read_only=read_only)


def name_of(url: str) -> str:
    """Return the URL without its password and options, as messages show it.

    Raises:
        SetupError: the URL cannot be read.
    """
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        conninfo_to_dict(url)
    except ProgrammingError:  # its text contains the URL, and so the password
        raise SetupError(
            "the URL of the PostgreSQL store cannot be read: expected postgresql://USER@HOST:PORT/DATABASE, with special "
            "characters of a password written as %XX"
        ) from None
    return url_without_password(url).partition("?")[0]


@dataclass(slots=True)
class PostgresPlace:
    """A database on a server."""

    url: str = field(repr=False)
    read_only: bool
    name: str = field(init=False)
    warnings: list[str] = field(default_factory=list)
    artefacts: Artefacts = field(default_factory=Artefacts)

    def __post_init__(self) -> None:
        """Read the URL."""
        self.name = name_of(self.url)

    def open(self) -> PostgresDatabase:
        """Connect for the first time; create the tables, or update those of an older version.

        Raises:
            StoreError: the store cannot be used.
        """
        database = self.connect()
        try:
            _prepare(database, read_only=self.read_only)
        except BaseException:
            database.close()
            raise
        return database

    def connect(self) -> PostgresDatabase:
        """Open one more connection."""
        return PostgresDatabase(self.url, self.name, self.artefacts, read_only=self.read_only)

    def check_place(self) -> None:
        """Do nothing: the server refuses what can no longer be written."""

    def close(self) -> None:
        """Do nothing: an opening has nothing but its connections."""


class PostgresDatabase:
    """A connection to the database of a store, made when it is first used, and again after it was lost.

    Any thread may use it: one at a time.
    """

    def __init__(self, url: str, name: str, artefacts: Artefacts, *, read_only: bool) -> None:
        self.name = name
        self.artefacts = artefacts
        self._url = url
        self._read_only = read_only
        self._lock = threading.RLock()
        self._raw: psycopg.Connection[Row] | None = None

    def identity(self) -> StoreId:
        """Return the numbers of the server, the database and a table: a restored dump has others."""
        server, database, table = self.row(_IDENTITY) or (0, 0, 0)
        return StoreId(f"postgresql-{server}-{database}-{table}", self.name)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Execute a query and return every row."""
        return self._query(lambda raw: _execute(raw, sql, values).fetchall())

    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """Execute a query and return the first row, if any."""
        return self._query(lambda raw: _execute(raw, sql, values).fetchone())

    @contextmanager
    def transaction(self, *, exclusive: bool = False) -> Iterator[Transaction]:
        """Begin a transaction; all changes are committed, or, after an exception, none."""
        with self.change(exclusive=exclusive) as transaction:
            # a newer Proctor may have changed the tables since they were opened
            check_version(_newest_of(transaction.execute(_VERSION).fetchone()), self.name)
            yield transaction

    @contextmanager
    def change(self, *, exclusive: bool) -> Iterator[Transaction]:
        """Begin a transaction that does not depend on the version of the tables."""
        with self._lock, _errors(self.name):
            raw = self._connection()
            try:
                raw.execute("BEGIN")
                raw.execute(f"SELECT pg_advisory_xact_lock{'' if exclusive else '_shared'}({_LOCK})".encode())
                yield _Transaction(raw)
                raw.execute("COMMIT")
            except BaseException:
                _roll_back(raw)
                raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let several queries see one state of the store."""
        with self._lock, _errors(self.name):
            if self._is_within():
                yield
                return
            begun = self._query(lambda raw: raw.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))
            try:
                yield
            finally:
                _roll_back(begun.connection)

    def deletion(self) -> AbstractContextManager[Transaction]:
        """Begin an exclusive transaction; PostgreSQL reuses the space by itself (autovacuum)."""
        return self.transaction(exclusive=True)

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            if self._raw is not None:
                self._raw.close()

    # -----------------------------------------------------------------------------------------------------------------

    def _query(self, query: Callable[[psycopg.Connection[Row]], _T]) -> _T:
        """Execute a query; after a lost connection again on a new one, except within a transaction, which is lost with it."""
        with self._lock, _errors(self.name):
            until, within = time.monotonic() + READ_SECONDS, self._is_within()
            while True:
                try:
                    return query(self._connection())
                except _lost_errors():
                    # a server that was never reached has a wrong address, which is reported at once
                    is_lost = self._raw is not None and self._raw.broken
                    if within or not is_lost or time.monotonic() > until:
                        raise
                    time.sleep(_PAUSE)

    def _connection(self) -> psycopg.Connection[Row]:
        if self._raw is None or self._raw.broken:
            self._raw = self._connect()
        return self._raw

    def _connect(self) -> psycopg.Connection[Row]:
        import psycopg

        timeout = psycopg.conninfo.conninfo_to_dict(self._url).get("connect_timeout") or _CONNECT_SECONDS
        raw = psycopg.connect(
            self._url, autocommit=True, client_encoding="utf8", connect_timeout=timeout, cursor_factory=psycopg.RawCursor
        )  # fmt: skip
        raw.execute(_SETTINGS)
        if self._read_only:
            raw.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
        return raw

    def _is_within(self) -> bool:
        from psycopg.pq import TransactionStatus

        within = {TransactionStatus.INTRANS, TransactionStatus.INERROR}
        return self._raw is not None and self._raw.info.transaction_status in within


_SETTINGS = "SET application_name = 'proctor'; SET lock_timeout = '120s'; SET idle_in_transaction_session_timeout = '60s'"
"""A process that is stopped within a transaction must not hold up the others for longer."""


class _Transaction:
    """The statements of a transaction, translated."""

    def __init__(self, raw: psycopg.Connection[Row]) -> None:
        self._raw = raw

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Cursor:
        return _execute(self._raw, sql, values)


def _execute(raw: psycopg.Connection[Row], sql: str, values: Sequence[Any]) -> psycopg.Cursor[Row]:
    if not values:  # a file of the schema has several statements, which cannot be prepared
        return raw.execute(sql.replace("unix_now()", _NOW).encode())
    return raw.execute(_translated(sql), values, prepare=True)


@cache
def _translated(sql: str) -> bytes:
    """Return a statement with numbered parameters: psycopg does not search it for them each time."""
    first, *others = sql.replace("unix_now()", _NOW).split("?")
    return "".join([first, *(f"${number}{text}" for number, text in enumerate(others, start=1))]).encode()


def _roll_back(raw: psycopg.Connection[Row]) -> None:
    import psycopg

    with suppress(psycopg.Error):  # a connection that was lost has nothing to roll back
        raw.execute("ROLLBACK")


# --- Schema -----------------------------------------------------------------------------------------------------------


_VERSION = "SELECT MAX(version) FROM schema_versions"


def _prepare(database: PostgresDatabase, *, read_only: bool) -> None:
    """Check the database, and create or update the tables: one process at a time."""
    name = database.name
    encoding, schema = database.row("SELECT current_setting('server_encoding'), current_schema()") or ("", "")
    if encoding != "UTF8":
        raise StoreError(
            f"{name}: the database has the encoding {encoding}. Create one with ENCODING 'UTF8'; it was not touched"
        )
    if schema is None:
        raise StoreError(
            f"{name}: the database has no schema that its `search_path` names. Create it (CREATE SCHEMA), or change the URL"
        )
    version = _stored_version(database)
    check_version(version, name)
    if read_only and not version:
        raise StoreError(
            f"{name}: this database has no store. Nothing has been run with it yet; is the URL right?"
        )
    if version < newest_version() and not read_only:
        with database.change(exclusive=True) as transaction:
            # another process may have done it meanwhile
            apply_schema(transaction, _stored_version(database), lambda sql: iter([sql]))


def _stored_version(database: PostgresDatabase) -> int:
    """Return the version of the tables; 0 if there are none."""
    # not `to_regclass`: within a transaction it may answer from before a lock was acquired
    there = database.row(
        "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'schema_versions'"
    )
    return _newest_of(database.row(_VERSION)) if there else 0


def _newest_of(row: Row | None) -> int:
    return row[0] or 0 if row else 0


# --- Errors -----------------------------------------------------------------------------------------------------------


@contextmanager
def _errors(name: str) -> Iterator[None]:
    """Turn an error of the server or of the connection into a `StoreError` that names the store and what to do."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        kind = LostConnectionError if _is_passing(error) else StoreError
        raise kind(_error_text(error, name)) from error


def _lost_errors() -> tuple[type[Exception], ...]:
    import psycopg

    return (psycopg.OperationalError, psycopg.InterfaceError)


def _is_passing(error: psycopg.Error) -> bool:
    """Return whether a later attempt may succeed."""
    if error.sqlstate is None:
        return isinstance(error, _lost_errors())
    return error.sqlstate.startswith(_PASSING)


def _error_text(error: psycopg.Error, name: str) -> str:
    first_line = str(error).strip().partition("\n")[0]
    first_line = first_line.removeprefix("connection failed: ").removeprefix("connection is bad: ")
    for state, words in _MEANINGS.items():
        if (error.sqlstate or "").startswith(state):
            return f"{name}: {words} ({first_line})"
    if _is_passing(error):
        has_room = not any(words in first_line for words in _NO_ROOM)
        return f"{name}: no connection to the server: {first_line}. {_CHECK_URL if has_room else _LIMIT}"
    return f"{name}: the store cannot be used: {first_line}" + (
        f" ({error.sqlstate})" if error.sqlstate else ""
    )


_IDENTITY = (
    "SELECT system_identifier, (SELECT oid FROM pg_database WHERE datname = current_database()), "
    "'schema_versions'::regclass::oid FROM pg_control_system()"
)
_PASSING = ("08", "57P01", "57P02", "57P03", "40001", "40P01", "25P03")
"""Error codes of lost connections, a server that restarts, and deadlocks. A connection that could not be made has no code."""
_CHECK_URL = "Check that it runs, the host, user and database of the URL, and the password (in PGPASSWORD, ~/.pgpass or the URL)"
_NO_ROOM = ("too many clients", "connection slots", "too many connections")
_LIMIT = (
    "Each Proctor process takes two connections: run fewer at a time, or raise max_connections of the server"
)
_GRANT = "See the privileges that a store needs in the documentation of stores"
_MEANINGS = {
    "53100": "the disk of the server is full. Make room, then continue the run with `proctor resume`",
    "42501": f"the user lacks a privilege. {_GRANT}",
    "25006": "the store cannot be written: the server or this connection is read-only",
    "55P03": "another process has held the store for minutes. Wait for it or stop it, then try again",
    "40": "another process changed the same rows at the same time. Try again",
}
