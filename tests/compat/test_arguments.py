"""Invalid arguments of the facades: one message with the expected and the actual value."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.compat import adk_rs, adk_ts
from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator
from proctor.compat.adk.evaluation.eval_set import EvalSet
from proctor.compat.adk.evaluation.final_response_match_v1 import RougeEvaluator
from proctor.compat.adk.evaluation.in_memory_eval_sets_manager import InMemoryEvalSetsManager
from proctor.compat.adk.evaluation.local_eval_service import LocalEvalService
from proctor.compat.adk.evaluation.local_eval_set_results_manager import LocalEvalSetResultsManager
from proctor.compat.adk.evaluation.local_eval_sets_manager import LocalEvalSetsManager
from proctor.compat.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator

NOTHING: Any = None
TURN = {
    "user_content": {"parts": [{"text": "hello"}]},
    "final_response": {"parts": [{"text": "Good morning."}]},
}
CASE = {"eval_id": "a", "conversation": [TURN]}
SET: Any = {"eval_set_id": "s", "eval_cases": [CASE]}
TEXT = {"response_match_score": 0.5}


def agent(text: str) -> str:
    return "Good morning."


def runner(*evaluators: Any) -> adk_rs.EvalRunner:
    return adk_rs.EvalRunner(agent, "app", "user", list(evaluators) or [adk_rs.ResponseMatch(0.5)])


def all_of(found: AsyncIterator[Any]) -> list[Any]:
    async def main() -> list[Any]:
        return [one async for one in found]

    return asyncio.run(main())


class Named:
    def __init__(self, name: Any) -> None:
        self._name = name

    def name(self) -> Any:
        return self._name

    def evaluate(self, expected: Any, actual: Any) -> Any: ...


def service() -> LocalEvalService:
    return LocalEvalService(root_agent=agent, eval_sets_manager=InMemoryEvalSetsManager())


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    # --- adk-rs
    "a class of adk-rs": (lambda: runner(adk_rs.TrajectoryMatch), "expected an evaluator, such as TrajectoryMatch(1.0), got the class TrajectoryMatch"),
    "no evaluators": (lambda: adk_rs.EvalRunner(agent, "a", "u", NOTHING), "evaluators: expected a list such as [TrajectoryMatch(1.0)], got None"),
    "one that is in no list": (lambda: adk_rs.EvalRunner(agent, "a", "u", adk_rs.ResponseMatch(1.0)), "expected a list such as [TrajectoryMatch(1.0)], got ResponseMatch"),  # type: ignore[arg-type]  # the mistake
    "the name of an evaluator": (lambda: runner("response_match"), "expected an object with the methods name() and evaluate(expected, actual), got str"),
    "no evaluator": (lambda: runner(object()), "expected an object with the methods name() and evaluate(expected, actual), got object"),
    "a name that is none": (lambda: runner(Named(3)), "name() of Named gives a text, got 3"),
    "an app that is none": (lambda: adk_rs.EvalRunner(agent, NOTHING, "u", [adk_rs.ResponseMatch(1.0)]), "app_name: expected a text, got None"),
    "a path for a set": (lambda: runner().run_set("x.json"), "run_set: expected an EvalSet (or a dict of its fields), got str"),  # type: ignore[arg-type]  # the mistake
    "a set of other fields": (lambda: runner().run_set({"eval_set_id": "s", "eval_cases": [{"eval_id": 3}]}), "run_set.eval_cases.0"),  # type: ignore[arg-type]  # the mistake
    "a case before its set": (lambda: runner().run_case(CASE, "s"), "run_case: set_id: expected a text, got dict"),  # type: ignore[arg-type]  # the mistake
    "no text to load": (lambda: adk_rs.load_eval_set_from_str(SET), "load_eval_set_from_str: expected JSON text, got dict"),
    "no file to load": (lambda: adk_rs.load_eval_set_from_file(NOTHING), "load_eval_set_from_file: expected a path, got None"),
    # --- adk-ts
    "no criteria": (lambda: adk_ts.AgentEvaluator.evaluate_eval_set(agent, SET, NOTHING), "criteria: expected an object from metric to threshold, or to a criterion, got None"),
    "criteria in a list": (lambda: adk_ts.AgentEvaluator.evaluate_eval_set(agent, SET, ["x"]), "got list"),  # type: ignore[arg-type]  # the mistake
    "empty criteria": (lambda: adk_ts.AgentEvaluator.evaluate_eval_set(agent, SET, {}), "nothing decides it"),
    "sets in a list": (lambda: adk_ts.AgentEvaluator.evaluate_eval_set(agent, [SET], TEXT), "eval_set: expected an EvalSet (or a dict of its fields), got list"),  # type: ignore[arg-type]  # the mistake
    "no folder": (lambda: adk_ts.AgentEvaluator.evaluate(agent, NOTHING), "eval_dataset_file_path_or_dir: expected a path, got None"),
    "no threshold": (lambda: adk_ts.TrajectoryEvaluator(NOTHING), "metric: expected an EvalMetric (or a dict of its fields), got None"),
    "a threshold in a text": (lambda: adk_ts.TrajectoryEvaluator("high"), "metric: expected an EvalMetric"),  # type: ignore[arg-type]  # the mistake
    "a metric without name": (lambda: adk_ts.TrajectoryEvaluator({"threshold": 1}), "metric.metric_name: Field required"),
    "no sets for the service": (lambda: all_of(adk_ts.LocalEvalService(agent).perform_inference({"eval_cases": []})), "expected `eval_cases`, a list of eval sets"),
    "a set that is none": (lambda: all_of(adk_ts.LocalEvalService(agent).perform_inference({"eval_cases": [None]})), "eval_cases: expected an EvalSet (or a dict of its fields), got None"),
    "results that are none": (lambda: all_of(adk_ts.LocalEvalService(agent).evaluate({"inference_results": 3, "evaluate_config": {"eval_metrics": 3}})), "expected `inference_results`"),
    "a metric that is none": (lambda: all_of(adk_ts.LocalEvalService(agent).evaluate({"inference_results": ["x"], "evaluate_config": {"eval_metrics": ["y"]}})), "metric: expected an EvalMetric (or a dict of its fields), got str"),
    # --- google-adk
    "no path": (lambda: AgentEvaluator.evaluate(agent, NOTHING), "eval_dataset_file_path_or_dir: expected a path, got None"),
    "no set": (lambda: AgentEvaluator.evaluate_eval_set(agent, NOTHING, criteria=TEXT), "eval_set: expected an EvalSet (or a dict of its fields), got None"),
    "no test file": (lambda: AgentEvaluator.find_config_for_test_file(NOTHING), "test_file: expected a path, got None"),
    "a threshold that is none": (lambda: TrajectoryEvaluator(threshold="x"), "threshold"),  # type: ignore[arg-type]  # the mistake
    "no manager": (lambda: LocalEvalService(root_agent=agent, eval_sets_manager=NOTHING), "eval_sets_manager: expected an EvalSetsManager, got None"),
    "half a request": (lambda: all_of(service().perform_inference({"app_name": "a"})), "inference_request.eval_set_id: Field required"),  # type: ignore[arg-type]  # the mistake
    "no request": (lambda: all_of(service().evaluate(NOTHING)), "evaluate_request: expected an EvaluateRequest (or a dict of its fields), got None"),
    "no folder of agents": (lambda: LocalEvalSetsManager(NOTHING), "agents_dir: expected a path, got None"),
    "no id": (lambda: InMemoryEvalSetsManager().create_eval_set("a", NOTHING), "eval_set"),
    "results that are no list": (lambda: LocalEvalSetResultsManager("x").save_eval_set_result("a", "s", 3), "eval_case_results: expected a list of EvalCaseResult, got int"),  # type: ignore[arg-type]  # the mistake
    "a result that is none": (lambda: LocalEvalSetResultsManager("x").save_eval_set_result("a", "s", [1]), "eval_case_results: expected an EvalCaseResult (or a dict of its fields), got int"),  # type: ignore[list-item]  # the mistake
}  # fmt: skip


@pytest.mark.parametrize(("call", "message"), WRONG.values(), ids=WRONG)
def test_invalid_argument_is_a_value_error_with_a_message(
    call: Callable[[], Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError) as found:
        call()
    assert message in str(found.value)
    assert "pydantic" not in str(found.value)
    assert not list(tmp_path.iterdir())


def test_dicts_are_taken_where_models_are() -> None:
    assert runner().run_set(SET).result.results[0].overall_status == "PASSED"
    assert runner().run_case("s", CASE).result.overall_status == "PASSED"  # type: ignore[arg-type]  # in a dict
    sets = InMemoryEvalSetsManager()
    sets.create_eval_set("app", "s")
    sets.add_eval_case("app", "s", CASE)  # type: ignore[arg-type]  # in a dict
    request: Any = {"app_name": "app", "eval_set_id": "s"}
    [inference] = all_of(LocalEvalService(agent, sets).perform_inference(request))
    assert inference.eval_case_id == "a"
    metric: Any = {"metric_name": "response_match_score", "threshold": 0.5}
    made = [EvalSet.model_validate(SET).eval_cases[0].conversation[0]]  # type: ignore[index]  # it has one
    assert RougeEvaluator(metric).evaluate_invocations(made, made).overall_score == 1.0


async def _loaded(path: Path) -> Any:
    return await runner().run_set(await adk_rs.load_eval_set_from_file(path))


def test_a_set_that_was_loaded_plainly_or_awaited_is_run(tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.json"
    path.write_text(EvalSet.model_validate(SET).model_dump_json())
    plain: Any = adk_rs.load_eval_set_from_file(path)
    assert runner().run_set(plain).result.run.passed
    assert asyncio.run(_loaded(path)).run.passed


@pytest.mark.parametrize("status", ["GOOD", None, "ERROR"])
def test_a_status_that_is_none_is_an_error_and_never_a_pass(status: Any) -> None:
    class Odd(Named):
        def evaluate(self, expected: Any, actual: Any) -> Any:
            return adk_rs.EvalScore(1.0, status, NOTHING)

    [found] = runner(Odd("odd")).run_set(SET).result.results
    assert (found.overall_status, found.scores["odd"].status) == ("FAILED", "ERROR")
