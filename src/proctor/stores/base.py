"""The contract of a store: runs go in as they happen, and come out again, a case at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from proctor.common.quick_dataclasses import dataclass
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult
from proctor.schema.results.score import MetricScore

if TYPE_CHECKING:
    from proctor.schema.analysis.calibration import Calibration
    from proctor.schema.results.manifest import (
        AgentManifest,
        Judging,
        Manifest,
        PlannedCase,
        RunRecord,
        RunState,
        RunSummary,
    )


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """The evidence of one attempt at one trial. Never changed."""

    position: int
    number: int
    """The repeat, from 0."""
    attempt: int
    """0, and one more for each time an errored trial was run again by `resume --retry-errors`; the last one counts."""
    evidence: bytes
    """The `Trial` as JSON."""
    failed: bool
    """Whether it has a `failure`: then there is nothing to score."""
    case: bytes = b""
    """The case as JSON, with the first trial of it; kept once by its hash."""


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """What some metrics said about one attempt, in one judging. Several may follow one another."""

    position: int
    number: int
    attempt: int
    scores: dict[str, MetricScore]


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """What one case came to in one judging; a later one takes its place."""

    position: int
    result: CaseResult


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """What a judge answered, for whoever asks the same."""

    key: str
    answer: bytes
    """Empty for one that is kept already: the run rests on it, too."""


Record = TrialRecord | ScoreRecord | VerdictRecord

Committed = Callable[[Sequence[object], Exception | None], None]
"""Told, on the writer's thread, the tokens whose records are on disk now, or why they (and all later ones) are not."""


class RunWriter(Protocol):
    """Writes one judging of one run. All methods are called on one thread; `put` does not wait."""

    run_id: str
    judging: int

    def put(self, records: Sequence[Record | AnswerRecord], token: object = None) -> None:
        """Take records to be written together; `committed` hears of `token` when they are on disk."""
        ...

    def finish(self, summary: RunSummary, *, complete: bool) -> None:
        """Write what is left and what came of the run, and let go of it. `complete`: nothing is left to run.

        Raises:
            StoreError: it could not be written.
        """
        ...

    def close(self) -> None:
        """Let go of the run without a summary; what was put is written if it can be."""
        ...


@dataclass(frozen=True, slots=True)
class StoredTrial:
    """One trial as it is kept: its last attempt, and what was said about it in the judging asked for."""

    number: int
    attempt: int
    failed: bool
    evidence: bytes
    scores: dict[str, MetricScore]
    """By metric; empty when nothing has been scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLabel:
    """What a person says of one thing in a run."""

    position: int
    number: int
    """The trial, from 0."""
    passes: bool
    turn: int | None = None
    """From 0; `None`: the trial as a whole."""
    rubric_id: str = ""
    metric: str = ""
    """Empty: of whichever metric it is held against."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far one judging of a run is."""

    state: RunState
    cases: int
    """Cases that were planned."""
    trials: int
    """Attempts at trials whose evidence is on disk."""
    counts: dict[str, int]
    """Cases with a verdict, by outcome."""
    complete: bool
    """Whether the judging came to its end."""
    seconds: float
    """How long processes were at work on it."""
    worker: str
    """Which process is at work on the run, for people; empty where none is."""
    worker_pid: int | None


_BACK = re.compile(r"latest(?:~([0-9]{1,6}))?|previous")


def runs_back(name: str) -> int | None:
    """Return how many runs before the newest one `name` means; `None`: it is none of `latest`, `latest~1`, `previous`."""
    found = _BACK.fullmatch(name)
    if found is None:
        return None
    return 1 if name == "previous" else int(found[1] or 0)


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
    """Whether its own judging came to its end: a process may be at work on it all the same."""


@dataclass(slots=True)
class BriefVerdict:
    """What one case came to, as little of it as looking back over many runs takes."""

    eval_set_id: str
    eval_id: str
    content_hash: str
    place: str
    outcome: Outcome
    trials: tuple[Outcome, ...]
    """Those of a case that was decided."""
    reason: str
    """Why it did not pass, or which of its trials did not."""
    metrics: Mapping[str, Mapping[str, Any]]
    """By metric `outcome` (its value), and, where there are, `score` and `threshold`; `gate` where it is false. A number that
    JSON cannot hold is its name: `NaN`, `Infinity`."""


class Store(Protocol):
    """Where runs live.

    Every method raises `StoreError` for what is wrong with the store itself, `UnknownNameError` for a run that is
    not there.
    """

    url: str

    def begin(
        self, manifest: Manifest, cases: Iterable[PlannedCase], judging: Judging, committed: Committed
    ) -> RunWriter:
        """Write down a new run and take hold of it."""
        ...

    def resume(
        self,
        run_id: str,
        committed: Committed,
        *,
        added: Iterable[PlannedCase] = (),
        agent: AgentManifest | None = None,
    ) -> RunWriter:
        """Take hold of a run; `added` are cases that it did not have before, or with another content and not run yet.

        `agent`: what is known of the agent by now, for a run that was written down before anybody had asked it.

        Raises:
            StoreError: another process is at work on it.
        """
        ...

    def judge_again(self, run_id: str, judging: Judging, committed: Committed) -> RunWriter:
        """Begin another judging of a run's evidence; its number is chosen here."""
        ...

    def find(self, name: str) -> str:
        """Return the id of the run called `name`.

        That is an id, the unambiguous beginning of one, `latest`, or `latest~N`, the Nth before it; `latest~1` is also called
        `previous`.
        """
        ...

    def runs(self) -> Iterator[RunRecord]:
        """List the runs, newest first."""
        ...

    def index(self) -> list[RunEntry]:
        """List the runs, newest first, by what tells which one to look at: many thousands within moments."""
        ...

    def record(self, run_id: str) -> RunRecord:
        """Return one run as `runs` lists it."""
        ...

    def manifest(self, run_id: str) -> Manifest:
        """Return what exactly was run."""
        ...

    def judgings(self, run_id: str) -> list[Judging]:
        """Return the judgings of a run, in order."""
        ...

    def summary(self, run_id: str, judging: int | None = None) -> RunSummary:
        """Return what came of a judging (default: the last one)."""
        ...

    def standing(self, run_id: str, judging: int = 1) -> Standing:
        """Return how far a judging of a run is, without reading its cases: cheap enough to be asked several times a second."""
        ...

    def load(self, run_id: str, judging: int | None = None) -> RunResult:
        """Return a run as a result whose cases are read from the store as they are asked for."""
        ...

    def planned(self, run_id: str) -> Iterator[PlannedCase]:
        """Return what was planned, in order."""
        ...

    def verdicts(self, run_id: str, judging: int | None = None) -> Iterator[tuple[str, CaseResult]]:
        """Return each case as `load` has it, with the hash of its content, but without evidence and scores of trials."""
        ...

    def briefly(self, run_id: str, judging: int | None = None) -> Iterator[BriefVerdict]:
        """Return each case as `verdicts` has it, in short: several times as fast."""
        ...

    def outcomes(self, run_id: str, judging: int) -> dict[int, Outcome]:
        """Return the outcome of every case that was decided in a judging, by position."""
        ...

    def trials(
        self, run_id: str, position: int, judging: int, *, every_attempt: bool = False
    ) -> list[StoredTrial]:
        """Return the trials of one case: the last attempt of each, or `every_attempt`, in order."""
        ...

    def attempts(self, run_id: str) -> Iterator[tuple[int, int, bytes]]:
        """Return position, number and evidence of every attempt at every trial; media need not be in it."""
        ...

    def case(self, run_id: str, position: int) -> bytes | None:
        """Return a case as it was run, as JSON; `None` while none of its trials is there."""
        ...

    def answer(self, key: str) -> bytes | None:
        """Return what a judge answered, if an `AnswerRecord` of this key was written by any run that is still there."""
        ...

    def delete(self, run_ids: Sequence[str]) -> None:
        """Forget runs, and what only they needed."""
        ...

    def label(self, run_id: str, labels: Sequence[StoredLabel]) -> None:
        """Keep what a person says of a run; what was said of the same thing before is replaced."""
        ...

    def unlabel(self, run_id: str, labels: Sequence[StoredLabel]) -> int:
        """Forget what was said of the same things, whatever it was; returns how many labels there were."""
        ...

    def labels(self, run_id: str) -> list[StoredLabel]:
        """Return what people said of a run, case by case."""
        ...

    def calibrate(self, calibration: Calibration) -> None:
        """Keep what a judge was found to be worth, beside what is kept already; runs may go, this stays."""
        ...

    def calibrations(self) -> list[Calibration]:
        """Return what judges were found to be worth, oldest first."""
        ...

    def close(self) -> None:
        """Let go of the file or the connection."""
        ...
