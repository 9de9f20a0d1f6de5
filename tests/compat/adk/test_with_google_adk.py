"""With google-adk itself: its agents, its types, its own models and its services; only the model is a script."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator
from proctor.compat.adk.evaluation.base_eval_service import EvaluateConfig, EvaluateRequest, InferenceRequest
from proctor.compat.adk.evaluation.eval_case import EvalCase, IntermediateData, Invocation, SessionInput
from proctor.compat.adk.evaluation.eval_metrics import EvalMetric
from proctor.compat.adk.evaluation.eval_set import EvalSet
from proctor.compat.adk.evaluation.in_memory_eval_sets_manager import InMemoryEvalSetsManager
from proctor.compat.adk.evaluation.local_eval_service import LocalEvalService
from proctor.compat.adk.evaluation.local_eval_set_results_manager import LocalEvalSetResultsManager

pytestmark = [pytest.mark.needs_adk, pytest.mark.filterwarnings("ignore")]  # google-adk warns about itself

CRITERIA = {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}


def make_agent() -> Any:
    """An agent whose model calls `keep` once, and then reports how often it kept what."""
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.tools import ToolContext
    from google.genai import types

    async def keep(name: str, tool_context: ToolContext) -> dict[str, Any]:
        """Keeps an artifact, and counts in the state how often."""
        version = await tool_context.save_artifact(name, types.Part(text="kept"))
        tool_context.state["times"] = tool_context.state.get("times", 0) + 1
        return {"version": version, "times": tool_context.state["times"]}

    class Scripted(BaseLlm):
        model: str = "scripted"

        async def generate_content_async(self, request: Any, stream: bool = False) -> AsyncIterator[Any]:
            last = request.contents[-1].parts[-1]
            if last.function_response is None:
                part = types.Part(function_call=types.FunctionCall(name="keep", args={"name": "note"}))
            else:
                found = last.function_response.response
                part = types.Part(text=f"version {found['version']}, times {found['times']}")
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    return LlmAgent(name="keeper", model=Scripted(), instruction="Keep.", tools=[keep])


def eval_set(answer: str, session_id: str | None = None) -> EvalSet:
    from google.genai import types

    turn = Invocation(
        user_content=types.Content(role="user", parts=[types.Part(text="keep it")]),
        final_response=types.Content(role="model", parts=[types.Part(text=answer)]),
        intermediate_data=IntermediateData(
            tool_uses=[types.FunctionCall(name="keep", args={"name": "note"})]
        ),
    )
    session = SessionInput(app_name="keeper_app", user_id="u", session_id=session_id, state={"times": 4})
    return EvalSet(
        eval_set_id="s", eval_cases=[EvalCase(eval_id="a", conversation=[turn], session_input=session)]
    )


def test_types_of_google_genai_and_an_agent_of_google_adk() -> None:
    result = AgentEvaluator.evaluate_eval_set(make_agent(), eval_set("version 0, times 5"), CRITERIA)
    assert result.passed  # in both runs: nothing crosses from one to the other


def test_models_of_google_adk_are_taken_as_they_are() -> None:
    from google.adk.evaluation.eval_config import EvalConfig as TheirConfig
    from google.adk.evaluation.eval_set import EvalSet as TheirSet

    theirs = TheirSet.model_validate_json(eval_set("version 0, times 5").model_dump_json(exclude_none=True))
    config = TheirConfig(criteria=CRITERIA)
    assert AgentEvaluator.evaluate_eval_set(make_agent(), theirs, eval_config=config).passed


def test_an_artifact_service_is_shared_by_all_runs() -> None:
    from google.adk.artifacts import InMemoryArtifactService

    service = InMemoryArtifactService()
    with pytest.raises(AssertionError, match="keeper Failed"):  # the second run's note is version 1
        AgentEvaluator.evaluate_eval_set(
            make_agent(),
            eval_set("version 0, times 5", "pinned"),
            {"response_match_score": 1.0},
            artifact_service=service,
        )
    keys = asyncio.run(service.list_artifact_keys(app_name="keeper_app", user_id="u", session_id="pinned"))
    assert keys == ["note"]


def test_an_artifact_service_is_of_no_use_to_another_agent() -> None:
    from google.adk.artifacts import InMemoryArtifactService

    def agent(text: str) -> str:
        return text

    with pytest.raises(ValueError, match="not an agent of google-adk, so it cannot use artifact_service"):
        AgentEvaluator.evaluate_eval_set(
            agent, eval_set("x"), CRITERIA, artifact_service=InMemoryArtifactService()
        )


async def run(service: LocalEvalService) -> list[Any]:
    request = InferenceRequest(app_name="keeper_app", eval_set_id="s")
    inferences = [one async for one in service.perform_inference(request)]
    metrics = [EvalMetric(metric_name=name, threshold=value) for name, value in CRITERIA.items()]
    asked = EvaluateRequest(
        inference_results=inferences, evaluate_config=EvaluateConfig(eval_metrics=metrics)
    )
    return [one async for one in service.evaluate(asked)]


def test_existing_session_is_continued() -> None:
    from google.adk.sessions import InMemorySessionService

    sessions = InMemorySessionService()
    kept = InMemoryEvalSetsManager()
    kept.create_eval_set("keeper_app", "s")
    kept.add_eval_case("keeper_app", "s", eval_set("version 0, times 42", "pinned").eval_cases[0])
    where = {"app_name": "keeper_app", "user_id": "u", "session_id": "pinned"}
    asyncio.run(sessions.create_session(**where, state={"times": 41}))
    (result,) = asyncio.run(run(LocalEvalService(make_agent(), kept, session_service=sessions)))
    assert result.final_eval_status.name == "PASSED"
    session = asyncio.run(sessions.get_session(**where))
    assert session is not None
    assert session.state["times"] == 42


def test_its_own_managers_are_taken_where_only_some_imports_were_changed(tmp_path: Path) -> None:
    from google.adk.evaluation.local_eval_set_results_manager import (
        LocalEvalSetResultsManager as TheirResults,
    )
    from google.adk.evaluation.local_eval_sets_manager import LocalEvalSetsManager as TheirSets

    from proctor.compat.adk.evaluation.local_eval_sets_manager import LocalEvalSetsManager

    (tmp_path / "keeper_app").mkdir()
    ours = LocalEvalSetsManager(tmp_path)
    ours.create_eval_set("keeper_app", "s")
    ours.add_eval_case("keeper_app", "s", eval_set("version 0, times 5").eval_cases[0])
    results = TheirResults(str(tmp_path))
    service = LocalEvalService(make_agent(), TheirSets(str(tmp_path)), eval_set_results_manager=results)
    (found,) = asyncio.run(run(service))
    AgentEvaluator.evaluate_eval_set(
        make_agent(),
        eval_set("version 0, times 5"),
        CRITERIA,
        app_name="keeper_app",
        eval_set_results_manager=results,
    )
    kept = [
        [
            one.final_eval_status.name
            for one in results.get_eval_set_result("keeper_app", name).eval_case_results
        ]
        for name in results.list_eval_set_results("keeper_app")
    ]
    assert found.final_eval_status.name == "PASSED", found.model_extra
    assert sorted(kept) == [["PASSED"], ["PASSED", "PASSED"]]


def test_google_adk_reads_the_results(tmp_path: Path) -> None:
    from google.adk.evaluation.local_eval_set_results_manager import (
        LocalEvalSetResultsManager as TheirManager,
    )

    ours = LocalEvalSetResultsManager(str(tmp_path))
    AgentEvaluator.evaluate_eval_set(
        make_agent(),
        eval_set("version 0, times 5"),
        CRITERIA,
        app_name="keeper_app",
        eval_set_results_manager=ours,
    )
    theirs = TheirManager(str(tmp_path))
    assert theirs.list_eval_set_results("keeper_app") == ours.list_eval_set_results("keeper_app")
    (name,) = theirs.list_eval_set_results("keeper_app")
    found = theirs.get_eval_set_result("keeper_app", name)
    assert [one.final_eval_status.name for one in found.eval_case_results] == ["PASSED", "PASSED"]


def test_the_eval_sets_of_either_are_those_of_the_other(tmp_path: Path) -> None:
    from google.adk.evaluation.local_eval_sets_manager import LocalEvalSetsManager as TheirManager

    from proctor.compat.adk.evaluation.local_eval_sets_manager import LocalEvalSetsManager

    (tmp_path / "keeper_app").mkdir()
    ours, theirs = LocalEvalSetsManager(tmp_path), TheirManager(str(tmp_path))
    ours.create_eval_set("keeper_app", "s")
    ours.add_eval_case("keeper_app", "s", eval_set("x").eval_cases[0])
    file = tmp_path / "keeper_app" / "s.evalset.json"
    written = file.read_text(encoding="utf-8")
    found = theirs.get_eval_set("keeper_app", "s")
    assert found is not None
    theirs.update_eval_case("keeper_app", "s", found.eval_cases[0])
    assert file.read_text(encoding="utf-8") == written


def test_names_of_its_agents_come_through() -> None:
    from google.adk.agents import LlmAgent as Theirs

    from proctor.compat.adk.agents import LlmAgent

    assert LlmAgent is Theirs
