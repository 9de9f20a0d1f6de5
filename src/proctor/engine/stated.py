"""What cases state for certain metrics, looked at before anything runs, whether or not one of the metrics is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from proctor.engine.criteria import FINAL_STATE, BoundMetric
from proctor.errors import MissingExtraError
from proctor.registry import METRICS
from proctor.schema.case import EvalCase
from proctor.schema.stated import BEYOND, all_stated, said_twice, stated

__all__ = ["READERS", "checks_of", "problems_of", "unread"]

READERS = {
    "expectations": "tool_expectations",
    "trajectory_rules": "trajectory_rules",
    "response_schema": "response_schema",
}
"""Keys of a case that only one metric reads, and that metric."""

Check = Callable[[EvalCase], Iterable[str]]


def checks_of(metrics: Iterable[BoundMetric]) -> list[Check]:
    """What is to be looked at in each case: metrics' own looks, and those of the metrics that nobody named."""
    metrics = list(metrics)
    read = _read(metrics)
    asked = [each.metric.check for each in metrics if hasattr(each.metric, "check")]
    unasked = [_Unasked(key) for key in BEYOND if key not in read]
    state = [] if any(each.facts.name == FINAL_STATE for each in metrics) else [_check_state]
    return [*asked, *unasked, *state, said_twice]


def problems_of(case: EvalCase, checks: Sequence[Check]) -> list[str]:
    """What is wrong with what a case states."""
    return [problem for check in checks for problem in check(case)]


def unread(case: EvalCase, metrics: Iterable[BoundMetric]) -> list[str]:
    """Keys by which the case expects something that no metric of the run looks at."""
    extra = all_stated(case)
    keys = [key for key in READERS if key in extra] if extra else []
    if not keys:
        return []
    read = _read(metrics)
    return [key for key in keys if key not in read]


def _read(metrics: Iterable[BoundMetric]) -> set[str]:
    return {need for each in metrics for need in each.facts.needs}


class _Unasked:
    """The look of a metric that is not in the criteria: a slip is one all the same."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._check: Check | None = None

    def __call__(self, case: EvalCase) -> Iterable[str]:
        if stated(case, self._key) is None:
            return ()
        if self._check is None:
            self._check = METRICS.get(READERS[self._key])().check
        try:
            problems: Iterable[str] = self._check(case)
        except MissingExtraError:  # a run does without it
            return ()
        return problems


def _check_state(case: EvalCase) -> Iterable[str]:
    if not case.final_session_state:
        return ()
    problems: Iterable[str] = METRICS.get(FINAL_STATE)().check(case)
    return problems
