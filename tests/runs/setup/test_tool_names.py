"""Tool names alone are enough to score a trajectory: the form of the format's original document."""

from typing import Any

import pytest

import proctor
from proctor import Invocation

INTENT = ["determine_intent", "use_tool", "review_results", "report_generation"]
ALL = {"tool_trajectory_avg_score": 1.0, "trajectory_exact_match": 1.0, "trajectory_recall": 1.0}


def turn(*calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    uses = [{"name": name, "args": args} for name, args in calls]
    return {"user_content": {}, "intermediate_data": {"tool_uses": uses}}


def scores(actual: Any, expected: Any, criteria: Any = None) -> dict[str, float | None]:
    found = proctor.score_sync(actual, expected, criteria=criteria or ALL)
    return {name: verdict.score for name, verdict in found.items()}


def test_the_example_of_the_document() -> None:
    assert set(scores(INTENT, [*INTENT]).values()) == {1.0}


@pytest.mark.parametrize(
    ("actual", "expected", "exact", "recall"),
    [
        pytest.param(INTENT[:3], INTENT, 0.0, 0.75, id="one is missing"),
        pytest.param([], INTENT, 0.0, 0.0, id="an empty list among names is a turn without calls"),
        pytest.param(INTENT, [], 0.0, None, id="the same on the other side"),
        pytest.param([[]], [[]], 1.0, None, id="as with a list per turn"),
        pytest.param([["a"], ["b"]], [["a"], ["c"]], 0.5, 0.5, id="a list per turn"),
        pytest.param([["a"], []], [["a"], []], 1.0, 1.0, id="a turn without calls among others"),
        pytest.param(("a", "b"), ["a", "b"], 1.0, 1.0, id="tuples"),
    ],
)
def test_lists_of_names(actual: Any, expected: Any, exact: float, recall: float | None) -> None:
    found = scores(actual, expected)
    assert (found["trajectory_exact_match"], found["trajectory_recall"]) == (exact, recall)


@pytest.mark.parametrize(
    "recorded", [turn(("a", {"x": 1})), Invocation.model_validate(turn(("a", {"x": 1})))]
)
def test_names_are_compared_with_recorded_calls_without_arguments(recorded: Any) -> None:
    assert set(scores(recorded, ["a"]).values()) == {1.0}
    assert set(scores(["a"], [recorded]).values()) == {1.0}
    assert set(scores(recorded, ["b"]).values()) == {0.0}


def test_a_criterion_that_wants_arguments_gets_them() -> None:
    strict = {"trajectory_exact_match": {"threshold": 1.0, "ignore_args": False}}
    assert scores(turn(("a", {"x": 1})), ["a"], strict) == {"trajectory_exact_match": 0.0}


def test_recorded_calls_on_both_sides_are_compared_whole() -> None:
    assert set(scores(turn(("a", {"x": 1})), turn(("a", {"x": 2}))).values()) == {0.0}


def test_what_needs_more_than_names_does_not_apply() -> None:
    assert scores(["a"], ["a"], {"response_match_score": 0.5}) == {"response_match_score": None}


def test_empty_list_among_recorded_turns_is_not_a_turn() -> None:
    found = proctor.score_sync([], [turn(("a", {}))], criteria={"trajectory_recall": 1.0})
    assert found["trajectory_recall"].outcome is proctor.Outcome.ERROR
    assert "0; they cannot be compared" in found["trajectory_recall"].reason


def test_a_metric_of_ones_own_sees_the_names() -> None:
    @proctor.metric("calls_made", threshold=1.0, maximum=100)
    def calls_made(actual: Invocation) -> float:
        return float(len(actual.tool_calls))

    assert scores(["a", "b"], None, {"calls_made": 1.0}) == {"calls_made": 2.0}


@pytest.mark.parametrize(
    ("actual", "message"),
    [
        ("get_weather", "actual: expected invocations or a list of tool names, got str"),
        (
            ["a", turn()],
            "actual: expected a list of invocations, of tool names, or of lists of tool names; got a mixture",
        ),
        ([["a"], turn()], "got a mixture"),
        ([["a", 1]], "got a mixture"),
        (3, "expected invocations or a list of tool names, got int"),
    ],
)
def test_what_is_neither_is_refused(actual: Any, message: str) -> None:
    with pytest.raises(proctor.SetupError, match=message.replace("(", r"\(")):
        scores(actual, ["a"])
