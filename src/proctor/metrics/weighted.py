"""`weighted`: several metrics as one score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from proctor.errors import CriterionError, MetricError
from proctor.metrics.base import CaseView, MetricFacts
from proctor.metrics.criterion_check import check_criterion
from proctor.metrics.reason_text import and_more
from proctor.schema.evidence.trial import Failure
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import Explanation, MetricScore, Score

__all__ = ["Weighted"]

NOT_FOR_THIS_CASE = "it has nothing to do with this case"
NOT_BY_TURN = "it gives no score for this turn"
NOTHING_APPLIES = "none of the combined metrics applies"


DRAWN = ("alignment", "text", "state")
"""Keys of details that all reports understand: see `proctor.schema.results.score`."""
MOST = 1e6
"""The largest weight; the smallest is its inverse. Beyond it sums overflow, or one metric hides all others."""

Weight = Annotated[float, Field(ge=1 / MOST, le=MOST, strict=True)]


class WeightedCriterion(BaseCriterion):
    """How much each metric counts."""

    weights: dict[str, Weight] = {}  # noqa: RUF012 - pydantic copies a model's mutable defaults


class Part(NamedTuple):
    """One combined metric in one place: its score from 0 to 1, or why it has none."""

    name: str
    weight: float
    score: float | None
    reason: str = ""

    @property
    def costs(self) -> bool:
        """Whether the combination would be higher but for it."""
        return self.score is not None and self.score < 1

    def to_data(self) -> dict[str, Any]:
        """The same for reports."""
        return {"name": self.name, "weight": self.weight, "score": self.score, "reason": self.reason}


class Weighted:
    """The weighted arithmetic mean of other metrics' scores: Σ weight × score / Σ weight.

    Metrics of another range than 0 to 1 are brought into it, by their lowest and highest score. What does not apply
    to a case (or, for the score of a turn, to that turn) drops out with its weight; what could not be computed makes
    this an error, too. `combines` are the metrics whose scores it needs: they must stand in the same criteria.
    """

    kind = WeightedCriterion
    """The class of its criterion."""
    facts = MetricFacts(
        name="weighted",
        description="The weighted mean of other metrics of the same config.",
        default_threshold=0.8,
        needs=frozenset({"scores"}),
        options={
            "weights": "the metrics to combine and how much each counts, from 0.000001 to 1000000: `{name: weight}`"
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
        if not self.criterion.weights:
            raise CriterionError(
                "The criterion of 'weighted' does not fit: weights: none are given. "
                'Write {"threshold": 0.8, "weights": {"response_match_score": 2, "rouge_l": 1}}.'
            )
        self._spans: dict[str, tuple[float, float]] = {}

    @property
    def combines(self) -> tuple[str, ...]:
        """The metrics whose scores it needs."""
        return tuple(self.criterion.weights)

    def meet(self, parts: Mapping[str, MetricFacts]) -> None:
        """Learn the ranges of the combined metrics.

        Raises:
            CriterionError: one of them is a count, not a score.
        """
        for name, facts in parts.items():
            if not facts.gates:
                raise CriterionError(
                    f"'weighted' cannot combine {name!r}: it is a figure (tokens, seconds, calls), not a score."
                )
            low, high = facts.minimum, facts.maximum
            if high is not None and isfinite(low):
                self._spans[name] = (low, high)

    def score(self, case: CaseView) -> MetricScore:
        """Combine what the other metrics found: over all, and turn by turn."""
        found = {name: case.scores.get(name) for name in self.criterion.weights}
        for name, score in found.items():
            if score is not None and score.failure is not None:
                return MetricScore(failure=_broken(name, score.failure))
        turns = [self._score(self._parts_of(found, index)) for index in range(len(case.actual))]
        parts = self._parts(found, lambda score: score)
        overall = self._score(parts)
        reason = NOTHING_APPLIES if overall.value is None else self._sum(parts, overall.value)
        return MetricScore(overall.value, turns, reason, _details(parts), overall.not_applicable)

    def explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        """How the score of a turn comes about."""
        parts = self._parts_of({name: case.scores.get(name) for name in self.criterion.weights}, index)
        value = score.per_invocation[index].value
        if value is None:
            return Explanation(NOTHING_APPLIES, _details(parts))
        told = [f"{part.name}: {part.reason}" for part in parts if part.reason and part.costs]
        reason = "; ".join([self._sum(parts, value), *and_more(told)])
        shown = [case.scores[part.name].per_invocation[index].details for part in parts if part.costs]
        return Explanation(reason, {**_drawn(shown), **_details(parts)})

    def _parts_of(self, found: Mapping[str, MetricScore | None], index: int) -> list[Part]:
        """The scores of one turn."""

        def at(score: MetricScore) -> Score | None:
            return score.per_invocation[index] if index < len(score.per_invocation) else None

        return self._parts(found, at)

    def _parts(
        self,
        found: Mapping[str, MetricScore | None],
        look: Callable[[MetricScore], MetricScore | Score | None],
    ) -> list[Part]:
        parts = []
        for name, weight in self.criterion.weights.items():
            whole = found[name]
            score = None if whole is None else look(whole)
            if score is None:
                parts.append(Part(name, weight, None, NOT_FOR_THIS_CASE if whole is None else NOT_BY_TURN))
            elif score.value is None:
                parts.append(Part(name, weight, None, score.reason))
            else:
                parts.append(Part(name, weight, self._share(name, score.value), score.reason))
        return parts

    def _share(self, name: str, value: float) -> float:
        """A score as its share of the way from the lowest to the highest."""
        low, high = self._spans.get(name, (0.0, 1.0))
        share = (value - low) / (high - low)
        if not 0 <= share <= 1:
            raise MetricError(
                f"{name} gave {value:g}, and 0 to 1 can be combined: state its range (`minimum` and `maximum`, or "
                "`metric_info` in the config)"
            )
        return share

    def _score(self, parts: Iterable[Part]) -> Score:
        there = [(part.weight, part.score) for part in parts if part.score is not None]
        if not there:
            return Score(reason=NOTHING_APPLIES, not_applicable=True)
        scores = [score for _, score in there]
        mean = sum(weight * score for weight, score in there) / sum(weight for weight, _ in there)
        return Score(min(max(mean, min(scores)), max(scores)))

    def _sum(self, parts: Iterable[Part], value: float) -> str:
        terms, gone, total = [], [], 0.0
        for part in parts:
            if part.score is None:
                gone.append(f"{part.name} does not count here: {part.reason or 'it does not apply'}")
            else:
                terms.append(f"{part.weight:g} × {part.score:.2f} {part.name}")
                total += part.weight
        return "; ".join([f"{value:.2f} = ({' + '.join(terms)}) / {total:g}", *gone])


def _details(parts: Iterable[Part]) -> dict[str, Any]:
    return {"weighted": [part.to_data() for part in parts]}


def _drawn(several: Iterable[Mapping[str, Any] | None]) -> dict[str, Any]:
    """What reports draw of the parts: of each kind the first, since they are about the same turn."""
    drawn: dict[str, Any] = {}
    for details in several:
        drawn = {**{key: value for key, value in (details or {}).items() if key in DRAWN}, **drawn}
    return drawn


def _broken(name: str, failure: Failure) -> Failure:
    return Failure(
        where=failure.where,
        kind=failure.kind,
        message=f"{name}, which it combines, could not be computed: {failure.cause}",
        infrastructure=failure.infrastructure,
    )
