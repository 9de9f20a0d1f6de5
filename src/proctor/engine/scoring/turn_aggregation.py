"""From the scores of a case's turns to the score of the case, where the criterion asks for more than their mean."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from proctor.metrics.base import CaseView
from proctor.schema.results.score import MetricScore

__all__ = ["AGGREGATES", "EVERY_INVOCATION", "MEAN", "aggregating"]

MEAN, EVERY_INVOCATION, LOWEST = "mean", "every_invocation", "min"
AGGREGATES = (MEAN, EVERY_INVOCATION, LOWEST)

Scorer = Callable[[CaseView], MetricScore | Awaitable[MetricScore]]


def aggregating(score: Scorer, how: str, threshold: float) -> Scorer:
    """Wrap a metric's `score`, whose own answer for the case is usually the mean over its turns.

    `min`: the lowest score of a turn. `every_invocation`: the metric's own answer where every turn meets `threshold`, else
    the lowest, so that it meets the threshold exactly when all turns do (adk-rs joins the turns' verdicts by "and").
    Turns that do not apply do not count. A metric that scores the case as a whole, without turns, keeps its answer.
    """

    def changed(found: Any) -> Any:
        if not isinstance(found, MetricScore) or found.value is None:
            return found
        values = [each.value for each in found.per_invocation if each.value is not None]
        if values and (how == LOWEST or min(values) < threshold):
            found.value = min(values)
        return found

    async def later(found: Awaitable[MetricScore]) -> Any:
        return changed(await found)

    def scored(case: CaseView) -> Any:
        found = score(case)
        return later(found) if inspect.isawaitable(found) else changed(found)

    return scored
