"""Labels of people, calibrations of judges and looks at held-out cases, in a store."""

from __future__ import annotations

import json
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict
from math import inf, nextafter
from typing import TYPE_CHECKING

from proctor.stores.labels import CheckLabels, StoredLabel, StoredLook
from proctor.stores.sql.database import (
    Database,
    Row,
    Transaction,
    checksum,
    compact,
    has_version,
    sound,
    storable,
)
from proctor.stores.sql.run_state import RunLine

if TYPE_CHECKING:
    from proctor.schema.analysis.calibration import Calibration
    from proctor.schema.results.manifest import ScoringManifest
    from proctor.schema.results.score import JudgedBy

_VERSION, _VERSION_OF_LOOKS, _VERSION_OF_LABELLERS = 2, 4, 12
"""The versions of the store that brought labels and calibrations, looks, and labels of several people."""
_CALIBRATIONS = "SELECT metric, crc, calibration FROM calibrations ORDER BY seq"
_FORGET = "DELETE FROM labels WHERE run = ? AND position = ? AND number = ? AND turn = ? AND rubric_id = ? AND metric = ? AND labeller = ?"
_KEEP = (
    "INSERT INTO labels (run, position, number, turn, rubric_id, metric, passes, labelled_at, note, labeller, crc) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_READ = (
    "SELECT crc, position, number, turn, rubric_id, metric, passes, labelled_at, note, labeller FROM labels "
    "WHERE run = ? ORDER BY position, number, turn, rubric_id, metric, labeller"
)
_READ_UNNAMED = _READ.replace(", labeller", "", 1).replace(", labeller", "")
_LOOKS = "SELECT seq, crc, look FROM looks ORDER BY seq"
_COUNT_LOOK = "UPDATE totals SET value = value + 1 WHERE name = 'looks' RETURNING value"
_WHOLE = -1


class LabelledStore:
    """The part of a store that has to do with labels, calibrations and looks."""

    _database: Database

    @abstractmethod
    def _check_writable(self) -> None: ...

    @abstractmethod
    def _line(self, run_id: str) -> RunLine: ...

    def label(self, run_id: str, labels: Sequence[StoredLabel], check: CheckLabels | None = None) -> float:
        """Store labels of a run unless `check` raises; return their time. Each replaces that of the person for the thing."""
        self._check_writable()
        run = self._line(run_id).seq
        with self._database.transaction(exclusive=True) as transaction:
            now = self._checked_time(run_id, check)
            for label in labels:
                row = _row_of(label, now)
                transaction.execute(_FORGET, (run, *_key_of(row)))
                transaction.execute(_KEEP, (run, *row, label_checksum(run, row)))
        return now

    def unlabel(self, run_id: str, labels: Sequence[StoredLabel], check: CheckLabels | None = None) -> int:
        """Delete the labels of the same people for the same things unless `check` raises; return their number."""
        self._check_writable()
        run = self._line(run_id).seq
        with self._database.transaction(exclusive=True) as transaction:
            self._checked_time(run_id, check)
            keys = [_key_of(_row_of(label, 0.0)) for label in labels]
            return sum(transaction.execute(_FORGET, (run, *key)).rowcount for key in keys)

    def _checked_time(self, run_id: str, check: CheckLabels | None) -> float:
        """Return the time of a change of labels, which is later than that of each present label."""
        present = self.labels(run_id)
        if check is not None:
            check(present)
        latest = max((label.labelled_at for label in present), default=0.0)
        return max(time.time(), nextafter(latest, inf))

    def labels(self, run_id: str) -> list[StoredLabel]:
        """Return the labels of a run, case by case."""
        run = self._line(run_id).seq
        query = _READ if has_version(self._database, _VERSION_OF_LABELLERS) else _READ_UNNAMED
        rows = self._database.rows(query, (run,)) if has_version(self._database, _VERSION) else []
        with sound(self._database.name, f"a label of run {run_id}"):
            return [_label_of(run, crc, row) for crc, *row in rows]

    def calibrate(self, calibration: Calibration) -> None:
        """Store a calibration of a judge in addition to the earlier ones."""
        self._check_writable()
        text = storable(calibration.model_dump_json())
        with self._database.transaction(exclusive=True) as transaction:
            insert_calibration(transaction, calibration.metric, text)

    def calibrations(self) -> list[Calibration]:
        """Return the calibrations of judges, oldest first."""
        from proctor.schema.analysis.calibration import Calibration  # most runs have no judge

        if not has_version(self._database, _VERSION):
            return []
        calibrations = []
        for metric, crc, text in self._database.rows(_CALIBRATIONS):
            with sound(self._database.name, f"a calibration of {metric}"):
                if crc != checksum(f"calibration/{metric}", text):
                    raise ValueError(crc)
                calibrations.append(Calibration.model_validate_json(text))
        return calibrations

    def badges(self, judged_by: Sequence[JudgedBy], scoring: ScoringManifest) -> dict[str, str]:
        """Return what is known of the judges of a scoring, metric by metric."""
        if not judged_by:
            return {}
        from proctor.schema.analysis.calibration import badges_of

        thresholds: dict[str, set[float | None]] = {}
        for metric in (metric for one in scoring.sets for metric in one.metrics):
            thresholds.setdefault(metric.name, set()).add(metric.threshold)
        return badges_of(self.calibrations(), judged_by, thresholds)

    def record_look(self, look: StoredLook, check: Callable[[Sequence[StoredLook]], None]) -> None:
        """Store a look at held-out cases, unless `check`, which receives the earlier ones, raises an error."""
        self._check_writable()
        text = compact(asdict(look))
        with self._database.transaction(exclusive=True) as transaction:
            check(self.looks())
            insert_look(transaction, text)

    def looks(self) -> list[StoredLook]:
        """Return the looks at held-out cases, oldest first."""
        if not has_version(self._database, _VERSION_OF_LOOKS):
            return []
        with self._database.snapshot():
            rows = self._database.rows(_LOOKS)
            ((total,),) = self._database.rows("SELECT value FROM totals WHERE name = 'looks'")
        with sound(self._database.name, "a look at held-out cases"):
            return [_look_of(number, *row) for number, row in zip(range(1, total + 1), rows, strict=True)]


def insert_calibration(transaction: Transaction, metric: str, text: str) -> None:
    """Write a calibration, as JSON, within an exclusive transaction."""
    transaction.execute(
        "INSERT INTO calibrations (seq, metric, crc, calibration) "
        "VALUES ((SELECT COALESCE(MAX(seq), 0) + 1 FROM calibrations), ?, ?, ?)",
        (metric, checksum(f"calibration/{metric}", text), text),
    )


def insert_look(transaction: Transaction, text: str) -> None:
    """Write a look at held-out cases, as JSON, within an exclusive transaction, and count it."""
    ((seq,),) = transaction.execute(_COUNT_LOOK).fetchall()
    transaction.execute(
        "INSERT INTO looks (seq, crc, look) VALUES (?, ?, ?)", (seq, checksum(f"look/{seq}", text), text)
    )


def _look_of(number: int, seq: int, crc: int, text: str) -> StoredLook:
    if seq != number or crc != checksum(f"look/{seq}", text):
        raise ValueError(seq)
    stored = json.loads(text)
    return StoredLook(**{**stored, "cases": tuple(stored["cases"])})


def _row_of(label: StoredLabel, now: float) -> Row:
    turn = _WHOLE if label.turn is None else label.turn
    words = storable(label.rubric_id), storable(label.metric)
    note, labeller = storable(label.note), storable(label.labeller)
    return (label.position, label.number, turn, *words, int(label.passes), now, note, labeller)


def _key_of(row: Row) -> Row:
    return (*row[:5], row[-1])


def label_checksum(run: int, row: Sequence[object]) -> int:
    """Return the checksum of a label: the columns of its row in order; a row of an earlier version has no labeller."""
    columns = row if row[-1] else row[:-1]
    return checksum(f"label/{run}/{'/'.join(map(repr, columns))}")


def _label_of(run: int, crc: int, row: Sequence[object]) -> StoredLabel:
    row = row if len(row) == _COLUMNS else [*row, ""]
    if crc != label_checksum(run, row):
        raise ValueError(crc)
    position, number, turn, rubric_id, metric, passes, labelled_at, note, labeller = row
    return StoredLabel(
        position=_whole(position),
        number=_whole(number),
        passes=bool(passes),
        turn=None if turn == _WHOLE else _whole(turn),
        rubric_id=str(rubric_id),
        metric=str(metric),
        note=str(note),
        labeller=str(labeller),
        labelled_at=float(str(labelled_at)),
    )


_COLUMNS = 9


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(value)
    return value
