"""Read a stored run: its cases in order, joined with their evidence and scores, as a sequence that is not in memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from operator import itemgetter
from sys import intern
from typing import Any, overload

from proctor.schema.evidence.trial import Trial, simulator_failure
from proctor.schema.results.case_result import undecided_reason
from proctor.schema.results.run_result import CaseResult, Outcome, TrialResult
from proctor.stores.base import BriefVerdict, StoredTrial
from proctor.stores.sql.database import (
    Database,
    Row,
    StoredBytes,
    blocks,
    damage_error,
    document_checksum,
    load_json,
    placeholders,
    planned_checksum,
    score_checksum,
    sound,
    trial_checksum,
    unpack,
    verdict_checksum,
)
from proctor.stores.sql.encoding import (
    OUTCOMES,
    Evidence,
    Scores,
    read_briefly,
    read_score,
    read_scores,
    read_verdict,
)
from proctor.stores.sql.media import with_media
from proctor.stores.sql.run_state import RunProgress, ScoringState, scoring_state

_BLOCK = 200
"""The number of cases whose trials, or whose content, one query reads."""
_MISMATCH = "it does not match its checksum"


@dataclass(slots=True)
class _CaseRows:
    """The stored rows of some cases, by position."""

    evidence: dict[int, Evidence] = field(default_factory=lambda: defaultdict(dict))
    failed: set[tuple[int, int, int]] = field(default_factory=set)
    scores: dict[int, Scores] = field(default_factory=lambda: defaultdict(dict))
    verdicts: dict[int, tuple[str, str]] = field(default_factory=dict)


class RunReader:
    """Reads one scoring of one run."""

    def __init__(self, database: Database, run: int, run_id: str, scoring: int) -> None:
        self._database = database
        self._run = run
        self._scoring = scoring
        self._run_id = run_id
        self._final_counts: dict[str, int] | None = None

    def cases(self, positions: Sequence[int]) -> Iterator[CaseResult]:
        """Return the cases at these positions.

        One query reads all of them; each result is built when the caller reaches it, so that only one is in memory.
        """
        case_rows = _CaseRows()
        with self._sound(positions):
            with self._database.snapshot():
                planned = self.planned(positions)
                self._read_evidence(case_rows, positions)
                self._read_scores(case_rows, positions)
                self._read_verdicts(case_rows, positions)
            # an error of the caller's code between two cases does not pass through here
            for position, texts in zip(positions, planned, strict=True):
                yield self._case(position, texts, case_rows)

    def verdicts(self, positions: Sequence[int]) -> Iterator[tuple[str, CaseResult]]:
        """Return the same cases with the hash of their content, without evidence and scores of trials: neither is read.

        A case that was not decided has no trials here.
        """
        case_rows = _CaseRows()
        with self._sound(positions):
            with self._database.snapshot():
                planned = self.planned(positions)
                self._read_verdicts(case_rows, positions)
            for position, (eval_set_id, eval_id, content_hash, place) in zip(positions, planned, strict=True):
                result = CaseResult(eval_set_id, eval_id, Outcome.NOT_RUN, place=place)
                if (verdict := case_rows.verdicts.get(position)) is not None:
                    read_briefly(result, *verdict)
                yield content_hash, result

    def briefly(self, positions: Sequence[int]) -> Iterator[BriefVerdict]:
        """Return the same cases in short."""
        case_rows = _CaseRows()
        with self._sound(positions):
            with self._database.snapshot():
                planned = self.planned(positions)
                self._read_verdicts(case_rows, positions)
            for position, texts in zip(positions, planned, strict=True):
                yield brief_verdict(texts, case_rows.verdicts.get(position))

    def planned(self, positions: Sequence[int]) -> list[tuple[str, str, str, str]]:
        """Return set, id, content hash and place of cases."""
        where, values = _among(positions)
        rows = self._database.rows(
            f"SELECT position, crc, eval_set_id, eval_id, content_hash, place FROM planned WHERE run = ? AND {where}",  # noqa: S608 - placeholders
            (self._run, *values),
        )
        with self._sound(positions):
            for position, crc, *texts in rows:
                if crc != planned_checksum(self._run, position, texts):
                    raise ValueError(_MISMATCH)
            # many cases share the id of their set
            cases = {row[0]: (intern(row[2]), row[3], row[4], row[5]) for row in rows}
            return [cases[position] for position in positions]

    def check_totals(self, run: RunProgress, scoring: ScoringState) -> None:
        """Check that the store has as many trials and verdicts as were written; read the progress in the same snapshot."""
        trials = self._database.row(
            "SELECT COUNT(*), COALESCE(SUM(position), 0) FROM trials WHERE run = ?", (self._run,)
        )
        verdicts = self._database.row(
            "SELECT COUNT(*), COALESCE(SUM(position), 0) FROM verdicts WHERE run = ? AND judging = ?",
            (self._run, self._scoring),
        )
        counts = scoring.by_outcome()
        decided = sum(counts.values()), scoring.verdicts_sum
        if trials != (run.trials, run.trials_sum) or verdicts != decided:
            raise damage_error(self._database.name, f"rows of run {self._run_id} are missing")
        if scoring.complete:
            self._final_counts = counts

    def counts(self) -> dict[str, int]:
        """Return how many cases were decided, by outcome; those of a complete scoring are read once."""
        if self._final_counts is not None:
            return self._final_counts
        progress = scoring_state(self._database, self._run, self._scoring)
        counts = progress.by_outcome()
        if progress.complete:
            self._final_counts = counts
        return counts

    def positions(self, eval_id: str) -> list[int]:
        """Return where the cases with this id are."""
        return [
            row[0]
            for row in self._database.rows(
                "SELECT position FROM planned WHERE run = ? AND eval_id = ? ORDER BY position",
                (self._run, eval_id),
            )
        ]

    def outcomes(self) -> list[tuple[int, Outcome]]:
        """Return the position and the outcome of every decided case."""
        rows = self._database.rows(
            "SELECT position, outcome FROM verdicts WHERE run = ? AND judging = ? ORDER BY position",
            (self._run, self._scoring),
        )
        with sound(self._database.name, f"outcomes of run {self._run_id}"):
            return [(position, OUTCOMES[outcome]) for position, outcome in rows]

    def trials(
        self, positions: Sequence[int], *, every_attempt: bool
    ) -> Iterator[tuple[int, list[StoredTrial]]]:
        """Yield the trials of each case that has any: the last attempt of each, or `every_attempt`, in order."""
        for some in blocks(positions, _BLOCK):
            rows = self._database.rows(_TRIALS.format(placeholders(some)), (self._scoring, self._run, *some))
            for position, own in groupby(rows, itemgetter(0)):
                with self._sound((position,)):
                    trials = {(row[1], row[2] if every_attempt else 0): self._trial(row) for row in own}
                yield position, [*trials.values()]

    def documents(self, positions: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Yield each case that a trial has brought, as JSON."""
        for some in blocks(positions, _BLOCK):
            rows = self._database.rows(_DOCUMENTS.format(placeholders(some)), (self._run, *some))
            for position, brought in groupby(rows, itemgetter(0)):
                with self._sound((position,)):
                    _, name, crc, media, body = next(brought)  # the newest version
                    if crc != document_checksum(name, media, body):
                        raise ValueError(_MISMATCH)
                    document = self._whole(body, media)
                yield position, document

    def attempts(self, positions: Sequence[int]) -> Iterator[tuple[int, int, bytes]]:
        """Return position, number and evidence of every attempt at the trials of these cases, without media."""
        for some in blocks(positions):
            with self._sound(some):
                rows = self._rows_of_evidence(some)
                whole = [(position, number, unpack(stored)) for position, number, *_, stored in rows]
            yield from whole

    # --- rows --------------------------------------------------------------------------------------------------------

    def _read_evidence(self, case_rows: _CaseRows, positions: Sequence[int]) -> None:
        for position, number, attempt, failed, media, stored in self._rows_of_evidence(positions):
            # evidence without media is decompressed on access: many readers need only the verdicts
            case_rows.evidence[position][number, attempt] = (
                with_media(self._database, unpack(stored), media) if media else stored
            )
            if failed:
                case_rows.failed.add((position, number, attempt))

    def _rows_of_evidence(
        self, positions: Sequence[int]
    ) -> Iterator[tuple[int, int, int, int, str | None, bytes]]:
        where, values = _among(positions)
        for row in self._database.rows(_EVIDENCE.format(where), (self._run, *values)):
            yield self._sound_evidence(*row)

    def _sound_evidence(
        self,
        position: int, number: int, attempt: int, failed: int, crc: int, document: str | None, media: str | None, stored: bytes,
    ) -> tuple[int, int, int, int, str | None, bytes]:  # fmt: skip
        if crc != trial_checksum(self._run, position, number, attempt, failed, document, media, stored):
            raise ValueError(_MISMATCH)
        return position, number, attempt, failed, media, stored

    def _trial(self, row: Row) -> StoredTrial:
        *evidence, crc, scores = row
        position, number, attempt, failed, media, stored = self._sound_evidence(*evidence)
        if scores is not None and crc != score_checksum(
            self._run, self._scoring, position, number, attempt, scores
        ):
            raise ValueError(_MISMATCH)
        by_metric = (
            {} if scores is None else {name: read_score(one) for name, one in read_scores(scores).items()}
        )
        return StoredTrial(number, attempt, bool(failed), self._whole(stored, media), by_metric)

    def _read_scores(self, case_rows: _CaseRows, positions: Sequence[int]) -> None:
        where, values = _among(positions)
        for position, number, attempt, crc, row in self._database.rows(
            f"SELECT position, number, attempt, crc, scores FROM scores WHERE run = ? AND judging = ? AND {where}",  # noqa: S608 - placeholders
            (self._run, self._scoring, *values),
        ):
            if crc != score_checksum(self._run, self._scoring, position, number, attempt, row):
                raise ValueError(_MISMATCH)
            case_rows.scores[position][number, attempt] = row

    def _read_verdicts(self, case_rows: _CaseRows, positions: Sequence[int]) -> None:
        where, values = _among(positions)
        for position, outcome, crc, text in self._database.rows(
            f"SELECT position, outcome, crc, verdict FROM verdicts WHERE run = ? AND judging = ? AND {where}",  # noqa: S608 - placeholders
            (self._run, self._scoring, *values),
        ):
            if crc != verdict_checksum(self._run, self._scoring, position, outcome, text):
                raise ValueError(_MISMATCH)
            case_rows.verdicts[position] = (outcome, text)

    def _whole(self, stored: bytes, media: str | None) -> bytes:
        body = unpack(stored)
        whole = with_media(self._database, body, media) if media else body
        return whole if isinstance(whole, bytes) else whole()

    def _sound(self, positions: Sequence[int]) -> AbstractContextManager[None]:
        first, last = positions[0], positions[-1]
        which = f"case {first}" if last == first else f"one of the cases {first} to {last}"
        return sound(self._database.name, f"{which} of run {self._run_id}")

    # --- cases -------------------------------------------------------------------------------------------------------

    def _case(self, position: int, texts: tuple[str, str, str, str], case_rows: _CaseRows) -> CaseResult:
        eval_set_id, eval_id, _, place = texts
        result = CaseResult(eval_set_id, eval_id, Outcome.NOT_RUN, place=place)
        verdict = case_rows.verdicts.get(position)
        evidence = case_rows.evidence.get(position, {})
        if verdict is None:
            result.trials = [
                TrialResult(
                    number,
                    Outcome.ERROR if (position, number, attempt) in case_rows.failed else Outcome.NOT_RUN,
                    evidence=partial(unpack, body),
                    attempt=attempt,
                )
                for number, attempt, body in last_attempts(evidence)
            ]
            if result.trials:
                result.reason = undecided_reason(len(result.trials))
        else:
            read_verdict(result, *verdict, evidence, case_rows.scores.get(position, {}))
        for trial in result.trials:
            if trial.attempt:
                trial.earlier = list(_earlier(trial, evidence))
        return result


def _earlier(trial: TrialResult, evidence: Evidence) -> Iterator[TrialResult]:
    """The attempts before the last one: only what ended in an error is made again."""
    for attempt in range(trial.attempt):
        if (body := evidence.get((trial.number, attempt))) is not None:
            stored = Trial.model_validate_json(unpack(body))
            failure = stored.failure
            if failure is None and stored.played_user is not None:  # then it was its user that went wrong
                failure = simulator_failure(stored.played_user.faults)
            yield TrialResult(trial.number, Outcome.ERROR, evidence=stored, failure=failure, attempt=attempt)


def last_attempts(evidence: Evidence) -> list[tuple[int, int, StoredBytes]]:
    """Return number, attempt and evidence of the last attempt at each trial, in order."""
    last: dict[int, int] = {}
    for number, attempt in evidence:
        last[number] = max(attempt, last.get(number, 0))
    return [(number, attempt, evidence[number, attempt]) for number, attempt in sorted(last.items())]


def _among(positions: Sequence[int]) -> tuple[str, Sequence[int]]:
    """Return the condition that a row is of one of these cases, and its values."""
    if isinstance(positions, range) and positions.step == 1:
        return "position >= ? AND position < ?", (positions.start, positions.stop)
    return f"position IN ({placeholders(positions)})", positions


_EVIDENCE = (
    "SELECT position, number, attempt, failed, crc, document, media, evidence FROM trials WHERE run = ? AND {} "
    "ORDER BY position, number, attempt"
)
_TRIALS = (
    "SELECT trials.position, trials.number, trials.attempt, failed, trials.crc, document, media, evidence, scores.crc, scores "
    "FROM trials LEFT JOIN scores ON scores.run = trials.run AND judging = ? AND scores.position = trials.position "
    "AND scores.number = trials.number AND scores.attempt = trials.attempt "
    "WHERE trials.run = ? AND trials.position IN ({}) ORDER BY trials.position, trials.number, trials.attempt"
)
_DOCUMENTS = (
    "SELECT position, document, documents.crc, documents.media, body FROM trials LEFT JOIN documents ON hash = document "
    "WHERE run = ? AND position IN ({}) AND document IS NOT NULL ORDER BY position, attempt DESC, number"
)


# --- Verdicts in short, for looking back over many runs: of hundreds of thousands only what that takes is read --------


_ALONE: dict[str, tuple[Outcome, ...]] = {outcome.value: (outcome,) for outcome in Outcome}
"""The trials of a case that has one."""
_NO_METRICS: dict[str, dict[str, Any]] = {}


def brief_verdict(texts: tuple[str, str, str, str], verdict: tuple[str, str] | None) -> BriefVerdict:
    """Return what `verdict_row` wrote of a case (its set, id, content hash and place); `None`: it was not decided."""
    if verdict is None:
        return BriefVerdict(*texts, Outcome.NOT_RUN, (), "", _NO_METRICS)
    row = load_json(verdict[1])
    trials = row["trials"]
    if len(trials) == 1:
        ended = _ALONE[trials[0]["outcome"]]
    else:
        ended = tuple([OUTCOMES[trial["outcome"]] for trial in trials])
    reason = row.get("reason") or row.get("missed", "")
    return BriefVerdict(*texts, OUTCOMES[verdict[0]], ended, reason, row["metrics"])


# --- The cases of a stored run as a sequence that is not in memory ----------------------------------------------------


class StoredCases(Sequence[CaseResult]):
    """The cases of a run in a store, or of a part of it: read when asked for, and streamed when looped over."""

    def __init__(self, reader: RunReader, positions: Sequence[int]) -> None:
        self._reader = reader
        self._positions = positions
        """Where the cases are in the run."""

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> CaseResult: ...
    @overload
    def __getitem__(self, index: slice) -> list[CaseResult]: ...
    def __getitem__(self, index: int | slice) -> CaseResult | list[CaseResult]:
        if isinstance(index, slice):
            return [*self._read(self._positions[index])]
        return next(self._reader.cases((self._positions[index],)))

    def __iter__(self) -> Iterator[CaseResult]:
        return self._read(self._positions)

    def __repr__(self) -> str:
        return f"<{len(self)} stored cases>"

    def counts(self) -> dict[Outcome, int]:
        """Return how many cases ended in each outcome, without reading them."""
        counts = self._counts()
        if missing := len(self) - sum(counts.values()):
            counts[Outcome.NOT_RUN] = counts.get(Outcome.NOT_RUN, 0) + missing
        return counts

    def _counts(self) -> dict[Outcome, int]:
        if isinstance(self._positions, range):
            return {Outcome(name): count for name, count in self._reader.counts().items()}
        own = frozenset(self._positions)
        return dict(Counter(outcome for position, outcome in self._reader.outcomes() if position in own))

    def find(self, eval_id: str, eval_set_id: str | None = None) -> CaseResult | None:
        """Return the first case of that id, without reading the others."""
        for position in self._reader.positions(eval_id):
            if position in self._positions:
                case = next(self._reader.cases((position,)))
                if eval_set_id in {None, case.eval_set_id}:
                    return case
        return None

    def names(self) -> Iterator[tuple[str, str]]:
        """Return set and id of each case, without reading what became of it."""
        for some in blocks(self._positions):
            yield from (texts[:2] for texts in self._reader.planned(some))

    def documents(self, indexes: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Yield index and JSON of these cases, in the version that was run; see `Store.case_documents`."""
        if isinstance(self._positions, range):  # of the whole run
            yield from self._reader.documents(indexes)
            return
        index_at = {self._positions[index]: index for index in indexes}
        for position, document in self._reader.documents([*index_at]):
            yield index_at[position], document

    def _read(self, positions: Sequence[int]) -> Iterator[CaseResult]:
        for some in blocks(positions):
            yield from self._reader.cases(some)
