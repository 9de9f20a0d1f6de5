"""adk-ts's evaluation in Python: its recorded runs come out as recorded, or are listed; the documents' examples work."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from proctor import IntermediateData
from proctor.compat.adk.awaiting import ForgottenAwaitError, forgotten
from proctor.compat.adk_ts import (
    AgentEvaluator,
    EvalStatus,
    EvaluationResult,
    Evaluator,
    FinalResponseMatchV2Evaluator,
    Invocation,
    LocalEvalService,
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

    with pytest.raises(BaseException, match="not awaited") as told:
        asyncio.run(main())
    assert isinstance(told.value, ForgottenAwaitError | asyncio.CancelledError)
    assert forgotten()  # else pytest's plug-in fails this test for it


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
def test_what_needs_a_judge_says_so(kind: Any) -> None:
    with pytest.raises(ValueError, match=r"gemini-2\.5-flash cannot be asked: set .*GOOGLE_API_KEY"):
        kind(1.0).evaluate_invocations([TURN], [TURN])


@pytest.mark.parametrize("kind", [TrajectoryEvaluator, RougeEvaluator])
def test_a_threshold_that_nothing_fails_is_refused(kind: Any) -> None:
    with pytest.raises(ValueError, match="cannot"):
        kind(0.0)


def test_metrics_tell_about_themselves() -> None:
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
