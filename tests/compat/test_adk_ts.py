"""adk-ts's evaluation in Python: its recorded runs come out as recorded, or are listed; the documents' examples work."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor import IntermediateData
from proctor.compat.adk.sync_or_async import ForgottenAwaitError, unawaited_messages
from proctor.compat.adk_ts import (
    DEFAULT_METRIC_EVALUATOR_REGISTRY,
    AgentEvaluator,
    EvalStatus,
    EvaluationResult,
    Evaluator,
    FinalResponseMatchV2Evaluator,
    Invocation,
    LocalEvalService,
    MetricEvaluatorRegistry,
    PerInvocationResult,
    PrebuiltMetrics,
    ResponseEvaluator,
    RougeEvaluator,
    SafetyEvaluatorV1,
    TrajectoryEvaluator,
)

EVAL_SET = {
    "evalSetId": "search-agent-v1",
    "name": "Search Agent Tests",
    "evalCases": [
        {
            "evalId": "test-1",
            "conversation": [
                {
                    "invocationId": "inv-1",
                    "userContent": {"role": "user", "parts": [{"text": "Search for the latest AI news"}]},
                    "finalResponse": {
                        "role": "model",
                        "parts": [{"text": "Here are the latest AI developments..."}],
                    },
                    "intermediateData": {
                        "toolUses": [{"name": "search", "args": {"query": "latest AI news"}}],
                        "intermediateResponses": [],
                    },
                    "creationTimestamp": 1234567890,
                }
            ],
        }
    ],
    "creationTimestamp": 1234567890,
}
CRITERIA = {PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE: 1.0, PrebuiltMetrics.RESPONSE_MATCH_SCORE: 0.75}


def searches(text: str) -> dict[str, Any]:
    call = {"name": "search", "args": {"query": "latest AI news"}, "response": {"found": 3}}
    return {"tool_calls": [call], "text": "Here are the latest AI developments..."}


def does_nothing(text: str) -> str:
    return "I do not know."


# --- as recorded -------------------------------------------------------------------------------------------------------

DIFFERENT = {
    "edge/no_expected_tools_field": "no calls are stated, and none were made; there it is not evaluated, and fails",
    "edge/turn_without_reference": "a text is not compared where none is stated; there the run breaks",
    "edge/no_reference_at_all": "the same",
}


@pytest.mark.slow
def test_every_recorded_run_comes_out_as_recorded_or_is_listed(shared: Path) -> None:
    found = json.loads((shared / "golden" / "sister" / "ts_runner.json").read_text())["cases"]
    different = set()
    for vector in found:
        try:
            AgentEvaluator.evaluate_eval_set(
                lambda text, replies=vector["replies"]: replies.get(text, ""),
                vector["evalSet"],
                dict(vector["metrics"]),
                vector["runs"],
            )
        except (AssertionError, ValueError):
            passes = False
        else:
            passes = True
        if passes != (vector["expected_result"]["evaluate_eval_set"] == "passes"):
            different.add(vector["id"])
    assert len(found) == 33
    assert different == {*DIFFERENT}


# --- AgentEvaluator ----------------------------------------------------------------------------------------------------


def test_the_documents_example_passes() -> None:
    result = AgentEvaluator.evaluate_eval_set(
        searches, EVAL_SET, CRITERIA, 2, print_detailed_results=True
    ).result
    assert (result.passed, result.num_runs) == (True, 2)


def test_awaited_it_does_the_same_and_fails_with_the_evidence() -> None:
    async def main() -> None:
        await AgentEvaluator.evaluate_eval_set(searches, EVAL_SET, CRITERIA)
        with pytest.raises(AssertionError, match="search"):
            await AgentEvaluator.evaluate_eval_set(does_nothing, EVAL_SET, CRITERIA)

    asyncio.run(main())


def test_a_forgotten_await_is_never_green() -> None:
    async def main() -> None:
        AgentEvaluator.evaluate_eval_set(does_nothing, EVAL_SET, CRITERIA)
        await asyncio.sleep(0)

    with pytest.raises(BaseException, match="not awaited") as caught:
        asyncio.run(main())
    assert isinstance(caught.value, ForgottenAwaitError | asyncio.CancelledError)
    assert unawaited_messages()  # else pytest's plug-in fails this test for it


def test_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "a.test.json").write_text(json.dumps(EVAL_SET))
    (tmp_path / "other.json").write_text("{}")
    assert AgentEvaluator.evaluate(searches, tmp_path, 3).result.num_runs == 3
    (tmp_path / "below" / "test_config.json").write_text('{"criteria": {"exact_match": 1.0}}')
    with pytest.raises(AssertionError):
        AgentEvaluator.evaluate(does_nothing, str(tmp_path / "below" / "a.test.json"))


def test_trajectories_are_read_as_there() -> None:
    """Arguments that are missing, null and empty are the same in adk-ts."""
    eval_set = json.loads(json.dumps(EVAL_SET))
    eval_set["evalCases"][0]["conversation"][0]["intermediateData"]["toolUses"] = [{"name": "search"}]

    def bare(text: str) -> dict[str, Any]:
        return {
            "tool_calls": [{"name": "search", "args": {}}],
            "text": "Here are the latest AI developments...",
        }

    assert AgentEvaluator.evaluate_eval_set(bare, eval_set, CRITERIA).result.passed


# --- evaluators --------------------------------------------------------------------------------------------------------

TURN = Invocation.model_validate(EVAL_SET["evalCases"][0]["conversation"][0])  # type: ignore[index]  # known above
OTHER = TURN.model_copy(update={"intermediate_data": IntermediateData()})

ALONE = {
    "the same calls": (TrajectoryEvaluator(1.0), TURN, 1.0, EvalStatus.PASSED),
    "no calls": (TrajectoryEvaluator(1.0), OTHER, 0.0, EvalStatus.FAILED),
    "the same words": (RougeEvaluator(0.8), TURN, 1.0, EvalStatus.PASSED),
    "by metric": (
        ResponseEvaluator({"metricName": "response_match_score", "threshold": 0.8}),
        TURN,
        1.0,
        EvalStatus.PASSED,
    ),
}


@pytest.mark.parametrize(("evaluator", "actual", "score", "status"), ALONE.values(), ids=ALONE)
def test_evaluators_work_alone(
    evaluator: Evaluator, actual: Invocation, score: float, status: EvalStatus
) -> None:
    plainly = evaluator.evaluate_invocations([actual], [TURN]).result

    async def main() -> EvaluationResult:
        result: EvaluationResult = await evaluator.evaluate_invocations([actual], [TURN])
        return result

    for result in (plainly, asyncio.run(main())):
        assert (result.overall_score, result.overall_eval_status) == (score, status)
        assert [each.eval_status for each in result.per_invocation_results] == [status]


@pytest.mark.parametrize("kind", [FinalResponseMatchV2Evaluator, SafetyEvaluatorV1])
def test_metric_with_a_judge_is_marked(kind: Any) -> None:
    with pytest.raises(ValueError, match=r"gemini-2\.5-flash cannot be asked: set .*GOOGLE_API_KEY"):
        kind(1.0).evaluate_invocations([TURN], [TURN])


@pytest.mark.parametrize("kind", [TrajectoryEvaluator, RougeEvaluator])
def test_a_threshold_that_nothing_fails_is_refused(kind: Any) -> None:
    with pytest.raises(ValueError, match="cannot"):
        kind(0.0)


def test_metrics_describe_themselves() -> None:
    info = TrajectoryEvaluator.get_metric_info()
    interval = info.metric_value_info.interval
    assert info.metric_name == "tool_trajectory_avg_score"
    assert interval is not None
    assert (interval.min_value, interval.max_value) == (0.0, 1.0)


class IntentMatch(Evaluator):
    """The documents' own evaluator."""

    def __init__(self, threshold: float = 1.0) -> None:
        super().__init__({"metric_name": "intent_match", "threshold": threshold})

    async def evaluate_invocations(
        self, actual_invocations: Any, expected_invocations: Any
    ) -> EvaluationResult:
        results = []
        for actual, expected in zip(actual_invocations, expected_invocations, strict=True):
            score = float(self.intent(actual) == self.intent(expected))
            passed = score >= (self.metric.threshold or 0)
            status = EvalStatus.PASSED if passed else EvalStatus.FAILED
            results.append(
                PerInvocationResult(
                    actual_invocation=actual, expected_invocation=expected, score=score, eval_status=status
                )
            )
        average = sum(each.score or 0 for each in results) / len(results)
        return EvaluationResult(
            overall_score=average, overall_eval_status=EvalStatus.PASSED, per_invocation_results=results
        )

    @staticmethod
    def intent(invocation: Invocation) -> str:
        text = invocation.user_content.joined_text().lower()
        return "search" if "search" in text else "unknown"


def test_an_evaluator_of_ones_own() -> None:
    result = asyncio.run(IntentMatch().evaluate_invocations([TURN], [TURN]))
    assert result.overall_score == 1.0


# --- evaluators that criteria name -------------------------------------------------------------------------------------


def evaluation(score: float, threshold: float, turns: int = 1) -> dict[str, Any]:
    """A result as adk-ts's documents spell it."""
    status = EvalStatus.PASSED if score >= threshold else EvalStatus.FAILED
    turn = {"actualInvocation": TURN, "expectedInvocation": TURN, "score": score, "evalStatus": status}
    return {
        "overallScore": score,
        "overallEvalStatus": status,
        "perInvocationResults": [turn] * turns,
    }


class Brevity(Evaluator):
    """Whether the answer is at most as long as the reference."""

    def __init__(self, threshold: float = 0.8) -> None:
        super().__init__({"metricName": "brevity", "threshold": threshold})

    def evaluate_invocations(self, actual_invocations: Any, expected_invocations: Any) -> Any:
        lengths = [
            [len(turn.final_response.joined_text()) for turn in turns]
            for turns in (actual_invocations, expected_invocations)
        ]
        score = sum(made <= wanted for made, wanted in zip(*lengths, strict=True)) / len(lengths[0])
        return evaluation(score, self.metric.threshold or 0, len(lengths[0]))

    @staticmethod
    def get_metric_info() -> dict[str, Any]:
        return {"metricName": "brevity", "description": "how short", "defaultThreshold": 0.8}


class BrevityLater(Brevity):
    async def evaluate_invocations(self, actual_invocations: Any, expected_invocations: Any) -> Any:
        await asyncio.sleep(0)
        return super().evaluate_invocations(actual_invocations, expected_invocations)


class BrevityByMetric(Brevity):
    def __init__(self, eval_metric: Any) -> None:
        Evaluator.__init__(self, eval_metric)


@pytest.fixture
def registry() -> Iterator[MetricEvaluatorRegistry]:
    yield DEFAULT_METRIC_EVALUATOR_REGISTRY
    for info in DEFAULT_METRIC_EVALUATOR_REGISTRY.get_registered_metrics():
        DEFAULT_METRIC_EVALUATOR_REGISTRY.unregister(info.metric_name)


def long_winded(text: str) -> str:
    return "Here are the latest AI developments... " * 3


@pytest.mark.parametrize("kind", [Brevity, BrevityLater, BrevityByMetric])
def test_criteria_name_a_registered_evaluator(registry: MetricEvaluatorRegistry, kind: Any) -> None:
    registry.register(kind)
    result = AgentEvaluator.evaluate_eval_set(searches, EVAL_SET, {"brevity": 0.8}).result
    assert result.cases[0].metrics["brevity"].score == 1.0
    with pytest.raises(AssertionError, match="brevity"):
        AgentEvaluator.evaluate_eval_set(long_winded, EVAL_SET, {"brevity": 0.8})


def test_config_files_and_the_service_name_it_too(registry: MetricEvaluatorRegistry, tmp_path: Path) -> None:
    registry.register(Brevity)
    (tmp_path / "a.test.json").write_text(json.dumps(EVAL_SET))
    (tmp_path / "test_config.json").write_text('{"criteria": {"brevity": 0.8}}')
    AgentEvaluator.evaluate(searches, tmp_path)
    with pytest.raises(AssertionError, match="brevity"):
        AgentEvaluator.evaluate(long_winded, tmp_path)

    async def main() -> list[EvalStatus]:
        service = LocalEvalService(long_winded)
        inferred = [one async for one in service.perform_inference({"eval_cases": [EVAL_SET]})]
        metrics = {"eval_metrics": [{"metric_name": "brevity", "threshold": 0.8}]}
        request = {"inference_results": inferred, "evaluate_config": metrics}
        return [one.final_eval_status async for one in service.evaluate(request)]

    assert asyncio.run(main()) == [EvalStatus.FAILED]


def test_an_unregistered_evaluator_is_an_unknown_metric() -> None:
    with pytest.raises(ValueError, match="brevity"):
        AgentEvaluator.evaluate_eval_set(searches, EVAL_SET, {"brevity": 0.8})


class Raises(Brevity):
    def evaluate_invocations(self, actual_invocations: Any, expected_invocations: Any) -> Any:
        raise RuntimeError("no dictionary")


class AnswersNothing(Brevity):
    def evaluate_invocations(self, actual_invocations: Any, expected_invocations: Any) -> Any:
        return None


class PassesAnything(Brevity):
    def evaluate_invocations(self, actual_invocations: Any, expected_invocations: Any) -> Any:
        return {**evaluation(0.1, 0.8), "overallEvalStatus": EvalStatus.PASSED}


class OutOfRange(Brevity):
    def evaluate_invocations(self, actual_invocations: Any, expected_invocations: Any) -> Any:
        return evaluation(80, 0.8)


class TooFewTurns(Brevity):
    def evaluate_invocations(self, actual_invocations: Any, expected_invocations: Any) -> Any:
        return evaluation(1.0, 0.8, turns=2)


BROKEN = {
    "raises": (Raises, "no dictionary"),
    "answers nothing": (AnswersNothing, "its answer"),
    "passes a score below the threshold": (PassesAnything, "its own verdict is PASSED"),
    "a score beyond its range": (OutOfRange, "80"),
    "scores of other turns": (TooFewTurns, "2 per_invocation_results for 1 turn"),
}


@pytest.mark.parametrize(("kind", "message"), BROKEN.values(), ids=BROKEN)
def test_what_a_broken_evaluator_answers_is_an_error(
    registry: MetricEvaluatorRegistry, kind: Any, message: str
) -> None:
    registry.register(kind)
    with pytest.raises(AssertionError, match=message) as caught:
        AgentEvaluator.evaluate_eval_set(searches, EVAL_SET, {"brevity": 0.8})
    assert caught.value.result.exit_code == 3  # type: ignore[attr-defined]  # the exception has it


class OwnThreshold(Brevity):
    def __init__(self) -> None:
        super().__init__(0.5)


class NoInfo(Evaluator):
    def evaluate_invocations(self, actual_invocations: Any, expected_invocations: Any) -> Any:
        return None


class NoMethod(Evaluator):
    pass


REFUSED = {
    "a built-in name": (lambda r: r.register_evaluator({"metricName": "safety_v1"}, Brevity), "another metric"),
    "a subclass with its parent's name": (lambda r: r.register(type("Mine", (RougeEvaluator,), {})), "another metric"),
    "an instance": (lambda r: r.register(Brevity(0.8)), "expected a subclass of Evaluator, got Brevity"),
    "a function": (lambda r: r.register(searches), "expected a subclass of Evaluator, got function"),
    "no rule": (lambda r: r.register(NoMethod), "expected a method evaluate_invocations"),
    "no name": (lambda r: r.register(NoInfo), "get_metric_info"),
    "no name in its description": (lambda r: r.register_evaluator({}, Brevity), "get_metric_info.metric_name"),
    "a range of nothing": (
        lambda r: r.register_evaluator(
            {"metricName": "x", "metricValueInfo": {"interval": {"minValue": 1, "maxValue": 1}}}, Brevity
        ),
        "range from 1 to 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("register", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_registered(registry: MetricEvaluatorRegistry, register: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        register(registry)
    assert registry.get_registered_metrics() == []


@pytest.mark.parametrize(
    ("kind", "criterion", "message"),
    [
        (OwnThreshold, 0.8, "has the threshold 0.5, and the criterion asks for 0.8"),
        (Brevity, 0.0, "cannot fail"),
        (Brevity, 1.5, "cannot pass"),
        (Brevity, {"thresold": 0.8}, "threshold"),
    ],
)
def test_a_criterion_that_does_not_fit_is_refused(
    registry: MetricEvaluatorRegistry, kind: Any, criterion: Any, message: str
) -> None:
    registry.register(kind)
    with pytest.raises(ValueError, match=message):
        AgentEvaluator.evaluate_eval_set(searches, EVAL_SET, {"brevity": criterion})


# --- the service -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "status"), [(searches, EvalStatus.PASSED), (does_nothing, EvalStatus.FAILED)]
)
def test_the_service_takes_sets_directly(agent: Any, status: EvalStatus) -> None:
    async def main() -> list[EvalStatus]:
        service = LocalEvalService(agent)
        request = {"evalSetId": EVAL_SET["evalSetId"], "evalCases": [EVAL_SET]}
        inferred = [result async for result in service.perform_inference(request)]
        judge = {
            "inference_results": inferred,
            "evaluate_config": {"eval_metrics": [{"metric_name": "response_match_score", "threshold": 0.8}]},
        }
        return [result.final_eval_status async for result in service.evaluate(judge)]

    assert asyncio.run(main()) == [status]


@pytest.mark.parametrize("request_", [{}, {"eval_cases": []}, {"eval_cases": [{}]}])
def test_a_request_without_sets_is_refused(request_: dict[str, Any]) -> None:
    async def main() -> None:
        async for _ in LocalEvalService(searches).perform_inference(request_):
            pass

    with pytest.raises(ValueError, match=r"eval_cases|eval_set_id|evalSetId"):
        asyncio.run(main())
