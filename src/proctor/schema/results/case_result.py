"""Results of a case and of its trials: scores under their criteria, and outcomes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.common.safe_text import clean
from proctor.schema.evidence.trial import Failure, Trial
from proctor.schema.format.result import EvalStatus
from proctor.schema.format.wire_model import LazyObject
from proctor.schema.results.score import CONFIDENCE, MetricVerdict, Outcome, TrialRule
from proctor.stats.intervals import pass_at, pass_hat, wilson


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
