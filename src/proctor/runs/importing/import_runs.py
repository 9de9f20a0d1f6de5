"""Import of result files as runs of a store. Recorded scores and verdicts are kept; nothing is scored again."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from proctor.common.registry import STORES
from proctor.common.secrets import redact_text
from proctor.errors import EvalFileError, StoreError
from proctor.files.results.read import read_runs
from proctor.files.results.report_format import RecordedCase, RecordedRun
from proctor.runs.attempts import recorded_attempt
from proctor.runs.importing.consistency import check_consistency
from proctor.runs.importing.spool import RunSpool, Spool
from proctor.runs.setup.manifest import new_run_id
from proctor.runs.storage.open import StoreLike, is_open, open_runs, open_store
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.adk_results import SUFFIX
from proctor.schema.format.case import EvalCase
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.manifest import (
    AgentManifest,
    JudgedSet,
    Manifest,
    MetricManifest,
    PlannedCase,
    RunSummary,
    ScoringManifest,
    SetManifest,
)
from proctor.schema.results.run_result import CaseResult, RunResult, SetSummary
from proctor.schema.results.score import MetricScore, Outcome
from proctor.schema.serialize import content_hash, hash_of_many, kept_json
from proctor.stores.base import Record, RunWriter, ScoreRecord, Store, TrialRecord, VerdictRecord
from proctor.stores.open import split_url
from proctor.stores.sql.store import SqlStore

_AT_ONCE = 100
"""Number of cases that may wait to be written to disk."""

NOT_KEPT = "the evidence of this trial was not in the file that was imported"


def read_results(path: str | Path) -> list[RunResult]:
    """Return the runs in a result file: an ADK result of any version, a JSON report, or JSON Lines.

    Raises:
        EvalFileError: the file cannot be read, or holds no results.
    """
    return [check_consistency(recorded).result for recorded in read_runs(path)]


def import_run(path: str | Path, store: StoreLike = None) -> str:
    """Import the run of a result file into `store` (default: the project's); return its id there.

    Raises:
        EvalFileError: the file cannot be read, holds no results, or those of several runs (see `import_runs`), or the store
            has the results of a file with the same content.
        StoreError: the store cannot be written.
    """
    with recorded_attempt(store, f"import_run({str(path)!r})", in_project=True):
        recorded = read_runs(path)
        if len(recorded) != 1:
            raise EvalFileError(f"{path}: expected the results of one run, got {len(recorded)}")
        (run_id,) = _write_runs([(recorded[0], Path(path))], store)
        return run_id


def import_runs(path: str | Path, store: StoreLike = None) -> list[str]:
    """Import every run of a result file, or of a folder of ADK's result files, into `store`; return their ids there.

    All files are read before the first run is written.

    Raises:
        EvalFileError: a file cannot be read, there is none, or a file with the same content was imported before.
        StoreError: the store cannot be written; the runs written before are in it.
    """
    path = Path(path)
    with recorded_attempt(store, f"import_runs({str(path)!r})", in_project=True):
        files = sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [path]
        if not files:
            raise EvalFileError(f"{path}: there is no *{SUFFIX} in this folder")
        return _write_runs(((recorded, file) for file in files for recorded in read_runs(file)), store)


def _write_runs(recorded_runs: Iterable[tuple[RecordedRun, Path]], store: StoreLike) -> list[str]:
    """Write runs to the store; close the store if it was opened here."""
    with Spool() as spool:
        ready = [_spool_run(recorded, path, spool) for recorded, path in recorded_runs]
        if is_open(store):
            return _write_new_runs(ready, store)
        opened = open_store(store)
        try:
            return _write_new_runs(ready, opened)
        finally:
            opened.close()


def _write_new_runs(ready: Sequence[_Ready], store: Store) -> list[str]:
    """Write runs to the store. Refuse a file whose content was imported before, or equals that of another file."""
    known = {_content_of(store.manifest(record.run_id)): f"run {record.run_id}" for record in store.runs()}
    first: dict[str, str] = {}
    for run in ready:
        content, file = _content_of(run.manifest), run.manifest.imported_from
        there = known.get(content) or (first.get(content) if first.get(content) != file else None)
        if content and there:
            raise EvalFileError(
                f"{file}: these results were imported before ({there}); `proctor prune` deletes a run that is to be "
                "imported again"
            )
        first.setdefault(content, file)
    return [_write(run, store) for run in ready]


def _content_of(manifest: Manifest) -> str:
    """Return the hash of the file that a run was imported from; empty for runs that were not imported and for old imports."""
    imported = manifest.options.get("imported")
    return str(imported.get("content") or "") if isinstance(imported, dict) else ""


@dataclass(frozen=True, slots=True)
class _Ready:
    """A run that can be written to a store without reading its file again."""

    manifest: Manifest
    scoring: ScoringManifest
    summary: RunSummary
    cases: RunSpool


def _spool_run(recorded: RecordedRun, path: Path, spool: Spool) -> _Ready:
    """Read a whole run, each case once."""
    totals, recorded, cases = _Totals(), check_consistency(recorded), RunSpool(spool)
    for position, case in enumerate(recorded.cases()):
        cases.add(PlannedCase(position, *totals.take(case)), _records(position, case))
    manifest, scoring = _manifest(recorded, path, totals), _scoring(recorded, totals)
    return _Ready(manifest, scoring, totals.summary(recorded.head), cases)


def _write(run: _Ready, store: Store) -> str:
    commits = _Commits()
    writer = store.begin(run.manifest, run.cases.planned(), run.scoring, commits)
    try:
        _write_cases(writer, run.cases, commits)
        writer.finish(run.summary, complete=True)
    except BaseException:
        writer.close()
        with suppress(StoreError):  # if it cannot be deleted either, it remains as an unfinished run
            store.delete([writer.run_id])
        raise
    return run.manifest.run_id


def _write_cases(writer: RunWriter, cases: RunSpool, commits: _Commits) -> None:
    for position, records in enumerate(cases.records()):
        is_full = position % _AT_ONCE == _AT_ONCE - 1
        writer.put(records, position if is_full else None)
        if is_full:
            commits.wait(position)


class _Commits:
    """Wait for the writer, so that a large file does not accumulate in memory."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._last: object = None
        self._error: Exception | None = None

    def __call__(self, tokens: Sequence[object], error: Exception | None) -> None:
        with self._changed:
            self._error = self._error or error
            self._last = tokens[-1] if tokens else self._last
            self._changed.notify_all()

    def wait(self, token: int) -> None:
        """Wait until the records put with `token` are on disk.

        Raises:
            StoreError: the records could not be written.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._last == token or self._error is not None)
        if self._error is not None:
            raise self._error if isinstance(self._error, StoreError) else StoreError(str(self._error))


# --- records of a case ------------------------------------------------------------------------------------------------


def _records(position: int, recorded: RecordedCase) -> Iterator[Record]:
    case = recorded.result
    case_json = _case_json(recorded)
    for index, trial in enumerate(case.trials):
        for attempt in (*trial.earlier, trial):
            evidence = attempt.trial or Trial(
                eval_set_id=case.eval_set_id, eval_id=case.eval_id, number=trial.number, notes=[NOT_KEPT]
            )
            failed = attempt is not trial or attempt.failure is not None
            which = position, trial.number, attempt.attempt
            yield TrialRecord(*which, kept_json(evidence), failed, case_json)
            case_json = b""
        yield ScoreRecord(position, trial.number, trial.attempt, _scores(case, index))
    yield VerdictRecord(position, case)


def _scores(case: CaseResult, index: int) -> dict[str, MetricScore]:
    scores = {}
    for name, metric in case.metrics.items():
        score = metric.per_trial[index] if index < len(metric.per_trial) else None
        if score is not None:
            scores[name] = score
    return scores


def _case_json(recorded: RecordedCase) -> bytes:
    """Return the case as far as the file describes it: the expected turns, or at least the user messages; empty without both."""
    case = recorded.result
    turns = recorded.expected
    if turns is None:
        trial = next((trial for each in case.trials if (trial := each.trial) is not None), None)
        turns = [Invocation(user_content=turn.user_content) for turn in trial.turns] if trial else []
    return kept_json(EvalCase(eval_id=case.eval_id, conversation=turns)) if turns else b""


# --- manifest of a run ------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Totals:
    """Facts collected over all cases of a file."""

    metrics: dict[str, dict[str, MetricManifest]] = field(default_factory=dict)
    """The metrics by set and name."""
    hashes: dict[str, blake2b] = field(default_factory=dict)
    """The hash of each set over its cases so far."""
    cases: Counter[str] = field(default_factory=Counter)
    """The number of cases of each set."""
    counts: Counter[Outcome] = field(default_factory=Counter)
    models: dict[str, None] = field(default_factory=dict)
    tokens: int = 0

    def take(self, recorded: RecordedCase) -> tuple[str, str, str, str]:
        """Add a case to the totals. Return what is planned of it: set, id, content hash and location."""
        case = recorded.result
        name = content_hash(_case_json(recorded))
        self.hashes.setdefault(case.eval_set_id, hash_of_many()).update(name.encode())
        self.cases[case.eval_set_id] += 1
        self.counts[case.outcome] += 1
        known = self.metrics.setdefault(case.eval_set_id, {})
        for metric in case.metrics.values():
            manifest = MetricManifest(
                name=metric.name, definition="as recorded", threshold=metric.threshold, gate=metric.gate
            )
            known.setdefault(metric.name, manifest)
        for trial in filter(None, (each.trial for each in case.trials)):
            self._count(trial)
        return case.eval_set_id, case.eval_id, name, case.place

    def _count(self, trial: Trial) -> None:
        for event in (event for turn in trial.turns for event in turn.events):
            if event.model_version:
                self.models[event.model_version] = None
            if event.usage_metadata is not None:
                self.tokens += event.usage_metadata.tokens or 0

    def summary(self, head: RunResult) -> RunSummary:
        return RunSummary(
            outcome=head.outcome_for(self.counts),
            failure=head.failure,
            counts={outcome.value: count for outcome, count in self.counts.items()},
            duration=head.duration,
            judging_duration=head.scoring_duration,
            interrupted=head.interrupted,
            warnings=head.warnings,
            stopped_by=head.stopped_by,
            models=list(self.models),
            tokens=self.tokens,
        )


def _manifest(recorded: RecordedRun, path: Path, totals: _Totals) -> Manifest:
    head = recorded.head
    return Manifest(
        run_id=new_run_id(),
        created_at=head.started_at or time.time(),
        agent=AgentManifest(label=head.agent),
        sets=[_set_manifest(one, totals) for one in head.sets],
        num_runs=head.num_runs,
        options={
            "imported": {
                "file": str(path),
                "form": recorded.form,
                "run_id": head.run_id,
                "content": content_hash(path.read_bytes()),
            }
        },
    )


def _set_manifest(one: SetSummary, totals: _Totals) -> SetManifest:
    hashed = totals.hashes.get(one.eval_set_id, hash_of_many())
    return SetManifest(
        eval_set_id=one.eval_set_id,
        path=one.path,
        content_hash=hashed.hexdigest(),
        cases=totals.cases[one.eval_set_id],
        num_runs=one.num_runs,
        failure=one.failure,
    )


def _scoring(recorded: RecordedRun, totals: _Totals) -> ScoringManifest:
    head = recorded.head
    return ScoringManifest(
        created_at=head.started_at, sets=[_judged_set(recorded, one, totals) for one in head.sets]
    )


def _judged_set(recorded: RecordedRun, one: SetSummary, totals: _Totals) -> JudgedSet:
    metrics = totals.metrics.get(one.eval_set_id, {})
    thresholds = {name: m.threshold for name, m in metrics.items() if m.threshold is not None}
    return JudgedSet(
        eval_set_id=one.eval_set_id,
        config_source=one.config_source or "as recorded",
        config={"criteria": {**thresholds, **recorded.criteria.get(one.eval_set_id, {})}},
        metrics=list(metrics.values()),
        skipped_metrics=one.skipped_metrics,
    )


# --- Stores: their runs are copied ------------------------------------------------------------------------------------


_SQLITE = b"SQLite format 3\x00"


def is_store(name: str) -> bool:
    """Return whether `name` is the URL of a store or the file of one."""
    scheme, rest = split_url(name)
    if scheme != "sqlite" or rest != name:
        return scheme in STORES
    path = Path(name)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def copy_runs(url: str, store: Store) -> Iterator[tuple[str, bool]]:
    """Copy every run of the store `url` that `store` does not have, oldest first, and yield its id and whether it was new.

    A run is copied whole, or not at all, with its evidence, all scorings, judges' answers and labels; then the calibrations of
    judges and the looks at held-out cases. Nothing is scored again, and the source is not changed.

    Raises:
        StoreError: one of the stores cannot be used, a row is damaged, or `store` has another run of the same id.
    """
    with closing(open_runs(url, read_only=True)) as source:
        if not isinstance(source, SqlStore) or not isinstance(store, SqlStore):
            raise StoreError(
                f"{redact_text(url)} cannot be copied to {store.name}: runs are copied between stores in SQLite and PostgreSQL"
            )
        for entry in reversed(source.index(None)):
            yield entry.run_id, store.copy_run(source, entry.run_id)
        store.copy_calibrations_and_looks(source)
