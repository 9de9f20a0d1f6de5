"""The options of the trajectory metrics: what they refuse, where they do not apply, and when they explain."""

from typing import Any

import pytest

import proctor
from proctor.common.registry import METRICS
from proctor.errors import CriterionError
from proctor.metrics.trajectory.classic import Precision, Recall
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation
from tests.metrics.invocations import turn, view

NAMES = [
    "trajectory_exact_match",
    "trajectory_in_order_match",
    "trajectory_any_order_match",
    "trajectory_precision",
    "trajectory_recall",
    "trajectory_f1",
    "trajectory_strict_match",
    "trajectory_unordered_match",
    "trajectory_subset_match",
    "trajectory_superset_match",
]


def metric(name: str, **options: Any) -> Any:
    return METRICS.get(name)(BaseCriterion.model_validate({"threshold": 1.0, **options}))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("trajectory_exact_match", {"ignore_arg": True}, "Did you mean 'ignore_args'"),
        ("trajectory_exact_match", {"duplicates": "multiset"}, "unknown option 'duplicates'"),
        (
            "trajectory_precision",
            {"duplicates": "set"},
            "duplicates: Input should be 'membership' or 'multiset'",
        ),
        (
            "trajectory_precision",
            {"equality": "yaml"},
            "equality: Input should be 'json', 'python', 'strict'",
        ),
        ("trajectory_strict_match", {"args": "some"}, "args: Input should be 'exact', 'ignore', 'subset'"),
        ("trajectory_strict_match", {"messages": "none"}, "messages: Input should be 'calls' or 'all'"),
        ("trajectory_unordered_match", {"tool_args": {"f": "all"}}, "tool_args.f"),
        ("trajectory_unordered_match", {"tool_args": ["f"]}, "tool_args: "),
        ("tool_trajectory_avg_score", {"credit": "some"}, "credit: Input should be 'all' or 'partial'"),
        (
            "tool_trajectory_avg_score",
            {"reading": "adk-go"},
            "reading: Input should be 'adk', 'adk-rs' or 'adk-ts'",
        ),
        ("trajectory_recall", {"threshold": 0}, "threshold 0 cannot fail"),
        ("graph_trajectory_strict_match", {"count_repeats": "no way"}, "count_repeats"),
    ],
)
def test_what_does_not_fit_is_refused(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(CriterionError, match=message):
        metric(name, **options)


@pytest.mark.parametrize("name", NAMES)
def test_options_in_camel_case_are_read(name: str) -> None:
    case = view([turn(calls=[("f", {"x": 1})])], [turn(calls=[("f", {"x": 2})])])
    assert metric(name, ignoreArgs=True).score(case).value == 1.0
    assert metric(name).score(case).value == 0.0


@pytest.mark.parametrize("name", [*NAMES, "graph_trajectory_strict_match"])
def test_a_scenario_has_nothing_to_compare_with(name: str) -> None:
    score = metric(name).score(view([turn(calls=[])]))
    assert (score.value, score.not_applicable) == (None, True)


@pytest.mark.parametrize("name", NAMES)
def test_the_case_has_the_mean_of_the_turns_that_apply(name: str) -> None:
    one, other = turn(calls=[("f", {})]), turn(calls=[("g", {})])
    assert metric(name).score(view([one, one], [one, other])).value == 0.5


@pytest.mark.parametrize(("kind", "neither"), [(Precision, "none were made"), (Recall, "no share")])
def test_turns_without_calls_do_not_count_in_shares(kind: Any, neither: str) -> None:
    one, none = turn(calls=[("f", {})]), turn(calls=[])
    measure, case = kind(), view([one, none], [one, none])
    score = measure.score(case)
    assert score.value == 1.0
    assert score.per_invocation[1].not_applicable
    assert neither in measure.explain(case, score, 1).reason


def test_recall_asks_for_a_case_that_expects_calls() -> None:
    assert Recall().applies(EvalCase(eval_id="a", conversation=[turn(), turn(calls=[("f", {})])]))
    assert not Recall().applies(EvalCase(eval_id="a", conversation=[turn()]))


@pytest.mark.parametrize(
    ("name", "expected", "actual"),
    [
        ("trajectory_in_order_match", [], [("f", {})]),
        ("trajectory_any_order_match", [], [("f", {})]),
        ("trajectory_superset_match", [], [("f", {})]),
        ("trajectory_subset_match", [("f", {})], []),
    ],
)
def test_a_rule_that_accepts_anything_warns(name: str, expected: Any, actual: Any) -> None:
    measure, case = metric(name), view([turn(calls=actual)], [turn(calls=expected)])
    score = measure.score(case)
    assert score.value == 1.0
    assert "accepts" in measure.explain(case, score, 0).warning


def test_an_explanation_is_computed_only_where_it_is_shown_or_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    explained = []
    theirs = METRICS.get("trajectory_recall").explain

    def counted(self: Any, case: Any, score: Any, index: int) -> Any:
        explained.append(index)
        return theirs(self, case, score, index)

    monkeypatch.setattr(METRICS.get("trajectory_recall"), "explain", counted)
    turns = [
        {"user_content": {"parts": [{"text": "q"}]}, "intermediate_data": {"tool_uses": [{"name": name}]}}
        for name in "fg"
    ]
    case = {"eval_id": "a", "conversation": turns}

    async def agent(message: Any) -> Any:
        yield {
            "author": "agent",
            "content": {"role": "model", "parts": [{"function_call": {"name": "f", "args": {}}}]},
        }
        yield {"author": "agent", "content": {"role": "model", "parts": [{"text": "done"}]}}

    for asked, expected in (("failures", [1]), ("all", [0, 1])):
        explained.clear()
        result = proctor.evaluate_sync(
            agent,
            {"eval_set_id": "s", "eval_cases": [case]},
            config={"criteria": {"trajectory_recall": 1.0}},
            explain=asked,  # type: ignore[arg-type]  # one of its literals
        )
        assert result.cases[0].metrics["trajectory_recall"].score == 0.5
        assert explained == expected


def test_steps_of_one_side_hold_for_both() -> None:
    at_once = Invocation.model_validate(
        {
            "user_content": {"parts": []},
            "intermediate_data": {
                "invocation_events": [
                    {
                        "author": "a",
                        "content": {"role": "model", "parts": [{"function_call": {"name": n}} for n in step]},
                    }
                    for step in ("fg", "h")
                ]
            },
        }
    )
    listed = turn(calls=[("g", {}), ("f", {}), ("h", {})])
    more = turn(calls=[("g", {}), ("f", {}), ("h", {}), ("h", {})])
    measure = metric("trajectory_strict_match")
    assert measure.score(view([at_once], [listed])).value == 1.0
    assert measure.score(view([listed], [at_once])).value == 1.0
    assert measure.score(view([more], [at_once])).value == 0.0
    case = view([at_once], [listed])
    steps = measure.explain(case, measure.score(case), 0).details["alignment"]
    assert [(step["kind"], step["expected"]["index"], step["actual"]["index"]) for step in steps] == [
        ("matched", 0, 1),
        ("matched", 1, 0),
        ("matched", 2, 2),
    ]


def test_messages_can_be_compared_only_where_they_are_recorded() -> None:
    measure = metric("trajectory_strict_match", messages="all")
    case = view([turn(calls=[])], [turn(calls=[])])
    score = measure.score(case)
    assert score.not_applicable
    assert "without messages to compare" in measure.explain(case, score, 0).reason
