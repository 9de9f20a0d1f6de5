"""Images, sounds and files in the database, and large ones as objects outside of it.

An object is written before the transaction whose row names it. Objects are deleted only in a transaction that excludes all
others, and only if no run uses them. A writer may find an object that is deleted before its row is committed: its transaction
then sees the number of deletions, or a row without a run, and writes the object again. No clock is involved.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial

from proctor.errors import StoreError
from proctor.stores.artefacts import Deletion
from proctor.stores.sql.database import (
    Database,
    Transaction,
    blocks,
    checksum,
    has_version,
    insert,
    placeholders,
    sound,
)
from proctor.stores.sql.encoding import restore_media

_VERSION = 10
_FOLDER = "SELECT value FROM totals WHERE name = 'artefact_folder'"
_COLLECTIONS = "SELECT value FROM totals WHERE name = 'collections'"


# --- writing ----------------------------------------------------------------------------------------------------------


def prepare_artefacts(database: Database) -> None:
    """Choose the part of the location of artefacts that belongs to this store alone, and open it.

    Stores share a bucket, and each deletes what its own runs do not use: so each has its own folder there.

    Raises:
        StoreError: the location cannot be used.
    """
    artefacts = database.artefacts
    if artefacts.place:
        return
    row = database.row(_FOLDER)
    if row is None:
        with database.transaction() as transaction:
            value = secrets.randbits(62)
            insert(
                transaction,
                "totals",
                "name, value",
                [("artefact_folder", value)],
                "ON CONFLICT (name) DO NOTHING",
            )
        row = database.row(_FOLDER)
    with sound(database.name, "the folder of its artefacts"):
        artefacts.open(f"{artefacts.url}/{row[0]:016x}" if row else "", database.identity())


@dataclass(frozen=True, slots=True)
class Uploaded:
    """Objects that were written before the transaction that names them."""

    names: frozenset[str] = frozenset()
    collections: int = -1
    """How often objects had been deleted before."""


def upload(database: Database, media: Mapping[str, bytes]) -> Uploaded:
    """Write the large ones as objects, unless they are there; call it outside of a transaction.

    That a run uses an object does not prove that it is there: the database may be a copy, and the original deleted it.
    """
    large = {name: body for name, body in media.items() if database.artefacts.is_large(body)}
    if not large:
        return Uploaded()
    collections, present = _collections(database), database.artefacts.present
    objects = large.keys() - _existing_names(database, _INLINE, large)
    database.artefacts.put({name: large[name] for name in objects if present.get(name) != collections})
    present |= dict.fromkeys(objects, collections)
    return Uploaded(frozenset(objects), collections)


def write_media(
    transaction: Transaction, database: Database, run: int, media: Mapping[str, bytes], uploaded: Uploaded
) -> None:
    """Store media and their use by a run, within a transaction."""
    large = {name: body for name, body in media.items() if database.artefacts.is_large(body)}
    if large:
        _name_objects(transaction, database, large, uploaded)
    rows = [(name, checksum(name, body), body) for name, body in sorted(media.items()) if name not in large]
    insert(transaction, "media", "hash, crc, body", rows, "ON CONFLICT (hash) DO NOTHING")
    uses = [(run, name) for name in media]
    insert(transaction, "media_uses", "run, media", uses, "ON CONFLICT (run, media) DO NOTHING")


def _name_objects(
    transaction: Transaction, database: Database, large: Mapping[str, bytes], uploaded: Uploaded
) -> None:
    """Write the rows of objects, and again the objects that may have been deleted since they were written."""
    new = large.keys() - _used(database, large)
    again = new - uploaded.names
    if uploaded.collections != _collections(database):
        again = new
    again |= _existing_names(database, _NAMED, new)
    artefacts = database.artefacts
    artefacts.put({name: large[name] for name in again})
    insert(transaction, "artefacts", _COLUMNS, [_row(name, artefacts.place) for name in sorted(new)], _NEWER)


_COLUMNS = "hash, crc, place"
_NEWER = "ON CONFLICT (hash) DO UPDATE SET crc = excluded.crc, place = excluded.place"


def _row(name: str, place: str) -> tuple[str, int, str]:
    return name, checksum(f"artefact/{name}", place), place


def _used(database: Database, names: Collection[str]) -> set[str]:
    """Return those that a run uses: they are stored, and remain so until a transaction deletes the run."""
    return _existing_names(database, _USED, names)


_USED = "SELECT DISTINCT media FROM media_uses WHERE media IN ({})"
_INLINE = "SELECT hash FROM media WHERE hash IN ({})"
_NAMED = "SELECT hash FROM artefacts WHERE hash IN ({})"
_DELETE = "DELETE FROM artefacts WHERE hash IN ({})"


def _existing_names(database: Database, query: str, names: Collection[str]) -> set[str]:
    rows = (database.rows(query.format(placeholders(some)), some) for some in blocks(sorted(names)))
    return {row[0] for name_rows in rows for row in name_rows}


def _collections(database: Database) -> int:
    row = database.row(_COLLECTIONS)
    return -1 if row is None else int(row[0])


# --- reading ----------------------------------------------------------------------------------------------------------


def with_media(database: Database, body: bytes, places: str) -> bytes | Callable[[], bytes]:
    """Return `body` with its media; if some are objects, a function that reads them when it is called.

    Raises:
        ValueError: a row is missing or damaged.
    """
    names = {name for _, name in json.loads(places)}
    inline = {name: content for name in names if (content := _inline(database, name)) is not None}
    if len(inline) == len(names):
        return restore_media(body, places, inline.__getitem__)
    outside = {name: _place(database, name) for name in names - inline.keys()}

    def read(name: str) -> bytes:
        content = inline.get(name)
        return read_object(database, outside[name], name) if content is None else content

    return partial(restore_media, body, places, read)


def _inline(database: Database, name: str) -> bytes | None:
    row = database.row("SELECT crc, body FROM media WHERE hash = ?", (name,))
    if row is None:
        return None
    body: bytes = row[1]
    if row[0] != checksum(name, body):
        raise ValueError(name)
    return body


def _place(database: Database, name: str) -> str:
    query = "SELECT crc, place FROM artefacts WHERE hash = ?"
    row = database.row(query, (name,)) if has_version(database, _VERSION) else None
    if row is None or row[0] != checksum(f"artefact/{name}", row[1]):
        raise ValueError(name)
    return str(row[1])


def read_object(database: Database, place: str, name: str) -> bytes:
    """Return the content of an object.

    Raises:
        StoreError: it is missing or damaged, or its place cannot be reached.
    """
    try:
        return database.artefacts.read(place, name)
    except StoreError as error:
        raise StoreError(f"{database.name}: {error}") from error


# --- copying ----------------------------------------------------------------------------------------------------------


def copy_media(transaction: Transaction, source: Database, target: Database, run: int, new_run: int) -> None:
    """Copy the media of a run into another store, which has its own objects.

    Raises:
        StoreError: an object cannot be read or written.
        ValueError: a row is missing or damaged.
    """
    rows = source.rows("SELECT media FROM media_uses WHERE run = ? ORDER BY media", (run,))
    for (name,) in rows:  # one at a time: each may have megabytes
        body = _inline(source, name)
        if body is None:
            body = read_object(source, _place(source, name), name)
        write_media(transaction, target, new_run, {name: body}, Uploaded())


# --- deletion ---------------------------------------------------------------------------------------------------------


def collect_artefacts(database: Database) -> set[str]:
    """Delete the objects that no run uses, also those whose transaction never came.

    Returns:
        The marks of other stores that use the same place; objects there remain, and the next call tries again.

    Raises:
        StoreError: a place cannot be reached. Then the next call deletes the rest.
    """
    place = database.artefacts.place
    deletion = Deletion(database.artefacts, database.identity)
    if place and deletion.may_delete(place):
        _record_objects(database, place)
    last = ""
    while True:
        with database.transaction(exclusive=True) as transaction:
            rows = transaction.execute(_UNUSED, (last,)).fetchall()
            if not rows:
                return deletion.marks
            for place in {row[1] for row in rows}:
                names = [row[0] for row in rows if row[1] == place]
                if deletion.delete(place, names):
                    transaction.execute(_DELETE.format(placeholders(names)), names)
            last = rows[-1][0]
            transaction.execute("UPDATE totals SET value = value + 1 WHERE name = 'collections'")


def shared_artefacts(marks: Collection[str]) -> str:
    """Return the warning about artefacts that a copy of the store may use (see `collect_artefacts`)."""
    return (
        "the runs are deleted, but their artefacts remain, because another store uses the same folder: a copy of this one, or this "
        f"one before it was copied. If it no longer exists, delete its mark ({', '.join(sorted(marks))}); the next "
        "`proctor prune` then deletes the artefacts"
    )


_UNUSED = (
    "SELECT hash, place FROM artefacts WHERE hash > ? AND NOT EXISTS (SELECT 1 FROM media_uses WHERE media = hash) "
    "ORDER BY hash LIMIT 100"
)


def _record_objects(database: Database, place: str) -> None:
    """Write a row for each object that has none: the process that wrote it ended before its transaction."""
    for some in blocks(sorted(database.artefacts.names(place))):
        with database.transaction() as transaction:
            rows = [_row(name, place) for name in some]
            insert(transaction, "artefacts", _COLUMNS, rows, "ON CONFLICT (hash) DO NOTHING")
