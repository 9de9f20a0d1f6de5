"""`final_session_state`: every stated key must be there and equal."""

from typing import Any

import pytest

from proctor.metrics.final_session_state import FinalSessionState
from proctor.schema.case import EvalCase
from proctor.schema.trial import FailureKind
from tests.metrics.making import turn, view


def score(expected: Any, actual: Any) -> Any:
    return FinalSessionState().score(
        view([turn("a")], [turn("a")], expected_state=expected, actual_state=actual)
    )


@pytest.mark.parametrize(
    ("expected", "actual", "value", "reason"),
    [
        ({"color": "red"}, {"color": "red", "more": 1}, 1.0, "every stated key is there and equal"),
        ({"color": "red"}, {"color": "blue"}, 0.0, 'state `color` is "blue", expected "red"'),
        ({"color": "red"}, {}, 0.0, 'state `color` is missing, expected "red"'),
        ({"color": None}, {}, 0.0, "state `color` is missing, expected null"),
        ({"color": None}, {"color": None}, 1.0, "every stated key is there and equal"),
        ({"n": 1}, {"n": 1.0}, 1.0, "every stated key is there and equal"),
        ({"n": 1}, {"n": True}, 0.0, "state `n` is true, expected 1"),
        (
            {"n": [{"on": False}]},
            {"n": [{"on": 0}]},
            0.0,
            'state `n` is [{"on": 0}], expected [{"on": false}]',
        ),
        ({"n": [1, {"a": 2}]}, {"n": (1, {"a": 2})}, 1.0, "every stated key is there and equal"),
        ({"n": {"a": 1}}, {"n": {"a": 1, "b": 2}}, 0.0, 'state `n` is {"a": 1, "b": 2}, expected {"a": 1}'),
        ({"n": "1"}, {"n": 1}, 0.0, 'state `n` is 1, expected "1"'),
        ({"a": 1, "b": 2}, {"b": 3}, 0.0, "state `a` is missing, expected 1; state `b` is 3, expected 2"),
        (
            {"t": "x" * 99 + "1"},
            {"t": "x" * 99 + "2"},
            0.0,
            f'state `t` is …{"x" * 20}2", expected …{"x" * 20}1"',
        ),
    ],
)
def test_table(expected: Any, actual: Any, value: float, reason: str) -> None:
    found = score(expected, actual)
    assert (found.value, found.reason) == (value, reason)


def test_details_name_every_stated_key() -> None:
    assert score({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 0}).details == {
        "state": [
            {"key": "a", "kind": "matched", "expected": 1, "actual": 1},
            {"key": "b", "kind": "differs", "expected": 2, "actual": 0},
            {"key": "c", "kind": "missing", "expected": 3},
        ]
    }


@pytest.mark.parametrize("nothing", [None, {}])
def test_a_case_that_states_nothing_is_not_judged(nothing: Any) -> None:
    assert score(nothing, {"a": 1}).not_applicable
    assert not FinalSessionState().applies(
        EvalCase(eval_id="a", conversation=[], final_session_state=nothing)
    )


def test_an_agent_that_tells_no_state_is_an_error_and_no_failure_of_the_case() -> None:
    found = score({"a": 1}, None)
    assert (found.value, found.not_applicable) == (None, False)
    assert found.failure.kind is FailureKind.BROKE_CONTRACT
    assert "reports none" in found.failure.cause


def test_it_must_hold_in_every_trial() -> None:
    assert FinalSessionState.facts.every_trial
