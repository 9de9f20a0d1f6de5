"""Records as rows: encoded where they are put, gathered, and written within one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.errors import StoreError
from proctor.stores import media
from proctor.stores.base import Record, ScoreRecord, TrialRecord, VerdictRecord
from proctor.stores.database import Connection
from proctor.stores.encoding import checksum, pack, score_row, storable, value_column, verdict_row
from proctor.stores.insertion import insert
from proctor.stores.states import Hold

_EVIDENCE_FROM = 4096
_CASE_FROM = 1024
"""Bytes from which it pays to compress: evidence is written once for each trial, a case once for all runs."""

Row = tuple[Any, ...]


@dataclass(slots=True)
class Rows:
    """Rows that wait to be written."""

    cases: dict[int, tuple[bytes, str | None]] = field(default_factory=dict)
    """By position: the packed case and where its media were."""
    media: dict[str, bytes] = field(default_factory=dict)
    trials: list[Row] = field(default_factory=list)
    scores: dict[tuple[int, int, int, str], Row] = field(default_factory=dict)
    verdicts: dict[int, Row] = field(default_factory=dict)
    stale: set[int] = field(default_factory=set)
    """Positions whose verdict rests on an attempt that was made again."""

    def add(self, later: Rows) -> None:
        """Take in what came later."""
        self.cases.update(later.cases)
        self.media.update(later.media)
        self.trials += later.trials
        self.scores.update(later.scores)
        for position in later.stale:
            self.verdicts.pop(position, None)
        self.stale |= later.stale
        self.verdicts.update(later.verdicts)


class RowWriter:
    """Makes rows of records, and writes them."""

    def __init__(self, hold: Hold) -> None:
        self._hold = hold
        self._run = hold.lease.run
        self._judging = hold.judging.number
        self._attempts = hold.attempts
        self._waiting = Rows()

    # --- where they are put ------------------------------------------------------------------------------------------

    def encode(self, records: Iterable[Record]) -> Rows:
        """Return records as rows."""
        rows = Rows()
        for record in records:
            if isinstance(record, TrialRecord):
                self._trial(rows, record)
            elif isinstance(record, ScoreRecord):
                self._scores(rows, record)
            else:
                self._verdict(rows, record)
        return rows

    def _trial(self, rows: Rows, record: TrialRecord) -> None:
        position, number, attempt = record.position, record.number, record.attempt
        if record.case:
            body, places, found = media.take_out(record.case)
            rows.media.update(found)
            rows.cases[position] = (pack(body, _CASE_FROM), places)
        body, places, found = media.take_out(record.evidence)
        rows.media.update(found)
        stored, failed = pack(body, _EVIDENCE_FROM), int(record.failed)
        key = (self._run, position, number, attempt, failed, int(bool(record.case)))
        rows.trials.append((*key, checksum(trial_key(*key, places), stored), places, stored))
        if attempt:
            self._attempts[position, number] = attempt
            rows.stale.add(position)

    def _scores(self, rows: Rows, record: ScoreRecord) -> None:
        position, number, attempt = record.position, record.number, record.attempt
        for metric, score in record.scores.items():
            name, text = storable(metric), score_row(score)
            crc = checksum(score_key(self._run, self._judging, position, number, attempt, name), text)
            rows.scores[position, number, attempt, name] = (
                self._run,
                self._judging,
                position,
                number,
                attempt,
                name,
                value_column(score),
                crc,
                text,
            )

    def _verdict(self, rows: Rows, record: VerdictRecord) -> None:
        position, result = record.position, record.result
        attempts = {
            trial.number: attempt
            for trial in result.trials
            if (attempt := self._attempts.get((position, trial.number)))
        }
        outcome, text = result.outcome.value, verdict_row(result, attempts)
        crc = checksum(verdict_key(self._run, self._judging, position, outcome), text)
        rows.verdicts[position] = (self._run, self._judging, position, outcome, crc, text)

    # --- on the writer's thread --------------------------------------------------------------------------------------

    def add(self, rows: Rows) -> None:
        """Gather rows for the next commit."""
        self._waiting.add(rows)

    def write(self, raw: sqlite3.Connection, connection: Connection) -> None:
        """Write what was gathered, within the transaction that is open, and count it."""
        rows, self._waiting = self._waiting, Rows()
        if rows.media:
            self._write_media(raw, rows.media)
        if rows.cases:
            self._write_cases(raw, rows.cases)
        if rows.trials:
            self._write_trials(raw, rows.trials, connection.name)
        decided = self._hold.decided
        stale = rows.stale | {key[0] for key in rows.scores if key[0] in decided}
        if stale:
            self._forget(raw, stale)
        if rows.scores:
            insert(raw, "scores", _SCORES, list(rows.scores.values()), _NEWER_SCORE)
        if rows.verdicts:
            self._write_verdicts(raw, rows.verdicts)
        if stale or rows.verdicts:
            self._hold.judging.counts = decided.counts()
            self._hold.judging.verdicts_sum = decided.positions_sum

    def _write_media(self, raw: sqlite3.Connection, found: dict[str, bytes]) -> None:
        rows = [(name, checksum(name, body), body) for name, body in found.items()]
        insert(raw, "media", "hash, crc, body", rows, "ON CONFLICT (hash) DO NOTHING")
        self._use(raw, found)

    def _use(self, raw: sqlite3.Connection, names: Iterable[str]) -> None:
        rows = [(self._run, name) for name in names]
        insert(raw, "media_uses", "run, media", rows, "ON CONFLICT (run, media) DO NOTHING")

    def _write_cases(self, raw: sqlite3.Connection, cases: dict[int, tuple[bytes, str | None]]) -> None:
        hashes: dict[int, str] = {}
        for some in _chunks(list(cases)):
            hashes.update(
                raw.execute(
                    f"SELECT position, content_hash FROM planned WHERE run = ? AND position IN ({_marks(some)})",  # noqa: S608 - only marks
                    (self._run, *some),
                ).fetchall()
            )
        rows = {}
        for position, (body, places) in cases.items():
            name = hashes[position]
            rows[name] = (name, checksum(document_key(name, places), body), places, body)
        insert(
            raw, "documents", "hash, crc, media, body", list(rows.values()), "ON CONFLICT (hash) DO NOTHING"
        )

    def _write_trials(self, raw: sqlite3.Connection, rows: list[Row], name: str) -> None:
        raw.execute("SAVEPOINT evidence")
        if insert(raw, "trials", _TRIALS, rows, _KEEP_TRIAL) < len(rows):
            raw.execute("ROLLBACK TO SAVEPOINT evidence")
            rows = [row for row in rows if _inserted(raw, row, name)]
        raw.execute("RELEASE SAVEPOINT evidence")
        progress = self._hold.run
        progress.trials += len(rows)
        progress.trials_sum += sum(row[1] for row in rows)

    def _forget(self, raw: sqlite3.Connection, positions: set[int]) -> None:
        """Drop verdicts that rest on an attempt that is no longer the last one, or on scores that are replaced."""
        decided = self._hold.decided
        gone = sorted(position for position in positions if position in decided)
        for some in _chunks(gone):
            raw.execute(
                f"DELETE FROM verdicts WHERE run = ? AND judging = ? AND position IN ({_marks(some)})",  # noqa: S608 - only marks
                (self._run, self._judging, *some),
            )
        for position in gone:
            decided.put(position, None)

    def _write_verdicts(self, raw: sqlite3.Connection, rows: dict[int, Row]) -> None:
        insert(raw, "verdicts", _VERDICTS, list(rows.values()), _NEWER_VERDICT)
        for position, row in rows.items():
            self._hold.decided.put(position, row[3])


def trial_key(
    run: int, position: int, number: int, attempt: int, failed: int, with_case: int, media: str | None
) -> str:
    """What the checksum of evidence is over, besides it."""
    return f"trial/{run}/{position}/{number}/{attempt}/{failed}/{with_case}/{media or ''}"


def score_key(run: int, judging: int, position: int, number: int, attempt: int, metric: str) -> str:
    """What the checksum of a score is over, besides it."""
    return f"score/{run}/{judging}/{position}/{number}/{attempt}/{metric}"


def verdict_key(run: int, judging: int, position: int, outcome: str) -> str:
    """What the checksum of a verdict is over, besides it."""
    return f"verdict/{run}/{judging}/{position}/{outcome}"


def document_key(name: str, media: str | None) -> str:
    """What the checksum of a case is over, besides it."""
    return f"document/{name}/{media or ''}"


def planned_key(run: int, position: int, texts: Sequence[str]) -> str:
    """What the checksum of a planned case is over."""
    return "\x00".join([f"planned/{run}/{position}", *texts])


_TRIALS = "run, position, number, attempt, failed, with_case, crc, media, evidence"
_SCORES = "run, judging, position, number, attempt, metric, value, crc, score"
_VERDICTS = "run, judging, position, outcome, crc, verdict"
_KEEP_TRIAL = "ON CONFLICT (run, position, number, attempt) DO NOTHING"
_NEWER_SCORE = (
    "ON CONFLICT (run, judging, position, number, attempt, metric) "
    "DO UPDATE SET value = excluded.value, crc = excluded.crc, score = excluded.score"
)
_NEWER_VERDICT = (
    "ON CONFLICT (run, judging, position) "
    "DO UPDATE SET outcome = excluded.outcome, crc = excluded.crc, verdict = excluded.verdict"
)


def _inserted(raw: sqlite3.Connection, row: Row, name: str) -> bool:
    """Insert one trial; that the very same one is there already is fine, another one is not."""
    if insert(raw, "trials", _TRIALS, [row], _KEEP_TRIAL):
        return True
    there = raw.execute(
        f"SELECT {_TRIALS} FROM trials WHERE run = ? AND position = ? AND number = ? AND attempt = ?",  # noqa: S608 - our own columns
        row[:4],
    ).fetchone()
    if there is not None and (there[4], *there[7:]) == (
        row[4],
        *row[7:],
    ):  # whoever came first brought the case
        return False
    raise StoreError(
        f"{name}: trial {row[2]} of case {row[1]} has other evidence already (attempt {row[3]}), "
        "and evidence is never changed"
    )


def _chunks(values: list[int]) -> Iterable[list[int]]:
    return (values[i : i + 500] for i in range(0, len(values), 500))


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
