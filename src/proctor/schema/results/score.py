"""Scores of metrics: a number, or the reason why there is none.

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
* `state`: a list of `{"key", "kind": "matched"|"differs"|"missing", "expected", "actual", "told"}`; `told` describes what
  was expected if that is not a plain value.
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
    """The number stands, but the rule behind it is weak here."""

    __bool__ = refuse_truth  # a score has no threshold


class _MayWait:
    """The slot of a lazy score's function (see `put_off`)."""

    __slots__ = ("_maker",)
    _maker: tuple[Callable[[int], MetricScore], int] | None


@dataclass(slots=True)
class MetricScore(_MayWait):
    """The score of one trial: overall, and one `Score` per invocation."""

    value: float | None = None
    per_invocation: list[Score] = field(default_factory=list)
    reason: str = ""
    details: dict[str, Any] | None = None
    not_applicable: bool = False
    failure: Failure | None = None
    """Set if the metric could not be computed; `value` is then `None` and the outcome is *error*."""

    __bool__ = refuse_truth  # a score has no threshold


class _WaitingScore(LazyObject, MetricScore):
    __slots__ = ()

    def settle(self) -> None:
        if (maker := self._maker) is None:  # another thread has just computed it
            return
        made = maker[0](maker[1])
        for name in MetricScore.__slots__:
            setattr(self, name, getattr(made, name))
        self.__class__ = MetricScore  # type: ignore[assignment]  # its base
        self._maker = None


_put_maker = _MayWait.__dict__["_maker"].__set__
_new = object.__new__


def put_off(make: Callable[[int], MetricScore], which: int) -> MetricScore:
    """Return a lazy score, which `make(which)` computes on first access.

    `make` must not raise. Set no attribute of the score before reading one.
    """
    score = _new(_WaitingScore)
    _put_maker(score, (make, which))
    return score


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


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean, limited to the range of the values: three times 0.7 is 0.7, not 0.6999…"""
    if values.count(values[0]) == len(values):  # most often one value, or equal ones
        return values[0]
    return min(max(sum(values) / len(values), min(values)), max(values))


def score_text(value: float | None, threshold: float | None = None) -> str:
    """Return a score with two decimals, or with more if rounding would hide that it misses the threshold."""
    if value is None:
        return ""
    for decimals in range(2, 6):
        text = f"{value:.{decimals}f}"
        if threshold is None or (float(text) < threshold) == (value < threshold):
            return text
    return repr(value)
