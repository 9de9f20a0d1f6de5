"""`final_session_state`: every stated key must be there and equal."""

from typing import Any

import pytest

from proctor.errors import CriterionError
from proctor.metrics.final_session_state import FinalSessionState
from proctor.reports.evidence.trajectory_diff import state_difference
from proctor.schema.evidence.trial import FailureKind
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from tests.metrics.invocations import turn, view


def score(expected: Any, actual: Any) -> Any:
    return FinalSessionState().score(
        view([turn("a")], [turn("a")], expected_state=expected, actual_state=actual)
    )


@pytest.mark.parametrize(
    ("expected", "actual", "value", "reason"),
    [
        ({"color": "red"}, {"color": "red", "more": 1}, 1.0, "every stated key is present and equal"),
        ({"color": "red"}, {"color": "blue"}, 0.0, 'state `color` is "blue", expected "red"'),
        ({"color": "red"}, {}, 0.0, 'state `color` is missing, expected "red"'),
        ({"color": None}, {}, 0.0, "state `color` is missing, expected null"),
        ({"color": None}, {"color": None}, 1.0, "every stated key is present and equal"),
        ({"n": 1}, {"n": 1.0}, 1.0, "every stated key is present and equal"),
        ({"n": 1}, {"n": True}, 0.0, "state `n` is true, expected 1"),
        (
            {"n": [{"on": False}]},
            {"n": [{"on": 0}]},
            0.0,
            'state `n` is [{"on": 0}], expected [{"on": false}]',
        ),
        ({"n": [1, {"a": 2}]}, {"n": (1, {"a": 2})}, 1.0, "every stated key is present and equal"),
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


def test_agent_without_a_state_is_an_error_and_not_a_failure_of_the_case() -> None:
    found = score({"a": 1}, None)
    assert (found.value, found.not_applicable) == (None, False)
    assert found.failure.kind is FailureKind.BROKE_CONTRACT
    assert "reports none" in found.failure.cause


def test_it_must_hold_in_every_trial() -> None:
    assert FinalSessionState.facts.every_trial


# --- what the criterion expects by itself ---------------------------------------------------------------------------------

FIVE = {"match": "number", "value": 5, "tolerance": 0.5}


def by_criterion(state: Any, expected: Any, actual: Any) -> Any:
    metric = FinalSessionState(BaseCriterion(threshold=1.0, state=state))
    return metric.score(view([turn("a")], [turn("a")], expected_state=expected, actual_state=actual))


@pytest.mark.parametrize(
    ("state", "expected", "actual", "value", "reason"),
    [
        pytest.param({"n": FIVE}, None, {"n": 5.4}, 1.0, "every stated key is present and equal", id="fits"),
        pytest.param({"n": FIVE}, None, {"n": 6}, 0.0, "state `n` is 6, expected", id="does not fit"),
        pytest.param({"n": FIVE}, None, {}, 0.0, "state `n` is missing, expected", id="missing"),
        pytest.param({"n": FIVE}, {"m": 1}, {"m": 1, "n": 9}, 0.0, "state `n` is 9", id="in addition to the case's keys"),
        pytest.param({"n": FIVE}, {"n": 70}, {"n": 5}, 1.0, "every", id="its value goes before the case's"),
        pytest.param({"t": "present"}, None, {"t": None}, 1.0, "every", id="present"),
        pytest.param({"t": "present"}, None, {"u": 1}, 0.0, "`t` is missing, expected any value", id="absent"),
        pytest.param({"t": {"match": "regex", "pattern": "^a"}}, {}, {"t": "b"}, 0.0, "state `t` is", id="regex"),
        pytest.param({"t.u": "present"}, None, {"t": {"v": 1}}, 0.0, "state `t.u` is missing", id="a path"),
        pytest.param({"t.u": FIVE}, {"t": {"v": 1}}, {"t": {"v": 1}}, 0.0, "expected `t.u` to be", id="a path that neither side has"),
        pytest.param({"l[*].n": FIVE}, None, {"l": [{"n": 5}, {"n": 8}]}, 0.0, "state `l[*].n` is 8", id="every item"),
        pytest.param({"l[*].n": FIVE}, None, {"l": [{"n": 5}, {"n": 5}]}, 1.0, "every", id="every item fits"),
        pytest.param({"l[1].n": FIVE}, None, {"l": [{"n": 5}]}, 0.0, "state `l[1].n` is missing", id="an item that is not there"),
        pytest.param({"n": {"match": "number", "tolerance": 1}}, {"n": 5}, {"n": 6}, 1.0, "every", id="how the case's value is compared"),
    ],
)  # fmt: skip
def test_what_the_criterion_expects(
    state: Any, expected: Any, actual: Any, value: float, reason: str
) -> None:
    found = by_criterion(state, expected, actual)
    assert found.value == value
    assert reason in found.reason


def test_criterion_with_options_only_needs_a_stated_state() -> None:
    assert by_criterion({"n": {"match": "number", "tolerance": 1}}, None, {"n": 1}).not_applicable
    assert by_criterion({"n": "ignore"}, None, {"n": 1}).not_applicable


def test_an_expectation_of_the_criterion_is_drawn_too() -> None:
    found = by_criterion({"n": FIVE, "m.k": "present"}, {"a": 1}, {"a": 1, "n": 9})
    assert [(each["key"], each["kind"]) for each in found.details["state"]] == [
        ("a", "matched"), ("n", "differs"), ("m.k", "missing"),
    ]  # fmt: skip


def test_a_part_that_its_matcher_accepts_is_not_listed_as_a_difference() -> None:
    found = by_criterion(
        {"order.total": {"match": "number", "tolerance": 1}},
        {"order": {"total": 10, "status": "paid"}},
        {"order": {"total": 10.4, "status": "open"}},
    )
    assert found.value == 0.0
    assert found.details["state"][0]["accepted"] == ["order.total"]
    assert [line.key for line in state_difference(found.details["state"]).lines] == ["order.status"]


def test_criterion_with_expected_values_needs_only_the_state_of_the_agent() -> None:
    metric = FinalSessionState(BaseCriterion(threshold=1.0, state={"n": FIVE}))
    assert metric.applies(EvalCase(eval_id="a", conversation=[]))
    assert metric.facts.needs == frozenset()
    assert by_criterion({"n": FIVE}, None, None).failure.kind is FailureKind.BROKE_CONTRACT


def test_a_matcher_inside_a_value_that_has_one_is_refused_unless_it_has_a_value() -> None:
    inner = {"match": "number", "tolerance": 1}
    with pytest.raises(CriterionError, match=r"`t\.u` would not be used, because `t` has a matcher"):
        by_criterion({"t": "ignore", "t.u": inner}, {"t": {"u": 1}}, {"t": {"u": 1}})
    both = {"t": "ignore", "t.u": {**inner, "value": 5}}
    assert by_criterion(both, {"t": {"u": 1}}, {"t": {"u": 5}}).value == 1.0
    assert by_criterion(both, {"t": {"u": 1}}, {"t": {"u": 7}}).value == 0.0


def test_a_path_that_begins_with_a_place_is_refused() -> None:
    with pytest.raises(CriterionError, match="a path must begin with a key"):
        FinalSessionState(BaseCriterion(threshold=1.0, state={"[0].n": "present"}))


def surveyed(state: Any, *cases: Any) -> tuple[list[str], list[str]]:
    survey = FinalSessionState(BaseCriterion(threshold=1.0, state=state)).survey()
    assert survey
    for stated in cases:
        survey.add_case(EvalCase(eval_id="c", conversation=[], final_session_state=stated))
    return [*survey.problems()], [*survey.warnings()]


TEXT = {"match": "text"}


@pytest.mark.parametrize(
    ("state", "cases", "problem", "warning"),
    [
        pytest.param({"n": TEXT}, [{"n": "a"}], "", "", id="stated"),
        pytest.param({"n": TEXT}, [{}, {"n": "a"}], "", "", id="stated by one of several"),
        pytest.param({"n": TEXT}, [{}, {}], "which no case states, so it decides nothing", "no case states `n`", id="stated by none"),
        pytest.param({"totl": TEXT}, [{"total": "a"}], "Did you mean 'total'?", "Did you mean 'total'?", id="a slip, and nothing else"),
        pytest.param({"totl": TEXT, "n": TEXT}, [{"total": "a", "n": "a"}], "", "no case states `totl`. Did you mean 'total'?", id="a typo among others"),
        pytest.param({"n": FIVE}, [{}], "", "", id="it expects by itself"),
        pytest.param({"totl": FIVE}, [{"total": 5}], "", "Did you mean 'total'?", id="it expects by itself, and looks like a slip"),
        pytest.param({"t.coverss": TEXT, "n": TEXT}, [{"t": {"covers": "a"}, "n": "b"}], "", "Did you mean 'covers'?", id="a slip inside"),
        pytest.param({"t.id": "ignore"}, [{"t": {"covers": 2}}], "", "", id="an ignored key that no case states, inside one that is"),
    ],
)  # fmt: skip
def test_unused_keys_are_reported(state: Any, cases: list[Any], problem: str, warning: str) -> None:
    problems, warnings = surveyed(state, *cases)
    for messages, expected in ((problems, problem), (warnings, warning)):
        assert bool(messages) == bool(expected)
        assert expected in "".join(messages)


@pytest.mark.parametrize(
    ("stated", "problems"),
    [
        ({"a": {"$match": "ignore"}}, 1),
        ({"a": {"$match": "ignore"}, "b": {"$match": "ignore"}}, 1),
        ({"a": {"$match": "ignore"}, "b": 1}, 0),
        ({"a": {"$match": "present"}}, 0),
    ],
    ids=str,
)
def test_a_state_of_which_nothing_is_expected_is_refused(stated: dict[str, Any], problems: int) -> None:
    case = EvalCase.model_validate({"eval_id": "a", "conversation": [], "final_session_state": stated})
    assert len(FinalSessionState().check(case)) == problems


@pytest.mark.parametrize(
    ("state", "problems"),
    [
        pytest.param({"a": "ignore", "b": "ignore"}, 1, id="every stated key is ignored"),
        pytest.param(
            {"a": {"match": "ignore"}, "b": "ignore", "c": "ignore"}, 1, id="and one that is not stated"
        ),
        pytest.param({"a": "ignore"}, 0, id="one of two keys is ignored"),
        pytest.param({"a": "ignore", "b": "present"}, 0, id="one is ignored, the other must be there"),
        pytest.param({"a": "ignore", "b": "ignore", "c": FIVE}, 0, id="the criterion expects another key"),
        pytest.param({"a": "ignore", "b.k": "ignore"}, 0, id="a key within the other is ignored"),
    ],
)
def test_a_criterion_by_which_nothing_is_expected_is_refused(state: dict[str, Any], problems: int) -> None:
    stated = {"a": 1, "b": {"k": 2}}
    case = EvalCase.model_validate({"eval_id": "a", "conversation": [], "final_session_state": stated})
    metric = FinalSessionState(BaseCriterion(threshold=1.0, state=state))
    assert len(metric.check(case)) == problems
