"""What cases state for certain metrics, looked at before anything runs, whether or not one of the metrics is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from proctor.engine.criteria import FINAL_STATE, BoundMetric
from proctor.errors import MissingExtraError
from proctor.registry import METRICS
from proctor.schema.case import EvalCase
from proctor.schema.stated import BEYOND, all_stated, said_twice, stated, states_more

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
    unasked = _Unasked([key for key in BEYOND if key not in read])
    state = [] if any(each.facts.name == FINAL_STATE for each in metrics) else [_check_state]
    return [*asked, unasked, *state]


def problems_of(case: EvalCase, checks: Sequence[Check]) -> list[str]:
    """What is wrong with what a case states."""
    return [problem for check in checks for problem in check(case)]


def unread(case: EvalCase, metrics: Iterable[BoundMetric]) -> list[str]:
    """Keys by which the case expects something that no metric of the run looks at."""
    extra = all_stated(case) if states_more(case) else None
    keys = [key for key in READERS if key in extra] if extra else []
    if not keys:
        return []
    read = _read(metrics)
    return [key for key in keys if key not in read]


def _read(metrics: Iterable[BoundMetric]) -> set[str]:
    return {need for each in metrics for need in each.facts.needs}


class _Unasked:
    """The looks of metrics that are not in the criteria: a slip is one all the same; and what is said twice."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = [*keys]
        self._checks: dict[str, Check] = {}

    def __call__(self, case: EvalCase) -> Iterable[str]:
        if not states_more(case):
            return ()
        found = (self._check(key, case) for key in self._keys if stated(case, key) is not None)
        return [*chain.from_iterable(found), *said_twice(case)]

    def _check(self, key: str, case: EvalCase) -> Iterable[str]:
        if key not in self._checks:
            self._checks[key] = METRICS.get(READERS[key])().check
        try:
            return self._checks[key](case)
        except MissingExtraError:  # a run does without it
            return ()


def _check_state(case: EvalCase) -> Iterable[str]:
    if not case.final_session_state:
        return ()
    problems: Iterable[str] = METRICS.get(FINAL_STATE)().check(case)
    return problems
