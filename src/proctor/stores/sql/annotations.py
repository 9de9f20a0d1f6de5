"""What people write about runs in a store: a name, a note, a star. The rows of the run itself never change."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from proctor.schema.results.manifest import RunAnnotation
from proctor.stores.sql.database import Database, Transaction, checksum, has_version, storable
from proctor.stores.sql.run_state import RunLine

_VERSION = 11
"""The version of the store that brought annotations."""
_READ = "SELECT run, name, note, starred, crc FROM run_annotations WHERE run = ?"
_READ_ALL = (
    "SELECT run_id, run, name, note, starred, run_annotations.crc FROM run_annotations JOIN runs ON seq = run"
)
_FORGET = "DELETE FROM run_annotations WHERE run = ?"
_KEEP = "INSERT INTO run_annotations (run, name, note, starred, crc) VALUES (?, ?, ?, ?, ?)"


class AnnotatedStore:
    """The part of a store that has to do with annotations of runs."""

    _database: Database

    @abstractmethod
    def _check_writable(self) -> None: ...

    @abstractmethod
    def _line(self, run_id: str) -> RunLine: ...

    def annotate(self, run_id: str, annotation: RunAnnotation) -> None:
        """Write the annotation of a run in place of the one that was; an empty one removes it."""
        self._check_writable()
        run = self._line(run_id).seq
        with self._database.transaction() as transaction:
            write_annotation(transaction, run, annotation)

    def annotations(self) -> dict[str, RunAnnotation]:
        """Return the annotations by run id; runs without one are left out."""
        if not has_version(self._database, _VERSION):
            return {}
        return {str(run_id): _shown(row) for run_id, *row in self._database.rows(_READ_ALL)}


def _shown(row: Sequence[Any]) -> RunAnnotation:
    """Return an annotation; of a damaged one that it is damaged, because the runs themselves are sound."""
    try:
        return _annotation_of(*row)
    except (TypeError, ValueError):
        return RunAnnotation(note="The name, note and star of this run are damaged: write them again.")


def write_annotation(transaction: Transaction, run: int, annotation: RunAnnotation) -> None:
    """Replace the annotation of the run with this number."""
    transaction.execute(_FORGET, (run,))
    if annotation:
        row = (storable(annotation.name), storable(annotation.note), int(annotation.starred))
        transaction.execute(_KEEP, (run, *row, _checksum(run, *row)))


def copy_annotation(source: Database, transaction: Transaction, before: int, after: int) -> None:
    """Copy the annotation of a run, whose numbers are `before` in the source and `after` in the target."""
    for row in source.rows(_READ, (before,)):
        write_annotation(transaction, after, _annotation_of(*row))


def _annotation_of(run: int, name: str, note: str, starred: int, crc: int) -> RunAnnotation:
    if crc != _checksum(run, name, note, starred):
        raise ValueError(crc)
    return RunAnnotation(name, note, bool(starred))


def _checksum(run: int, name: str, note: str, starred: int) -> int:
    return checksum(f"annotation/{run}/{starred}/{name!r}", note)
