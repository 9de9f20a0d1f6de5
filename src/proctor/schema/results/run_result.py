"""The result of a run; it also exports the parts of which it consists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING, Any

from proctor.common.registry import load_object
from proctor.common.safe_text import clean
from proctor.schema.evidence.trial import CONFIGURATION, Failure
from proctor.schema.format.criterion import EFFICIENCY_METRICS
from proctor.schema.results.case_result import CaseResult, Repeats, TrialResult
from proctor.schema.results.exit_code import ExitCode
from proctor.schema.results.score import (
    InvocationVerdict,
    MetricVerdict,
    Outcome,
    TrialRule,
    outcome_of_run,
    refuse_truth,
    worst,
)
from proctor.stats.intervals import Mean

if TYPE_CHECKING:
    from proctor.schema.results.model_usage import Spent
    from proctor.schema.results.score import JudgedBy

__all__ = [
    "CaseResult",
    "InvocationVerdict",
    "MetricVerdict",
    "Outcome",
    "RunKind",
    "RunResult",
    "SetSummary",
    "TrialResult",
    "TrialRule",
    "exit_code_of",
    "worst",
]

NOT_JUDGED = "not scored"
"""The `config_source` of a set that could not be run."""


class RunKind(StrEnum):
    """What a stored run consists of."""

    RUN = "run"
    """Trials of an agent."""
    AUDIT = "audit"
    """Mutants of recorded conversations, which `proctor audit` made. No list of runs has it unless audits are asked for."""

    __bool__ = refuse_truth


@dataclass(slots=True)
class SetSummary:
    """One eval set of a run, with the config that scored it."""

    eval_set_id: str
    path: str | None
    config_source: str
    """The config file's path, or a description of where the criteria are from."""
    cases: int
    metrics: list[str] = field(default_factory=list)
    """Names of the computed metrics, gating ones first."""
    skipped_metrics: dict[str, str] = field(default_factory=dict)
    """Metrics left out on purpose, and by what."""
    failure: Failure | None = None
    """Why the set could not be run (`keep_going`)."""
    num_runs: int = 1
    """Trials of each case."""
    rule: TrialRule | None = None
    """The required pass rate of a case; `None`: every metric's mean over the trials decides."""
    criteria: dict[str, Any] = field(default_factory=dict)
    """The criteria by metric as the config has them, as JSON: thresholds or objects."""
    score_ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    """The lowest and the highest score of each metric of which they are known; the highest is infinite without a limit."""


@dataclass(slots=True, repr=False)
class RunResult:
    """One execution: eval sets × agent × repeats."""

    agent: str
    cases: Sequence[CaseResult] = field(default_factory=list)
    """In the order of the sets and of their cases; the cases of a stored run are read on access."""
    sets: list[SetSummary] = field(default_factory=list)
    num_runs: int = 1
    """Trials of each case; the maximum if sets differ."""
    warnings: list[str] = field(default_factory=list)
    started_at: float = 0.0
    duration: float = 0.0
    """Seconds of execution."""
    scoring_duration: float | None = None
    """Seconds of re-scoring; `None` for the run's own verdicts."""
    interrupted: bool = False
    """Whether the run was interrupted before all trials were run."""
    stopped_by: str = ""
    """Why the run is incomplete: a limit, a signal; empty if it is complete."""
    run_id: str = ""
    """The id in the store; empty if the run is not stored."""
    spent: list[Spent] = field(default_factory=list)
    """The usage of models, by purpose (agent, simulated user, judge) and model."""
    unreported: int = 0
    """Attempts at trials in which the agent reported no usage: what they took is not in `spent`."""
    judged_by: list[JudgedBy] = field(default_factory=list)
    """Which models gave the verdicts of which metrics."""
    badges: dict[str, str] = field(default_factory=dict)
    """The calibration of each metric's judge, or why it is invalid, according to the store."""
    failure: Failure | None = None
    """The failure that ended the run (for example of the store); its exit code is 3."""
    completes_run: bool = False
    """Whether this is the last part of a run that several processes write: the store has the whole run."""
    at_most: int = 0
    """The maximum number of trials of all cases if they are added until a decision; 0: the number is fixed in advance."""
    against: str = ""
    """The baseline of the comparison that decides when to stop; empty: each case decides by itself."""

    def __bool__(self) -> bool:
        return self.passed  # an `assert result` must not pass by accident

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {outcome.value}" for outcome, count in self.counts.items())
        return clean(f"<RunResult {self.agent}: {self.outcome.value} ({counts or 'no cases'})>")

    def _repr_html_(self) -> str:
        """Return the verdict and its tables for a notebook."""
        html: str = load_object("proctor.reports.formats.notebook:run_html")(self)
        return html

    @property
    def judging_duration(self) -> float | None:
        """Former name of `scoring_duration`."""
        return self.scoring_duration

    @property
    def outcome(self) -> Outcome:
        """Failed before error before inconclusive; passed only when every case passed.

        A run with a failure is an *error*, regardless of the outcomes of its cases.
        """
        return self.outcome_for(self.counts)

    def outcome_for(self, counts: Iterable[Outcome]) -> Outcome:
        """Return the outcome of the run if its cases have these outcomes."""
        return outcome_of_run(
            counts, set_missing=bool(self.unread_sets), has_failure=self.failure is not None
        )

    @property
    def unread_sets(self) -> dict[str, Failure]:
        """The ids of the eval sets that could not be run (`keep_going`), each with the cause."""
        return {one.eval_set_id: one.failure for one in self.sets if one.failure is not None}

    @property
    def cost(self) -> float | None:
        """The cost of all model calls in US dollars; `None` if a price is unknown, or the agent did not report all its usage."""
        from proctor.schema.results.model_usage import run_cost

        return run_cost(self.spent, self.unreported)

    @property
    def passed(self) -> bool:
        """Whether every case passed and the run had no failure."""
        return self.outcome is Outcome.PASSED

    @property
    def counts(self) -> dict[Outcome, int]:
        """The number of cases by outcome."""
        if (stored := getattr(self.cases, "counts", None)) is not None:  # without reading a case
            counted: dict[Outcome, int] = stored()
            return counted
        return dict(Counter(case.outcome for case in self.cases))

    @property
    def exit_code(self) -> int:
        """The exit code of `proctor eval` for this result (`proctor eval --help` lists them); 3 if it is incomplete."""
        return exit_code_of(self.outcome, self.failure)

    @property
    def repeats(self) -> Repeats:
        """Statistics over the trials of all cases: pass^k, pass@k, means with their errors. Reads every case once."""
        return Repeats(self.cases)

    @property
    def score_ranges(self) -> dict[str, tuple[float, float]]:
        """The lowest and the highest score of each metric over all sets; infinite if unknown or without a limit."""
        ranges: dict[str, tuple[float, float]] = {}
        for one in self.sets:
            for name in one.metrics:
                low, high = one.score_ranges.get(name, (0.0 if name in EFFICIENCY_METRICS else -inf, inf))
                least, most = ranges.get(name, (low, high))
                ranges[name] = min(low, least), max(high, most)
        return ranges

    @property
    def means(self) -> dict[str, Mean]:
        """Each metric's mean over the cases, with its standard error and 95 % CI; a case has the mean of its trials."""
        return self.repeats.means(self.score_ranges)

    def pass_hat(self, k: int) -> float | None:
        """Return pass^k, the probability that `k` trials of a case all pass, as the mean over the cases.

        Cases with fewer than `k` trials are left out; `None` if no case has enough.

        Raises:
            ValueError: k is less than 1.
        """
        estimate = self.repeats.pass_hat(k)
        return estimate.value if estimate else None

    def pass_at(self, k: int) -> float | None:
        """Return pass@k, the probability that of `k` trials of a case at least one passes, as the mean over the cases.

        Cases with fewer than `k` trials are left out; `None` if no case has enough.

        Raises:
            ValueError: k is less than 1.
        """
        estimate = self.repeats.pass_at(k)
        return estimate.value if estimate else None

    def case(self, eval_id: str, eval_set_id: str | None = None) -> CaseResult:
        """Return the result of the case `eval_id`.

        Raises:
            KeyError: the run has no such case.
        """
        find = getattr(self.cases, "find", None)  # of stored cases: without reading the others
        if find is not None and (stored_case := find(eval_id, eval_set_id)) is not None:
            result: CaseResult = stored_case
            return result
        for result in self.cases if find is None else ():
            if result.eval_id == eval_id and eval_set_id in (None, result.eval_set_id):
                return result
        raise KeyError(eval_id)


_EXIT_CODES = {
    Outcome.PASSED: ExitCode.PASSED,
    Outcome.FAILED: ExitCode.FAILED,
    Outcome.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
}


def exit_code_of(outcome: Outcome, failure: Failure | None) -> int:
    """Return the exit code of one run, or of several: their outcome, and the failure that ended one of them (see `exit_code`)."""
    if failure is not None:
        return ExitCode.CONFIGURATION_ERROR if failure.where == CONFIGURATION else ExitCode.ERROR
    return _EXIT_CODES.get(outcome, ExitCode.ERROR)


class RunResults(list[RunResult]):
    """The results of several runs, in order."""

    def __bool__(self) -> bool:
        """Return whether there are runs and all of them passed."""
        return len(self) > 0 and all(run.passed for run in self)
