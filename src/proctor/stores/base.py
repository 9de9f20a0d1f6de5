"""The contract of a store: it records runs while they execute and reads them back one case at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, NamedTuple, Protocol

from proctor.schema.results.run_result import CaseResult, Outcome, RunKind, RunResult
from proctor.schema.results.score import MetricScore
from proctor.stores.labels import CheckLabels, StoredLabel, StoredLook

if TYPE_CHECKING:
    from proctor.schema.analysis.calibration import Calibration
    from proctor.schema.results.manifest import (
        AgentManifest,
        Manifest,
        PlannedCase,
        RunAnnotation,
        RunDetails,
        RunRecord,
        RunState,
        RunSummary,
        ScoringManifest,
    )


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """The evidence of one attempt at one trial. Never changed."""

    position: int
    number: int
    """The repeat, from 0."""
    attempt: int
    """0, increased by one whenever `resume --retry-errors` repeats an errored trial; the last attempt counts."""
    evidence: bytes
    """The `Trial` as JSON."""
    failed: bool
    """Whether it has a `failure`: then there is nothing to score."""
    case: bytes = b""
    """The case as JSON, with its first trial; stored once by its hash."""


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """The scores of some metrics for one attempt, in one scoring. Several may follow one another."""

    position: int
    number: int
    attempt: int
    scores: dict[str, MetricScore]


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """The result of one case in one scoring; a later record replaces it."""

    position: int
    result: CaseResult


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """The answer of a judge, for any later request that is the same."""

    key: str
    answer: bytes
    """Empty if the answer is stored already: the record then only adds that this run uses it."""


Record = TrialRecord | ScoreRecord | VerdictRecord

Committed = Callable[[Sequence[object], Exception | None], None]
"""Called on the writer's thread with the tokens whose records are on disk, or with the error why they (and all later ones) are not."""


class RunWriter(Protocol):
    """Writes one scoring of one run. All methods are called on one thread; `put` does not wait."""

    run_id: str
    scoring: int
    created_at: float
    """When the run began, in seconds since 1970; of a resumed run, when it began first."""
    live_figures: Callable[[], Mapping[str, int]]
    """Returns fields of the summary that are written while the run is executed. Another thread calls it."""

    def put(self, records: Sequence[Record | AnswerRecord], token: object = None) -> None:
        """Queue records to be written together; `committed` is called with `token` when they are on disk."""
        ...

    def finish(self, summary: RunSummary, *, complete: bool) -> None:
        """Write the remaining records and the summary of the run, and release the run. `complete`: nothing is left to run.

        Raises:
            StoreError: the records could not be written.
        """
        ...

    def close(self) -> None:
        """Release the run without a summary; queued records are written if possible."""
        ...


@dataclass(frozen=True, slots=True)
class StoredTrial:
    """One trial as it is stored: its last attempt, and its scores in the requested scoring."""

    number: int
    attempt: int
    failed: bool
    evidence: bytes
    scores: dict[str, MetricScore]
    """By metric; empty if the trial has not been scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringProgress:
    """The progress of one scoring of a run."""

    state: RunState
    cases: int
    """The number of planned cases."""
    trials: int
    """Attempts at trials whose evidence is on disk."""
    counts: dict[str, int]
    """Cases with a verdict, by outcome."""
    complete: bool
    """Whether the scoring is complete."""
    seconds: float
    """The total time that processes worked on it."""
    in_flight: int
    """Trials that run now; 0 if no process works on the run."""
    lost_workers: str
    """The workers (`--on`) that were lost so far, as text for people; empty if none was."""
    worker: str
    """The process that works on the run, as text for people; empty if there is none."""
    worker_pid: int | None


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One run in the index of a store."""

    run_id: str
    created_at: float
    """Unix seconds."""
    agent: str
    sets: tuple[str, ...]
    """The ids of its eval sets."""
    complete: bool
    """Whether its first scoring is complete. A process may still work on the run."""


@dataclass(slots=True)
class BriefVerdict:
    """The result of one case, reduced to what a history of many runs and a comparison need."""

    eval_set_id: str
    eval_id: str
    content_hash: str
    place: str
    outcome: Outcome
    trials: tuple[Outcome, ...]
    """The outcomes of the trials, if the case was decided."""
    reason: str
    """Why the case did not pass, or which of its trials did not."""
    metrics: Mapping[str, Mapping[str, object]]
    """By metric `outcome` (its value), and, where there are, `score` and `threshold`; `gate` where it is false. A number that
    JSON cannot hold is its name: `NaN`, `Infinity`."""


# --- The limits of a run that several processes write ------------------------------------------------------------------


class Amounts(NamedTuple):
    """What is spent, or reserved."""

    micros: int = 0
    """Millionths of a US dollar."""
    calls: int = 0
    """Calls of LLM judges."""
    tokens: int = 0
    """Tokens of the agent."""


NOTHING = Amounts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """The most that the members of a run may spend together, by the names of the options; `None`: no limit."""

    max_cost: float | None = None
    max_judge_calls: int | None = None
    max_tokens: int | None = None

    @classmethod
    def of(cls, options: object) -> Caps:
        """Return the caps among the options of a run."""
        return cls(**{cap.name: getattr(options, cap.name) for cap in fields(cls)})

    def __bool__(self) -> bool:
        """Return whether there is any limit."""
        return (self.max_cost, self.max_judge_calls, self.max_tokens) != (None, None, None)


CAPS = tuple(cap.name for cap in fields(Caps))
"""Options that limit all processes of a run together."""


@dataclass(frozen=True, slots=True)
class Demand:
    """A request for a larger allotment. All amounts include what was spent before."""

    target: Amounts
    """What the next call needs."""
    floor: Amounts
    """What is kept if that is not available: calls under way need it."""
    chunk: Amounts
    """What is granted in addition, at most, so that many calls need one request."""


@dataclass(slots=True)
class Allotment:
    """What one process may spend of the caps of a run. The writer's thread updates it with each commit."""

    caps: Caps
    parts: int
    spent: Callable[[], Amounts]
    """Returns what this part has spent, in all its processes."""
    allotted: Amounts = NOTHING
    """What this part may spend in all: reserved in the store, so that no other member spends it."""
    others: Amounts = NOTHING
    """What the other parts have spent, as they reported it with their commits."""
    demand: Demand | None = None
    """What the next commit reserves."""
    is_rest: bool = False
    """Whether the last demand got all that is left: no other living process held an unspent allotment to wait for."""
    lost: Amounts = NOTHING
    """Unspent allotments of parts whose process was killed; they count as spent."""
    dearest: int = 0
    """The most that a call of any process has cost, in millionths of a US dollar; 0: not known yet."""
    stored_dearest: int = 0
    """The same, as the store has it: the other processes know it."""

    def covers(self, demand: Demand) -> bool:
        """Return whether the allotment is as large as a demand."""
        limits = self.caps.max_cost, self.caps.max_judge_calls
        compared = zip(limits, self.allotted, demand.target, strict=False)
        return all(limit is None or allotted >= target for limit, allotted, target in compared)


class Store(Protocol):
    """Stores runs.

    Every method raises `StoreError` if the store itself fails, and `UnknownNameError` if the store does not contain
    the run.
    """

    url: str
    name: str
    """As messages name the store: the path of its file, or its URL without a password."""

    def begin(
        self, manifest: Manifest, cases: Iterable[PlannedCase], scoring: ScoringManifest, committed: Committed
    ) -> RunWriter:
        """Store a new run and acquire the right to write it."""
        ...

    def resume(
        self,
        run_id: str,
        committed: Committed,
        *,
        added: Iterable[PlannedCase] = (),
        agent: AgentManifest | None = None,
    ) -> RunWriter:
        """Acquire the right to write a run; `added` are new cases, or cases that have changed and were not run yet.

        `agent`: the description of the agent, for a run that was stored before the agent could be asked for it.

        Raises:
            StoreError: another process works on it.
        """
        ...

    def begin_scoring(self, run_id: str, scoring: ScoringManifest, committed: Committed) -> RunWriter:
        """Begin another scoring of a run's evidence; the store chooses its number."""
        ...

    def find(self, name: str, kind: RunKind | None = RunKind.RUN) -> str:
        """Return the id of the run called `name`. An audit is not found unless `kind` allows it (`None`: any kind).

        That is an id, the unambiguous beginning of one, `latest`, or `latest~N`, the Nth before it; `latest~1` is also called
        `previous`. These names count runs of that kind; with `None`, those that are not audits.
        """
        ...

    def runs(self, kind: RunKind | None = RunKind.RUN) -> Iterator[RunRecord]:
        """List the runs of that kind (`None`: of any), newest first."""
        ...

    def index(self, kind: RunKind | None = RunKind.RUN) -> list[RunEntry]:
        """List the runs, newest first, with only the fields that identify them: many thousands within moments."""
        ...

    def record(self, run_id: str) -> RunRecord:
        """Return one run as `runs` lists it."""
        ...

    def manifest(self, run_id: str) -> Manifest:
        """Return the manifest of a run."""
        ...

    def scorings(self, run_id: str) -> list[ScoringManifest]:
        """Return the scorings of a run, in order."""
        ...

    def details(self, run_id: str) -> RunDetails:
        """Return what `record`, `manifest` and `scorings` return, read together.

        By default they are read one after another.
        """
        from proctor.schema.results.manifest import RunDetails

        return RunDetails(self.record(run_id), self.manifest(run_id), self.scorings(run_id))

    def summary(self, run_id: str, scoring: int | None = None) -> RunSummary:
        """Return the summary of a scoring (default: the last one)."""
        ...

    def standing(self, run_id: str, scoring: int = 1) -> ScoringProgress:
        """Return the progress of a scoring without reading its cases: cheap enough for several calls a second."""
        ...

    def load(self, run_id: str, scoring: int | None = None) -> RunResult:
        """Return a run as a result whose cases are read from the store on access."""
        ...

    def cases(
        self, run_id: str, scoring: int | None = None, positions: Sequence[int] | None = None
    ) -> Sequence[CaseResult]:
        """Return the cases of a run, or those at some positions, which are read from the store on access."""
        ...

    def planned(self, run_id: str, positions: Sequence[int] | None = None) -> Iterator[PlannedCase]:
        """Return the planned cases, in order, or those at some positions, which the run must have."""
        ...

    def verdicts(
        self, run_id: str, scoring: int | None = None, positions: range | None = None
    ) -> Iterator[tuple[str, CaseResult]]:
        """Return each case as `load` does, with the hash of its content, but without evidence and scores of trials.

        `positions`: only those of the run's cases.
        """
        ...

    def briefly(self, run_id: str, scoring: int | None = None) -> Iterator[BriefVerdict]:
        """Return each case as `verdicts` does, with fewer fields: several times as fast."""
        ...

    def outcomes(self, run_id: str, scoring: int | None = None) -> dict[int, Outcome]:
        """Return the outcome of every case that was decided in a scoring (default: as for `load`), by position."""
        ...

    def trials(
        self, run_id: str, positions: Sequence[int], scoring: int, *, every_attempt: bool = False
    ) -> Iterator[tuple[int, list[StoredTrial]]]:
        """Yield the position and the trials of each of these cases that has any: the last attempt of each, or `every_attempt`.

        They are in order if `positions` ascend. Few queries read many cases, and few cases are in memory.
        """
        ...

    def attempts(
        self, run_id: str, positions: Sequence[int] | None = None
    ) -> Iterator[tuple[int, int, bytes]]:
        """Return position, number and evidence of every attempt at every trial, or at those of the cases at some positions.

        Media need not be in it.
        """
        ...

    def case_documents(self, run_id: str, positions: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Yield the position and the JSON of each of these cases that has a stored trial, in the version that was run.

        They are in order if `positions` ascend. Few queries read many cases, and few cases are in memory.
        """
        ...

    def answer(self, key: str) -> bytes | None:
        """Return the answer of a judge, if any stored run has written an `AnswerRecord` with this key."""
        ...

    def delete(self, run_ids: Sequence[str]) -> None:
        """Delete runs, and everything that only they used."""
        ...

    def annotate(self, run_id: str, annotation: RunAnnotation) -> None:
        """Write the annotation of a run in place of the one that was; an empty one removes it."""
        ...

    def annotations(self) -> dict[str, RunAnnotation]:
        """Return the annotations by run id; runs without one are left out."""
        ...

    def label(self, run_id: str, labels: Sequence[StoredLabel], check: CheckLabels | None = None) -> float:
        """Store labels of a run unless `check` raises; return their time. Each replaces that of the person for the thing."""
        ...

    def unlabel(self, run_id: str, labels: Sequence[StoredLabel], check: CheckLabels | None = None) -> int:
        """Delete the labels of the same people for the same things unless `check` raises; return their number."""
        ...

    def labels(self, run_id: str) -> list[StoredLabel]:
        """Return the labels of a run, case by case."""
        ...

    def calibrate(self, calibration: Calibration) -> None:
        """Store a calibration of a judge in addition to the earlier ones; it remains when its runs are deleted."""
        ...

    def calibrations(self) -> list[Calibration]:
        """Return the calibrations of judges, oldest first."""
        ...

    def record_look(self, look: StoredLook, check: Callable[[Sequence[StoredLook]], None]) -> None:
        """Store a look at held-out cases, in the transaction in which `check` receives all earlier ones, oldest first.

        If `check` raises an error, nothing is stored. Looks remain when runs are deleted.
        """
        ...

    def looks(self) -> list[StoredLook]:
        """Return the looks at held-out cases, oldest first."""
        ...

    def close(self) -> None:
        """Close the file or the connection."""
        ...
