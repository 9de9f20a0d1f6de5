"""Every verdict refuses a set with an unread expectation or a duplicate key."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import proctor
from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator
from proctor.errors import SetupError, SetupProblems
from proctor.schema.results.manifest import Manifest
from proctor.stores.sql.store import SqlStore
from tests.cli.project import case, in_this_process, make_project

SLIP = "eval_cases[0].expected_tools"
ALLOW = "--allow-unknown-keys"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose only case states `expected_tools`."""
    monkeypatch.chdir(tmp_path)
    return make_project(tmp_path, case("hello", "hello", expected_tools=["f"]))


def test_eval(folder: Path) -> None:
    words = ("eval", "agent.py", "cases.evalset.json", "--store", "memory:")
    refused = in_this_process(*words)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert SLIP in refused.stderr
    assert ALLOW in refused.stderr
    accepted = in_this_process(*words, ALLOW)
    assert accepted.returncode == 0
    assert f"WARNING  cases.evalset.json:{_line(folder)}:" in accepted.stdout
    (folder / "proctor.toml").write_text("allow_unknown_keys = true\n")
    assert in_this_process(*words).returncode == 0
    assert in_this_process(*words, "--warnings-as-errors").returncode == 2


def _line(folder: Path) -> int:
    lines = (folder / "cases.evalset.json").read_text().splitlines()
    return 1 + next(number for number, line in enumerate(lines) if "expected_tools" in line)


def test_a_set_that_is_kept_going_past_is_an_error(folder: Path) -> None:
    (folder / "good.evalset.json").write_text(
        json.dumps({"eval_set_id": "good", "eval_cases": [case("good", "hello")]})
    )
    words = ("eval", "agent.py", "cases.evalset.json", "good.evalset.json", "--store", "memory:")
    ran = in_this_process(*words, "--keep-going")
    assert ran.returncode == 3
    assert "PASSED  good/good" in ran.stdout


def test_rescore(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = "runs.sqlite3"
    run = proctor.evaluate_sync("agent.py", "cases.evalset.json", allow_unknown_keys=True, store=store)
    assert proctor.rescore_sync(run, store=store).passed  # the run was begun so
    manifest = SqlStore.manifest

    def of_an_earlier_version(store: SqlStore, run_id: str) -> Manifest:
        found = manifest(store, run_id)
        return found.model_copy(update={"options": {}})

    monkeypatch.setattr(SqlStore, "manifest", of_an_earlier_version)
    with pytest.raises(SetupProblems, match=r"cases.evalset.json:\d+: case 'hello': expected_tools"):
        proctor.rescore_sync(run, store=store)
    assert proctor.rescore_sync(run, store=store, allow_unknown_keys=True).passed


def test_evaluate(folder: Path) -> None:
    document = json.loads((folder / "cases.evalset.json").read_text())
    for given in ("cases.evalset.json", document, proctor.EvalSet.model_validate(document)):
        with pytest.raises(SetupProblems, match="expected_tools") as refused:
            proctor.evaluate_sync("agent.py", given)
        assert "allow_unknown_keys" in str(refused.value)
        result = proctor.evaluate_sync("agent.py", given, allow_unknown_keys=True)
        assert result.passed
        assert any("expected_tools" in warning for warning in result.warnings)


def test_agent_evaluator(folder: Path) -> None:
    def evaluate() -> None:
        asyncio.run(AgentEvaluator.evaluate("agent.py", "cases.evalset.json", num_runs=1))

    with pytest.raises(SetupError, match="expected_tools"):
        evaluate()
    (folder / "proctor.toml").write_text("allow_unknown_keys = true\n")
    evaluate()


def _twice_in_the_set(folder: Path) -> None:
    path = folder / "cases.evalset.json"
    path.write_text(path.read_text().replace('"expected_tools"', '"eval_id": "hello",\n"other"'))


def _twice_in_the_config(folder: Path) -> None:
    path = folder / "cases.evalset.json"
    path.write_text(path.read_text().replace('"expected_tools"', '"other"'))
    (folder / "test_config.json").write_text(
        '{"criteria": {"tool_trajectory_avg_score": 1, "tool_trajectory_avg_score": 0.1}}'
    )


@pytest.mark.parametrize("make", [_twice_in_the_set, _twice_in_the_config], ids=["set", "config"])
def test_duplicate_key(folder: Path, make: Callable[[Path], None]) -> None:
    make(folder)
    ran = in_this_process("eval", "agent.py", "cases.evalset.json", "--store", "memory:", ALLOW)
    assert ran.returncode == 2
    assert "appears twice in one object" in ran.stderr
    assert in_this_process("check", "cases.evalset.json", "test_config.json").returncode == 2
    proctor.load_eval_set("cases.evalset.json")
