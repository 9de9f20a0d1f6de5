"""A score outside the range that its metric declares decides nothing: 85 is no pass where scores go from 0 to 1."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from math import isfinite
from typing import Any

from proctor.metrics.base import CaseView, MetricFacts, beyond_range
from proctor.schema.evidence.trial import Failure, FailureKind
from proctor.schema.results.score import MetricScore

__all__ = ["within_range"]

Scorer = Callable[[CaseView], MetricScore | Awaitable[MetricScore]]


def within_range(score: Scorer, facts: MetricFacts) -> Scorer:
    """Wrap the `score` of a metric that is not ours: a number beyond its range becomes its failure, an *error*."""
    asked = replace(facts, kind="custom")

    def checked(found: Any) -> Any:
        if not isinstance(found, MetricScore) or found.failure is not None:
            return found
        for value in (found.value, *(each.value for each in found.per_invocation)):
            if isinstance(value, int | float) and isfinite(value) and (said := beyond_range(asked, value)):
                kind, told = FailureKind.UNUSABLE_ANSWER, f"returned {value:g}, {said}"
                found.value, found.failure = None, Failure(where="metric", kind=kind, message=told)
                break
        return found

    async def later(found: Awaitable[MetricScore]) -> Any:
        return checked(await found)

    def scored(case: CaseView) -> Any:
        found = score(case)
        return later(found) if inspect.isawaitable(found) else checked(found)

    return scored
