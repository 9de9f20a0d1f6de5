"""The verdicts of metrics: scores under their criteria, for one case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proctor.schema.evidence.trial import Failure
from proctor.schema.format.result import EvalStatus
from proctor.schema.results.outcome import Outcome, worst
from proctor.schema.results.score import MetricScore, Score

__all__ = ["InvocationVerdict", "MetricVerdict", "MetricVerdicts"]


@dataclass(slots=True)
class InvocationVerdict:
    """The verdict of a metric on one invocation."""

    score: float | None
    outcome: Outcome
    reason: str = ""
    details: dict[str, object] | None = None
    warning: str = ""

    def __bool__(self) -> bool:
        return bool(self.outcome)  # an `assert invocation` must not pass by accident

    @property
    def status(self) -> EvalStatus:
        """The outcome as ADK's EvalStatus."""
        return self.outcome.status


@dataclass(slots=True)
class MetricVerdict:
    """The verdict of one metric on one case, over all its trials."""

    name: str
    outcome: Outcome
    score: float | None = None
    """The mean over the trials that have a score."""
    threshold: float | None = None
    gate: bool = True
    """Whether this metric takes part in the verdict."""
    reason: str = ""
    per_trial: Sequence[MetricScore | None] = ()
    """The score of each trial, in order; `None` if the trial could not be scored."""
    failure: Failure | None = None
    scored: int = 0
    """The number of trials with a score; computed from `per_trial` unless given."""
    met: int = 0
    """The number of trials that met the threshold; computed from `per_trial` unless given."""

    def __post_init__(self) -> None:
        """Count now, while the scores are available: they may be dropped later to save memory."""
        if not self.scored:
            for score in self.per_trial:
                if score is not None and score.value is not None:
                    self.scored += 1
                    self.met += self.threshold is not None and score.value >= self.threshold

    def __bool__(self) -> bool:
        return bool(self.outcome)  # an `assert metrics[name]` must not pass by accident

    @property
    def status(self) -> EvalStatus:
        """The outcome as ADK's EvalStatus."""
        return self.outcome.status

    @property
    def per_invocation(self) -> list[InvocationVerdict]:
        """The verdict on each invocation of the first trial with a score."""
        scored = next((score for score in self.per_trial if score is not None), None)
        return [self.judge(score) for score in scored.per_invocation] if scored is not None else []

    @property
    def is_warned(self) -> bool:
        """Whether any of its scores has a warning."""
        for score in self.per_trial:
            for each in score.per_invocation if score is not None else ():
                if each.warning:
                    return True
        return False

    def outcome_in(self, trial: int) -> Outcome:
        """Return the outcome of one trial (its position in `per_trial`) by itself."""
        if len(self.per_trial) == 1:
            return self.outcome
        score = self.per_trial[trial]
        if score is None or score.failure is not None:
            return Outcome.ERROR
        if self.threshold is None or not self.gate:
            return Outcome.INFORMATIONAL
        if score.value is None:
            return Outcome.NOT_APPLICABLE
        return Outcome.PASSED if score.value >= self.threshold else Outcome.FAILED

    def judge(self, score: Score) -> InvocationVerdict:
        """Compare one invocation's score with the threshold."""
        return InvocationVerdict(
            score.value, self._outcome_of(score), score.reason, score.details, score.warning
        )

    def _outcome_of(self, score: Score) -> Outcome:
        if self.outcome is Outcome.INFORMATIONAL:
            return Outcome.INFORMATIONAL
        if score.not_applicable:
            return Outcome.NOT_APPLICABLE
        if score.value is None or self.threshold is None:
            return Outcome.ERROR
        return Outcome.PASSED if score.value >= self.threshold else Outcome.FAILED


class MetricVerdicts(dict[str, MetricVerdict]):
    """The verdicts of several metrics by name."""

    def __bool__(self) -> bool:
        """Return whether all gating and applicable metrics passed; false without any."""
        undecided = (Outcome.NOT_APPLICABLE, Outcome.INFORMATIONAL)
        return worst(one.outcome for one in self.values() if one.outcome not in undecided) is Outcome.PASSED
