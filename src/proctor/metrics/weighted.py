"""The metric `weighted`: the weighted mean of other metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Annotated, NamedTuple

from pydantic import Field

from proctor.errors import CriterionError, MetricError
from proctor.metrics.base import CaseView, MetricFacts
from proctor.metrics.criterion_check import check_criterion
from proctor.metrics.reason_text import and_more
from proctor.schema.evidence.trial import Failure
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import Explanation, MetricScore, Score

NOT_FOR_THIS_CASE = "it does not apply to this case"
NOT_BY_TURN = "it gives no score for this turn"
NOTHING_APPLIES = "none of the combined metrics applies"


DRAWN = ("alignment", "text", "state")
"""Keys of details that all reports can show: see `proctor.schema.results.score`."""
MOST = 1e6
"""The largest weight; the smallest is its inverse. Larger sums overflow, or one metric hides all others."""

Weight = Annotated[float, Field(ge=1 / MOST, le=MOST, strict=True)]


class WeightedCriterion(BaseCriterion):
    """The weight of each metric."""

    weights: dict[str, Weight] = {}  # noqa: RUF012 - pydantic copies a model's mutable defaults


class CombinedScore(NamedTuple):
    """One combined metric: its score from 0 to 1, or the reason for its absence."""

    name: str
    weight: float
    score: float | None
    reason: str = ""

    @property
    def costs(self) -> bool:
        """Return whether the metric lowers the combination."""
        return self.score is not None and self.score < 1

    def to_data(self) -> dict[str, object]:
        """Return the data for reports."""
        return {"name": self.name, "weight": self.weight, "score": self.score, "reason": self.reason}


class Weighted:
    """The weighted arithmetic mean of other metrics' scores: Σ weight × score / Σ weight.

    Metrics with another range than 0 to 1 are scaled to it. A metric that does not apply to a case (or, for the score of a
    turn, to that turn) is left out with its weight. A metric that could not be computed makes this an error. The metrics
    in `combines` must be in the same criteria.
    """

    kind = WeightedCriterion
    """The type of its criterion."""
    facts = MetricFacts(
        name="weighted",
        description="The weighted mean of other metrics of the same config.",
        default_threshold=0.8,
        needs=frozenset({"scores"}),
        options={
            "weights": "the metrics to combine and their weights, from 0.000001 to 1000000: `{name: weight}`"
        },
        required=frozenset({"weights"}),
        source="Proctor",
        example={
            "weighted": {"threshold": 0.6, "weights": {"response_match_score": 2, "rouge_l": 1}},
            "response_match_score": {"threshold": 0.5, "gate": False},
            "rouge_l": {"threshold": 0.5, "gate": False},
        },
    )

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        self.criterion = check_criterion(self.facts, criterion, self.kind)
        self._spans: dict[str, tuple[float, float]] = {}

    @property
    def combines(self) -> tuple[str, ...]:
        """The metrics whose scores are needed."""
        return tuple(self.criterion.weights)

    def meet(self, parts: Mapping[str, MetricFacts]) -> None:
        """Record the ranges of the combined metrics.

        Raises:
            CriterionError: one of them is a count, not a score.
        """
        for name, facts in parts.items():
            if not facts.gates:
                raise CriterionError(
                    f"'weighted' cannot combine {name!r}: it counts (tokens, seconds, calls), and has no score."
                )
            low, high = facts.minimum, facts.maximum
            if high is not None and isfinite(low):
                self._spans[name] = (low, high)

    def score(self, case: CaseView) -> MetricScore:
        """Combine the scores of the other metrics, overall and turn by turn."""
        scores = {name: case.scores.get(name) for name in self.criterion.weights}
        for name, score in scores.items():
            if score is not None and score.failure is not None:
                return MetricScore(failure=_failure_of_part(name, score.failure))
        turns = [self._score(self._parts_of_turn(scores, index)) for index in range(len(case.actual))]
        parts = self._parts(scores, lambda score: score)
        overall = self._score(parts)
        reason = NOTHING_APPLIES if overall.value is None else self._sum(parts, overall.value)
        return MetricScore(overall.value, turns, reason, _details(parts), overall.not_applicable)

    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        """Return how the score of a turn was computed."""
        parts = self._parts_of_turn({name: case.scores.get(name) for name in self.criterion.weights}, index)
        value = score.per_invocation[index].value
        if value is None:
            return Explanation(NOTHING_APPLIES, _details(parts))
        reasons = [f"{part.name}: {part.reason}" for part in parts if part.reason and part.costs]
        reason = "; ".join([self._sum(parts, value), *and_more(reasons)])
        part_details = [case.scores[part.name].per_invocation[index].details for part in parts if part.costs]
        return Explanation(reason, {**_first_drawings(part_details), **_details(parts)})

    def _parts_of_turn(self, scores: Mapping[str, MetricScore | None], index: int) -> list[CombinedScore]:
        """Return the scores of one turn."""

        def at(score: MetricScore) -> Score | None:
            return score.per_invocation[index] if index < len(score.per_invocation) else None

        return self._parts(scores, at)

    def _parts(
        self,
        scores: Mapping[str, MetricScore | None],
        select: Callable[[MetricScore], MetricScore | Score | None],
    ) -> list[CombinedScore]:
        parts = []
        for name, weight in self.criterion.weights.items():
            whole = scores[name]
            score = None if whole is None else select(whole)
            if score is None:
                parts.append(
                    CombinedScore(name, weight, None, NOT_FOR_THIS_CASE if whole is None else NOT_BY_TURN)
                )
            elif score.value is None:
                parts.append(CombinedScore(name, weight, None, score.reason))
            else:
                parts.append(CombinedScore(name, weight, self._share(name, score.value), score.reason))
        return parts

    def _share(self, name: str, value: float) -> float:
        """Return a score scaled from its range to 0 to 1."""
        low, high = self._spans.get(name, (0.0, 1.0))
        share = (value - low) / (high - low)
        if not 0 <= share <= 1:
            raise MetricError(
                f"{name} gave {value:g}, but only 0 to 1 can be combined: declare its range (`minimum` and `maximum`, or "
                "`metric_info` in the config)"
            )
        return share

    def _score(self, parts: Iterable[CombinedScore]) -> Score:
        weighted = [(part.weight, part.score) for part in parts if part.score is not None]
        if not weighted:
            return Score(reason=NOTHING_APPLIES, not_applicable=True)
        scores = [score for _, score in weighted]
        mean = sum(weight * score for weight, score in weighted) / sum(weight for weight, _ in weighted)
        return Score(min(max(mean, min(scores)), max(scores)))

    def _sum(self, parts: Iterable[CombinedScore], value: float) -> str:
        terms, omitted, total = [], [], 0.0
        for part in parts:
            if part.score is None:
                omitted.append(f"{part.name} does not count here: {part.reason or 'it does not apply'}")
            else:
                terms.append(f"{part.weight:g} × {part.score:.2f} {part.name}")
                total += part.weight
        return "; ".join([f"{value:.2f} = ({' + '.join(terms)}) / {total:g}", *omitted])


def _details(parts: Iterable[CombinedScore]) -> dict[str, object]:
    return {"weighted": [part.to_data() for part in parts]}


def _first_drawings(part_details: Iterable[Mapping[str, object] | None]) -> dict[str, object]:
    """Return the first drawing of each kind: all of them are about the same turn."""
    drawings: dict[str, object] = {}
    for details in part_details:
        drawings = {**{key: value for key, value in (details or {}).items() if key in DRAWN}, **drawings}
    return drawings


def _failure_of_part(name: str, failure: Failure) -> Failure:
    return Failure(
        where=failure.where,
        kind=failure.kind,
        message=f"the combined metric {name} could not be computed: {failure.cause}",
        infrastructure=failure.infrastructure,
    )
