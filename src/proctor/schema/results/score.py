"""What a metric found: a number, or "could not tell, because …".

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
* `state`: a list of `{"key", "kind": "matched"|"differs"|"missing", "expected", "actual", "told"}`; `told` says in words what
  was expected where that is no plain value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.schema.evidence.trial import Failure
from proctor.schema.lazy_object import LazyObject
from proctor.schema.results.outcome import refuse_truth


@dataclass(slots=True)
class Score:
    """What a metric says about one invocation."""

    value: float | None = None
    """`None` when the metric does not apply here or could not tell."""

    reason: str = ""
    """Why, in a sentence a person understands."""

    details: dict[str, Any] | None = None
    """The same as data, for reports to draw (JSON)."""

    not_applicable: bool = False
    """There was nothing to compare with; the invocation does not count."""

    warning: str = ""
    """The number stands, but the rule behind it is weak here."""

    __bool__ = refuse_truth  # a score knows no threshold


class _MayWait:
    """Room for what makes a score that waits (see `put_off`)."""

    __slots__ = ("_maker",)
    _maker: tuple[Callable[[int], MetricScore], int] | None


@dataclass(slots=True)
class MetricScore(_MayWait):
    """What a metric says about one trial: overall, and one `Score` per invocation."""

    value: float | None = None
    per_invocation: list[Score] = field(default_factory=list)
    reason: str = ""
    details: dict[str, Any] | None = None
    not_applicable: bool = False
    failure: Failure | None = None
    """Set when the metric could not be computed; then `value` is `None` and the outcome is *error*."""

    __bool__ = refuse_truth  # a score knows no threshold


class _WaitingScore(LazyObject, MetricScore):
    __slots__ = ()

    def settle(self) -> None:
        if (maker := self._maker) is None:  # another thread has just done it
            return
        made = maker[0](maker[1])
        for name in MetricScore.__slots__:
            setattr(self, name, getattr(made, name))
        self.__class__ = MetricScore  # type: ignore[assignment]  # its base
        self._maker = None


_put_maker = _MayWait.__dict__["_maker"].__set__
_new = object.__new__


def put_off(make: Callable[[int], MetricScore], which: int) -> MetricScore:
    """Return the score that `make(which)` makes, which it does when somebody looks at it: for what hardly anybody does.

    `make` must not raise. Nothing of the score may be set before something of it is read.
    """
    score = _new(_WaitingScore)
    _put_maker(score, (make, which))
    return score


@dataclass(slots=True)
class Explanation:
    """Why an invocation got its score, computed only where it is shown or something failed."""

    reason: str
    details: dict[str, Any] | None = None
    warning: str = ""


def mean_score(scores: list[Score], *, reason: str = "") -> MetricScore:
    """Combine invocation scores by their arithmetic mean over those that apply; none → not applicable."""
    if values := [score.value for score in scores if score.value is not None]:
        return MetricScore(mean(values), scores, reason)
    why = reason or next((score.reason for score in scores if score.reason), "no invocation to score")
    return MetricScore(per_invocation=scores, reason=why, not_applicable=True)


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean, kept within the values: three times 0.7 is 0.7, not 0.6999…"""
    if values.count(values[0]) == len(values):  # most often one value, or one and the same
        return values[0]
    return min(max(sum(values) / len(values), min(values)), max(values))


def score_text(value: float | None, threshold: float | None = None) -> str:
    """Return a score with two decimals, or as many as it takes not to look like the threshold that it misses."""
    if value is None:
        return ""
    for decimals in range(2, 6):
        text = f"{value:.{decimals}f}"
        if threshold is None or (float(text) < threshold) == (value < threshold):
            return text
    return repr(value)
