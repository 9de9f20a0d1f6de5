"""What scores mean under their criteria: outcomes of metrics, trials, cases and runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proctor.common.safe_text import clean
from proctor.schema.evidence.trial import CONFIGURATION, Failure, Trial
from proctor.schema.format.result import EvalStatus
from proctor.schema.lazy_object import LazyObject
from proctor.schema.results.metric_verdict import InvocationVerdict, MetricVerdict
from proctor.schema.results.outcome import Outcome, outcome_of_run, worst
from proctor.schema.results.repeats import CONFIDENCE, Repeats, TrialRule
from proctor.schema.results.set_summary import SetSummary
from proctor.stats.intervals import Mean, pass_at, pass_hat, wilson

if TYPE_CHECKING:
    from proctor.schema.results.judged_by import JudgedBy
    from proctor.schema.results.model_usage import Spent

__all__ = [
    "CaseResult", "InvocationVerdict", "MetricVerdict", "Outcome", "RunResult", "SetSummary", "TrialResult", "TrialRule",
    "worst",
]  # fmt: skip


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
        """Take the `evidence` as a model, as its JSON (smaller; read when asked for) or what returns that, or `None` when dropped.

        `attempt`: how often the trial was made before, ended in an error and was made again by a resumed run.
        """
        self.attempt = attempt
        self.earlier: Sequence[TrialResult] = ()
        """The attempts before this one, in order; none of them has scores. They are kept in a store, and in what it exports."""
        self.number = number
        self.outcome = outcome
        self.failure = failure
        self._evidence = evidence

    def __bool__(self) -> bool:
        return bool(self.outcome)  # `assert trials[0]` must not be green by accident

    @property
    def trial(self) -> Trial | None:
        """The evidence; `None` when it was not kept (see `keep_evidence`)."""
        evidence = self._evidence() if callable(self._evidence) else self._evidence
        return Trial.model_validate_json(evidence) if isinstance(evidence, bytes) else evidence

    def evidence_data(self) -> dict[str, Any] | None:
        """The evidence as plain data, fields without a value left out; `None` when it was not kept.

        JSON without null, as `kept_json` writes it, is read without models.
        """
        evidence = self._evidence() if callable(self._evidence) else self._evidence
        if isinstance(evidence, bytes):
            if b"null" not in evidence:
                data: dict[str, Any] = json.loads(evidence)
                return data
            evidence = Trial.model_validate_json(evidence)
        return evidence.model_dump(mode="json", exclude_none=True) if evidence is not None else None


class _MayWait:
    """Room for what makes the verdicts of a case whose metrics wait (see `CaseResult.put_off_metrics`)."""

    __slots__ = ("_maker",)
    _maker: Callable[[], dict[str, MetricVerdict]] | None


@dataclass(slots=True, repr=False)
class CaseResult(_MayWait):
    """The verdict on one case and everything behind it."""

    eval_set_id: str
    eval_id: str
    outcome: Outcome
    reason: str = ""
    """The first thing to know: which metric failed and why, or what went wrong."""
    metrics: dict[str, MetricVerdict] = field(default_factory=dict)
    trials: list[TrialResult] = field(default_factory=list)
    place: str = ""
    """`file:line` of the case, where it came from a file."""
    rule: TrialRule | None = None
    """What share of the trials had to pass; `None`: every metric's mean over the trials decided."""
    missed: str = ""
    """Of several trials: which was the first that failed, and why."""
    is_played: bool = False
    """Whether its user was played: a scenario."""

    def put_off_metrics(self, make: Callable[[], dict[str, MetricVerdict]]) -> None:
        """Have `metrics` made by `make`, which must not raise, when somebody looks at them."""
        del self.metrics
        _put_maker(self, make)
        self.__class__ = _WaitingResult

    def __bool__(self) -> bool:
        return self.passed  # `assert result` must not be green by accident

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
        """The outcome in ADK's words."""
        return self.outcome.status

    @property
    def trials_passed(self) -> int:
        """How many trials passed by themselves."""
        return sum(trial.outcome is Outcome.PASSED for trial in self.trials)

    @property
    def trials_failed(self) -> int:
        """How many trials failed by themselves; those that are neither could not be judged."""
        return sum(trial.outcome is Outcome.FAILED for trial in self.trials)

    @property
    def flaky(self) -> bool:
        """Whether some trials passed and some failed."""
        return bool(self.trials_passed and self.trials_failed)

    @property
    def pass_rate(self) -> float | None:
        """The share of the trials that passed, from 0 to 1; a trial in error did not. `None` without trials."""
        return self.trials_passed / len(self.trials) if self.trials else None

    @property
    def confidence(self) -> float:
        """At which `interval` holds: what the config's `trials` asks for, else 0.95."""
        return self.rule.confidence if self.rule and self.rule.confidence else CONFIDENCE

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson interval (low, high) of the pass rate.

        Trials that could not be judged might have been anything: the low end takes them as failed, the high end as
        passed. (0, 1) without trials.
        """
        total, confidence = len(self.trials), self.confidence
        low = wilson(self.trials_passed, total, confidence=confidence)[0]
        return low, wilson(total - self.trials_failed, total, confidence=confidence)[1]

    def pass_hat(self, k: int) -> float:
        """Return pass^k: the probability that `k` trials all pass, estimated without bias.

        Raises:
            ValueError: k is less than 1, or more than there are trials.
        """
        return pass_hat(self.trials_passed, len(self.trials), k)

    def pass_at(self, k: int) -> float:
        """Return pass@k: the probability that of `k` trials at least one passes, estimated without bias.

        Raises:
            ValueError: k is less than 1, or more than there are trials.
        """
        return pass_at(self.trials_passed, len(self.trials), k)


_put_maker = _MayWait.__dict__["_maker"].__set__


class _WaitingResult(LazyObject, CaseResult):
    __slots__ = ()

    def settle(self) -> None:
        if (make := self._maker) is not None:  # else another thread has just done it
            self.metrics = make()
            self.__class__ = CaseResult  # type: ignore[assignment]  # its base
            self._maker = None

    def __repr__(self) -> str:
        return CaseResult.__repr__(self)  # says nothing about metrics


@dataclass(slots=True, repr=False)
class RunResult:
    """One execution: eval sets × agent × repeats."""

    agent: str
    cases: Sequence[CaseResult] = field(default_factory=list)
    """In the order of the sets and of the cases in them; of a stored run they are read as they are asked for."""
    sets: list[SetSummary] = field(default_factory=list)
    num_runs: int = 1
    """Trials of each case; where sets differ, the most."""
    warnings: list[str] = field(default_factory=list)
    started_at: float = 0.0
    duration: float = 0.0
    """Seconds that processes were at work on it."""
    judging_duration: float | None = None
    """Seconds that judging it again took; `None` for the run's own verdicts."""
    interrupted: bool = False
    """Whether somebody ended it before everything was run."""
    stopped_by: str = ""
    """Why not everything was run: a limit, a signal; empty when nothing was left out."""
    run_id: str = ""
    """Its name in the store; empty where it is not kept."""
    spent: list[Spent] = field(default_factory=list)
    """What models took, by purpose (agent, played user, judge) and model."""
    judged_by: list[JudgedBy] = field(default_factory=list)
    """Which models gave the verdicts of which metrics."""
    badges: dict[str, str] = field(default_factory=dict)
    """Metric -> what its judge was found to be worth, or why that does not hold any more; as the store knows it."""
    failure: Failure | None = None
    """Why the run itself could not go on (the store could not be written); its exit code is 3."""
    at_most: int = 0
    """Trials of all cases that there could have been, where they were added until it was decided; 0: their number was
    chosen beforehand."""
    against: str = ""
    """The run that it was to be compared with, where that was to be decided; empty: each case by itself."""

    def __bool__(self) -> bool:
        return self.passed  # `assert result` must not be green by accident

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {outcome.value}" for outcome, count in self.counts.items())
        return clean(f"<RunResult {self.agent}: {self.outcome.value} ({counts or 'no cases'})>")

    @property
    def outcome(self) -> Outcome:
        """Failed before error before inconclusive; passed only when every case passed.

        A run that could not go on is an *error*, whatever its cases came to.
        """
        set_missing = any(summary.failure is not None for summary in self.sets)
        return outcome_of_run(self.counts, set_missing=set_missing, broken_off=self.failure is not None)

    @property
    def cost(self) -> float | None:
        """US dollars that models took, of the agent as far as it reports them; `None` where a price is not known."""
        from proctor.schema.results.model_usage import total_cost

        return total_cost(self.spent)

    @property
    def passed(self) -> bool:
        """Whether every case passed, and the run could be carried out."""
        return self.outcome is Outcome.PASSED

    @property
    def counts(self) -> dict[Outcome, int]:
        """How many cases ended in each outcome."""
        if (stored := getattr(self.cases, "counts", None)) is not None:  # without reading any
            counted: dict[Outcome, int] = stored()
            return counted
        return dict(Counter(case.outcome for case in self.cases))

    @property
    def exit_code(self) -> int:
        """0 passed, 1 failed, 3 error (or not all was run), 4 inconclusive; 2 of a report on a configuration error."""
        if self.failure is not None and self.failure.where == CONFIGURATION:
            return 2
        return _EXIT_CODES.get(self.outcome, 3)

    @property
    def repeats(self) -> Repeats:
        """What the trials of all cases say together: pass^k, pass@k, means with their errors. Looks at every case once."""
        return Repeats(self.cases)

    @property
    def means(self) -> dict[str, Mean]:
        """Each metric's mean over all trials, with a standard error clustered by case and its 95 % interval."""
        return self.repeats.means()

    def pass_hat(self, k: int) -> float | None:
        """Return pass^k, the probability that `k` trials of a case all pass, as the mean over the cases.

        Cases with fewer than `k` trials are left out; `None` where no case has as many.

        Raises:
            ValueError: k is less than 1.
        """
        found = self.repeats.pass_hat(k)
        return found.value if found else None

    def pass_at(self, k: int) -> float | None:
        """Return pass@k, the probability that of `k` trials of a case at least one passes, as the mean over the cases.

        Cases with fewer than `k` trials are left out; `None` where no case has as many.

        Raises:
            ValueError: k is less than 1.
        """
        found = self.repeats.pass_at(k)
        return found.value if found else None

    def case(self, eval_id: str, eval_set_id: str | None = None) -> CaseResult:
        """Return the result of the case `eval_id`.

        Raises:
            KeyError: no such case in this run.
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
