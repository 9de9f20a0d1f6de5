"""`weighted`: several metrics as one score, through the whole way from a config to a verdict."""

import asyncio
from math import inf
from typing import Any

import pytest
from hypothesis import given, strategies as st

import proctor
from proctor.common.registry import METRICS
from proctor.engine.planning.criteria import bind
from proctor.engine.run_options import RunOptions
from proctor.engine.scoring.score_trial import score_trial
from proctor.errors import CriterionError, SetupProblems
from proctor.metrics.base import CaseView
from proctor.metrics.weighted import Weighted
from proctor.schema.evidence.trial import Failure
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import MetricScore, Outcome, Score
from tests.metrics.invocations import turn

CLASS = {"code_config": {"name": "proctor.metrics.weighted.Weighted"}}


def weighted(scores: dict[str, MetricScore], weights: dict[str, float], turns: int = 1) -> MetricScore:
    view = CaseView(eval_id="case", actual=[turn("a")] * turns, scores=scores)
    return Weighted(BaseCriterion(threshold=0.5, weights=weights)).score(view)


def by_turn(*values: float | None) -> MetricScore:
    known = [value for value in values if value is not None]
    turns = [
        Score(value) if value is not None else Score(reason="nothing there", not_applicable=True)
        for value in values
    ]
    return MetricScore(sum(known) / len(known), turns)


def test_the_weighted_mean_over_the_case_and_for_each_turn() -> None:
    score = weighted({"a": by_turn(1.0, 0.0), "b": by_turn(0.5, 0.5)}, {"a": 3, "b": 1}, turns=2)
    assert score.value == pytest.approx((3 * 0.5 + 0.5) / 4)
    assert [each.value for each in score.per_invocation] == pytest.approx([3.5 / 4, 0.5 / 4])
    assert score.reason == "0.50 = (3 × 0.50 a + 1 × 0.50 b) / 4"


def test_part_without_a_score_is_left_out_with_its_weight_and_named() -> None:
    absent = MetricScore(not_applicable=True, reason="the case states no reference")
    score = weighted({"a": by_turn(0.8), "b": absent}, {"a": 1, "b": 9, "c": 5})
    assert score.value == 0.8
    assert score.reason == (
        "0.80 = (1 × 0.80 a) / 1; b does not count here: the case states no reference; "
        "c does not count here: it does not apply to this case"
    )
    assert [part["score"] for part in (score.details or {})["weighted"]] == [0.8, None, None]


def test_a_metric_without_scores_by_turn_counts_for_the_case_only() -> None:
    score = weighted({"a": by_turn(1.0), "state": MetricScore(0.0)}, {"a": 1, "state": 1})
    assert (score.value, score.per_invocation[0].value) == (0.5, 1.0)


def test_a_turn_where_one_does_not_apply_is_scored_by_the_others() -> None:
    score = weighted({"a": by_turn(None, 1.0), "b": by_turn(0.5, 0.5)}, {"a": 1, "b": 1}, turns=2)
    assert [each.value for each in score.per_invocation] == [0.5, 0.75]


@pytest.mark.parametrize(
    ("weights", "problem"),
    [
        (
            {"a": 1e308, "b": 1e308},
            "weights.a: Input should be less than or equal to 1000000",
        ),  # their sum is not a number
        ({"a": 1, "b": 1e9}, "weights.b"),  # nothing else would count
        ({"a": 5e-324}, "weights.a: Input should be greater than or equal to 0.000001"),
        ({"a": 0}, "weights.a"),
        ({"a": 0, "b": 0}, "weights.a: .*; weights.b: "),
        ({"a": 1, "b": -1}, "weights.b"),
        ({"a": float("inf")}, "finite"),
        ({"a": float("nan")}, "finite"),
        ({"a": True}, "weights.a"),
        ({"a": "2"}, "weights.a"),
        ({"a": None}, "weights.a"),
        ({"a": 10**400}, "weights.a"),
        ({}, "weights: expected a value, as in"),
    ],
)
def test_weights_that_cannot_be_combined_are_refused(weights: dict[str, Any], problem: str) -> None:
    with pytest.raises(CriterionError, match=problem):
        Weighted(BaseCriterion(threshold=0.5, weights=weights))


@pytest.mark.parametrize(("low", "high"), [(1e-6, 1e6), (1e6, 1e-6), (1, 1e6), (1e-6, 1e-6)])
def test_the_most_extreme_weights_give_a_mean(low: float, high: float) -> None:
    score = weighted({"a": by_turn(1.0), "b": by_turn(0.25)}, {"a": low, "b": high})
    assert score.value == pytest.approx((low + 0.25 * high) / (low + high))


def test_where_nothing_applies_it_does_not_either() -> None:
    score = weighted({"a": MetricScore(not_applicable=True, reason="no")}, {"a": 1})
    assert (score.value, score.not_applicable, score.failure) == (None, True, None)
    assert score.reason == "none of the combined metrics applies"


def test_what_could_not_be_computed_makes_it_an_error() -> None:
    broken = MetricScore(failure=Failure(where="metric", type="ZeroDivisionError", message="oh"))
    failure = weighted({"a": by_turn(1.0), "b": broken}, {"a": 1, "b": 1}).failure
    assert failure is not None
    assert (
        "the combined metric b could not be computed: metric raised: ZeroDivisionError: oh" in failure.message
    )


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0.001, 1000)), min_size=1, max_size=5),
    st.floats(0.01, 100),
)
def test_result_is_between_its_parts_and_depends_on_shares_only(
    parts: list[tuple[float, float]], factor: float
) -> None:
    scores = {f"m{i}": MetricScore(value) for i, (value, _) in enumerate(parts)}
    weights = {f"m{i}": weight for i, (_, weight) in enumerate(parts)}
    value = weighted(scores, weights).value
    assert value is not None
    assert min(each for each, _ in parts) <= value <= max(each for each, _ in parts)
    scaled = weighted(scores, {name: weight * factor for name, weight in weights.items()}).value
    assert scaled == pytest.approx(value)


# --- from a config ------------------------------------------------------------------------------------------------------

GATE_OFF = {"threshold": 0.5, "gate": False}


def scored(criteria: dict[str, Any], **more: Any) -> dict[str, Any]:
    actual, expected = [turn("a b c"), turn("d")], [turn("a b d"), turn()]
    return proctor.score_sync(actual, expected, criteria={"criteria": criteria, **more})


def test_it_is_scored_last_for_any_position_in_the_config() -> None:
    found = scored(
        {
            "weighted": {"threshold": 0.5, "weights": {"response_match_score": 2, "exact_match": 1}},
            "response_match_score": GATE_OFF,
            "exact_match": GATE_OFF,
        }
    )
    assert found["weighted"].score == pytest.approx((2 * 2 / 3 + 0) / 3)
    assert found["weighted"].outcome is Outcome.FAILED
    assert "2 × 0.67 response_match_score + 1 × 0.00 exact_match" in found["weighted"].reason


def test_combinations_may_be_combined_by_name() -> None:
    found = scored(
        {
            "all": {"threshold": 0.5, "weights": {"words": 1, "exact_match": 1}},
            "words": {"threshold": 0.5, "weights": {"rouge_1": 1, "rouge_l": 1}},
            "rouge_1": GATE_OFF,
            "rouge_l": GATE_OFF,
            "exact_match": GATE_OFF,
        },
        custom_metrics={"all": CLASS, "words": CLASS},
    )
    assert found["words"].score == pytest.approx(2 / 3)
    assert found["all"].score == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("criteria", "message"),
    [
        ({"weighted": 0.8, "rouge_1": 0.5}, "weights: expected a value, as in"),
        (
            {"weighted": {"threshold": 0.8, "weights": {"rouge_1": 0}}, "rouge_1": 0.5},
            "greater than or equal to 0.000001",
        ),
        ({"weighted": {"threshold": 0.8, "weights": {"rouge_1": "x"}}, "rouge_1": 0.5}, "valid number"),
        (
            {"weighted": {"threshold": 0.8, "weigths": {"rouge_1": 1}}, "rouge_1": 0.5},
            "Did you mean 'weights'",
        ),
        (
            {"weighted": {"threshold": 0.8, "weights": {"rouge_2": 1}}, "rouge_1": 0.5},
            "'rouge_2', which the criteria",
        ),
        (
            {"weighted": {"threshold": 0.8, "weights": {"weighted": 1}}},
            "in a circle: 'weighted' → 'weighted'",
        ),
        (
            {"weighted": {"threshold": 0.8, "weights": {"token_usage_v1": 1}}},
            "cannot combine 'token_usage_v1': it counts",
        ),
        ({"weighted": {"threshold": 1.5, "weights": {"rouge_1": 1}}, "rouge_1": 0.5}, "cannot pass"),
    ],
)
def test_mistakes_are_found_before_anything_runs(criteria: dict[str, Any], message: str) -> None:
    with pytest.raises(SetupProblems, match=message):
        scored(criteria)


def test_missing_criterion_is_an_error() -> None:
    with pytest.raises(CriterionError, match="weights: expected a value, as in"):
        Weighted()


def stars(actual: Any) -> float:
    """One to five stars."""
    return 4.0


@pytest.mark.parametrize(
    ("interval", "threshold", "outcome", "score"),
    [({"min_value": 1, "max_value": 5}, 3.0, Outcome.PASSED, 0.75), (None, 0.9, Outcome.ERROR, None)],
)
def test_another_range_is_brought_into_0_to_1_where_it_is_stated(
    interval: Any, threshold: float, outcome: Outcome, score: float | None
) -> None:
    info = {"metric_info": {"metric_name": "stars", "metric_value_info": {"interval": interval}}}
    found = scored(
        {"weighted": {"threshold": 0.5, "weights": {"stars": 1}}, "stars": {"threshold": threshold}},
        custom_metrics={"stars": {"code_config": {"name": f"{__name__}.stars"}, **info}},
    )["weighted"]
    assert (found.outcome, found.score) == (outcome, score)
    if score is None:
        assert "the combined metric stars could not be computed" in found.reason
        assert "returned 4 for turn 1, outside its range of 0 to 1" in found.reason


def test_a_metric_of_any_numbers_cannot_be_combined() -> None:
    proctor.metric("counted", maximum=inf)(stars)
    try:
        found = scored({"weighted": {"threshold": 0.5, "weights": {"counted": 1}}, "counted": 3.0})[
            "weighted"
        ]
    finally:
        METRICS.remove("counted")
    assert found.outcome is Outcome.ERROR
    assert "counted gave 4, but only 0 to 1 can be combined: declare its range" in found.reason


def agent(text: str) -> str:
    return "a b c"


def run(criteria: dict[str, Any], **options: Any) -> Any:
    case = {
        "eval_id": "one",
        "conversation": [
            {"user_content": {"parts": [{"text": "q"}]}, "final_response": {"parts": [{"text": "a b d"}]}}
        ],
    }
    return proctor.evaluate_sync(
        agent, {"eval_set_id": "s", "eval_cases": [case]}, config={"criteria": criteria}, **options
    )


def test_in_a_run_it_may_decide_alone() -> None:
    criteria = {"weighted": {"threshold": 0.6, "weights": {"rouge_1": 1}}, "rouge_1": GATE_OFF}
    result = run(criteria)
    assert result.passed
    assert result.cases[0].metrics["weighted"].score == pytest.approx(2 / 3)


def test_what_it_lacks_is_shown_though_its_parts_decide_nothing() -> None:
    weights = {"rouge_1": 1, "trajectory_exact_match": 1}
    off = {"threshold": 0.1, "gate": False}
    criteria = {
        "weighted": {"threshold": 0.9, "weights": weights},
        "rouge_1": off,
        "trajectory_exact_match": off,
    }
    [case] = run(criteria).cases
    [turn_score] = case.metrics["weighted"].per_trial[0].per_invocation
    assert turn_score.reason.startswith(
        "0.83 = (1 × 0.67 rouge_1 + 1 × 1.00 trajectory_exact_match) / 2; rouge_1: "
    )
    assert turn_score.details["text"] == {"expected": "a b d", "actual": "a b c"}
    assert [part["name"] for part in turn_score.details["weighted"]] == [*weights]
    assert case.metrics["trajectory_exact_match"].per_trial[0].per_invocation[0].reason
    passed = run({**criteria, "weighted": {"threshold": 0.5, "weights": weights}}).cases[0]
    assert not passed.metrics["rouge_1"].per_trial[0].per_invocation[0].details  # not requested


def test_with_the_final_state_check_of_a_case_that_states_none() -> None:
    weights = {"rouge_1": 1, "final_session_state": 1}
    result = run({"weighted": {"threshold": 0.6, "weights": weights}, "rouge_1": GATE_OFF})
    assert result.cases[0].metrics["weighted"].score == pytest.approx(2 / 3)


def test_a_case_for_which_no_part_applies_is_refused_before_the_run() -> None:
    criteria = {
        "weighted": {"threshold": 0.6, "weights": {"intermediate_response_match": 1}},
        "intermediate_response_match": GATE_OFF,
    }
    with pytest.raises(SetupProblems, match="nothing decides it: weighted: none of"):
        run(criteria)


def test_left_out_metrics_of_a_combination_are_a_mistake() -> None:
    criteria = {"weighted": {"threshold": 0.6, "weights": {"rouge_1": 1}}, "rouge_1": GATE_OFF}
    with pytest.raises(SetupProblems, match="'weighted' combines 'rouge_1', which --metrics leaves out"):
        run(criteria, metrics=["weighted"])
    assert run(criteria, metrics=["weighted", "rouge_1"]).passed


def test_scores_of_an_earlier_process_count_as_if_they_had_been_found_now() -> None:
    config = EvalConfig.model_validate(
        {
            "criteria": {
                "weighted": {"threshold": 0.6, "weights": {"rouge_1": 1, "rouge_l": 1}},
                "rouge_1": 0.5,
                "rouge_l": 0.5,
            }
        }
    )
    metrics = [
        metric for metric in bind(config, RunOptions()).metrics if metric.name in {"weighted", "rouge_l"}
    ]
    known = {"rouge_1": MetricScore(0.5)}
    view = CaseView(eval_id="case", actual=[turn("a b")], expected=[turn("a b")], scores=known)
    scores = asyncio.run(score_trial(metrics, view))
    assert [(metric.name, score.value) for metric, score in zip(metrics, scores, strict=True)] == [
        ("rouge_l", 1.0),
        ("weighted", 0.75),
    ]
