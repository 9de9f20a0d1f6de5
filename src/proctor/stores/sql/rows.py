"""Records as rows: encoded on the caller's thread, collected, and written in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from proctor.errors import StoreError
from proctor.schema.results.run_result import Outcome
from proctor.schema.serialize import content_hash
from proctor.stores.base import Allotment, AnswerRecord, Record, ScoreRecord, TrialRecord, VerdictRecord
from proctor.stores.sql import leases, run_state
from proctor.stores.sql.database import (
    PACKED_FROM,
    Database,
    Row,
    Transaction,
    checksum,
    compact,
    document_checksum,
    insert,
    insert_new,
    pack,
    score_checksum,
    trial_checksum,
    verdict_checksum,
)
from proctor.stores.sql.encoding import extract_media, merged_scores, scores_row, verdict_row
from proctor.stores.sql.media import Uploaded, write_media
from proctor.stores.sql.reader import RunReader
from proctor.stores.sql.run_budget import delete_allotment, reload_allotment, settle
from proctor.stores.sql.run_state import RunProgress, ScoringState


class DecidedOutcomes:
    """The outcomes of a scoring so far; one byte per case."""

    def __init__(self, outcomes: Iterable[tuple[int, str]] = ()) -> None:
        self._codes = bytearray()
        self._counts = [0] * (len(_OUTCOMES) + 1)
        self.positions_sum = 0
        for position, outcome in outcomes:
            self.record(position, outcome)

    def __contains__(self, position: int) -> bool:
        return position < len(self._codes) and self._codes[position] != 0

    def record(self, position: int, outcome: str | None) -> None:
        """Record the outcome of a case; `None`: it is undecided again."""
        if position >= len(self._codes):
            self._codes += bytes(position + 1 - len(self._codes))
        before, code = self._codes[position], _CODES[outcome]
        self._codes[position] = code
        self._counts[before] -= 1
        self._counts[code] += 1
        self.positions_sum += position * ((code > 0) - (before > 0))

    def counts(self) -> str:
        """Return the number of cases by outcome, as JSON."""
        counted = zip(_OUTCOMES, self._counts[1:], strict=True)
        return compact({outcome.value: count for outcome, count in counted if count})


_OUTCOMES = tuple(Outcome)
_CODES: dict[str | None, int] = {None: 0, **{outcome.value: i for i, outcome in enumerate(_OUTCOMES, 1)}}


@dataclass(slots=True)
class Hold:
    """A run that this process may write: the lease, and the progress of the run and of one scoring."""

    lease: leases.Lease
    run: RunProgress
    scoring: ScoringState
    decided: DecidedOutcomes
    """The cases with a verdict in this scoring."""
    attempts: dict[tuple[int, int], int]
    """By position and number the last attempt, if it is not the first."""
    allotment: Allotment | None = field(default=None, kw_only=True)
    """What this process may spend; `None`: it asks for nothing that has a cap."""
    has_caps: bool = field(default=False, kw_only=True)
    """Whether the store keeps caps of this process, which end with it unless it is killed."""

    @property
    def completes_run(self) -> bool:
        """Whether this was the last part of a run of several processes."""
        return False

    def write(self, transaction: Transaction) -> bool:
        """Write the progress and renew the lease; return `False` if another process has taken over the run."""
        is_held = self.run.write(transaction, self.lease)
        self.scoring.write(transaction)
        if is_held and self.allotment is not None:
            settle(transaction, self.allotment, self.lease.run)
        return is_held

    def release(self, transaction: Transaction) -> None:
        """Let another process write the run; it has limits of its own."""
        if leases.release_lease(transaction, self.lease) and self.has_caps:
            delete_allotment(transaction, self.lease.run)

    def reload(self, database: Database) -> None:
        """Read what is stored: it is unknown whether the last transaction was committed."""
        run, scoring = self.lease.run, self.scoring.number
        self.run = run_state.run_progress(database, run)
        self.scoring = run_state.scoring_state(database, run, scoring)
        self.decided = DecidedOutcomes(RunReader(database, run, self.lease.run_id, scoring).outcomes())
        if self.allotment is not None:
            reload_allotment(database, self.allotment, run)


@dataclass(slots=True)
class Rows:
    """Rows that are not written yet."""

    documents: dict[str, Row] = field(default_factory=dict)
    """Cases by the hash of their content."""
    media: dict[str, bytes] = field(default_factory=dict)
    trials: list[Row] = field(default_factory=list)
    scores: dict[tuple[int, int, int], bytes] = field(default_factory=dict)
    """By position, number and attempt."""
    verdicts: dict[int, Row] = field(default_factory=dict)
    answers: dict[str, bytes] = field(default_factory=dict)
    """Of judges, by key."""
    stale: set[int] = field(default_factory=set)
    """Positions whose verdict is based on an attempt that was repeated."""

    def add(self, later: Rows) -> None:
        """Add later rows, which replace earlier ones with the same key."""
        self.documents.update(later.documents)
        self.media.update(later.media)
        self.trials += later.trials
        for name, answer in later.answers.items():
            self.answers[name] = answer or self.answers.get(name, b"")
        for key, row in later.scores.items():
            self.add_scores(key, row)
        for position in later.stale:
            self.verdicts.pop(position, None)
        self.stale |= later.stale
        self.verdicts.update(later.verdicts)

    def add_scores(self, key: tuple[int, int, int], row: bytes) -> None:
        """Add scores; scores of other metrics of the same attempt are kept."""
        there = self.scores.get(key)
        self.scores[key] = row if there is None else merged_scores(there, row)


class RowWriter:
    """Encodes records as rows and writes them."""

    def __init__(self, hold: Hold) -> None:
        self._hold = hold
        self._run = hold.lease.run
        self._scoring = hold.scoring.number
        self._attempts = hold.attempts

    # --- on the caller's thread ---------------------------------------------------------------------------------------

    def encode(self, records: Iterable[Record | AnswerRecord]) -> Rows:
        """Return records as rows."""
        rows = Rows()
        for record in records:
            if isinstance(record, TrialRecord):
                self._trial(rows, record)
            elif isinstance(record, ScoreRecord):
                key = record.position, record.number, record.attempt
                rows.add_scores(key, scores_row(record.scores))
            elif isinstance(record, VerdictRecord):
                self._verdict(rows, record)
            else:
                rows.answers[record.key] = record.answer
        return rows

    def _trial(self, rows: Rows, record: TrialRecord) -> None:
        position, number, attempt = record.position, record.number, record.attempt
        document = self._document(rows, record.case) if record.case else None
        body, places, media = extract_media(record.evidence)
        rows.media.update(media)
        key, stored = (self._run, position, number, attempt, int(record.failed)), pack(body, PACKED_FROM)
        rows.trials.append((*key, trial_checksum(*key, document, places, stored), document, places, stored))
        if attempt:
            self._attempts[position, number] = attempt
            rows.stale.add(position)

    def _document(self, rows: Rows, case: bytes) -> str:
        body, places, media = extract_media(case)
        rows.media.update(media)
        name, stored = content_hash(case), pack(body, PACKED_FROM)
        rows.documents[name] = (name, document_checksum(name, places, stored), places, stored)
        return name

    def _verdict(self, rows: Rows, record: VerdictRecord) -> None:
        position, result = record.position, record.result
        attempts = {
            trial.number: attempt
            for trial in result.trials
            if (attempt := self._attempts.get((position, trial.number)))
        }
        outcome, text = result.outcome.value, verdict_row(result, attempts)
        crc = verdict_checksum(self._run, self._scoring, position, outcome, text)
        rows.verdicts[position] = (self._run, self._scoring, position, outcome, crc, text)

    # --- on the writer's thread --------------------------------------------------------------------------------------

    def write(self, transaction: Transaction, database: Database, rows: Rows, uploaded: Uploaded) -> None:
        """Write rows within the open transaction of `database`, and count them."""
        if rows.media:
            write_media(transaction, database, self._run, rows.media, uploaded)
        if rows.documents:
            insert(
                transaction,
                "documents",
                _DOCUMENTS,
                sorted(rows.documents.values()),
                "ON CONFLICT (hash) DO NOTHING",
            )
        if rows.trials:
            self._write_trials(transaction, rows.trials, database.name)
        if rows.answers:
            write_answers(transaction, self._run, rows.answers)
        decided = self._hold.decided
        stale = rows.stale | {key[0] for key in rows.scores if key[0] in decided}
        if stale:
            self._forget(transaction, stale)
        if rows.scores:
            self._write_scores(transaction, rows.scores)
        if rows.verdicts:
            self._write_verdicts(transaction, rows.verdicts)
        if stale or rows.verdicts:
            self._hold.scoring.counts = decided.counts()
            self._hold.scoring.verdicts_sum = decided.positions_sum

    def _write_trials(self, transaction: Transaction, rows: list[Row], name: str) -> None:
        new = insert_new(transaction, "trials", _TRIALS, _TRIAL_KEY, rows)
        keys: set[Row] = set()
        for row in rows:
            if row[:4] not in new or row[:4] in keys:
                _check_same_trial(transaction, name, row)
            keys.add(row[:4])
        progress = self._hold.run
        progress.trials += len(new)
        progress.trials_sum += sum(key[1] for key in new)

    def _write_scores(self, transaction: Transaction, score_rows: dict[tuple[int, int, int], bytes]) -> None:
        rows = [self._score_row(key, scores) for key, scores in score_rows.items()]
        new = insert_new(transaction, "scores", _SCORES, _SCORE_KEY, rows)
        for row in rows:
            if row[:5] not in new:
                self._merge_scores(transaction, row)

    def _merge_scores(self, transaction: Transaction, row: Row) -> None:
        """Write scores of an attempt that has scores of the same or of other metrics."""
        (there,) = transaction.execute(
            "SELECT scores FROM scores WHERE run = ? AND judging = ? AND position = ? AND number = ? AND attempt = ?",
            row[:5],
        ).fetchone()
        merged = self._score_row(row[2:5], merged_scores(there, row[-1]))
        insert(transaction, "scores", _SCORES, [merged], _NEWER_SCORES)

    def _score_row(self, key: tuple[int, int, int], scores: bytes) -> Row:
        crc = score_checksum(self._run, self._scoring, *key, scores)
        return (self._run, self._scoring, *key, crc, scores)

    def _forget(self, transaction: Transaction, positions: set[int]) -> None:
        """Delete verdicts that are based on an attempt that was repeated, or on scores that were replaced."""
        decided = self._hold.decided
        undecided = sorted(position for position in positions if position in decided)
        for start in range(0, len(undecided), 500):
            some = undecided[start : start + 500]
            marks = ", ".join("?" * len(some))
            transaction.execute(
                f"DELETE FROM verdicts WHERE run = ? AND judging = ? AND position IN ({marks})",  # noqa: S608 - only marks
                (self._run, self._scoring, *some),
            )
        for position in undecided:
            decided.record(position, None)

    def _write_verdicts(self, transaction: Transaction, rows: dict[int, Row]) -> None:
        insert(transaction, "verdicts", _VERDICTS, list(rows.values()), _NEWER_VERDICT)
        for position, row in rows.items():
            self._hold.decided.record(position, row[3])


_DOCUMENTS = "hash, crc, media, body"
_TRIALS = "run, position, number, attempt, failed, crc, document, media, evidence"
_SCORES = "run, judging, position, number, attempt, crc, scores"
_VERDICTS = "run, judging, position, outcome, crc, verdict"
_TRIAL_KEY = "run, position, number, attempt"
_SCORE_KEY = "run, judging, position, number, attempt"
_NEWER_SCORES = "ON CONFLICT (run, judging, position, number, attempt) DO UPDATE SET crc = excluded.crc, scores = excluded.scores"
_NEWER_VERDICT = (
    "ON CONFLICT (run, judging, position) "
    "DO UPDATE SET outcome = excluded.outcome, crc = excluded.crc, verdict = excluded.verdict"
)


def _check_same_trial(transaction: Transaction, name: str, row: Row) -> None:
    """Check that a trial that is stored already is identical: evidence is never changed."""
    there = transaction.execute(
        "SELECT failed, media, evidence FROM trials WHERE run = ? AND position = ? AND number = ? AND attempt = ?",
        row[:4],
    ).fetchone()
    if there == (row[4], *row[7:]):
        return
    raise StoreError(
        f"{name}: trial {row[2]} of case {row[1]} has other evidence already (attempt {row[3]}), "
        "and evidence is never changed"
    )


_NEWER = "ON CONFLICT (name) DO UPDATE SET crc = excluded.crc, body = excluded.body"


def write_answers(transaction: Transaction, run: int, answers: Mapping[str, bytes]) -> None:
    """Keep answers, within a transaction; an empty one exists already, and the run needs it, too."""
    rows = [
        (name, checksum(f"answer/{name}", stored), stored)
        for name, body in sorted(answers.items())
        if body and (stored := pack(body, PACKED_FROM))
    ]
    insert(transaction, "answers", "name, crc, body", rows, _NEWER)
    uses = [(run, name) for name in answers]
    insert(transaction, "answer_uses", "run, answer", uses, "ON CONFLICT (run, answer) DO NOTHING")
