"""Scores of metrics, their verdicts, and outcomes. A score is a number, or the reason why there is none.

`details` is JSON that reports draw. These keys are understood by all of them, on an invocation's `Score` or on the
whole `MetricScore`:

* `alignment`: a list of steps `{"kind": "matched"|"missing"|"extra"|"moved"|"differs", "expected": {"name", "args"} |
  None, "actual": {"name", "args"} | None, "arguments": [{"name", "kind": "differs"|"missing"|"extra", "expected",
  "actual"}]}`, in the order in which a person should read them;
* `text`: `{"expected": str, "actual": str}`, to be shown with their difference;
* `rubrics`: a list of `{"rubric_id", "text", "score": 1|0|None, "rationale", "agreement", "points"?}`, what a judge found for
  each (`overall_rubrics` on the whole `MetricScore`: the same over all turns);
* `sentences`: a list of `{"sentence", "label", "rationale", "supporting_excerpt", "contradicting_excerpt", "agreement"}`;
* `ballot`: how a judge's votes were cast, `{"model", "prompt", "planned", "asked", "agreement", "votes": [...]}` (see
  `proctor.judges.votes`);
* `state`: a list of `{"key", "kind": "matched"|"differs"|"missing", "expected", "actual", "expectation", "accepted"}`; `expectation` describes
  what was expected if that is not a plain value (`told` is its former name), and `accepted` lists the paths inside it that differ and that a matcher accepts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, TypeGuard

from proctor.schema.evidence.trial import Failure
from proctor.schema.format.result import EvalStatus


class Outcome(StrEnum):
    """How something ended. Only *passed* is green."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    """Something needed for the verdict could not be computed."""
    INCONCLUSIVE = "inconclusive"
    SKIPPED = "skipped"
    """Left out on purpose."""
    NOT_RUN = "not_run"
    """Not reached."""
    NOT_APPLICABLE = "not_applicable"
    """For a metric: there was nothing to compare with."""
    INFORMATIONAL = "informational"
    """For a metric: reported, but never decides."""

    __hash__ = str.__hash__  # Enum's __hash__ is a Python function, and outcomes are dict keys for every case

    def __bool__(self) -> bool:
        """Return whether it is a pass, so that `assert outcome` fails for everything else.

        Raises:
            TypeError: it is neither a pass nor a failure: not applicable, or informational.
        """
        if self is Outcome.NOT_APPLICABLE or self is Outcome.INFORMATIONAL:
            raise TypeError(
                f"{self!r} is neither a pass nor a failure; compare it: `outcome is Outcome.{self.name}`"
            )
        return self is Outcome.PASSED

    @property
    def status(self) -> EvalStatus:
        """The outcome as ADK's EvalStatus: passed 1, failed 2, informational 4, everything else NOT_EVALUATED (3)."""
        return _STATUS.get(self, EvalStatus.NOT_EVALUATED)


_STATUS = {
    Outcome.PASSED: EvalStatus.PASSED,
    Outcome.FAILED: EvalStatus.FAILED,
    Outcome.INFORMATIONAL: EvalStatus.INFORMATIONAL,
}


def refuse_truth(result: object) -> bool:
    """Raise in place of `__bool__` for objects that report values and have no verdict.

    Raises:
        TypeError: always; an `assert result` must not pass by accident.
    """
    raise TypeError(
        f"{type(result).__name__} has no verdict that `bool` could return; compare one of its values"
    )


_WORST_FIRST = (Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.NOT_RUN, Outcome.PASSED)
_ALL_IS_WELL = [Outcome.PASSED]


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Combine outcomes: failed before error before inconclusive before not run; only *passed* with a pass in it.

    No outcome at all, or none that decides, is an *error*: an empty result never passes.
    """
    values = [*outcomes]
    if values == _ALL_IS_WELL:  # the only metric of a case that passes, most often
        return values[0]
    for outcome in _WORST_FIRST:
        if outcome in values:
            return outcome
    return Outcome.ERROR


def outcome_of_run(cases: Iterable[Outcome], *, set_missing: bool, has_failure: bool) -> Outcome:
    """Combine the outcomes of a run's cases: skipped cases do not count, a set that was not run is an error.

    A run that ended by a failure (`has_failure`) is an *error*, regardless of the outcomes of its cases.
    """
    if has_failure:
        return Outcome.ERROR
    outcomes = [outcome for outcome in cases if outcome is not Outcome.SKIPPED]
    return worst([*outcomes, Outcome.ERROR] if set_missing else outcomes)


LARGEST_SCORE = 1e100
"""The largest size of a score. A larger one carries no information, and sums of such numbers overflow."""
EXPECTED_SCORE = f"expected a number of at most {LARGEST_SCORE:g}, neither NaN nor infinite"
"""The end of a message about another value (see `is_score`)."""


def is_score(value: object) -> TypeGuard[float]:
    """Return whether a value can be a score: a number that is neither NaN nor infinite nor larger than `LARGEST_SCORE`."""
    return isinstance(value, int | float) and abs(value) <= LARGEST_SCORE


MODEL_CALLS = "inference_call_count_v1"


def is_counted(value: object, metric: str) -> TypeGuard[float]:
    """Return whether a score takes part in statistics of its metric: it can be a score, and it is known.

    A count of 0 model calls is unknown, as the cost is: the agent reported no usage. google-adk's metric gives 0.
    """
    return is_score(value) and (metric != MODEL_CALLS or value != 0)


def counted_values(values: Sequence[float], metric: str) -> Sequence[float]:
    """Return the scores of trials of which the mean of a case is: those that are counted, or all if none is."""
    return [value for value in values if is_counted(value, metric)] or values


@dataclass(slots=True)
class Score:
    """The score of one invocation."""

    value: float | None = None
    """`None` if the metric does not apply or could not be computed."""

    reason: str = ""
    """The reason as a sentence for people."""

    details: dict[str, Any] | None = None
    """The reason as JSON data, for reports."""

    not_applicable: bool = False
    """Whether there was nothing to compare with; the invocation does not count."""

    warning: str = ""
    """The number is valid, but the rule behind it is weak here."""

    __bool__ = refuse_truth  # a score has no threshold


@dataclass(slots=True)
class MetricScore:
    """The score of one trial: overall, and one `Score` per invocation."""

    value: float | None = None
    per_invocation: list[Score] = field(default_factory=list)
    reason: str = ""
    details: dict[str, Any] | None = None
    not_applicable: bool = False
    failure: Failure | None = None
    """Set if the metric could not be computed; `value` is then `None` and the outcome is *error*."""

    __bool__ = refuse_truth  # a score has no threshold


@dataclass(slots=True)
class Explanation:
    """The explanation of an invocation's score, computed only for reports and failures."""

    reason: str
    details: dict[str, Any] | None = None
    warning: str = ""


def mean_score(scores: list[Score], *, reason: str = "") -> MetricScore:
    """Return the arithmetic mean of the invocation scores that apply; not applicable if none does."""
    if values := [score.value for score in scores if score.value is not None]:
        return MetricScore(mean(values), scores, reason)
    why = reason or next((score.reason for score in scores if score.reason), "no invocation to score")
    return MetricScore(per_invocation=scores, reason=why, not_applicable=True)


def expectation_entry(text: str) -> dict[str, str]:
    """Return the entries of `details` with an expectation in plain text; `told` is the former key, for other readers."""
    return {"expectation": text, "told": text}


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean, limited to the range of the values: three times 0.7 is 0.7, not 0.6999…"""
    if values.count(values[0]) == len(values):  # most often one value, or equal ones
        return values[0]
    return min(max(sum(values) / len(values), min(values)), max(values))


def score_text(value: float | None, threshold: float | None = None, *, largest: float = 0.0) -> str:
    """Return a score with two decimals, or with more if rounding would hide that it misses the threshold, or make it 0 or 1.

    From 10 million on it is in scientific notation: 1.23e+07. So is a number that is shown with one as large (`largest`).
    """
    if value is None:
        return ""
    form = "e" if max(abs(value), abs(largest)) >= _SCIENTIFIC_FROM else "f"
    for decimals in range(decimals_of([value]), _MOST_DECIMALS + 1):
        text = f"{value:.{decimals}{form}}"
        if threshold is None or (float(text) < threshold) == (value < threshold):
            return text
    return repr(value)


_MOST_DECIMALS = 6
_SCIENTIFIC_FROM = 1e7


def decimals_of(values: Iterable[float], fewest: int = 2) -> int:
    """Return the number of decimals, from `fewest` to 6, with which none of the values reads as 0 or 1, unless it is: 0.9997."""
    ends = (0.0, 1.0)
    near = [abs(value) for value in values if round(abs(value), _MOST_DECIMALS) not in ends]
    return next(
        (
            digits
            for digits in range(fewest, _MOST_DECIMALS)
            if not any(round(one, digits) in ends for one in near)
        ),
        _MOST_DECIMALS,
    )


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """The judge of a metric: a different model or prompt is a different judge."""

    metric: str
    model: str
    """The requested model name."""
    prompt: str
    """The hash of its prompt."""


# --- Verdicts: scores under their criteria, for one case -------------------------------------------------------------


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
    """The mean over the trials that have a score which counts (`is_counted`); 0 model calls if no trial reported any."""
    threshold: float | None = None
    gate: bool = True
    """Whether this metric takes part in the verdict."""
    reason: str = ""
    per_trial: Sequence[MetricScore | None] = ()
    """The score of each trial, in order; `None` if the trial could not be scored."""
    failure: Failure | None = None
    counted: tuple[int, int] | None = None
    """`counts`, if the scores that it counts are not in `per_trial`."""

    @property
    def counts(self) -> tuple[int, int]:
        """The number of trials with a score that counts in the mean, and the number of those that met the threshold."""
        if self.counted is not None:
            return self.counted
        scores = [score.value for score in self.per_trial if score is not None and score.value is not None]
        values = counted_values(scores, self.name)
        return len(values), sum(self.threshold is not None and value >= self.threshold for value in values)

    @property
    def is_missed(self) -> bool:
        """Whether it takes part in the verdict and does not meet the threshold, by the trials that have a score."""
        if not self.gate or self.outcome is not Outcome.ERROR:
            return self.gate and self.outcome is Outcome.FAILED
        return self.score is not None and self.threshold is not None and self.score < self.threshold

    @property
    def is_in_error(self) -> bool:
        """Whether the metric itself failed, or no trial has a score because of an error; not an agent's error in some trials."""
        return self.outcome is Outcome.ERROR and (self.score is None or self.failure is not None)

    @property
    def scored(self) -> int:
        """The number of trials with a score."""
        return self.counts[0]

    @property
    def met(self) -> int:
        """The number of trials that met the threshold."""
        return self.counts[1]

    def drop_scores(self) -> None:
        """Drop the scores to save memory; keep their counts."""
        self.counted, self.per_trial = self.counts, ()

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

    def text_of(self, score: float | None) -> str:
        """Return one of its scores as text: empty for `None`, and `-` for one that is unknown (see `is_counted`)."""
        return "-" if score == 0 and not is_counted(score, self.name) else score_text(score, self.threshold)

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


CONFIDENCE = 0.95
"""The confidence of reported intervals, unless another one is requested."""


@dataclass(frozen=True, slots=True)
class TrialRule:
    """The rule for the required pass rate of a case: a config's `trials`, if it has more than a number of trials."""

    min_pass_rate: float = 1.0
    """The required pass rate; with `pass_k` the required probability that this many trials all pass."""
    pass_k: int = 1
    confidence: float | None = None
    """`None`: the pass rate decides; else its Wilson interval at this confidence."""
    at_most: int | None = None
    """The maximum number of trials if they are added until the case is decided. Sequential bounds then decide instead of the
    interval (`proctor.stats.sequential`). `None`: the number of trials is fixed in advance."""

    def as_data(self) -> dict[str, Any]:
        """Return the rule as plain data; `at_most` only if trials are added."""
        data = asdict(self)
        if self.at_most is None:
            del data["at_most"]
        return data

    @property
    def rate(self) -> float:
        """The required pass rate of single trials: with `pass_k` its k-th root."""
        return float(self.min_pass_rate ** (1 / self.pass_k))
