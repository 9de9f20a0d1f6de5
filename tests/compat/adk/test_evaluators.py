"""Evaluators of google-adk's shape: prebuilt ones standalone, one's own by registration."""

import asyncio
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from proctor.common.registry import METRICS
from proctor.compat.adk.errors.not_found_error import NotFoundError
from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator
from proctor.compat.adk.evaluation.base_eval_service import EvaluateConfig, EvaluateRequest, InferenceRequest
from proctor.compat.adk.evaluation.eval_case import Invocation
from proctor.compat.adk.evaluation.eval_metrics import (
    BaseCriterion,
    EvalMetric,
    EvalStatus,
    Interval,
    MetricInfo,
    MetricValueInfo,
    PrebuiltMetrics,
    ToolTrajectoryCriterion,
)
from proctor.compat.adk.evaluation.eval_set import EvalSet
from proctor.compat.adk.evaluation.evaluator import EvaluationResult, Evaluator, PerInvocationResult
from proctor.compat.adk.evaluation.final_response_match_v1 import RougeEvaluator
from proctor.compat.adk.evaluation.in_memory_eval_sets_manager import InMemoryEvalSetsManager
from proctor.compat.adk.evaluation.local_eval_service import LocalEvalService
from proctor.compat.adk.evaluation.metric_evaluator_registry import (
    DEFAULT_METRIC_EVALUATOR_REGISTRY,
    MetricEvaluatorRegistry,
)
from proctor.compat.adk.evaluation.response_evaluator import ResponseEvaluator
from proctor.compat.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator
from tests.compat.golden.recorded import Json, golden

# --- prebuilt, standalone --------------------------------------------------------------------------------------------


def invocations(given: list[Json] | None) -> list[Invocation] | None:
    return None if given is None else [Invocation.model_validate(one) for one in given]


def compare(evaluator: Evaluator, vector: Json, theirs: Json) -> None:
    """Compare with what ADK's evaluator gave; an error there is a ValueError here."""
    actual, expected = invocations(vector["actual"]), invocations(vector["expected"])
    assert actual is not None
    if "error" in theirs:
        with pytest.raises(ValueError, match=r"\w"):
            evaluator.evaluate_invocations(actual, expected)
        return
    result = evaluator.evaluate_invocations(actual, expected)
    assert isinstance(result, EvaluationResult)
    recorded = theirs["ok"]
    assert_close(result.overall_score, recorded["overall_score"])
    assert result.overall_eval_status.name == recorded["overall_status"]
    for ours, one in zip(result.per_invocation_results, recorded["per_invocation"], strict=True):
        assert_close(ours.score, one["score"])
        assert ours.eval_status.name == one["status"]


def assert_close(ours: float | None, theirs: float | None) -> None:
    if ours is None or theirs is None:
        assert ours is theirs
    else:
        assert math.isclose(ours, theirs, rel_tol=1e-9)


def usable(vector: Json) -> bool:
    """Whether Proctor takes the threshold: one that cannot fail, or cannot pass, is refused."""
    return bool(0 < vector["threshold"] <= 1)


@pytest.mark.slow
@pytest.mark.parametrize("match_type", ["EXACT", "IN_ORDER", "ANY_ORDER"])
def test_trajectories_are_scored_as_there(shared: Path, match_type: str) -> None:
    compared = 0
    for vector in golden(shared, "trajectory.json", 194)["vectors"]:
        criterion = ToolTrajectoryCriterion(threshold=vector["threshold"], match_type=match_type)
        metric = EvalMetric(metric_name="tool_trajectory_avg_score", criterion=criterion)
        if not usable(vector):
            with pytest.raises(ValueError, match=r"cannot (fail|pass)"):
                TrajectoryEvaluator(eval_metric=metric)
            continue
        compare(TrajectoryEvaluator(eval_metric=metric), vector, vector["results"][match_type])
        compared += 1
    assert compared > 100


@pytest.mark.slow
def test_answers_are_scored_as_there(shared: Path) -> None:
    compared = 0
    for vector in golden(shared, "rouge_invocations.json", 70)["vectors"]:
        if usable(vector):
            criterion = BaseCriterion.model_validate({"threshold": vector["threshold"], "compat": "adk"})
            metric = EvalMetric(metric_name="response_match_score", criterion=criterion)
            compare(RougeEvaluator(metric), vector, vector["result"])
            compare(ResponseEvaluator(eval_metric=metric), vector, vector["result"])
            compared += 1
    assert compared > 30


def turn(answer: str) -> Invocation:
    return Invocation(user_content={"parts": [{"text": "q"}]}, final_response={"parts": [{"text": answer}]})


def test_an_evaluator_may_be_asked_inside_an_event_loop() -> None:
    async def test() -> EvaluationResult:
        return RougeEvaluator(threshold=0.5).evaluate_invocations([turn("a b")], [turn("a b")])

    assert asyncio.run(test()).overall_score == 1.0


def test_no_turns_are_no_score() -> None:
    assert TrajectoryEvaluator(threshold=0.5).evaluate_invocations([], []) == EvaluationResult()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (TrajectoryEvaluator, "either eval_metric or threshold"),
        (lambda: RougeEvaluator(EvalMetric(metric_name="x"), threshold=1), "either eval_metric or threshold"),
        (lambda: ResponseEvaluator(threshold=0.5, metric_name="safety_v1"), "response_match_score or"),
        (lambda: ResponseEvaluator(threshold=0.5), "response_match_score or"),
    ],
)
def test_what_an_evaluator_cannot_be_made_of(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


# --- one's own -------------------------------------------------------------------------------------------------------


class Short(Evaluator):
    """Whether answers are short."""

    made: ClassVar[int] = 0

    def __init__(self, eval_metric: EvalMetric) -> None:
        assert eval_metric.criterion is not None
        assert eval_metric.threshold == eval_metric.criterion.threshold
        self._most = getattr(eval_metric.criterion, "most", 10)
        if not isinstance(self._most, int):
            raise TypeError("most must be a whole number")
        self._threshold = eval_metric.threshold
        type(self).made += 1

    def evaluate_invocations(
        self,
        actual_invocations: list[Invocation],
        expected_invocations: list[Invocation] | None = None,
        conversation_scenario: Any = None,
    ) -> EvaluationResult:
        results = [self._judged(one) for one in actual_invocations]
        score = sum(one.score or 0.0 for one in results) / len(results)
        return EvaluationResult(
            overall_score=score, overall_eval_status=self._status(score), per_invocation_results=results
        )

    def _judged(self, actual: Invocation) -> PerInvocationResult:
        text = "".join(part.text or "" for part in actual.final_response.parts or ())  # type: ignore[union-attr]  # the agent answered
        score = float(len(text) <= self._most)
        return PerInvocationResult(actual_invocation=actual, score=score, eval_status=self._status(score))

    def _status(self, score: float) -> EvalStatus:
        return EvalStatus.PASSED if score >= (self._threshold or 0.0) else EvalStatus.FAILED


class Slow(Short):
    """The same, asynchronous, and without the scenario, as older ones are."""

    async def evaluate_invocations(  # type: ignore[override]  # as subclasses of older releases have it
        self, actual_invocations: list[Invocation], expected_invocations: list[Invocation] | None
    ) -> EvaluationResult:
        await asyncio.sleep(0)
        return super().evaluate_invocations(actual_invocations, expected_invocations)


class Contrary(Short):
    """Calls little good."""

    def _status(self, score: float) -> EvalStatus:
        return EvalStatus.FAILED if score >= 0.5 else EvalStatus.PASSED


def info(name: str = "shortness") -> MetricInfo:
    interval = Interval(min_value=0.0, max_value=1.0)
    return MetricInfo(
        metric_name=name,
        description="Short answers.",
        metric_value_info=MetricValueInfo(interval=interval),
    )


@pytest.fixture
def register() -> Iterator[Any]:
    def known(evaluator: type[Evaluator]) -> None:
        DEFAULT_METRIC_EVALUATOR_REGISTRY.register_evaluator(info(), evaluator)

    yield known
    METRICS.remove("shortness")
    DEFAULT_METRIC_EVALUATOR_REGISTRY._own.clear()


def agent(text: str) -> str:
    return text


def eval_set(*asked: str) -> EvalSet:
    cases = [
        {
            "eval_id": f"c{number}",
            "conversation": [{"user_content": {"role": "user", "parts": [{"text": one}]}}],
        }
        for number, one in enumerate(asked)
    ]
    return EvalSet.model_validate({"eval_set_id": "s", "eval_cases": cases})


@pytest.mark.parametrize("evaluator", [Short, Slow])
def test_one_that_is_registered_judges_by_its_name(register: Any, evaluator: type[Evaluator]) -> None:
    register(evaluator)
    criteria = {"shortness": 0.5}
    result = AgentEvaluator.evaluate_eval_set(agent, eval_set("short"), criteria, num_runs=1)
    assert result.cases[0].metrics["shortness"].score == 1.0
    with pytest.raises(AssertionError, match=r"shortness for agent Failed\. Expected 0\.5, but got 0\.0\."):
        AgentEvaluator.evaluate_eval_set(agent, eval_set("much too long to be short"), criteria)


def test_it_is_made_for_each_case_with_the_options_of_its_criterion(register: Any) -> None:
    register(Short)
    Short.made = 0
    criteria = {"shortness": {"threshold": 0.5, "most": 3}}
    with pytest.raises(AssertionError):
        AgentEvaluator.evaluate_eval_set(agent, eval_set("abc", "abcd"), criteria, num_runs=1)
    assert Short.made == 1 + 2  # once to see whether the criterion fits


def test_a_criterion_that_it_refuses_stops_the_run_before_the_first_call(register: Any) -> None:
    register(Short)
    criteria = {"shortness": {"threshold": 0.5, "most": "x"}}
    with pytest.raises(ValueError, match="Short refuses it: TypeError: most must be a whole number"):
        AgentEvaluator.evaluate_eval_set(agent, eval_set("abc"), criteria)


def test_an_evaluator_and_its_threshold_must_agree(register: Any) -> None:
    """ADK guesses the direction. Here a higher score is better; a metric that contradicts this is not a pass."""
    register(Contrary)
    with pytest.raises(AssertionError, match="was not evaluated") as failed:
        AgentEvaluator.evaluate_eval_set(agent, eval_set("ok"), {"shortness": 0.5}, num_runs=1)
    assert "its own verdict is FAILED for a score of 1 at the threshold 0.5" in str(failed.value)


def test_what_it_does_to_its_arguments_changes_no_evidence(register: Any) -> None:
    class Meddling(Short):
        def evaluate_invocations(self, actual_invocations: Any, *more: Any, **named: Any) -> EvaluationResult:
            result = super().evaluate_invocations(actual_invocations)
            actual_invocations[0].final_response = None
            actual_invocations.clear()
            return result

    register(Meddling)
    criteria = {"shortness": 0.5, "tool_trajectory_avg_score": 1.0}
    result = AgentEvaluator.evaluate_eval_set(agent, eval_set("ok"), criteria, num_runs=1)
    trial = result.cases[0].trials[0].trial
    assert trial is not None
    assert [one.final_response.joined_text() for one in trial.invocations if one.final_response] == ["ok"]


def test_separate_registry_applies_where_it_is_passed() -> None:
    registry = MetricEvaluatorRegistry()
    registry.register_evaluator(info(), Short)
    kept = InMemoryEvalSetsManager()
    kept.create_eval_set("app", "s")
    kept.add_eval_case("app", "s", eval_set("ok").eval_cases[0])
    metric = EvalMetric(metric_name="shortness", threshold=0.5)

    async def judged(**more: Any) -> list[str]:
        service = LocalEvalService(agent, kept, **more)
        request = InferenceRequest(app_name="app", eval_set_id="s")
        inferences = [one async for one in service.perform_inference(request)]
        asked = EvaluateRequest(
            inference_results=inferences, evaluate_config=EvaluateConfig(eval_metrics=[metric])
        )
        return [one.final_eval_status.name async for one in service.evaluate(asked)]

    assert asyncio.run(judged(metric_evaluator_registry=registry)) == ["PASSED"]
    with pytest.raises(ValueError, match="No metric named 'shortness'"):
        asyncio.run(judged())


def test_registries_list_what_they_have_and_refuse_what_they_have_not() -> None:
    registered = DEFAULT_METRIC_EVALUATOR_REGISTRY.get_registered_metrics()
    assert [one.metric_name for one in registered] == [name.value for name in PrebuiltMetrics]
    made = DEFAULT_METRIC_EVALUATOR_REGISTRY.get_evaluator(
        EvalMetric(metric_name="response_match_score", threshold=0.5)
    )
    answer = made.evaluate_invocations([turn("a")], [turn("a")])
    assert isinstance(answer, EvaluationResult)
    assert answer.overall_eval_status is EvalStatus.PASSED
    unknown = EvalMetric(metric_name="response_match_scor", threshold=0.5)
    with pytest.raises(NotFoundError, match="Did you mean 'response_match_score'"):
        DEFAULT_METRIC_EVALUATOR_REGISTRY.get_evaluator(unknown)
    empty = MetricEvaluatorRegistry()
    assert empty.get_registered_metrics() == []
    with pytest.raises(NotFoundError):
        empty.get_evaluator(unknown)
