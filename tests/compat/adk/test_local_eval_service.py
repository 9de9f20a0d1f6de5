"""google-adk's recorded runs of its evaluation service, through `LocalEvalService` here: the same evidence and numbers."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from proctor.compat.adk.errors.not_found_error import NotFoundError
from proctor.compat.adk.evaluation.base_eval_service import (
    EvaluateConfig,
    EvaluateRequest,
    InferenceConfig,
    InferenceRequest,
    InferenceResult,
    InferenceStatus,
)
from proctor.compat.adk.evaluation.eval_case import EvalCase, SessionInput
from proctor.compat.adk.evaluation.eval_config import EvalConfig, get_eval_metrics_from_config
from proctor.compat.adk.evaluation.eval_metrics import EvalMetric
from proctor.compat.adk.evaluation.eval_result import EvalCaseResult
from proctor.compat.adk.evaluation.eval_set import EvalSet
from proctor.compat.adk.evaluation.in_memory_eval_sets_manager import InMemoryEvalSetsManager
from proctor.compat.adk.evaluation.local_eval_service import LocalEvalService
from proctor.compat.adk.evaluation.local_eval_set_results_manager import LocalEvalSetResultsManager
from proctor.compat.adk.evaluation.local_eval_sets_manager import load_eval_set_from_file
from tests.compat.golden.recorded import DURATION, Json, config_of, golden, metrics_of

APP = "scripted_app"
RECORDED = 16


def kept(eval_set: EvalSet) -> InMemoryEvalSetsManager:
    manager = InMemoryEvalSetsManager()
    manager.create_eval_set(APP, eval_set.eval_set_id)
    for case in eval_set.eval_cases:
        manager.add_eval_case(APP, eval_set.eval_set_id, case)
    return manager


async def run(
    service: LocalEvalService, eval_set_id: str, metrics: list[EvalMetric], ids: list[str] | None = None
) -> tuple[list[InferenceResult], list[EvalCaseResult]]:
    request = InferenceRequest(app_name=APP, eval_set_id=eval_set_id, eval_case_ids=ids)
    inferences = [one async for one in service.perform_inference(request)]
    asked = EvaluateRequest(
        inference_results=inferences, evaluate_config=EvaluateConfig(eval_metrics=metrics)
    )
    return inferences, [one async for one in service.evaluate(asked)]


def recorded_runs(shared: Path) -> list[Json]:
    runs = [
        one
        for one in golden(shared, "service_runs.json", RECORDED)["vectors"]
        if one["eval_set_id"] != "empty"
    ]
    assert len(runs) == 12
    return runs


def metrics_for(config: Json) -> list[EvalMetric]:
    """As ADK's command line makes them of a config; scored exactly as there."""
    with_compat = {
        name: {**(value if isinstance(value, dict) else {"threshold": value}), "compat": "adk"}
        for name, value in config["criteria"].items()
    }
    return get_eval_metrics_from_config(EvalConfig.model_validate({**config, "criteria": with_compat}))


STATE_LEFT_OUT: Json = {"final_session_state": {}}


@pytest.fixture(scope="module")
def repeated(shared: Path, agent: Any) -> list[tuple[Json, list[InferenceResult], list[EvalCaseResult]]]:
    found = []
    for recorded in recorded_runs(shared):
        file = shared / "golden" / "files" / f"{recorded['eval_set_id']}.evalset.json"
        eval_set = load_eval_set_from_file(file, recorded["eval_set_id"])
        config, _ = config_of(recorded["config"])
        # ADK declares final_session_state and never reads it: here it would decide
        eval_set.eval_cases = [case.model_copy(update=STATE_LEFT_OUT) for case in eval_set.eval_cases]
        service = LocalEvalService(root_agent=agent, eval_sets_manager=kept(eval_set))
        found.append((recorded, *asyncio.run(run(service, eval_set.eval_set_id, metrics_for(config)))))
    return found


@pytest.mark.slow
def test_inference_results_are_those_of_google_adk(repeated: Any) -> None:
    compared = 0
    for recorded, inferences, _ in repeated:
        theirs = {one["eval_case_id"]: one for one in recorded["result"]["ok"]["inference_results"]}
        assert {one.eval_case_id for one in inferences} == set(theirs)
        for ours in inferences:
            there = theirs[ours.eval_case_id]
            assert (ours.app_name, ours.eval_set_id) == (there["app_name"], there["eval_set_id"])
            assert (int(ours.status), ours.error_message) == (there["status"], there.get("error_message"))
            assert (ours.inferences is None) is (there.get("inferences") is None)
            if not there["session_id"].startswith(("<", "adk-eval-session-")):
                assert ours.session_id == there["session_id"]
            if ours.inferences is not None:
                done = [one.model_dump(mode="json", exclude_none=True) for one in ours.inferences]
                assert [plain(one) for one in done] == [plain(one) for one in there["inferences"]]
            compared += 1
    assert compared == 68


def plain(invocation: Json) -> Json:
    """Return the parts that are the same in every run, without the agent's description; ids numbered by appearance."""
    left_out = {"invocation_id", "creation_timestamp", "duration", "model_duration", "tool_duration"}
    left_out |= {"app_details", "rubrics"}  # ADK copies the case's rubrics onto what it inferred
    text = json.dumps({name: value for name, value in invocation.items() if name not in left_out})
    for number, one in enumerate(dict.fromkeys(re.findall(r'"id": "(adk-[^"]+)"', text))):
        text = text.replace(f'"{one}"', f'"id-{number}"')
    return dict(json.loads(text))


def test_results_have_the_numbers_of_google_adk(repeated: Any) -> None:
    """Every metric but the duration, informational ones too, overall and turn by turn."""
    compared = 0
    for recorded, _, results in repeated:
        _, unknown = config_of(recorded["config"])
        theirs = {one["eval_id"]: one for one in recorded["result"]["ok"]["eval_case_results"]}
        for ours in results:
            there = theirs[ours.eval_id]
            assert (ours.eval_set_id, ours.user_id or None) == (there["eval_set_id"], there.get("user_id"))
            if not there["overall_eval_metric_results"]:
                assert all(one.score is None for one in ours.overall_eval_metric_results)
                continue
            assert numbers(ours.overall_eval_metric_results) == metrics_of(
                there["overall_eval_metric_results"], unknown
            )
            turns = zip(
                ours.eval_metric_result_per_invocation,
                there["eval_metric_result_per_invocation"],
                strict=True,
            )
            for turn, there_in_turn in turns:
                assert numbers(turn.eval_metric_results) == metrics_of(
                    there_in_turn["eval_metric_results"], unknown
                )
            compared += 1
    assert compared == 60


def numbers(results: Any) -> Any:
    return {
        one.metric_name: (one.score, int(one.eval_status), one.threshold)
        for one in results
        if one.metric_name != DURATION
    }


def test_verdicts_are_those_of_google_adk_but_where_the_agent_broke(repeated: Any) -> None:
    """ADK reports FAILED there without a reason; here it is NOT_EVALUATED, an *error*, and the result has the cause."""
    broken = 0
    for recorded, _, results in repeated:
        theirs = {one["eval_id"]: one for one in recorded["result"]["ok"]["eval_case_results"]}
        for ours in results:
            status = theirs[ours.eval_id]["final_eval_status"]
            if ours.eval_id in ("crash", "tool_crash"):
                assert (status, int(ours.final_eval_status)) == (2, 3)
                assert (ours.model_extra or {})["proctor"]["failure"]["message"]
                broken += 1
            else:
                assert int(ours.final_eval_status) == status, ours.eval_id
    assert broken == 8


# --- what google-adk lets pass ----------------------------------------------------------------------------------------


@pytest.fixture
def one_case() -> EvalSet:
    return EvalSet.model_validate(
        {
            "eval_set_id": "s",
            "eval_cases": [
                {
                    "eval_id": "a",
                    "conversation": [
                        {
                            "user_content": {"role": "user", "parts": [{"text": "hi"}]},
                            "final_response": {"parts": [{"text": "hello"}]},
                        }
                    ],
                    "final_session_state": {"color": "red"},
                }
            ],
        }
    )


def greeter(text: str, session: Any) -> str:
    session.state["color"] = text if text != "hi" else "red"
    return "hello"


MATCH = EvalMetric(metric_name="response_match_score", threshold=0.5)


def test_the_final_session_state_decides(one_case: EvalSet) -> None:
    """ADK declares it and never looks. It is known for what this service ran itself."""
    _, (passed,) = asyncio.run(run(LocalEvalService(greeter, kept(one_case)), "s", [MATCH]))
    one_case.eval_cases[0].final_session_state = {"color": "blue"}
    _, (failed,) = asyncio.run(run(LocalEvalService(greeter, kept(one_case)), "s", [MATCH]))
    assert (passed.final_eval_status.name, failed.final_eval_status.name) == ("PASSED", "FAILED")


def test_inferences_from_elsewhere_are_judged_by_what_they_hold(one_case: EvalSet) -> None:
    """No session state came along: a case that states one cannot pass. Without one it is scored as usual."""
    service = LocalEvalService(greeter, kept(one_case))
    (inference,), _ = asyncio.run(run(service, "s", [MATCH]))
    read_again = InferenceResult.model_validate_json(inference.model_dump_json())
    asked = EvaluateRequest(
        inference_results=[read_again], evaluate_config=EvaluateConfig(eval_metrics=[MATCH])
    )

    async def judged(eval_set: EvalSet) -> list[EvalCaseResult]:
        return [one async for one in LocalEvalService(greeter, kept(eval_set)).evaluate(asked)]

    (unknown,) = asyncio.run(judged(one_case))
    assert unknown.final_eval_status.name == "NOT_EVALUATED"
    one_case.eval_cases[0].final_session_state = {}
    (known,) = asyncio.run(judged(one_case))
    assert known.final_eval_status.name == "PASSED"
    (twice,) = asyncio.run(judged(one_case))  # ADK fails the second time: it changes what it is given
    assert twice.final_eval_status == known.final_eval_status


def test_inferences_that_were_changed_are_judged_as_they_are_now(one_case: EvalSet) -> None:
    one_case.eval_cases[0].final_session_state = {}
    service = LocalEvalService(greeter, kept(one_case))

    async def tampered() -> EvalCaseResult:
        request = InferenceRequest(app_name=APP, eval_set_id="s")
        (inference,) = [one async for one in service.perform_inference(request)]
        assert inference.inferences is not None
        inference.inferences[0].final_response = one_case.eval_cases[0].conversation[0].user_content  # type: ignore[index]  # it has one
        asked = EvaluateRequest(
            inference_results=[inference], evaluate_config=EvaluateConfig(eval_metrics=[MATCH])
        )
        (result,) = [one async for one in service.evaluate(asked)]
        return result

    assert asyncio.run(tampered()).final_eval_status.name == "FAILED"


def test_a_different_number_of_turns_is_an_error_of_its_case_alone(one_case: EvalSet) -> None:
    """ADK raises, and the results of all other cases are lost."""
    one_case.eval_cases[0].final_session_state = {}
    inference = InferenceResult(
        app_name=APP,
        eval_set_id="s",
        eval_case_id="a",
        inferences=[],
        session_id="x",
        status=InferenceStatus.SUCCESS,
    )
    asked = EvaluateRequest(
        inference_results=[inference], evaluate_config=EvaluateConfig(eval_metrics=[MATCH])
    )

    async def judged() -> list[EvalCaseResult]:
        return [one async for one in LocalEvalService(greeter, kept(one_case)).evaluate(asked)]

    (result,) = asyncio.run(judged())
    assert result.final_eval_status.name == "NOT_EVALUATED"


UNKNOWN = EvalMetric(metric_name="no_such_metric", threshold=0.5)


def test_an_unknown_metric_is_refused_before_anything_is_scored(one_case: EvalSet) -> None:
    with pytest.raises(ValueError, match="No metric named 'no_such_metric'"):
        asyncio.run(run(LocalEvalService(greeter, kept(one_case)), "s", [UNKNOWN]))


@pytest.mark.parametrize(
    ("eval_set_id", "ids", "message"),
    [("other", None, "no eval set 'other'"), ("s", ["b"], "no case 'b'"), ("s", ["a", "b"], "no case 'b'")],
)
def test_what_is_not_there_is_not_found(
    one_case: EvalSet, eval_set_id: str, ids: list[str] | None, message: str
) -> None:
    with pytest.raises(NotFoundError, match=message):
        asyncio.run(run(LocalEvalService(greeter, kept(one_case)), eval_set_id, [MATCH], ids))


def test_an_empty_set_is_refused(shared: Path) -> None:
    recorded = [
        one
        for one in golden(shared, "service_runs.json", RECORDED)["vectors"]
        if one["eval_set_id"] == "empty"
    ]
    assert next(one["result"] for one in recorded)["ok"]["eval_case_results"] == []
    empty = EvalSet(eval_set_id="empty", eval_cases=[])
    with pytest.raises(ValueError, match="no cases"):
        asyncio.run(run(LocalEvalService(greeter, kept(empty)), "empty", [MATCH]))


def test_results_are_kept_where_a_manager_is_given(one_case: EvalSet, tmp_path: Path) -> None:
    manager = LocalEvalSetResultsManager(tmp_path)
    service = LocalEvalService(greeter, kept(one_case), eval_set_results_manager=manager)
    _, results = asyncio.run(run(service, "s", [MATCH]))
    (name,) = manager.list_eval_set_results(APP)
    assert [one.model_dump() for one in manager.get_eval_set_result(APP, name).eval_case_results] == [
        one.model_dump() for one in results
    ]


@pytest.mark.parametrize("parallelism", [0, -1])
def test_at_least_one_at_a_time(parallelism: int) -> None:
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        InferenceConfig(parallelism=parallelism)
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        EvaluateConfig(eval_metrics=[], parallelism=parallelism)


def test_live_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="not supported"):
        InferenceConfig(use_live=True)


def test_unplayable_scenario_is_refused_without_an_agent_call(
    one_case: EvalSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    asked: list[str] = []
    scenario = {
        "eval_id": "b",
        "conversation_scenario": {"starting_prompt": "hi", "conversation_plan": "Go on."},
    }
    one_case.eval_cases.append(EvalCase.model_validate(scenario))
    with pytest.raises(ValueError, match="case 'b': user simulator: "):
        asyncio.run(run(LocalEvalService(asked.append, kept(one_case)), "s", [MATCH]))
    assert asked == []


def test_no_inferences_are_nothing_to_judge(one_case: EvalSet) -> None:
    async def judged() -> list[EvalCaseResult]:
        asked = EvaluateRequest(inference_results=[], evaluate_config=EvaluateConfig(eval_metrics=[MATCH]))
        return [one async for one in LocalEvalService(greeter, kept(one_case)).evaluate(asked)]

    with pytest.raises(ValueError, match="nothing to score"):
        asyncio.run(judged())


def test_reader_of_the_results_may_stop_early(one_case: EvalSet) -> None:
    """What is under way is cancelled, and nothing is left behind."""
    one_case.eval_cases = [one_case.eval_cases[0].model_copy(update={"eval_id": f"c{n}"}) for n in range(20)]
    ended: list[str] = []

    async def slow(text: str) -> str:
        try:
            await asyncio.sleep(0.01 if not ended else 30)
            return "hello"
        finally:
            ended.append(text)

    async def first() -> str:
        service = LocalEvalService(slow, kept(one_case))
        results = service.perform_inference(InferenceRequest(app_name=APP, eval_set_id="s"))
        async for one in results:
            await results.aclose()
            await asyncio.sleep(0.1)
            assert asyncio.all_tasks() == {asyncio.current_task()}
            return one.eval_case_id
        raise AssertionError

    assert asyncio.run(first()).startswith("c")
    assert len(ended) < 20


def test_results_come_as_they_are_done(one_case: EvalSet) -> None:
    """In the order in which cases end, as in ADK: the quick one does not wait for the slow one."""
    turn = one_case.eval_cases[0].conversation
    one_case.eval_cases = [
        EvalCase(eval_id=name, conversation=turn, session_input=None) for name in ("slow", "quick")
    ]
    one_case.eval_cases[0].session_input = SessionInput(app_name=APP, user_id="u", state={"wait": True})

    async def agent(text: str, session: Any) -> str:
        await asyncio.sleep(0.6 if session.state.get("wait") else 0)
        return "hello"

    inferences, _ = asyncio.run(run(LocalEvalService(agent, kept(one_case)), "s", [MATCH]))
    assert [one.eval_case_id for one in inferences] == ["quick", "slow"]


def test_a_metric_that_cannot_be_computed_is_an_error_of_the_result(one_case: EvalSet) -> None:
    """ADK passes the case when another metric passed."""
    one_case.eval_cases[0].final_session_state = {}
    broken = EvalMetric(
        metric_name="broken",
        threshold=0.5,
        custom_function_path="tests.compat.adk.test_local_eval_service.broken",
    )
    _, (result,) = asyncio.run(run(LocalEvalService(greeter, kept(one_case)), "s", [MATCH, broken]))
    assert result.final_eval_status.name == "NOT_EVALUATED"
    assert [one.eval_status.name for one in result.overall_eval_metric_results][:2] == [
        "PASSED",
        "NOT_EVALUATED",
    ]


def broken(
    eval_metric: Any, actual_invocations: Any, expected_invocations: Any, conversation_scenario: Any
) -> Any:
    raise RuntimeError("broken")


def test_an_inference_that_failed_elsewhere_is_an_error_with_its_cause(one_case: EvalSet) -> None:
    failed = InferenceResult(
        app_name=APP,
        eval_set_id="s",
        eval_case_id="a",
        inferences=[],
        status=InferenceStatus.FAILURE,
        error_message="out of quota",
    )
    asked = EvaluateRequest(inference_results=[failed], evaluate_config=EvaluateConfig(eval_metrics=[MATCH]))

    async def judged() -> list[EvalCaseResult]:
        return [one async for one in LocalEvalService(greeter, kept(one_case)).evaluate(asked)]

    (result,) = asyncio.run(judged())
    assert result.final_eval_status.name == "NOT_EVALUATED"
    assert (result.model_extra or {})["proctor"]["failure"]["message"] == "out of quota"
