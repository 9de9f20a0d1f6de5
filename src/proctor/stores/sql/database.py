"""The database under a store: what SQLite and PostgreSQL have in common, the numbered schema files, and the values in their rows."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

from pydantic_core import PydanticSerializationError, from_json, to_json

from proctor.errors import StoreError
from proctor.stores.artefacts import Artefacts, StoreId

Row = tuple[Any, ...]


class Cursor(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """The number of rows that were inserted, changed or deleted."""
        ...

    def fetchone(self) -> Any:
        """Return the next row; `None` after the last one."""
        ...

    def fetchall(self) -> list[Any]:
        """Return the remaining rows."""
        ...


class Transaction(Protocol):
    """An open transaction. Statements are SQL that both databases understand, with `?` for a value.

    `unix_now()` is the time in Unix seconds, by the clock of the database where it has one: of a PostgreSQL server, or of
    this process for SQLite.
    """

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Cursor:
        """Execute one statement."""
        ...


class Database(Protocol):
    """A connection to the database of a store. Any thread may use it: one at a time."""

    name: str
    """The name of the store in messages."""
    artefacts: Artefacts
    """The objects outside of the database."""

    def identity(self) -> StoreId:
        """Return an id that a copy of the database does not have."""
        ...

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Execute a query and return every row."""
        ...

    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """Execute a query and return the first row, if any."""
        ...

    def transaction(self, *, exclusive: bool = False) -> AbstractContextManager[Transaction]:
        """Begin a transaction; all changes are committed, or, after an exception, none.

        `exclusive`: no other process changes the store meanwhile. In SQLite this is always so.

        Raises:
            LostConnectionError: the connection was lost, and whether the changes were committed may be unknown.
        """
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """Let several queries see one state of the store."""
        ...

    def deletion(self) -> AbstractContextManager[Transaction]:
        """Begin an exclusive transaction that may delete most of the store.

        Its commit returns the space to the system, where the database does not do that by itself.
        """
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class StoreLocation(Protocol):
    """The location of a store: a file, memory, or a server."""

    name: str
    """Its name in messages; never contains a password."""
    warnings: list[str]
    artefacts: Artefacts

    def open(self) -> Database:
        """Open it for the first time."""
        ...

    def connect(self) -> Database:
        """Open one more connection, for writing."""
        ...

    def check_place(self) -> None:
        """Check that it is still what was opened."""
        ...

    def close(self) -> None:
        """Release what belongs to this opening."""
        ...


class LostConnectionError(StoreError):
    """The connection was lost, or the server ended the transaction: it can be repeated on a new connection."""


# --- Schema files -----------------------------------------------------------------------------------------------------


@cache
def schema_files() -> tuple[tuple[int, str], ...]:
    """Return every version of the schema with its SQL, in order."""
    from importlib.resources import files as resources

    files = [
        (int(file.name.partition("_")[0]), file.read_text(encoding="utf-8"))
        for file in resources("proctor.stores.sql").joinpath("schema").iterdir()
        if file.name.endswith(".sql")
    ]
    return tuple(sorted(files))


def newest_version() -> int:
    """Return the version that this code writes."""
    return schema_files()[-1][0]


_versions: WeakKeyDictionary[Database, int] = WeakKeyDictionary()
"""The version that each database is known to have at least."""


def has_version(database: Database, version: int) -> bool:
    """Return whether a store has this version: one that was opened for reading may be older."""
    if _versions.get(database, 0) < version:
        row = database.row("SELECT MAX(version) FROM schema_versions")
        _versions[database] = 0 if row is None else row[0]
    return _versions[database] >= version


def check_version(version: int, name: str) -> None:
    """Check that this code knows the version of a store.

    Raises:
        StoreError: a newer Proctor wrote it.
    """
    if version > newest_version():
        raise StoreError(
            f"{name}: written by a newer Proctor (its store has version {version}, this one knows up to {newest_version()}). "
            "Update Proctor, or name another store with --store; it was not touched"
        )


def apply_schema(transaction: Transaction, version: int, split: Callable[[str], Iterator[str]]) -> None:
    """Apply the schema files that are newer than `version`; `split` returns the statements of a file."""
    for number, sql in schema_files():
        if number > version:
            for statement in split(sql):
                transaction.execute(statement)
            transaction.execute(
                "INSERT INTO schema_versions (version, applied_at) VALUES (?, unix_now())", (number,)
            )


# --- Many rows with one statement: each statement lets other threads run, and waiting for them costs more -------------


_MOST = 200


@cache
def _statement(table: str, columns: str, conflict: str, rows: int) -> str:
    places = f"({', '.join('?' * (columns.count(',') + 1))})"
    return f"INSERT INTO {table} ({columns}) VALUES {', '.join([places] * rows)} {conflict}".rstrip()  # noqa: S608 - our own tables and columns


def insert(
    transaction: Transaction,
    table: str,
    columns: str,
    rows: Sequence[Row],
    conflict: str = "",
) -> int:
    """Insert `rows`, and return how many were inserted or changed."""
    return sum(
        _execute_insert(transaction, table, columns, some, conflict).rowcount for some in _pieces(rows)
    )


def insert_new(transaction: Transaction, table: str, columns: str, key: str, rows: Sequence[Row]) -> set[Row]:
    """Insert the rows whose `key`, the first columns, is not in the table yet; return the keys of those inserted."""
    conflict = f"ON CONFLICT ({key}) DO NOTHING RETURNING {key}"
    new: set[Row] = set()
    for some in _pieces(rows):
        new.update(_execute_insert(transaction, table, columns, some, conflict).fetchall())
    return new


def _execute_insert(
    transaction: Transaction, table: str, columns: str, rows: Sequence[Row], conflict: str
) -> Cursor:
    values = [value for row in rows for value in row]
    return transaction.execute(_statement(table, columns, conflict, len(rows)), values)


def _pieces(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    return (rows[start : start + _MOST] for start in range(0, len(rows), _MOST))


# --- Values: JSON, texts that any database can hold, compressed bodies -------------------------------------------------


_ZLIB = b"\x78"  # the first byte of zlib's format; JSON never starts with it
_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")
PACKED_FROM = 1024
"""Bytes from which it pays to compress."""
_LEVEL = 1  # higher levels save a twentieth more and cost a fifth more
_MEMORY = 5
"""zlib's memory, 1 to 9: with its default (8), clearing 256 kB takes longer than compressing the scores of a trial."""
_DEEPEST = 100


def pack(body: bytes, least: int) -> bytes:
    """Return `body` as it is stored: compressed if it has at least `least` bytes and becomes smaller."""
    if len(body) >= least or body[:1] == _ZLIB:
        packer = zlib.compressobj(_LEVEL, memLevel=_MEMORY)
        packed = packer.compress(body) + packer.flush()
        if len(packed) < len(body) or body[:1] == _ZLIB:
            return packed
    return body


StoredBytes = bytes | Callable[[], bytes]
"""A stored body, or a function that reads it from elsewhere."""


def unpack(stored: StoredBytes) -> bytes:
    """Return what `pack` was given.

    Raises:
        zlib.error: it is damaged.
        StoreError: it cannot be read.
    """
    if not isinstance(stored, bytes):
        return stored()
    return zlib.decompress(stored) if stored[:1] == _ZLIB else stored


def storable(text: str) -> str:
    """Return `text` with what no database can hold (half of a character, NUL) as U+FFFD."""
    return _NOT_STORABLE.sub("\ufffd", text)


def compact(value: Any) -> str:
    """Return `value` as compact JSON. NaN and infinities become texts, what is not JSON becomes its `repr`."""
    try:
        return to_json(value, inf_nan_mode="strings", bytes_mode="base64", fallback=repr).decode()
    except (PydanticSerializationError, ValueError, RecursionError):
        return to_json(_plain(value, 0), inf_nan_mode="strings").decode()


def load_json(text: str | bytes) -> Any:
    """Return what `compact` wrote."""
    try:
        return from_json(text)
    except ValueError:  # it reads nothing that is deeper than 200 levels
        return json.loads(text)


def _plain(value: Any, depth: int) -> Any:
    """`value` with half characters as U+FFFD, cut where it is too deep or holds itself."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, bool | int | float) or value is None:
        return value
    if depth > _DEEPEST:
        return "… (too deep to be kept)"
    if isinstance(value, dict):
        return {storable(str(key)): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, depth + 1) for item in value]
    return storable(repr(value))


# --- Damaged content: every row has a checksum ------------------------------------------------------------------------


def checksum(key: str, body: bytes | str = b"") -> int:
    """Return the crc32 of a row: its key and its content."""
    if isinstance(body, bytes):
        return zlib.crc32(body, zlib.crc32(key.encode()))
    # a text is not the same in bytes
    return ~zlib.crc32(body.encode(), zlib.crc32(key.encode())) & 0xFFFFFFFF


def run_checksum(
    kind: str, seq: int, run_id: str, created_at: float, agent: str, sets: str, num_runs: int, manifest: str
) -> int:
    """Return the checksum of a run: of the fields that are written once."""
    return checksum(f"{kind}/{seq}/{run_id}/{created_at!r}/{agent}/{sets}/{num_runs}", manifest)


def scoring_checksum(run: int, number: int, text: str) -> int:
    """Return the checksum of the description of a scoring."""
    return checksum(f"judging/{run}/{number}", text)


def planned_checksum(run: int, position: int, texts: Sequence[str]) -> int:
    """Return the checksum of a planned case: its set, its id, the hash of its content and its place."""
    return checksum("\x00".join([f"planned/{run}/{position}", *texts]))


def trial_checksum(
    run: int,
    position: int,
    number: int,
    attempt: int,
    failed: int,
    document: str | None,
    media: str | None,
    stored: bytes,
) -> int:
    """Return the checksum of the evidence of one attempt."""
    key = f"trial/{run}/{position}/{number}/{attempt}/{failed}/{document or ''}/{media or ''}"
    return checksum(key, stored)


def score_checksum(run: int, scoring: int, position: int, number: int, attempt: int, stored: bytes) -> int:
    """Return the checksum of the scores of one attempt."""
    return checksum(f"score/{run}/{scoring}/{position}/{number}/{attempt}", stored)


def verdict_checksum(run: int, scoring: int, position: int, outcome: str, text: str) -> int:
    """Return the checksum of a verdict."""
    return checksum(f"verdict/{run}/{scoring}/{position}/{outcome}", text)


def document_checksum(name: str, media: str | None, stored: bytes) -> int:
    """Return the checksum of a case."""
    return checksum(f"document/{name}/{media or ''}", stored)


_Value = TypeVar("_Value")


def blocks(values: Sequence[_Value], size: int = 100) -> Iterator[Sequence[_Value]]:
    """Split values into those that one query takes."""
    return (values[start : start + size] for start in range(0, len(values), size))


def placeholders(values: Sequence[object]) -> str:
    """Return the question marks for the values of a query."""
    return ", ".join("?" * len(values))


@contextmanager
def sound(name: str, what: str) -> Iterator[None]:
    """Turn an error caused by content that differs from what was written into a `StoreError` that explains it."""
    try:
        yield
    except _TRIPPED as error:
        raise damage_error(name, f"{what} cannot be read") from error


_TRIPPED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, zlib.error)


def damage_error(name: str, what: str) -> StoreError:
    """Build the error for content that is not what was written."""
    return StoreError(f"{name}: the store is damaged: {what}. {AFTER_DAMAGE}")


AFTER_DAMAGE = "Keep the file, and start a new store with --store; what is sound in it can still be shown"
