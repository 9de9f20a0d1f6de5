"""`tool_trajectory_avg_score`: ADK's numbers, and reasons of our own."""

from pathlib import Path
from typing import Any

import pytest

from proctor.errors import CriterionError, MetricError
from proctor.metrics.trajectory.tool_trajectory import NONE_STATED, NULL_ARGUMENTS, ToolTrajectory
from proctor.schema.format.criterion import BaseCriterion
from tests.metrics.invocations import Calls, turn, view
from tests.metrics.recorded import as_recorded, equal, vectors, view as recorded_view


def metric(**options: Any) -> ToolTrajectory:
    return ToolTrajectory(BaseCriterion.model_validate({"threshold": 1.0, **options}))


@pytest.mark.parametrize("compat", [None, "adk"], ids=["default", "compat"])
@pytest.mark.parametrize("match_type", ["EXACT", "IN_ORDER", "ANY_ORDER"])
@pytest.mark.parametrize("ignore_args", [False, True], ids=["args", "ignore_args"])
def test_recorded(shared: Path, match_type: str, ignore_args: bool, compat: str | None) -> None:
    measure = metric(match_type=match_type, ignore_args=ignore_args, compat=compat)
    differing = []
    for vector in vectors(shared, "trajectory.json", 194):
        theirs = vector["results"][match_type + ("/ignore_args" if ignore_args else "")]
        try:
            ours: Any = {"ok": as_recorded(measure.score(recorded_view(vector)), vector["threshold"])}
        except MetricError:
            ours = {"error": "ValueError"}
        if not equal(ours, theirs):
            differing.append(vector)
    # The one difference: without an expected conversation the metric does not apply, where ADK raises.
    assert all(vector["expected"] is None and compat is None for vector in differing)
    assert bool(differing) == (compat is None)


GET_PARIS: Calls = [("get_weather", {"city": "Paris"})]


@pytest.mark.parametrize(
    ("options", "expected", "actual", "value", "reason"),
    [
        ({}, GET_PARIS, GET_PARIS, 1.0, "every expected call was made"),
        ({}, [], [], 1.0, "no calls expected, and none needed"),
        ({}, GET_PARIS, [], 0.0, '`get_weather(city="Paris")` was not called'),
        ({}, [], GET_PARIS, 0.0, '`get_weather(city="Paris")` was called but not expected'),
        ({}, None, [], 1.0, NONE_STATED),
        ({}, None, [("f", {})], 0.0, f"{NONE_STATED}; `f()` was called but not expected"),
        ({"matchType": "in-order"}, GET_PARIS, [("f", {}), *GET_PARIS], 1.0, "every expected call was made"),
        ({"match_type": "any order"}, [("f", {}), ("g", {})], [("g", {})], 0.0, "`f()` was not called"),
        (
            {"match_type": 1},
            [("f", {}), ("g", {})],
            [("g", {}), ("h", {}), ("f", {})],
            0.0,
            "called in another order: g, f (expected f, g)",
        ),
        (
            {"ignore_args": True},
            [("f", {"x": 1})],
            [("f", None)],
            1.0,
            "every expected call was made",
        ),
    ],
)
def test_numbers_and_reasons(
    options: dict[str, Any], expected: Calls | None, actual: Calls, value: float, reason: str
) -> None:
    measure = metric(**options)
    case = view([turn(calls=actual)], [turn(calls=expected)])
    score = measure.score(case)
    assert score.value == value
    assert measure.explain(case, score, 0).reason == reason


@pytest.mark.parametrize(
    ("options", "expected", "actual", "warned"),
    [
        ({"match_type": "IN_ORDER"}, [], [("f", {})], "IN_ORDER accepts any calls"),
        ({"match_type": "ANY_ORDER"}, None, [("f", {})], "ANY_ORDER accepts any calls"),
        ({"match_type": "IN_ORDER"}, [], [], ""),
        ({}, [("f", None)], [("f", {})], NULL_ARGUMENTS),
        ({}, [("f", {})], [("f", None)], NULL_ARGUMENTS),
        ({}, [("f", {"x": 1})], [("f", None)], ""),
    ],
)
def test_number_is_kept_and_a_weak_rule_warns(
    options: dict[str, Any], expected: Calls | None, actual: Calls, warned: str
) -> None:
    measure = metric(**options)
    case = view([turn(calls=actual)], [turn(calls=expected)])
    warning = measure.explain(case, measure.score(case), 0).warning
    assert (warned in warning) if warned else warning == ""


def test_details_hold_the_calls_side_by_side() -> None:
    case = view([turn(calls=[("f", {"x": 2})])], [turn(calls=[("f", {"x": 1})])])
    details = metric().explain(case, metric().score(case), 0).details
    assert details is not None
    (step,) = details["alignment"]
    assert step["kind"] == "differs"
    assert step["arguments"] == [{"name": "x", "kind": "differs", "expected": 1, "actual": 2}]


@pytest.mark.parametrize(
    ("match_type", "made", "allowed"),
    [
        pytest.param("EXACT", ["f", "extra", "g"], [False, False, False], id="EXACT allows nothing"),
        pytest.param(
            "IN_ORDER", ["f", "extra", "g"], [False, True, False], id="IN_ORDER allows an extra call"
        ),
        pytest.param("IN_ORDER", ["g", "f"], [False, False], id="IN_ORDER allows no other order"),
        pytest.param("ANY_ORDER", ["g", "extra", "f"], [True, True, False], id="ANY_ORDER allows both"),
        pytest.param("ANY_ORDER", ["f"], [False, False], id="ANY_ORDER allows no missing call"),
    ],
)
def test_a_difference_that_the_match_type_allows_is_marked(
    match_type: str, made: list[str], allowed: list[bool]
) -> None:
    case = view([turn(calls=[(name, {}) for name in made])], [turn(calls=[("f", {}), ("g", {})])])
    measure = metric(match_type=match_type)
    details = measure.explain(case, measure.score(case), 0).details
    assert details is not None
    assert sorted(step.get("allowed", False) for step in details["alignment"]) == sorted(allowed)


def test_the_overall_score_is_the_mean_over_turns() -> None:
    case = view([turn(calls=[]), turn(calls=GET_PARIS)], [turn(calls=[]), turn(calls=[])])
    assert metric().score(case).value == 0.5


def test_a_scenario_has_nothing_to_compare_with() -> None:
    score = metric().score(view([turn("a"), turn("b")]))
    assert (score.value, score.not_applicable) == (None, True)
    assert [each.not_applicable for each in score.per_invocation] == [True, True]
    with pytest.raises(MetricError, match="no recorded conversation"):
        metric(compat="adk").score(view([turn("a")]))


def test_another_number_of_turns_is_an_error_and_no_score() -> None:
    with pytest.raises(MetricError, match=r"2 invocation\(s\) and the agent's run 1"):
        metric().score(view([turn()], [turn(), turn()]))


@pytest.mark.parametrize(
    ("match_type", "shown"),
    [("SOMEHOW", "'SOMEHOW'"), ("0", "'0'"), (3, "3"), (None, "null"), (True, "true"), (False, "false")],
)
def test_an_unknown_match_type_is_a_setup_error(match_type: object, shown: str) -> None:
    expected = rf"match_type: expected EXACT, IN_ORDER or ANY_ORDER \(or 0, 1, 2\), got {shown}\."
    with pytest.raises(CriterionError, match=expected):
        metric(match_type=match_type)
