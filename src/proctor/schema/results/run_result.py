"""Results of trials, cases and runs: scores under their criteria, and outcomes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proctor.common.safe_text import clean
from proctor.schema.evidence.trial import CONFIGURATION, Failure, Trial
from proctor.schema.format.result import EvalStatus
from proctor.schema.format.wire_model import LazyObject
from proctor.schema.results.case_statistics import CONFIDENCE, Repeats, TrialRule
from proctor.schema.results.score import InvocationVerdict, MetricVerdict, Outcome, outcome_of_run, worst
from proctor.stats.intervals import Mean, pass_at, pass_hat, wilson

if TYPE_CHECKING:
    from proctor.schema.results.model_usage import Spent
    from proctor.schema.results.score import JudgedBy

__all__ = [
    "CaseResult",
    "InvocationVerdict",
    "MetricVerdict",
    "Outcome",
    "RunResult",
    "SetSummary",
    "TrialResult",
    "TrialRule",
    "worst",
]

NOT_JUDGED = "not judged"
"""The `config_source` of a set that could not be run."""


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


class TrialResult:
    """The outcome of one trial, with its evidence."""

    __slots__ = ("_evidence", "attempt", "earlier", "failure", "number", "outcome")

    def __init__(
        self,
        number: int,
        outcome: Outcome,
        *,
        evidence: Trial | bytes | Callable[[], bytes] | None,
        failure: Failure | None = None,
        attempt: int = 0,
    ) -> None:
        """Take the `evidence` as a model, as JSON (smaller; parsed on access), as a function that returns JSON, or `None` if dropped.

        `attempt`: the number of earlier attempts that ended in an error and were repeated by a resumed run.
        """
        self.attempt = attempt
        self.earlier: Sequence[TrialResult] = ()
        """The earlier attempts, in order, without scores. They are in the store, and in its exports."""
        self.number = number
        self.outcome = outcome
        self.failure = failure
        self._evidence = evidence

    def __bool__(self) -> bool:
        return bool(self.outcome)  # an `assert trials[0]` must not pass by accident

    @property
    def trial(self) -> Trial | None:
        """The evidence; `None` if it was not stored (see `keep_evidence`)."""
        evidence = self._evidence() if callable(self._evidence) else self._evidence
        return Trial.model_validate_json(evidence) if isinstance(evidence, bytes) else evidence

    def evidence_data(self) -> dict[str, Any] | None:
        """The evidence as plain data, without null values; `None` if it was not stored.

        JSON without null, as `kept_json` writes it, is parsed without models.
        """
        evidence = self._evidence() if callable(self._evidence) else self._evidence
        if isinstance(evidence, bytes):
            if b"null" not in evidence:
                data: dict[str, Any] = json.loads(evidence)
                return data
            evidence = Trial.model_validate_json(evidence)
        return evidence.model_dump(mode="json", exclude_none=True) if evidence is not None else None


class _MayWait:
    """The slot of the function that computes the verdicts of a case lazily (see `CaseResult.put_off_metrics`)."""

    __slots__ = ("_maker",)
    _maker: Callable[[], dict[str, MetricVerdict]] | None


@dataclass(slots=True, repr=False)
class CaseResult(_MayWait):
    """The result of one case: verdict, reason, trials and metrics."""

    eval_set_id: str
    eval_id: str
    outcome: Outcome
    reason: str = ""
    """The main reason: which metric failed and why, or which error occurred."""
    metrics: dict[str, MetricVerdict] = field(default_factory=dict)
    trials: list[TrialResult] = field(default_factory=list)
    place: str = ""
    """`file:line` of the case, if it is from a file."""
    rule: TrialRule | None = None
    """The required pass rate; `None`: every metric's mean over the trials decided."""
    missed: str = ""
    """Of several trials: which was the first that failed, and why."""
    is_played: bool = False
    """Whether the user was simulated: a scenario."""

    def put_off_metrics(self, make: Callable[[], dict[str, MetricVerdict]]) -> None:
        """Compute `metrics` by `make`, which must not raise, on first access."""
        del self.metrics
        _put_maker(self, make)
        self.__class__ = _WaitingResult

    def __bool__(self) -> bool:
        return self.passed  # an `assert result` must not pass by accident

    def __repr__(self) -> str:
        return clean(
            f"<CaseResult {self.eval_id}: {self.outcome.value}{': ' if self.reason else ''}{self.reason}>"
        )

    @property
    def passed(self) -> bool:
        """Whether the case passed; an error is not a pass."""
        return self.outcome is Outcome.PASSED

    @property
    def status(self) -> EvalStatus:
        """The outcome as ADK's EvalStatus."""
        return self.outcome.status

    @property
    def trials_passed(self) -> int:
        """The number of trials that passed by themselves."""
        return sum(trial.outcome is Outcome.PASSED for trial in self.trials)

    @property
    def trials_failed(self) -> int:
        """The number of trials that failed by themselves; the remaining trials could not be scored."""
        return sum(trial.outcome is Outcome.FAILED for trial in self.trials)

    @property
    def flaky(self) -> bool:
        """Whether some trials passed and some failed."""
        return bool(self.trials_passed and self.trials_failed)

    @property
    def pass_rate(self) -> float | None:
        """The share of the trials that passed, from 0 to 1; a trial in error did not pass. `None` without trials."""
        return self.trials_passed / len(self.trials) if self.trials else None

    @property
    def confidence(self) -> float:
        """The confidence of `interval`: that of the config's `trials`, or else 0.95."""
        return self.rule.confidence if self.rule and self.rule.confidence else CONFIDENCE

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson interval (low, high) of the pass rate.

        Trials that could not be scored count as failed in the lower limit and as passed in the upper limit.
        (0, 1) without trials.
        """
        total, confidence = len(self.trials), self.confidence
        low = wilson(self.trials_passed, total, confidence=confidence)[0]
        return low, wilson(total - self.trials_failed, total, confidence=confidence)[1]

    def pass_hat(self, k: int) -> float:
        """Return pass^k: the probability that `k` trials all pass, an unbiased estimate.

        Raises:
            ValueError: k is less than 1, or more than the number of trials.
        """
        return pass_hat(self.trials_passed, len(self.trials), k)

    def pass_at(self, k: int) -> float:
        """Return pass@k: the probability that at least one of `k` trials passes, an unbiased estimate.

        Raises:
            ValueError: k is less than 1, or more than the number of trials.
        """
        return pass_at(self.trials_passed, len(self.trials), k)


_put_maker = _MayWait.__dict__["_maker"].__set__


class _WaitingResult(LazyObject, CaseResult):
    __slots__ = ()

    def settle(self) -> None:
        if (make := self._maker) is not None:  # otherwise another thread has just computed them
            self.metrics = make()
            self.__class__ = CaseResult  # type: ignore[assignment]  # its base
            self._maker = None

    def __repr__(self) -> str:
        return CaseResult.__repr__(self)  # does not access the metrics


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
    judging_duration: float | None = None
    """Seconds of re-scoring; `None` for the run's own verdicts."""
    interrupted: bool = False
    """Whether the run was interrupted before all trials were run."""
    stopped_by: str = ""
    """Why the run is incomplete: a limit, a signal; empty if it is complete."""
    run_id: str = ""
    """The id in the store; empty if the run is not stored."""
    spent: list[Spent] = field(default_factory=list)
    """The usage of models, by purpose (agent, simulated user, judge) and model."""
    judged_by: list[JudgedBy] = field(default_factory=list)
    """Which models gave the verdicts of which metrics."""
    badges: dict[str, str] = field(default_factory=dict)
    """The calibration of each metric's judge, or why it is invalid, according to the store."""
    failure: Failure | None = None
    """The failure that ended the run (for example of the store); its exit code is 3."""
    at_most: int = 0
    """The maximum number of trials of all cases if they are added until a decision; 0: the number is fixed in advance."""
    against: str = ""
    """The baseline of the comparison that decides when to stop; empty: each case decides by itself."""

    def __bool__(self) -> bool:
        return self.passed  # an `assert result` must not pass by accident

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {outcome.value}" for outcome, count in self.counts.items())
        return clean(f"<RunResult {self.agent}: {self.outcome.value} ({counts or 'no cases'})>")

    @property
    def outcome(self) -> Outcome:
        """Failed before error before inconclusive; passed only when every case passed.

        A run with a failure is an *error*, regardless of the outcomes of its cases.
        """
        set_missing = any(summary.failure is not None for summary in self.sets)
        return outcome_of_run(self.counts, set_missing=set_missing, broken_off=self.failure is not None)

    @property
    def cost(self) -> float | None:
        """The cost of all model calls in US dollars, including what the agent reports; `None` if a price is unknown."""
        from proctor.schema.results.model_usage import total_cost

        return total_cost(self.spent)

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
        """The exit code: 0 passed, 1 failed, 3 error (or incomplete), 4 inconclusive; 2 for a report on a configuration error."""
        if self.failure is not None and self.failure.where == CONFIGURATION:
            return 2
        return _EXIT_CODES.get(self.outcome, 3)

    @property
    def repeats(self) -> Repeats:
        """Statistics over the trials of all cases: pass^k, pass@k, means with their errors. Reads every case once."""
        return Repeats(self.cases)

    @property
    def means(self) -> dict[str, Mean]:
        """Each metric's mean over all trials, with a standard error clustered by case and its 95 % CI."""
        return self.repeats.means()

    def pass_hat(self, k: int) -> float | None:
        """Return pass^k, the probability that `k` trials of a case all pass, as the mean over the cases.

        Cases with fewer than `k` trials are left out; `None` if no case has enough.

        Raises:
            ValueError: k is less than 1.
        """
        found = self.repeats.pass_hat(k)
        return found.value if found else None

    def pass_at(self, k: int) -> float | None:
        """Return pass@k, the probability that of `k` trials of a case at least one passes, as the mean over the cases.

        Cases with fewer than `k` trials are left out; `None` if no case has enough.

        Raises:
            ValueError: k is less than 1.
        """
        found = self.repeats.pass_at(k)
        return found.value if found else None

    def case(self, eval_id: str, eval_set_id: str | None = None) -> CaseResult:
        """Return the result of the case `eval_id`.

        Raises:
            KeyError: the run has no such case.
        """
        find = getattr(self.cases, "find", None)  # of stored cases: without reading the others
        if find is not None and (found := find(eval_id, eval_set_id)) is not None:
            result: CaseResult = found
            return result
        for result in self.cases if find is None else ():
            if result.eval_id == eval_id and eval_set_id in (None, result.eval_set_id):
                return result
        raise KeyError(eval_id)


_EXIT_CODES = {Outcome.PASSED: 0, Outcome.FAILED: 1, Outcome.ERROR: 3, Outcome.INCONCLUSIVE: 4}


class RunResults(list[RunResult]):
    """The results of several runs, in order."""

    def __bool__(self) -> bool:
        """Return whether there are runs and all of them passed."""
        return len(self) > 0 and all(run.passed for run in self)
