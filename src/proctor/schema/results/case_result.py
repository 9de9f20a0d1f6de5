"""Results of a case and of its trials, and statistics over the trials of many cases: pass rates, fault rates."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from proctor.common.safe_text import clean, count_text
from proctor.schema.evidence.simulated_user import FaultKind, UserFault, faults_in
from proctor.schema.evidence.trial import Failure, Trial
from proctor.schema.format.result import EvalStatus
from proctor.schema.results.score import CONFIDENCE, MetricVerdict, Outcome, TrialRule, is_counted
from proctor.stats.intervals import ClusteredMean, Mean, pass_at, pass_hat, wilson


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
        evidence = self._read()
        return Trial.model_validate_json(evidence) if isinstance(evidence, bytes) else evidence

    def evidence_data(self) -> dict[str, Any] | None:
        """The evidence as plain data, without null values; `None` if it was not stored.

        JSON without null, as `kept_json` writes it, is parsed without models.
        """
        evidence = self._read()
        if isinstance(evidence, bytes):
            if b"null" not in evidence:
                data: dict[str, Any] = json.loads(evidence)
                return data
            evidence = Trial.model_validate_json(evidence)
        return evidence.model_dump(mode="json", exclude_none=True) if evidence is not None else None

    def evidence_json(self) -> bytes:
        """The evidence as JSON that is not parsed; empty if it was not stored."""
        evidence = self._read()
        if isinstance(evidence, bytes):
            return evidence
        return evidence.model_dump_json(exclude_none=True).encode() if evidence is not None else b""

    def _read(self) -> Trial | bytes | None:
        return self._evidence() if callable(self._evidence) else self._evidence


def undecided_reason(trials: int) -> str:
    """Return the reason of a case that has no verdict yet, and of which some trials were recorded."""
    return f"no verdict yet; {count_text(trials, 'trial')} {'was' if trials == 1 else 'were'} recorded"


@dataclass(slots=True, repr=False)
class CaseResult:
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
    def has_rate(self) -> bool:
        """Whether reports show the pass rate: there are several trials, and at least one was scored."""
        return len(self.trials) > 1 and bool(self.trials_passed or self.trials_failed)

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


# --- Pass rates of repeated trials -------------------------------------------------------------------------------------


ScoreRanges = Mapping[str, tuple[float, float]]
"""The lowest and the highest score of metrics, by name."""


class Repeats:
    """Statistics over the trials of many cases, updated one case at a time, in constant memory.

    Skipped cases, and cases with trials that were not reached, do not count. A trial in error is not a pass.
    """

    def __init__(self, cases: Iterable[CaseResult] = (), *, split: bool = True) -> None:
        """Add `cases`; `split` also computes the statistics by eval set."""
        self.by_set: dict[str, Repeats] = {}
        """The statistics for each eval set, by its id."""
        self.cases = 0
        """Cases that have trials."""
        self.flaky = 0
        """Cases of which some trials passed and some failed."""
        self._counts: Counter[tuple[int, int]] = Counter()  # (passed, trials) of a case
        self._means: dict[str, ClusteredMean] = {}
        self._scored = Counter[str]()  # trials that have a score of a metric
        self._split = split
        for case in cases:
            self.add(case)

    def add(self, case: CaseResult) -> None:
        """Add one case."""
        if not case.trials or case.outcome in (Outcome.NOT_RUN, Outcome.SKIPPED):
            return
        scores = {
            name: (metric.score, metric.scored)
            for name, metric in case.metrics.items()
            if is_counted(metric.score, name)
        }
        self.count(case, scores)
        if self._split:
            if case.eval_set_id not in self.by_set:
                self.by_set[case.eval_set_id] = Repeats(split=False)
            self.by_set[case.eval_set_id].count(case, scores)

    def count(self, case: CaseResult, scores: Mapping[str, tuple[float, int]]) -> None:
        """Add one case with trials; `scores`: the mean of each metric, and the number of trials that have a score."""
        self.cases += 1
        self.flaky += case.flaky
        self._counts[case.trials_passed, len(case.trials)] += 1
        for name, (score, trials) in scores.items():
            if name not in self._means:
                self._means[name] = ClusteredMean()
            self._means[name].add(score, 1)
            self._scored[name] += trials

    @property
    def most_trials(self) -> int:
        """The largest number of trials of a case; 0 without cases."""
        return max((total for _, total in self._counts), default=0)

    @property
    def trials(self) -> int:
        """The number of trials of all cases, those in error included."""
        return sum(total * cases for (_, total), cases in self._counts.items())

    @property
    def trials_passed(self) -> int:
        """The number of passed trials."""
        return sum(passed * cases for (passed, _), cases in self._counts.items())

    def pass_hat(self, k: int) -> Mean | None:
        """Return pass^k, the mean over the cases with at least `k` trials; `None` without such a case.

        Raises:
            ValueError: k is less than 1.
        """
        return self._mean_of(pass_hat, k)

    def pass_at(self, k: int) -> Mean | None:
        """Return pass@k, the mean over the cases with at least `k` trials; `None` without such a case.

        Raises:
            ValueError: k is less than 1.
        """
        return self._mean_of(pass_at, k)

    def means(
        self,
        ranges: ScoreRanges = MappingProxyType({}),
        *,
        confidence: float = CONFIDENCE,
    ) -> dict[str, Mean]:
        """Return the mean of each metric over the cases, each with the mean of its trials that have a score.

        The interval of a mean is within the range of the metric, if `ranges` has it.
        """
        means = {
            name: mean.result(confidence=confidence, within=ranges.get(name))
            for name, mean in self._means.items()
        }
        return {
            name: replace(mean, values=self._scored[name]) for name, mean in means.items() if mean is not None
        }

    def _mean_of(self, estimate: Callable[[int, int, int], float], k: int) -> Mean | None:
        if k < 1:
            raise ValueError(f"expected k >= 1, got {k}")
        mean = ClusteredMean()
        for (passed, total), cases in self._counts.items():
            if total >= k:
                mean.add(estimate(passed, total, k), 1, times=cases)
        return mean.result(within=(0.0, 1.0))


# --- Fault rates of simulated conversations ---------------------------------------------------------------------------


_SIMULATOR = "simulator"


@dataclass(frozen=True, slots=True)
class FaultRate:
    """A rate of faults."""

    faults: int
    of: int

    @property
    def rate(self) -> float | None:
        """The rate, from 0 to 1; `None` without conversations."""
        return self.faults / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % Wilson interval; `None` without conversations."""
        return wilson(self.faults, self.of) if self.of else None


class FaultRates:
    """The fault rates of agent and user simulator over all simulated conversations, updated one case at a time.
    Every attempt is a conversation, including attempts that were retried. The simulator's rate covers all conversations: it
    counts those in which the simulated user went off script, or that ended because it gave no message. The agent's rate covers the
    other conversations that could be scored: it counts those that failed, or in which the agent caused an error. A worse
    simulator thus leaves fewer conversations to count, and does not raise the agent's rate.
    """

    def __init__(self, cases: Iterable[CaseResult] = ()) -> None:
        self.kinds: Counter[FaultKind] = Counter()
        """Faults of simulated users by kind; a conversation may have several."""
        self._conversations = self._spoiled = self._judged = self._agents = 0
        for case in cases:
            self.add(case)

    @property
    def user(self) -> FaultRate:
        """Conversations with a fault of the simulated user, of all conversations."""
        return FaultRate(self._spoiled, self._conversations)

    @property
    def agent(self) -> FaultRate:
        """Conversations with a fault of the agent, of those that could be scored and have no simulator fault."""
        return FaultRate(self._agents, self._judged)

    def __bool__(self) -> bool:
        """Return whether any conversation was simulated."""
        return self._conversations > 0

    def add(self, case: CaseResult) -> None:
        """Add one case; a recorded conversation does not count."""
        if not case.is_played:
            return
        for place, trial in enumerate(case.trials):
            if trial.outcome in (Outcome.NOT_RUN, Outcome.SKIPPED):
                continue
            for failure in _earlier(trial):
                self._take(Outcome.ERROR, failure)
            self._take(trial.outcome, trial.failure)
            self.kinds.update(fault.kind for one in trial.earlier for fault in _rule_faults(one))
            self.kinds.update(fault.kind for fault in user_faults(case, place))

    def _take(self, outcome: Outcome, failure: Failure | None) -> None:
        self._conversations += 1
        if failure is not None and failure.where == _SIMULATOR:
            self._spoiled += 1
        elif outcome in (Outcome.PASSED, Outcome.FAILED) or (
            failure is not None and failure.where == "agent"
        ):
            self._judged += 1
            self._agents += outcome is not Outcome.PASSED


def _earlier(trial: TrialResult) -> Iterator[Failure | None]:
    """Return why each earlier attempt at a trial was retried: attempts in the store, and those within the evidence."""
    for one in (*trial.earlier, trial):
        for attempt in (one.evidence_data() or {}).get("attempts") or ():
            failure = attempt.get("failure")
            yield Failure.model_validate(failure) if failure else None
        if one is not trial:
            yield one.failure


def user_faults(case: CaseResult, place: int) -> list[UserFault]:
    """Return the simulated user's faults in the trial at `place` and its earlier attempts: by rules, then by judges."""
    if not case.is_played:
        return []
    faults = _rule_faults(case.trials[place])
    for metric in case.metrics.values():
        score = metric.per_trial[place] if place < len(metric.per_trial) else None
        faults += faults_in(score.details) if score is not None else []
    return faults


def _rule_faults(trial: TrialResult) -> list[UserFault]:
    """Return the faults that rules detected in a trial and in the attempts within its evidence."""
    data: dict[str, Any] = trial.evidence_data() or {}
    simulated_users = [one.get("played_user") or {} for one in (*(data.get("attempts") or ()), data)]
    return [UserFault.model_validate(fault) for one in simulated_users for fault in one.get("faults") or ()]
