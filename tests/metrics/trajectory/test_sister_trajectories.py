"""The results of sister implementations for tool calls: equal here, or listed with the reason."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.common.registry import METRICS
from proctor.errors import CriterionError
from proctor.metrics.base import CaseView
from proctor.metrics.trajectory.tool_trajectory import ToolTrajectory
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.score import MetricScore
from tests.metrics.recorded import status

Vector = dict[str, Any]


def vectors(shared: Path, name: str, count: int) -> list[Vector]:
    found: list[Vector] = json.loads((shared / "golden/sister" / name).read_text("utf-8"))["cases"]
    assert len(found) == count
    return found


def metric(name: str, **options: Any) -> Any:
    return METRICS.get(name)(BaseCriterion.model_validate({"threshold": 1.0, **options}))


def turn(calls: list[dict[str, Any]] | None) -> Invocation:
    data = None if calls is None else {"tool_uses": calls}
    return Invocation.model_validate({"user_content": {"parts": []}, "intermediate_data": data})


def score(measure: Any, actual: Any, expected: Any) -> MetricScore:
    view = CaseView(eval_id="case", actual=[turn(actual)], expected=[turn(expected)])
    found: MetricScore = measure.score(view)
    measure.explain(view, found, 0)
    return found


def ids_where(found: list[Vector], differs: Callable[[Vector], bool]) -> list[str]:
    return [vector["id"] for vector in found if differs(vector)]


# --- adk-rs --------------------------------------------------------------------------------------------------------------


def test_adk_rs_to_the_letter(shared: Path) -> None:
    measure = ToolTrajectory(BaseCriterion.model_validate({"threshold": 1.0, "reading": "adk-rs"}))

    def differs(vector: Vector) -> bool:
        ours, theirs = score(measure, vector["actual"], vector["expected"]), vector["expected_result"]
        agree = ours.value == pytest.approx(theirs["score"]) and status(ours.value, 1.0) == theirs["status"]
        return not agree

    assert ids_where(vectors(shared, "adk_rs_trajectory.json", 104), differs) == []


def test_partial_credit_alone_differs_from_adk_rs_only_here(shared: Path) -> None:
    measure = metric("tool_trajectory_avg_score", credit="partial")

    def differs(vector: Vector) -> bool:
        ours = score(measure, vector["actual"], vector["expected"]).value
        return ours != pytest.approx(vector["expected_result"]["score"])

    found = ids_where(vectors(shared, "adk_rs_trajectory.json", 104), differs)
    nothing_on_either_side = "a turn without tools must not fail: 1, where adk-rs has 0"
    as_google_adk = "arguments are compared as google-adk does: 1 equals 1.0 and true"
    reasons = {
        "edge/both_empty": nothing_on_either_side,
        "edge/int_vs_float_equal": as_google_adk,
        "edge/bool_vs_int": as_google_adk,
    }
    generated = {
        vector["id"]
        for vector in vectors(shared, "adk_rs_trajectory.json", 104)
        if vector["id"].startswith("gen/") and not vector["actual"] and not vector["expected"]
    }
    assert {*found} == {*reasons} | generated


@pytest.mark.slow
def test_adk_rs_joins_the_turns_by_and(shared: Path) -> None:
    """What its runner recorded, scored here: the same scores per turn, and the same status of each metric.

    The score of a metric that fails is another: there the mean, which may be above the threshold; here the lowest.
    """
    judged = 0
    for vector in vectors(shared, "adk_rs_runner.json", 51):
        theirs = vector["expected_result"]
        if not theirs.get("actual"):
            continue
        criteria = {
            "tool_trajectory_avg_score": {"threshold": vector["trajectory_threshold"], "reading": "adk-rs"},
            "final_response_match_v1": {"threshold": vector["response_threshold"], "compat": "adk"},
        }
        for criterion in criteria.values():
            criterion["aggregate"] = "every_invocation"
        actual = [{"user_content": {"parts": []}, **each} for each in theirs["actual"]]
        found = proctor.score_sync(actual, vector["conversation"], criteria=criteria)
        for name, verdict in found.items():
            there = theirs["scores"][name]
            turns = there["details"]["per_invocation"]
            assert [each.score for each in verdict.per_invocation] == pytest.approx(turns), vector["id"]
            assert verdict.status.name == there["status"], vector["id"]
            assert verdict.score == pytest.approx(
                there["score"] if verdict.status.name == "PASSED" else min(turns)
            )
            judged += 1
    assert judged == 2 * 50


# --- @iqai/adk -----------------------------------------------------------------------------------------------------------


def test_adk_ts(shared: Path) -> None:
    measure = metric("tool_trajectory_avg_score", reading="adk-ts")

    def differs(vector: Vector) -> bool:
        ours, theirs = score(measure, vector["actual"], vector["expected"]), vector["expected_result"]
        return (ours.value, status(ours.value, 1.0)) != (theirs["score"], theirs["status"])

    assert ids_where(vectors(shared, "ts_trajectory.json", 104), differs) == []


def test_adk_ts_over_several_turns(shared: Path) -> None:
    measure = metric("tool_trajectory_avg_score", reading="adk-ts")
    nothing_evaluated = []
    for vector in vectors(shared, "ts_trajectory_lists.json", 45):
        turns, theirs, threshold = vector["invocations"], vector["expected_result"], vector["threshold"]
        actual, expected = (
            [turn(each["actual"]) for each in turns],
            [turn(each["expected"]) for each in turns],
        )
        ours = measure.score(CaseView(eval_id="case", actual=actual, expected=expected))
        assert [(each.value, status(each.value, threshold)) for each in ours.per_invocation] == [
            (each["score"], each["status"]) for each in theirs["per_invocation"]
        ]
        agree = ours.value == pytest.approx(theirs["score"])
        if not agree or status(ours.value, threshold) != theirs["status"]:
            nothing_evaluated.append(vector["id"])
            assert ours.not_applicable
            assert theirs["score"] == 0
    # Where no turn could be scored, @iqai/adk calls that 0; here the metric does not apply, and passes nothing.
    assert {"edge/no_invocations", "edge/all_missing"} <= {*nothing_evaluated}
    assert all(
        not any(each["actual"] is not None and each["expected"] is not None for each in vector["invocations"])
        for vector in vectors(shared, "ts_trajectory_lists.json", 45)
        if vector["id"] in nothing_evaluated
    )


# --- the six classics ----------------------------------------------------------------------------------------------------

MATCHES = ["trajectory_exact_match", "trajectory_in_order_match", "trajectory_any_order_match"]
SHARES = ["trajectory_precision", "trajectory_recall"]
COUNTED = ["trajectory_any_order_match", *SHARES]


@pytest.mark.parametrize("ignore_args", [False, True], ids=["args", "names only"])
@pytest.mark.parametrize("duplicates", ["membership", "multiset"])
@pytest.mark.parametrize("name", [*MATCHES, *SHARES])
def test_classics(shared: Path, name: str, duplicates: str, ignore_args: bool) -> None:
    options = {"duplicates": duplicates} if name in COUNTED else {}
    measure = metric(name, ignore_args=ignore_args, compat="adk", **options)

    def differs(vector: Vector) -> bool:
        theirs = vector["expected_result_names_only" if ignore_args else "expected_result"][name]
        theirs = theirs[duplicates] if isinstance(theirs, dict) else theirs
        ours = score(measure, vector["predicted"], vector["reference"])
        assert ours.not_applicable == (theirs is None)
        return ours.value != (None if theirs is None else pytest.approx(theirs))

    assert ids_where(vectors(shared, "classic_trajectory.json", 104), differs) == []


def test_single_tool_use(shared: Path) -> None:
    def differs(vector: Vector) -> bool:
        measure = metric("trajectory_single_tool_use", tool_name=vector["tool_name"])
        ours = score(measure, vector["predicted"], None).value
        return bool(ours != vector["expected_result"]["trajectory_single_tool_use"])

    assert ids_where(vectors(shared, "classic_trajectory.json", 104), differs) == []


# --- agentevals ----------------------------------------------------------------------------------------------------------

EXCHANGED = {"subset": "superset", "superset": "subset"}


def conversation(messages: Any) -> Invocation:
    """Chat messages as the events of a turn."""
    events = []
    for message in messages["messages"] if isinstance(messages, dict) else messages:
        parts = [{"function_call": call} for call in message.get("tool_calls") or ()]
        content = {"role": message["role"], "parts": parts or [{"text": "said"}]}
        events.append({"author": "agent", "content": content})
    return Invocation.model_validate(
        {"user_content": {"parts": []}, "intermediate_data": {"invocation_events": events}}
    )


def holds(mode: str, args: str, vector: Vector) -> bool:
    overrides = {
        tool: EXCHANGED.get(str(how), how) if mode == "subset" else how
        for tool, how in (vector["overrides"] or {}).items()
        if how != []
    }
    options: dict[str, Any] = {"args": args, "tool_args": overrides, "equality": "python"}
    if mode == "strict":
        options["messages"] = "all"
    measure = metric(f"trajectory_{mode}_match", **options)
    view = CaseView(
        eval_id="case",
        actual=[conversation(vector["outputs"])],
        expected=[conversation(vector["reference_outputs"])],
    )
    found = measure.score(view)
    measure.explain(view, found, 0)
    return bool(found.value)


@pytest.mark.parametrize("args", ["exact", "ignore", "subset", "superset"])
@pytest.mark.parametrize("mode", ["strict", "superset", "subset", "unordered"])
def test_agentevals(shared: Path, mode: str, args: str) -> None:
    """Two differences, both about the choice of the side.

    In their mode `subset` the sides are exchanged before arguments are compared, so that their argument modes subset and
    superset swap: here they keep their meaning. Their `unordered` is superset in both directions, so that on single pairs
    a loose argument mode amounts to equality: here it stays loose.
    """

    def differs(vector: Vector) -> bool:
        theirs = vector["expected_result"][f"{mode}/{args}"]
        if mode == "subset":
            return bool(holds(mode, EXCHANGED.get(args, args), vector) != theirs)
        if mode == "unordered":
            both = holds("superset", args, vector) and holds("subset", EXCHANGED.get(args, args), vector)
            return bool(both != theirs) or (theirs and not holds(mode, args, vector))
        return bool(holds(mode, args, vector) != theirs)

    assert ids_where(vectors(shared, "agentevals_match.json", 96), differs) == []


@pytest.mark.parametrize("args", ["exact", "ignore"])
def test_agentevals_unordered_is_equal_with_strict_arguments(shared: Path, args: str) -> None:
    def differs(vector: Vector) -> bool:
        loose = {*EXCHANGED} & {str(how) for how in (vector["overrides"] or {}).values()}
        return (
            not loose and holds("unordered", args, vector) != vector["expected_result"][f"unordered/{args}"]
        )

    assert ids_where(vectors(shared, "agentevals_match.json", 96), differs) == []


def test_agentevals_an_empty_list_of_arguments_is_refused() -> None:
    """Python's agentevals falls back to the mode, JavaScript's matches everything: here the choice must be explicit."""
    with pytest.raises(CriterionError, match="tool_args"):
        metric("trajectory_strict_match", tool_args={"f": []})


def test_agentevals_graph(shared: Path) -> None:
    measure = metric("graph_trajectory_strict_match", count_repeats=True)

    def path(nodes: list[str]) -> Invocation:
        events = [{"author": node} for node in nodes]
        return Invocation.model_validate(
            {"user_content": {"parts": []}, "intermediate_data": {"invocation_events": events}}
        )

    listed = []
    for vector in vectors(shared, "agentevals_graph.json", 24):
        actual, expected = (
            [path(nodes) for nodes in vector[side]["steps"]] for side in ("outputs", "reference_outputs")
        )
        if len(actual) != len(expected) or not actual:
            listed.append(vector["id"])
            continue
        view = CaseView(eval_id="case", actual=actual, expected=expected)
        ours = measure.score(view)
        for index in range(len(actual)):
            measure.explain(view, ours, index)
        assert (ours.value == 1.0) == vector["expected_result"], vector["id"]
    # another number of turns is an error of the whole comparison here, not a 0; without turns there is nothing to score
    assert listed == ["edge/turn_missing", "edge/both_empty"]
