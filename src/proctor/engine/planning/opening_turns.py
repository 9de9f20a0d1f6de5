"""Metrics that compare with a reference, on a case that has one for its opening only: the rest of it is played."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import Any

from proctor.engine.planning.bound_metric import BoundMetric
from proctor.metrics.base import CaseView, MetricFacts
from proctor.schema.format.case import EvalCase
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.score import Explanation, MetricScore, Score

__all__ = ["PLAYED", "SILENT", "on_opening"]

PLAYED = "the user of this turn is played: nothing is recorded to compare with"
SILENT = "the opening states neither an answer nor calls for this turn"


def on_opening(metrics: list[BoundMetric], case: EvalCase) -> list[BoundMetric]:
    """Return the metrics of a case: those that need a reference look at what its opening states, and at nothing else.

    They can fail the case; what they cannot is decide it: the scenario is what it is about.
    """
    opening = case.__dict__[
        "opening"
    ]  # a model's own way takes three times as long, and this is asked of every case
    if not opening or not any(map(_states_something, opening)):
        return metrics
    found: dict[int, BoundMetric] = {}
    for bound in metrics:
        parts = [found.get(id(part), part) for part in bound.parts]
        compares = "expected" in bound.facts.needs
        is_other = compares or any(new is not old for new, old in zip(parts, bound.parts, strict=True))
        metric = OnOpening(bound.metric) if compares else bound.metric
        found[id(bound)] = _bound_anew(bound, metric, parts) if is_other else bound
    return list(found.values())


def _bound_anew(bound: BoundMetric, metric: Any, parts: list[BoundMetric]) -> BoundMetric:
    return BoundMetric(
        metric,
        bound.threshold,
        gate=bound.gate,
        applies_to=bound.applies_to,
        aggregate=bound.aggregate,
        called=bound.called,
        parts=parts,
        judge=bound.judge,
        judge_code=bound.judge_code,
        as_in_adk=bound.as_in_adk,
    )


class OnOpening:
    """A metric that sees of a conversation the turns that the opening of its case states something for."""

    def __init__(self, metric: Any) -> None:
        """Take the metric, which needs a recorded conversation."""
        self._metric = metric
        facts: MetricFacts = metric.facts
        self.facts = replace(facts, needs=facts.needs - {"expected"})

    def score(self, case: CaseView) -> MetricScore | Awaitable[MetricScore]:
        """Score the turns that can be compared; all others are not applicable."""
        scored = self._metric.score(_seen(case))
        return _later(scored, case) if inspect.isawaitable(scored) else _spread(scored, case)

    def __getattr__(self, name: str) -> Any:
        """What else the metric can do it does as ever; it explains the turns that it sees."""
        found = getattr(self._metric, name)
        return self._explain if name == "explain" else found

    def _explain(self, case: CaseView, score: MetricScore, index: int) -> Explanation:
        places = _places(case)
        if index not in places:
            return Explanation(_why_not(case, index))
        seen = replace_turns(score, [score.per_invocation[place] for place in places])
        explained: Explanation = self._metric.explain(_seen(case), seen, places.index(index))
        return explained


def _states_something(turn: Invocation) -> bool:
    return turn.final_response is not None or turn.intermediate_data is not None


def _places(case: CaseView) -> list[int]:
    return [place for place, turn in enumerate(case.opening) if _states_something(turn)]


def _why_not(case: CaseView, index: int) -> str:
    return SILENT if index < len(case.opening) else PLAYED


def _seen(case: CaseView) -> CaseView:
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
    turns = [Score(reason=_why_not(case, index), not_applicable=True) for index in range(len(case.actual))]
    for place, score in zip(_places(case), scored.per_invocation, strict=False):
        turns[place] = score
    return replace_turns(scored, turns)


def replace_turns(scored: MetricScore, turns: list[Score]) -> MetricScore:
    """Return a score whose scores of turns are replaced."""
    return replace(scored, per_invocation=turns)
