"""`final_session_state`: did the session end in the state that the case states?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from proctor.metrics.base import CaseView, MetricFacts
from proctor.metrics.options import check_criterion
from proctor.metrics.wording import and_more, show_name, show_pair, show_value
from proctor.schema.case import EvalCase
from proctor.schema.criterion import BaseCriterion
from proctor.schema.score import MetricScore
from proctor.schema.trial import Failure, FailureKind

__all__ = ["FinalSessionState"]

NOTHING_STATED = "the case states no final session state"
NO_STATE = (
    "the case states a final session state, and the agent reports none: give it `final_state(session)`, change "
    "`session.state`, or emit events with a `state_delta`"
)


class FinalSessionState:
    """1.0 where every key that the case states is in the final session state with an equal value, else 0.0.

    Other keys of the state do not matter. Scored once per trial, not per invocation, and in every trial it must hold.
    ADK reads `final_session_state` but never looks at it.
    """

    facts: ClassVar[MetricFacts] = MetricFacts(
        name="final_session_state",
        description="Every key of the case's final session state is there and equal when the conversation ends.",
        default_threshold=1.0,
        needs=frozenset({"expected_state"}),
        source="Proctor; the field is google-adk's, which does not check it",
        every_trial=True,
    )

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        check_criterion(self.facts, criterion, BaseCriterion)

    def applies(self, case: EvalCase) -> bool:
        """Whether the case states anything."""
        return bool(case.final_session_state)

    def score(self, case: CaseView) -> MetricScore:
        """Compare each stated key; an agent that does not tell its state is an error, not a 0."""
        if not case.expected_state:
            return MetricScore(reason=NOTHING_STATED, not_applicable=True)
        if case.actual_state is None:
            return MetricScore(
                failure=Failure(where="agent", kind=FailureKind.BROKE_CONTRACT, message=NO_STATE)
            )
        keys = [_compare(name, value, case.actual_state) for name, value in case.expected_state.items()]
        wrong = [each for each in keys if each["kind"] != "matched"]
        reason = (
            "; ".join(and_more([_describe(each) for each in wrong])) or "every stated key is there and equal"
        )
        return MetricScore(0.0 if wrong else 1.0, reason=reason, details={"state": keys})


def _compare(name: str, expected: Any, actual: Mapping[str, Any]) -> dict[str, Any]:
    if name not in actual:
        return {"key": name, "kind": "missing", "expected": expected}
    kind = "matched" if _equal(expected, actual[name]) else "differs"
    return {"key": name, "kind": kind, "expected": expected, "actual": actual[name]}


def _equal(expected: Any, actual: Any) -> bool:
    """Equal as JSON values: like Python's, but truth values are not numbers, and tuples are lists."""
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return expected.keys() == actual.keys() and all(
            _equal(expected[key], actual[key]) for key in expected
        )
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        return len(expected) == len(actual) and all(map(_equal, expected, actual))
    return bool(expected == actual)


def _describe(key: Mapping[str, Any]) -> str:
    name = f"state `{show_name(key['key'])}`"
    if key["kind"] == "missing":
        return f"{name} is missing, expected {show_value(key['expected'])}"
    expected, actual = show_pair(key["expected"], key["actual"])
    return f"{name} is {actual}, expected {expected}"
