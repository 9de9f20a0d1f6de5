"""Actual and expected invocations in pairs, by the rules that all metrics share."""

from __future__ import annotations

from proctor.errors import MetricError
from proctor.metrics.base import CaseView
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.score import MetricScore, Score

__all__ = ["expected_turns", "nothing_recorded", "paired"]

NOTHING_RECORDED = "the case has no recorded conversation to compare with"


def paired(case: CaseView) -> list[tuple[Invocation, Invocation]]:
    """Return each actual invocation with the expected one of the same turn.

    Raises:
        MetricError: there are no expected invocations, or another number of them.
    """
    return [*zip(case.actual, expected_turns(case), strict=True)]


def expected_turns(case: CaseView) -> list[Invocation]:
    """Return the expected invocations: one for each actual one.

    Raises:
        MetricError: there are no expected invocations, or another number of them.
    """
    if case.expected is None:
        raise MetricError(NOTHING_RECORDED)
    if len(case.actual) != len(case.expected):
        raise MetricError(
            f"the case has {len(case.expected)} invocation(s) and the agent's run {len(case.actual)}; "
            "they cannot be compared turn by turn"
        )
    return case.expected


def nothing_recorded(case: CaseView) -> MetricScore:
    """Return the score of a case without recorded conversation: not applicable, in every invocation."""
    scores = [Score(reason=NOTHING_RECORDED, not_applicable=True) for _ in case.actual]
    return MetricScore(per_invocation=scores, reason=NOTHING_RECORDED, not_applicable=True)
