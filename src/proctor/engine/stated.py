"""What cases state for certain metrics, looked at before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from proctor.engine.criteria import BoundMetric
from proctor.schema.case import EvalCase

__all__ = ["READERS", "checks_of", "problems_of", "unread"]

READERS = {"expectations": "tool_expectations", "trajectory_rules": "trajectory_rules"}
"""Keys of a case that only one metric reads, and that metric."""

Check = Callable[[EvalCase], Iterable[str]]


def checks_of(metrics: Iterable[BoundMetric]) -> list[Check]:
    """Those metrics' own looks at a case."""
    return [each.metric.check for each in metrics if hasattr(each.metric, "check")]


def problems_of(case: EvalCase, checks: Sequence[Check]) -> list[str]:
    """What is wrong with what a case states."""
    return [problem for check in checks for problem in check(case)]


def unread(case: EvalCase, metrics: Iterable[BoundMetric]) -> list[str]:
    """Keys by which the case expects something that no metric of the run looks at."""
    extra = case.model_extra
    stated = [key for key in READERS if key in extra] if extra else []
    if not stated:
        return []
    read = {need for each in metrics for need in each.facts.needs}
    return [key for key in stated if key not in read]
