"""Eval sets and results where google-adk keeps them: the same files, the same refusals, the same ids."""

import asyncio
import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from proctor.compat.adk.errors.not_found_error import NotFoundError
from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator
from proctor.compat.adk.evaluation.eval_case import EvalCase
from proctor.compat.adk.evaluation.eval_result import EvalCaseResult, EvalSetResult
from proctor.compat.adk.evaluation.eval_sets_manager import EvalSetsManager
from proctor.compat.adk.evaluation.in_memory_eval_sets_manager import InMemoryEvalSetsManager
from proctor.compat.adk.evaluation.local_eval_set_results_manager import LocalEvalSetResultsManager
from proctor.compat.adk.evaluation.local_eval_sets_manager import (
    LocalEvalSetsManager,
    convert_eval_set_to_pydantic_schema,
    load_eval_set_from_file,
)
from tests.compat.golden.recorded import Json, golden

APP = "scripted_app"


def case(eval_id: str, text: str = "hi") -> EvalCase:
    return EvalCase.model_validate(
        {
            "eval_id": eval_id,
            "conversation": [
                {
                    "user_content": {"parts": [{"text": text}]},
                    "final_response": {"role": "model", "parts": [{"text": "ok"}]},
                }
            ],
        }
    )


# --- eval sets --------------------------------------------------------------------------------------------------------


def test_the_files_are_those_that_google_adk_wrote(shared: Path, tmp_path: Path) -> None:
    """Created, and cases added, one operation after the other; the text of the file after each."""
    (tmp_path / APP).mkdir()
    manager = LocalEvalSetsManager(agents_dir=str(tmp_path))
    for one in golden(shared, "manager_eval_sets.json", 7)["vectors"]:
        if one["op"] == "create":
            manager.create_eval_set(APP, one["eval_set_id"])
        for each in one.get("cases", ()):
            manager.add_eval_case(APP, one["eval_set_id"], EvalCase.model_validate(each))
        written = (tmp_path / APP / f"{one['eval_set_id']}.evalset.json").read_text(encoding="utf-8")
        assert re.sub(r'(?<="creation_timestamp": )[\d.]+(?=\n}$)', "<time>", written) == one["file"]


NO_CALLS = {"user_content": {"parts": [{"text": "hi"}]}, "intermediate_data": {"tool_uses": []}}
NOT_STATED = {"user_content": {"parts": [{"text": "hi"}]}, "intermediate_data": {}}


def test_a_written_empty_list_of_calls_stays_when_its_set_is_written_again(tmp_path: Path) -> None:
    (tmp_path / APP).mkdir()
    file = tmp_path / APP / "s.evalset.json"
    cases = [
        {"eval_id": "none", "conversation": [NO_CALLS]},
        {"eval_id": "absent", "conversation": [NOT_STATED]},
    ]
    file.write_text(json.dumps({"eval_set_id": "s", "eval_cases": cases}))
    manager = LocalEvalSetsManager(tmp_path)
    manager.add_eval_case(APP, "s", case("new"))
    found = manager.get_eval_case(APP, "s", "none")
    assert found is not None
    manager.update_eval_case(APP, "s", found)
    manager.delete_eval_case(APP, "s", "new")
    written = json.loads(file.read_text())["eval_cases"]
    assert [one["conversation"][0]["intermediate_data"] for one in written] == [{"tool_uses": []}, {}]


def identifiers(shared: Path) -> list[Json]:
    found: list[Json] = golden(shared, "identifiers.json", 15)["vectors"]
    return found


def test_ids_are_refused_where_google_adk_refuses_them(shared: Path, tmp_path: Path) -> None:
    (tmp_path / APP).mkdir()
    sets, results = LocalEvalSetsManager(tmp_path), LocalEvalSetResultsManager(tmp_path)
    for one in identifiers(shared):
        name = one["id"]
        assert accepts(lambda name=name: sets.create_eval_set(APP, name)) is ("ok" in one["create_eval_set"])
        for asked in (
            lambda name=name: sets.get_eval_set(APP, name),
            lambda name=name: sets.get_eval_set(name, "a"),
            lambda name=name: results.get_eval_set_result(APP, name),
            lambda name=name: results.list_eval_set_results(name),
        ):
            assert accepts(asked) is ("ok" in one["path_segment"]) or len(name) > 255, name


def accepts(call: Any) -> bool:
    """Whether it was not refused as an id; that nothing is there is another thing."""
    try:
        call()
    except NotFoundError:
        return True
    except ValueError:
        return False
    return True


@pytest.fixture(params=["memory", "folder"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> EvalSetsManager:
    if request.param == "memory":
        return InMemoryEvalSetsManager()
    (tmp_path / APP).mkdir()
    return LocalEvalSetsManager(tmp_path)


def test_cases_are_added_found_replaced_in_place_and_removed(manager: EvalSetsManager) -> None:
    manager.create_eval_set(APP, "s")
    for name in "abc":
        manager.add_eval_case(APP, "s", case(name))
    manager.update_eval_case(APP, "s", case("b", "changed"))
    manager.delete_eval_case(APP, "s", "a")
    found = manager.get_eval_set(APP, "s")
    assert found is not None
    assert [one.eval_id for one in found.eval_cases] == ["b", "c"]
    assert manager.get_eval_case(APP, "s", "b") == case("b", "changed")
    assert manager.get_eval_case(APP, "s", "a") is None
    assert manager.list_eval_sets(APP) == ["s"]


def test_existing_and_missing_objects_are_reported_as_by_google_adk(manager: EvalSetsManager) -> None:
    assert manager.get_eval_set(APP, "none") is None
    assert manager.get_eval_case(APP, "none", "a") is None
    manager.create_eval_set(APP, "s")
    manager.add_eval_case(APP, "s", case("a"))
    with pytest.raises(ValueError, match="already"):
        manager.create_eval_set(APP, "s")
    with pytest.raises(ValueError, match="already"):
        manager.add_eval_case(APP, "s", case("a"))
    for change in (manager.add_eval_case, manager.update_eval_case):
        with pytest.raises(NotFoundError):
            change(APP, "none", case("a"))
    with pytest.raises(NotFoundError):
        manager.update_eval_case(APP, "s", case("other"))
    with pytest.raises(NotFoundError):
        manager.delete_eval_case(APP, "s", "other")


def test_missing_folder_is_not_an_app(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no app 'gone'"):
        LocalEvalSetsManager(tmp_path).list_eval_sets("gone")


def test_a_set_whose_id_differs_from_its_file_stays_in_its_file(tmp_path: Path) -> None:
    (tmp_path / APP).mkdir()
    manager = LocalEvalSetsManager(tmp_path)
    manager.create_eval_set(APP, "s")
    (tmp_path / APP / "s.evalset.json").rename(tmp_path / APP / "renamed.evalset.json")
    manager.add_eval_case(APP, "renamed", case("a"))
    assert manager.list_eval_sets(APP) == ["renamed"]
    assert manager.get_eval_case(APP, "renamed", "a") is not None


def test_threads_lose_no_case_of_each_other(manager: EvalSetsManager) -> None:
    manager.create_eval_set(APP, "s")

    def add(start: int) -> None:
        for number in range(start, start + 10):
            manager.add_eval_case(APP, "s", case(f"c{number}"))

    threads = [threading.Thread(target=add, args=(10 * one,)) for one in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    found = manager.get_eval_set(APP, "s")
    assert found is not None
    assert len(found.eval_cases) == 40


ADD = """
import sys
from proctor.compat.adk.evaluation.eval_case import EvalCase
from proctor.compat.adk.evaluation.local_eval_sets_manager import LocalEvalSetsManager

manager, start = LocalEvalSetsManager(sys.argv[1]), int(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
for number in range(start, start + 15):
    turn = {"user_content": {"parts": [{"text": "hi"}]}}
    manager.add_eval_case("scripted_app", "s", EvalCase(eval_id=f"c{number}", conversation=[turn]))
"""


@pytest.mark.slow
def test_processes_lose_no_case_of_each_other(tmp_path: Path) -> None:
    """ADK reads and rewrites the file: of two that do so at once, one loses what it added."""
    (tmp_path / APP).mkdir()
    manager = LocalEvalSetsManager(tmp_path)
    manager.create_eval_set(APP, "s")
    words = [sys.executable, "-c", ADD, str(tmp_path)]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    workers = [subprocess.Popen([*words, str(100 * one)], **pipes) for one in range(3)]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    for worker in workers:
        worker.communicate(timeout=60)
        assert worker.returncode == 0
    found = manager.get_eval_set(APP, "s")
    assert found is not None
    assert len(found.eval_cases) == 45


def test_of_two_that_create_a_set_at_once_one_does(tmp_path: Path) -> None:
    (tmp_path / APP).mkdir()
    outcomes: list[str] = []

    def create() -> None:
        try:
            LocalEvalSetsManager(tmp_path).create_eval_set(APP, "s")
            outcomes.append("made")
        except ValueError:
            outcomes.append("refused")

    threads = [threading.Thread(target=create) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(outcomes) == ["made"] + ["refused"] * 7
    assert [entry.name for entry in (tmp_path / APP).iterdir()] == ["s.evalset.json"]


def test_a_broken_file_is_a_value_error_with_its_place(tmp_path: Path) -> None:
    (tmp_path / APP).mkdir()
    (tmp_path / APP / "s.evalset.json").write_text('{"eval_set_id": "s", "eval_cases": 3}')
    with pytest.raises(ValueError, match=r"s\.evalset\.json:1:\d+: error: eval_cases"):
        LocalEvalSetsManager(tmp_path).get_eval_set(APP, "s")


def test_an_old_list_of_cases_gets_the_id_that_is_asked_for(tmp_path: Path) -> None:
    old = [{"name": "c", "data": [{"query": "hi", "reference": "ok", "expected_tool_use": []}]}]
    (tmp_path / "old.json").write_text(json.dumps(old))
    found = load_eval_set_from_file(str(tmp_path / "old.json"), "wanted")
    assert found.eval_set_id == found.name == "wanted"
    assert [one.eval_id for one in found.eval_cases] == ["c"]
    assert convert_eval_set_to_pydantic_schema("wanted", old).eval_cases[0].eval_id == "c"
    new = {"eval_set_id": "own", "eval_cases": []}
    (tmp_path / "new.json").write_text(json.dumps(new))
    assert load_eval_set_from_file(tmp_path / "new.json", "wanted").eval_set_id == "own"


# --- results ----------------------------------------------------------------------------------------------------------

CONFIG = {"criteria": {"response_match_score": 0.5}}


def agent(text: str) -> str:
    return "ok" if text == "hi" else "something else"


def test_google_adks_three_arguments(tmp_path: Path) -> None:
    manager = LocalEvalSetResultsManager(agents_dir=str(tmp_path))
    result = EvalCaseResult.model_validate(
        {
            "eval_set_id": "s", "eval_id": "a", "final_eval_status": 1, "overall_eval_metric_results": [],
            "eval_metric_result_per_invocation": [], "session_id": "x",
        }
    )  # fmt: skip
    manager.save_eval_set_result(APP, "s", [result])
    (name,) = manager.list_eval_set_results(APP)
    assert re.fullmatch(rf"{APP}_s_[\d.]+", name)
    (file,) = (tmp_path / APP / ".adk" / "eval_history").iterdir()
    assert file.name == f"{name}.evalset_result.json"
    read = manager.get_eval_set_result(APP, name)
    assert isinstance(read, EvalSetResult)
    assert (read.eval_set_result_id, read.eval_set_id) == (name, "s")
    assert read.eval_case_results == [result]
    with pytest.raises(NotFoundError):
        manager.get_eval_set_result(APP, "none")


def test_the_documented_one_argument_awaited_and_plain(tmp_path: Path) -> None:
    manager = LocalEvalSetResultsManager(results_dir=str(tmp_path / "eval_results"))
    eval_set = {"eval_set_id": "s", "eval_cases": [case("a").model_dump(mode="json")]}

    async def documented() -> None:
        result = await AgentEvaluator.evaluate_eval_set(agent, eval_set, eval_config=CONFIG, num_runs=1)
        await manager.save_eval_set_result(result)

    asyncio.run(documented())
    manager.save_eval_set_result(
        AgentEvaluator.evaluate_eval_set(agent, eval_set, eval_config=CONFIG, num_runs=1)
    )
    names = manager.list_eval_set_results("agent")
    assert len(names) == 2
    saved = manager.get_eval_set_result("agent", names[0])
    assert [one.final_eval_status.name for one in saved.eval_case_results] == ["PASSED"]


def test_a_failing_evaluation_carries_the_result_to_be_saved(tmp_path: Path) -> None:
    manager = LocalEvalSetResultsManager(results_dir=tmp_path)
    eval_set = {"eval_set_id": "s", "eval_cases": [case("a", "other").model_dump(mode="json")]}
    with pytest.raises(AssertionError) as failed:
        AgentEvaluator.evaluate_eval_set(agent, eval_set, eval_config=CONFIG)
    manager.save_eval_set_result(failed.value.result)  # type: ignore[attr-defined]  # what an evaluation raises has it
    (name,) = manager.list_eval_set_results("agent")
    found = manager.get_eval_set_result("agent", name).eval_case_results
    assert [one.final_eval_status.name for one in found] == ["FAILED", "FAILED"]  # two runs


def test_results_manager_stores_each_run_with_its_expectations(tmp_path: Path) -> None:
    manager = LocalEvalSetResultsManager(tmp_path)
    eval_set = {"eval_set_id": "s", "eval_cases": [case("a").model_dump(mode="json")]}
    AgentEvaluator.evaluate_eval_set(
        agent, eval_set, eval_config=CONFIG, app_name=APP, eval_set_results_manager=manager
    )
    (name,) = manager.list_eval_set_results(APP)
    found = manager.get_eval_set_result(APP, name)
    assert found.eval_set_id == "s"
    assert len(found.eval_case_results) == 2
    (turn,) = found.eval_case_results[0].eval_metric_result_per_invocation
    assert turn.expected_invocation is not None
    assert turn.expected_invocation.final_response == turn.actual_invocation.final_response


def test_the_file_of_two_runs_is_like_the_one_that_google_adk_wrote(shared: Path, tmp_path: Path) -> None:
    """The same fields in the same order at every level; Proctor's own fields are additional, in each case."""
    theirs = json.loads(
        (shared / "golden" / "files" / "agent_evaluator_two_runs.evalset_result.json").read_text(
            encoding="utf-8"
        )
    )
    manager = LocalEvalSetResultsManager(tmp_path)
    eval_set = {"eval_set_id": "pytest_set", "eval_cases": [case("one").model_dump(mode="json")]}
    config = {"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}}
    AgentEvaluator.evaluate_eval_set(
        agent, eval_set, eval_config=config, app_name="sim_app", eval_set_results_manager=manager
    )
    (file,) = tmp_path.rglob("*.json")
    ours = json.loads(file.read_text(encoding="utf-8"))
    assert re.fullmatch(r"sim_app_pytest_set_[\d.]+", ours["eval_set_result_id"])
    assert list(ours) == list(theirs)
    (first, second), there = ours["eval_case_results"], theirs["eval_case_results"][0]
    assert list(first) == list(second) == [*there, "proctor_outcome", "proctor"]
    for mine, other in zip(
        first["overall_eval_metric_results"], there["overall_eval_metric_results"], strict=True
    ):
        assert list(mine) == list(other)
        assert {**mine, "score": 0, "details": 0} == {**other, "score": 0, "details": 0}
        assert list(mine["details"]) == list(other["details"])
    (turn, *_), (turn_there, *_) = (one["eval_metric_result_per_invocation"] for one in (first, there))
    assert list(turn) == list(turn_there)
    assert list(turn["actual_invocation"]) == list(turn_there["actual_invocation"])
    assert list(first["session_details"]) == list(there["session_details"])


@pytest.mark.parametrize("arguments", [{}, {"agents_dir": "a", "results_dir": "b"}], ids=["neither", "both"])
def test_one_place_for_results(arguments: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="either agents_dir or results_dir"):
        LocalEvalSetResultsManager(**arguments)


@pytest.mark.parametrize("given", [None, 3, {}, ("a",)])
def test_value_that_is_not_a_result_is_not_saved(tmp_path: Path, given: object) -> None:
    with pytest.raises(ValueError, match="expected"):
        LocalEvalSetResultsManager(tmp_path).save_eval_set_result(given)
