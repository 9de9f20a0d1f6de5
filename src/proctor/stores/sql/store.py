"""The store: runs in the tables of a database."""

from __future__ import annotations

import json
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from pydantic import ValidationError

from proctor.common.safe_text import count_text
from proctor.errors import StoreError, UnknownNameError
from proctor.schema.results.manifest import (
    AgentManifest,
    JudgedSet,
    Manifest,
    PlannedCase,
    RunDetails,
    RunRecord,
    RunSummary,
    ScoringManifest,
    SetManifest,
    adds_trials,
    counting,
)
from proctor.schema.results.run_result import CaseResult, Outcome, RunKind, RunResult, SetSummary
from proctor.schema.results.score import TrialRule
from proctor.stores.base import BriefVerdict, Committed, RunEntry, ScoringProgress, StoredTrial
from proctor.stores.sql import leases, run_state
from proctor.stores.sql.annotations import AnnotatedStore
from proctor.stores.sql.batch_records import JudgeBatchStore
from proctor.stores.sql.copy import copy_calibrations_and_looks, copy_run
from proctor.stores.sql.database import StoreLocation, checksum, sound, unpack
from proctor.stores.sql.media import collect_artefacts, prepare_artefacts, shared_artefacts
from proctor.stores.sql.reader import RunReader, StoredCases
from proctor.stores.sql.run_state import (
    RunLine,
    ScoringState,
    find_run,
    run_index,
    run_line,
    run_lines,
    scoring_state,
    standing_of,
    stored_scorings,
)
from proctor.stores.sql.shared_run import SharedRunStore
from proctor.stores.sql.writer import Writer, begin_run, begin_scoring, delete_runs, name_agent, resume_run

_AT_ONCE = 1000
_T = TypeVar("_T")


class SqlStore(SharedRunStore, AnnotatedStore, JudgeBatchStore):
    """A store in the tables of a database (see `Store`). Any thread may use it."""

    def __init__(self, url: str, place: StoreLocation, *, read_only: bool = False) -> None:
        self.url = url
        self.name = place.name
        self.read_only = read_only
        self._place = place
        self._database = place.open()
        self._seqs: dict[str, int] = {}

    @property
    def warnings(self) -> list[str]:
        """What the user should know about this store."""
        return self._place.warnings

    # --- writing -----------------------------------------------------------------------------------------------------

    def begin(
        self, manifest: Manifest, cases: Iterable[PlannedCase], scoring: ScoringManifest, committed: Committed
    ) -> Writer:
        """Write down a new run and take hold of it."""
        self._prepare_writing()
        with self._database.transaction() as transaction:
            hold = begin_run(transaction, self.name, manifest, cases, scoring)
        return Writer(self._place, hold, committed, manifest.created_at)

    def resume(
        self,
        run_id: str,
        committed: Committed,
        *,
        added: Iterable[PlannedCase] = (),
        agent: AgentManifest | None = None,
    ) -> Writer:
        """Take hold of an unfinished run; `added` are cases that it did not have before, or not so.

        `agent`: the description of the agent, for a run that was stored before the agent could be asked for it.

        Raises:
            StoreError: another process is at work on it.
        """
        self._prepare_writing()
        line = self._line(run_id)
        run_state.check_of_one_process(line, self.name)
        with self._database.transaction() as transaction:
            lease = leases.take_lease(transaction, line.seq, run_id, self.name)
            if agent is not None:
                name_agent(transaction, line, self._manifest(line), agent)
            hold = resume_run(transaction, self._database, lease, list(added))
        return Writer(self._place, hold, committed, line.created_at)

    def begin_scoring(self, run_id: str, scoring: ScoringManifest, committed: Committed) -> Writer:
        """Begin another scoring of a run's evidence; its number is chosen here."""
        self._check_writable()
        line = self._line(run_id)
        run_state.check_of_one_process(line, self.name)
        with self._database.transaction() as transaction:
            lease = leases.take_lease(transaction, line.seq, run_id, self.name)
            hold = begin_scoring(transaction, self._database, lease, scoring)
        return Writer(self._place, hold, committed, line.created_at, only_scores=True)

    def copy_run(self, source: SqlStore, run_id: str) -> bool:
        """Copy a run of another store, with its evidence, all scorings and labels; return `False` if it is here already.

        Raises:
            StoreError: the source is damaged, or here is another run of this id. Then nothing was copied.
        """
        self._prepare_writing()
        return copy_run(source._database, self._database, run_id)

    def copy_calibrations_and_looks(self, source: SqlStore) -> None:
        """Copy calibrations of judges and looks at held-out cases that are not here."""
        self._check_writable()
        copy_calibrations_and_looks(source._database, self._database)

    def delete(self, run_ids: Sequence[str]) -> None:
        """Forget runs, and what only they needed.

        Raises:
            StoreError: a process is at work on one of them, or the location of the artefacts cannot be used; then none is
                forgotten. Or another place of artefacts cannot be reached, which the message states.
        """
        self._prepare_writing()
        lines = [self._line(run_id) for run_id in run_ids]
        with self._database.deletion() as transaction:
            for line in lines:
                run_state.check_deletable(transaction, line, self.name)
            delete_runs(transaction, [line.seq for line in lines])
        self._seqs.clear()
        try:
            marks = collect_artefacts(self._database)
        except StoreError as error:
            raise StoreError(
                f"{count_text(len(lines), 'run')} deleted, but not all artefacts that no run uses any more: {error}. "
                "The next `proctor prune` deletes the others"
            ) from error
        if marks:
            warnings.warn(shared_artefacts(marks), stacklevel=2)

    # --- reading -----------------------------------------------------------------------------------------------------

    def find(self, name: str, kind: RunKind | None = RunKind.RUN) -> str:
        """Return the id of the run called `name`: as `Store.find`.

        Raises:
            UnknownNameError: there is none, or several, or it is of another kind.
        """
        return find_run(self._database, self.name, name, kind)

    def runs(self, kind: RunKind | None = RunKind.RUN) -> Iterator[RunRecord]:
        """List the runs of that kind (`None`: of any), newest first."""
        return map(self._record, run_lines(self._database, kind))

    def index(self, kind: RunKind | None = RunKind.RUN) -> list[RunEntry]:
        """List the runs, newest first, with only the fields that identify them."""
        return run_index(self._database, kind)

    def standing(self, run_id: str, scoring: int = 1) -> ScoringProgress:
        """Return the progress of a scoring without reading its cases.

        Raises:
            UnknownNameError: the store has no run of this id, or the run has no such scoring.
        """
        line = run_line(self._database, run_id)
        if line is None or not 1 <= scoring <= line.progress.scorings:
            raise UnknownNameError(f"No scoring {scoring} of a run named {run_id!r} in {self.name}")
        return standing_of(self._database, line, scoring)

    def record(self, run_id: str) -> RunRecord:
        """Return one run as `runs` lists it."""
        return self._record(self._line(run_id))

    def manifest(self, run_id: str) -> Manifest:
        """Return what exactly was run."""
        return self._manifest(self._line(run_id))

    def scorings(self, run_id: str) -> list[ScoringManifest]:
        """Return the scorings of a run, in order."""
        line = self._line(run_id)
        return [self._scoring(line, *stored) for stored in stored_scorings(self._database, line)]

    def details(self, run_id: str) -> RunDetails:
        """Return what `record`, `manifest` and `scorings` return, read together."""
        with self._database.snapshot():  # another process may be writing the run
            line = self._line(run_id)
            stored = stored_scorings(self._database, line)
        scorings = [self._scoring(line, *one) for one in stored]
        last = stored[counting(scorings).number - 1][0]
        return RunDetails(self._record(line, last), self._manifest(line), scorings)

    def summary(self, run_id: str, scoring: int | None = None) -> RunSummary:
        """Return the summary of a scoring; by default of the last finished one, otherwise of the run's first."""
        line = self._line(run_id)
        number = self._last_scoring(line) if scoring is None else _existing(line, scoring)
        return self._summary(line, scoring_state(self._database, line.seq, number))

    def load(self, run_id: str, scoring: int | None = None) -> RunResult:
        """Return a run as a result whose cases are read from the store as they are asked for.

        The default is the last scoring that was finished, or else the run's own.
        """
        line, progress, text, reader = self._open_scoring(run_id, scoring)
        judged = self._scoring(line, progress, text)
        cases = StoredCases(reader, range(line.progress.cases))
        result = result_of(self._manifest(line), judged, self._summary(line, progress), cases)
        if result.judged_by:
            result.badges = self.badges(result.judged_by, judged)
        return result

    def cases(
        self, run_id: str, scoring: int | None = None, positions: Sequence[int] | None = None
    ) -> Sequence[CaseResult]:
        """Return the cases of a run, or those at some positions, which are read from the store on access."""
        line, _, _, reader = self._open_scoring(run_id, scoring)
        return StoredCases(reader, range(line.progress.cases) if positions is None else positions)

    def planned(self, run_id: str, positions: Sequence[int] | None = None) -> Iterator[PlannedCase]:
        """Return what was planned, in order, or only the cases at some positions."""
        line = self._line(run_id)
        reader, places = self._reader(line, 1), range(line.progress.cases) if positions is None else positions
        for first in range(0, len(places), _AT_ONCE):
            some = places[first : first + _AT_ONCE]
            for position, texts in zip(some, reader.planned(some), strict=True):
                yield PlannedCase(position, *texts)

    def verdicts(
        self, run_id: str, scoring: int | None = None, positions: range | None = None
    ) -> Iterator[tuple[str, CaseResult]]:
        """Return each case as `load` has it, with the hash of its content, but without evidence and scores of trials.

        `positions`: only those of the run's cases.
        """
        return self._in_parts(run_id, scoring, RunReader.verdicts, positions)

    def briefly(self, run_id: str, scoring: int | None = None) -> Iterator[BriefVerdict]:
        """Return each case as `verdicts` has it, in short."""
        return self._in_parts(run_id, scoring, RunReader.briefly)

    def outcomes(self, run_id: str, scoring: int | None = None) -> dict[int, Outcome]:
        """Return the outcome of every case that was decided in a scoring (default: as for `load`), by position."""
        _, _, _, reader = self._open_scoring(run_id, scoring)
        return dict(reader.outcomes())

    def trials(
        self, run_id: str, positions: Sequence[int], scoring: int, *, every_attempt: bool = False
    ) -> Iterator[tuple[int, list[StoredTrial]]]:
        """Yield the position and the trials of each of these cases that has any."""
        reader = RunReader(self._database, self._seq(run_id), run_id, scoring)
        return reader.trials(positions, every_attempt=every_attempt)

    def attempts(
        self, run_id: str, positions: Sequence[int] | None = None
    ) -> Iterator[tuple[int, int, bytes]]:
        """Return position, number and evidence of every attempt at every trial, or at those of some cases, without media."""
        if positions is None:
            positions = range(self._line(run_id).progress.cases)
        return RunReader(self._database, self._seq(run_id), run_id, 1).attempts(positions)

    def case_documents(self, run_id: str, positions: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Yield the position and the JSON of each of these cases that has a stored trial."""
        return RunReader(self._database, self._seq(run_id), run_id, 1).documents(positions)

    def answer(self, key: str) -> bytes | None:
        """Return the stored answer of a judge; `None` if there is none, or a damaged one, so that the judge is asked again."""
        row = self._database.row("SELECT crc, body FROM answers WHERE name = ?", (key,))
        if row is None or row[0] != checksum(f"answer/{key}", row[1]):
            return None
        try:
            return unpack(row[1])
        except zlib.error:
            return None

    def close(self) -> None:
        """Let go of the file. Writers that are under way keep theirs."""
        self._database.close()
        self._place.close()

    def _check_writable(self) -> None:
        if self.read_only:
            raise StoreError(f"{self.name}: this store was opened for reading only")
        self._place.check_place()

    def _prepare_writing(self) -> None:
        self._check_writable()
        if self._database.artefacts.url:
            prepare_artefacts(self._database)

    def _seq(self, run_id: str) -> int:
        return self._seqs.get(run_id) or self._line(run_id).seq

    def _line(self, run_id: str) -> RunLine:
        line = run_line(self._database, run_id)
        if line is None:
            raise UnknownNameError(f"No run named {run_id!r} in {self.name}")
        self._seqs[run_id] = line.seq
        return line

    def _in_parts(
        self,
        run_id: str,
        scoring: int | None,
        read: Callable[[RunReader, range], Iterator[_T]],
        positions: range | None = None,
    ) -> Iterator[_T]:
        line, _, _, reader = self._open_scoring(run_id, scoring)
        places = range(line.progress.cases) if positions is None else positions
        for first in range(0, len(places), _AT_ONCE):
            yield from read(reader, places[first : first + _AT_ONCE])

    def _record(self, line: RunLine, last: ScoringState | None = None) -> RunRecord:
        last = last or scoring_state(self._database, line.seq, self._last_scoring(line))
        return RunRecord(
            line.run_id, line.created_at, line.agent, line.sets, line.num_runs, line.progress.cases, line.state,
            self._summary(line, last), line.progress.scorings, last.number, line.kind, line.unread_sets, line.progress.trials,
        )  # fmt: skip

    def _reader(self, line: RunLine, scoring: int) -> RunReader:
        return RunReader(self._database, line.seq, line.run_id, scoring)

    def _manifest(self, line: RunLine) -> Manifest:
        with sound(self.name, f"the manifest of run {line.run_id}"):
            return Manifest.model_validate(json.loads(line.manifest))

    def _open_scoring(self, run_id: str, scoring: int | None) -> tuple[RunLine, ScoringState, str, RunReader]:
        """Return a run, its scoring number `scoring` (default: the last finished one) as progress and JSON, and a reader of it.

        Raises:
            StoreError: not everything that was written of it is there.
        """
        with self._database.snapshot():  # another process may be writing the run
            line = self._line(run_id)
            stored = stored_scorings(self._database, line)
            finished = (progress.number for progress, _ in stored if progress.complete)
            number = max(finished, default=1) if scoring is None else _existing(line, scoring)
            progress, text = stored[number - 1]
            reader = self._reader(line, number)
            reader.check_totals(line.progress, progress)
        return line, progress, text, reader

    def _scoring(self, line: RunLine, progress: ScoringState, text: str) -> ScoringManifest:
        with sound(self.name, f"scoring {progress.number} of run {line.run_id}"):
            return ScoringManifest.model_validate({**json.loads(text), "finished": bool(progress.complete)})

    def _last_scoring(self, line: RunLine) -> int:
        """Return the last scoring that was finished, or else the run's own."""
        if line.progress.scorings == 1:
            return 1
        row = self._database.row(
            "SELECT MAX(number) FROM judgings WHERE run = ? AND complete = 1", (line.seq,)
        )
        return row[0] or 1 if row else 1

    def _summary(self, line: RunLine, progress: ScoringState) -> RunSummary:
        """What was written at the end; before that, what can be counted."""
        summary = (
            RunSummary()
            if progress.summary is None
            else RunSummary.model_validate(json.loads(progress.summary))
        )
        if line.holder is None:
            summary.in_flight = 0  # the process that wrote it has died
        if not progress.complete:  # the run may have advanced since the figure was written
            counts = StoredCases(self._reader(line, progress.number), range(line.progress.cases)).counts()
            counted = {outcome.value: count for outcome, count in counts.items()}
            if counted != {name: count for name, count in summary.counts.items() if count}:
                summary.counts, summary.outcome = counted, None
        return summary


def _existing(line: RunLine, scoring: int) -> int:
    if not 1 <= scoring <= line.progress.scorings:
        raise UnknownNameError(f"Run {line.run_id} has no scoring {scoring}: it has {line.progress.scorings}")
    return scoring


def result_of(
    manifest: Manifest, scoring: ScoringManifest, summary: RunSummary, cases: Sequence[CaseResult]
) -> RunResult:
    """Return a run as a result."""
    by_id = {one.eval_set_id: one for one in scoring.sets}
    in_order = len(scoring.sets) == len(manifest.sets)
    judged = scoring.sets if in_order else [by_id.get(one.eval_set_id) for one in manifest.sets]
    return RunResult(
        agent=manifest.agent.label,
        cases=cases,
        sets=[_set_summary(*pair) for pair in zip(manifest.sets, judged, strict=True)],
        num_runs=manifest.num_runs,
        at_most=_at_most(manifest, scoring),
        against=manifest.against,
        warnings=list(summary.warnings),
        started_at=manifest.created_at,
        duration=summary.duration,
        scoring_duration=summary.judging_duration,
        interrupted=summary.interrupted,
        stopped_by=summary.stopped_by,
        failure=summary.failure,
        run_id=manifest.run_id,
        spent=list(summary.spent),
        unreported=summary.unreported,
        judged_by=list(summary.judged_by),
    )


def _set_summary(one: SetManifest, judged: JudgedSet | None) -> SetSummary:
    summary = SetSummary(one.eval_set_id, one.path, "", one.cases, failure=one.failure)
    summary.num_runs = one.num_runs
    if judged is not None:
        summary.config_source = judged.config_source
        summary.metrics = [metric.name for metric in sorted(judged.metrics, key=lambda one: not one.gate)]
        summary.score_ranges = {one.name: known for one in judged.metrics if (known := one.score_limits)}
        summary.skipped_metrics = dict(judged.skipped_metrics)
        summary.rule = _rule(judged, one.num_runs)
        summary.criteria = dict(judged.config.get("criteria") or {})
    return summary


def _at_most(manifest: Manifest, scoring: ScoringManifest) -> int:
    """Trials that there could have been, where they were added until it was decided, or 0."""
    added = adds_trials(manifest, scoring)
    return sum(one.cases * one.num_runs for one in manifest.sets) if added else 0


def _rule(judged: JudgedSet, num_runs: int) -> TrialRule | None:
    if (trials := judged.config.get("trials")) is None:
        return None
    from proctor.schema.format.config import TrialsConfig

    try:
        return TrialsConfig.model_validate(trials).rule_for(num_runs)
    except ValidationError:  # a config of another version of Proctor: the cases have their rule themselves
        return None
