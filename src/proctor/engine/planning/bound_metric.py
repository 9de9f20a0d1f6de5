"""A metric that is bound to its criterion, with its range checks, and its use on turns that have a reference."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from proctor.errors import CriterionError, did_you_mean
from proctor.metrics.base import RECORDED, SCENARIO, CaseView, Metric, MetricFacts, beyond_range
from proctor.schema.evidence.trial import Failure, FailureKind
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.score import Explanation, MetricScore, Score, is_score

MEAN, EVERY_INVOCATION, LOWEST = "mean", "every_invocation", "min"
AGGREGATES = (MEAN, EVERY_INVOCATION, LOWEST)


def aggregate_turns(score: Scorer, how: str, threshold: float) -> Scorer:
    """Wrap a metric's `score`, whose own answer for the case is usually the mean over its turns.

    `min`: the lowest score of a turn. `every_invocation`: the metric's own answer where every turn meets `threshold`, else
    the lowest, so that it meets the threshold exactly when all turns do (adk-rs joins the turns' verdicts by "and").
    Turns that do not apply do not count. A metric that scores the case as a whole, without turns, keeps its answer.
    """

    def changed(metric_score: Any) -> Any:
        if not isinstance(metric_score, MetricScore) or metric_score.value is None:
            return metric_score
        values = [each.value for each in metric_score.per_invocation if each.value is not None]
        if values and (how == LOWEST or min(values) < threshold):
            metric_score.value = min(values)
        return metric_score

    async def later(metric_score: Awaitable[MetricScore]) -> Any:
        return changed(await metric_score)

    def scored(case: CaseView) -> Any:
        metric_score = score(case)
        return later(metric_score) if inspect.isawaitable(metric_score) else changed(metric_score)

    return scored


Scorer = Callable[[CaseView], MetricScore | Awaitable[MetricScore]]


def within_range(score: Scorer, facts: MetricFacts) -> Scorer:
    """Wrap the `score` of a metric that is not ours: a number beyond its range becomes its failure, an *error*."""
    custom_facts = replace(facts, kind="custom")

    def checked(metric_score: Any) -> Any:
        if not isinstance(metric_score, MetricScore) or metric_score.failure is not None:
            return metric_score
        for value in (metric_score.value, *(each.value for each in metric_score.per_invocation)):
            if is_score(value) and (problem := beyond_range(custom_facts, value)):
                kind, message = FailureKind.UNUSABLE_ANSWER, f"returned {value:g}, {problem}"
                metric_score.value, metric_score.failure = (
                    None,
                    Failure(where="metric", kind=kind, message=message),
                )
                break
        return metric_score

    async def later(metric_score: Awaitable[MetricScore]) -> Any:
        return checked(await metric_score)

    def scored(case: CaseView) -> Any:
        metric_score = score(case)
        return later(metric_score) if inspect.isawaitable(metric_score) else checked(metric_score)

    return scored


FINAL_STATE = "final_session_state"


@dataclass(slots=True)
class BoundMetric:
    """A metric built from its criterion, and how it takes part in the verdict."""

    metric: Metric
    threshold: float | None
    gate: bool
    """Whether it decides the verdict; False for informational metrics and for `gate: false`."""
    applies_to: str | None = None
    """`recorded` or `scenario` if the criterion limits the metric to cases of that kind."""
    aggregate: str = MEAN
    """How the scores of turns make the score of a case: see `aggregate_turns`."""
    called: str = ""
    """Its name in the config, if that differs from the name in its facts."""
    parts: list[BoundMetric] = field(default_factory=list)
    """The metrics whose scores it needs; they are asked before it."""
    judge: str = ""
    """The model that it asks, as users name it; empty if it asks none."""
    judge_code: str = ""
    """Hash of the code of that model, as `MetricManifest.judge_code` has it."""
    as_in_adk: bool = False
    """Whether its criterion asks for another implementation's verdict (`compat`, `reading`), even on a case that asserts
    nothing."""
    facts: MetricFacts = field(init=False)
    name: str = field(init=False)
    gates: bool = field(init=False)
    """Whether it can decide at all."""
    score: Callable[[CaseView], MetricScore | Awaitable[MetricScore]] = field(init=False)
    is_quick: bool = field(init=False)
    """Whether it needs no deadline: a built-in metric that only computes."""
    only_counts: bool = field(init=False)
    """Whether it is a built-in metric that only counts: its scores decide nothing and have no warnings."""
    covered: tuple[bool, bool] = field(init=False)
    """Whether it scores recorded cases, and whether it scores scenarios."""

    def __post_init__(self) -> None:
        """Compute the properties that every trial reads."""
        self.facts = self.metric.facts
        if self.called and self.called != self.facts.name:
            self.facts = replace(self.facts, name=self.called)
        self.name, self.gates, self.score = self.facts.name, self.facts.gates, self.metric.score
        ours = type(self.metric).__module__.startswith("proctor.metrics.")
        if not ours:  # built-in metrics check their own values
            self.score = within_range(self.score, self.facts)
        if self.aggregate != MEAN and self.threshold is not None:
            self.score = aggregate_turns(self.score, self.aggregate, self.threshold)
        if self.aggregate == EVERY_INVOCATION:
            self.facts = replace(self.facts, every_trial=True)
        self.is_quick = ours and self.facts.kind == "deterministic"
        self.only_counts = self.is_quick and not self.gates
        self.covered = self._covered_kinds()

    def _covered_kinds(self) -> tuple[bool, bool]:
        """Return whether neither the metric's needs nor its criterion exclude recorded cases, and scenarios."""
        needs = {"expected": RECORDED, "scenario": SCENARIO}
        limits = {kind for need, kind in needs.items() if need in self.facts.needs} | {self.applies_to} - {
            None
        }
        return limits <= {RECORDED}, limits <= {SCENARIO}

    def is_missed_by(self, score: MetricScore | Score) -> bool:
        """Return whether the score of a trial or of a turn is below the threshold."""
        return score.value is not None and self.threshold is not None and score.value < self.threshold


def bind_metric(name: str, metric: Metric, criterion: BaseCriterion | None) -> BoundMetric:
    """Bind a metric called `name` in the config to its criterion.

    Raises:
        CriterionError: an option that holds for every metric has an invalid value.
    """
    facts = metric.facts
    extra: dict[str, Any] = (criterion.model_extra or {}) if criterion is not None else {}
    gate, applies_to = extra.get("gate", True), extra.get("applies_to")
    aggregate = extra.get("aggregate", MEAN)
    if not isinstance(gate, bool):
        raise CriterionError(f"{facts.name}: `gate` must be true or false, got {gate!r}")
    if applies_to not in (None, RECORDED, SCENARIO):
        raise CriterionError(
            f"{facts.name}: `applies_to` must be 'recorded' or 'scenario', got {applies_to!r}"
        )
    if aggregate not in AGGREGATES:
        raise CriterionError(
            f"{facts.name}: `aggregate` must be {', '.join(map(repr, AGGREGATES))}, got {aggregate!r}."
            f"{did_you_mean(str(aggregate), AGGREGATES)}"
        )
    threshold = criterion.threshold if criterion is not None and facts.gates else None
    compat = extra.get("compat") is not None or extra.get("reading") in ("adk-rs", "adk-ts")
    return BoundMetric(metric, threshold, gate and facts.gates, applies_to, aggregate, name, as_in_adk=compat)


# --- Metrics that compare with a reference, on a case that has one for its opening only: the rest of it is played -----


PLAYED = "the user of this turn is played: nothing is recorded to compare with"
SILENT = "the opening states neither an answer nor calls for this turn"


def on_opening(metrics: list[BoundMetric], case: EvalCase) -> list[BoundMetric]:
    """Return the metrics of a case: those that need a reference look at what its opening states, and at nothing else.

    They can fail the case; what they cannot is decide it: the scenario is what it is about.
    """
    if not any(map(_states_something, case.opening or ())):
        return metrics
    by_id: dict[int, BoundMetric] = {}
    for bound in metrics:
        parts = [by_id.get(id(part), part) for part in bound.parts]
        compares = "expected" in bound.facts.needs
        is_other = compares or any(new is not old for new, old in zip(parts, bound.parts, strict=True))
        metric = OnOpening(bound.metric) if compares else bound.metric
        by_id[id(bound)] = replace(bound, metric=metric, parts=parts) if is_other else bound
    return list(by_id.values())


class OnOpening:
    """A metric that sees of a conversation the turns that the opening of its case states something for."""

    def __init__(self, metric: Any) -> None:
        """Take the metric, which needs a recorded conversation."""
        self._metric = metric
        facts: MetricFacts = metric.facts
        self.facts = replace(facts, needs=facts.needs - {"expected"})

    def score(self, case: CaseView) -> MetricScore | Awaitable[MetricScore]:
        """Score the turns that can be compared; all others are not applicable."""
        scored = self._metric.score(_as_recorded(case))
        return _later(scored, case) if inspect.isawaitable(scored) else _spread(scored, case)

    def __getattr__(self, name: str) -> Any:
        """What else the metric can do it does as ever; it explains the turns that it sees."""
        value = getattr(self._metric, name)
        return self._explain if name == "explain" else value

    def _explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        places = _places(case)
        if index not in places:
            return Explanation(_no_score_reason(case, index))
        opening_score = replace_turns(score, [score.per_invocation[place] for place in places])
        explained: Explanation = self._metric.explain(_as_recorded(case), opening_score, places.index(index))
        return explained


def _states_something(turn: Invocation) -> bool:
    return turn.final_response is not None or turn.intermediate_data is not None


def _places(case: CaseView) -> list[int]:
    return [place for place, turn in enumerate(case.opening) if _states_something(turn)]


def _no_score_reason(case: CaseView, index: int) -> str:
    return SILENT if index < len(case.opening) else PLAYED


def _as_recorded(case: CaseView) -> CaseView:
    """The conversation as if it had been recorded, and had no other turns than those that can be compared."""
    places = _places(case)
    actual: Sequence[Invocation] = [case.actual[place] for place in places if place < len(case.actual)]
    expected = [case.opening[place] for place in places]
    return replace(case, actual=actual, expected=expected, scenario=None, opening=())


async def _later(scored: Awaitable[Any], case: CaseView) -> Any:
    return _spread(await scored, case)


def _spread(scored: Any, case: CaseView) -> Any:
    """Put the scores of the turns that were seen in their places among all turns."""
    if not isinstance(scored, MetricScore) or not scored.per_invocation:
        return scored
    turns = [
        Score(reason=_no_score_reason(case, index), not_applicable=True) for index in range(len(case.actual))
    ]
    for place, score in zip(_places(case), scored.per_invocation, strict=False):
        turns[place] = score
    return replace_turns(scored, turns)


def replace_turns(scored: MetricScore, turns: list[Score]) -> MetricScore:
    """Return a score whose scores of turns are replaced."""
    return replace(scored, per_invocation=turns)
