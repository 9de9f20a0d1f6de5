"""A lazy object equals its value in every kind of access."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from proctor import EvalCase, evaluate_sync
from proctor.metrics.efficiency import lazy_score
from proctor.schema.results.run_result import CaseResult
from proctor.schema.results.score import MetricScore, MetricVerdict, Outcome, Score

LOOKS: dict[str, Callable[[Any], Any]] = {
    "equality": lambda one: one,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),
    "replace": dataclasses.replace,
    "a list": lambda one: [one][0],
}


THREE: Any = [1, 2, 3]


def make(which: Any) -> MetricScore:
    return MetricScore(0.5, [Score(0.5, "half")], "why", {"which": which})


def verdicts() -> dict[str, MetricVerdict]:
    return {"m": MetricVerdict("m", Outcome.PASSED, 1.0, 1.0)}


def waiting_result() -> CaseResult:
    result = CaseResult("set", "case", Outcome.PASSED)
    result.put_off_metrics(verdicts)
    return result


WAITING: dict[str, tuple[Callable[[], Any], Any]] = {
    "a score": (partial(lazy_score, make, THREE), make(THREE)),
    "a case's result": (waiting_result, CaseResult("set", "case", Outcome.PASSED, metrics=verdicts())),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
@pytest.mark.parametrize(("wait", "plain"), WAITING.values(), ids=WAITING)
def test_accessed_lazy_object_is_the_plain_value(
    wait: Callable[[], Any], plain: Any, look: Callable[[Any], Any]
) -> None:
    assert isinstance(wait(), type(plain))
    assert look(wait()) == plain
    assert plain == look(wait())
    assert type(look(wait())) in {type(plain), type(wait())}
    assert repr(look(wait())) == repr(plain)


@pytest.mark.parametrize(("wait", "plain"), WAITING.values(), ids=WAITING)
def test_two_that_wait_are_equal_and_differ_where_they_do(wait: Callable[[], Any], plain: Any) -> None:
    assert wait() == wait()
    assert wait() != object()
    assert lazy_score(make, []) != lazy_score(make, THREE)
    assert not hasattr(wait(), "no_such_thing")
    with pytest.raises(TypeError, match="unhashable"):
        hash(wait())


@pytest.mark.parametrize("name", [each.name for each in dataclasses.fields(MetricScore)])
def test_one_attribute_brings_all(name: str) -> None:
    score = lazy_score(make, THREE)
    assert type(score) is not MetricScore
    assert getattr(score, name) == getattr(make(THREE), name)
    assert type(score) is MetricScore


def test_value_is_computed_once_and_on_first_access() -> None:
    made: list[Any] = []

    def noted(which: Any) -> MetricScore:
        made.append(which)
        return make(which)

    score = lazy_score(noted, THREE)
    assert made == []
    assert (score.value, score.reason, score == make(THREE)) == (0.5, "why", True)
    assert made == [THREE]


def test_what_does_not_wait_is_there_at_once() -> None:
    result = waiting_result()
    assert (result.outcome, result.passed, repr(result)) == (
        Outcome.PASSED,
        True,
        "<CaseResult case: passed>",
    )
    assert type(result) is not CaseResult
    assert result.metrics["m"].score == 1.0
    assert type(result) is CaseResult


CASE = {
    "eval_id": "case",
    "conversation": [
        {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hello"}]}}
    ],
}


@pytest.mark.parametrize("keep", ["failures", "all"])
def test_a_case_that_passes_has_all_its_metrics_in_their_order(keep: Any) -> None:
    def agent(text: str) -> str:
        return "hello"

    criteria = {"response_match_score": 0.5, "tool_trajectory_avg_score": 1.0}
    result = evaluate_sync(
        agent,
        {"eval_set_id": "s", "eval_cases": [EvalCase.model_validate(CASE).model_dump()]},
        config={"criteria": criteria},
        keep_evidence=keep,
    )
    case = result.cases[0]
    assert case.passed
    assert {name: (metric.outcome.value, metric.score) for name, metric in case.metrics.items()} == {
        "response_match_score": ("passed", 1.0),
        "tool_trajectory_avg_score": ("passed", 1.0),
        "tool_call_count_v1": ("informational", 0.0),
        "inference_call_count_v1": ("informational", 0.0),
        "token_usage_v1": ("informational", None),
        "invocation_duration_v1": ("informational", case.metrics["invocation_duration_v1"].score),
    }
    assert list(case.metrics)[:2] == ["response_match_score", "tool_trajectory_avg_score"]
    assert [len(metric.per_trial) for metric in case.metrics.values()] == [int(keep == "all")] * 6
    assert case.metrics["token_usage_v1"].reason == "no token usage was reported"
