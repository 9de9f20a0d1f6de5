"""What cases state for certain metrics, looked at before anything runs, whether or not one of the metrics is named."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain

from proctor.common.registry import METRICS
from proctor.engine.planning.bound_metric import FINAL_STATE, BoundMetric
from proctor.errors import MissingExtraError
from proctor.schema.format.case import EvalCase
from proctor.schema.format.case_extensions import BEYOND, all_stated, said_twice, stated, states_more

__all__ = ["READERS", "checks_of", "problems_of", "reader_of", "unread"]

READERS = {
    "expectations": "tool_expectations",
    "trajectory_rules": "trajectory_rules",
    "response_schema": "response_schema",
}
"""Keys of a case that only one metric reads, and that metric."""

READERS_OF_RUBRICS = {
    "FINAL_RESPONSE_QUALITY": "rubric_based_final_response_quality_v1",
    "TOOL_USE_QUALITY": "rubric_based_tool_use_quality_v1",
    "TRAJECTORY_QUALITY": "rubric_based_multi_turn_trajectory_quality_v1",
}
"""Types of rubrics, and the metric that reads each."""
_OF_TYPE = "rubrics of type "

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


def unread(case: EvalCase, metrics: Sequence[BoundMetric], skipped: Collection[str] = ()) -> list[str]:
    """Keys by which the case expects something that no metric of the run reads; those of `skipped` metrics do not count."""
    extra = all_stated(case) if states_more(case) else None
    keys = [key for key in READERS if key in extra] if extra else []
    if keys:
        read = _read(metrics)
        keys = [key for key in keys if key not in read]
    return [*keys, *(key for key in _unread_rubrics(case, metrics) if reader_of(key) not in skipped)]


def reader_of(key: str) -> str:
    """Return the metric that reads a key that `unread` names."""
    if key in READERS:
        return READERS[key]
    return READERS_OF_RUBRICS.get(key.removeprefix(_OF_TYPE), READERS_OF_RUBRICS["FINAL_RESPONSE_QUALITY"])


def _unread_rubrics(case: EvalCase, metrics: Iterable[BoundMetric]) -> list[str]:
    """The types of the case's rubrics that no metric reads; a custom metric may read any.

    Rubrics without type are reported by the metrics that read rubrics; here only where there is none.
    """
    turns = [*(case.conversation or ()), *(case.opening or ())]
    if not case.rubrics and not any(turn.rubrics for turn in turns):
        return []
    reading = [each for each in metrics if each.facts.kind == "custom" or "rubrics" in each.facts.needs]
    types = {getattr(each.metric, "rubric_type", None) for each in reading}
    if None in types:
        return []
    stated = [*(case.rubrics or ()), *(rubric for turn in turns for rubric in turn.rubrics or ())]
    kinds = dict.fromkeys(rubric.type for rubric in stated)
    unread = [f"{_OF_TYPE}{kind}" for kind in kinds if kind is not None and kind not in types]
    return [*unread, *(["rubrics"] if None in kinds and not types else [])]


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
