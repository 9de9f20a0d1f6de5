"""`eval --format adk-rs` scores as adk-rs's command does without a config; no other command re-scores."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.project import case, in_this_process, make_project

EVAL = ["eval", "--agent", "agent.py", "--set", "cases.evalset.json"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A set without a config, whose answers have 3 of 5 expected words: between 0.5 and 0.8."""
    make_project(tmp_path, case("hello", "hello", answer="You sent hello. Good day"))
    (tmp_path / "test_config.json").unlink()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scores(text: str) -> dict[str, Any]:
    (result,) = json.loads(text)["results"]
    return {name: one["status"] for name, one in result["scores"].items()}


def test_the_criteria_are_those_of_adk_rs(project: Path) -> None:
    done = in_this_process(*EVAL, "--format", "adk-rs")
    assert (done.returncode, scores(done.stdout)) == (
        0,
        {"tool_trajectory_avg_score": "PASSED", "final_response_match_v1": "PASSED"},
    )
    assert "no config found for cases.evalset.json: scored by adk-rs's criteria" in done.stderr


def test_a_config_that_is_found_counts(project: Path) -> None:
    (project / "test_config.json").write_text('{"criteria": {"response_match_score": 0.9}}')
    done = in_this_process(*EVAL, "--format", "adk-rs")
    assert (done.returncode, scores(done.stdout), done.stderr) == (1, {"response_match_score": "FAILED"}, "")


@pytest.mark.parametrize("report", [["--report", "adk-rs=out.json"], ["--format", "json"], []], ids=" ".join)
def test_a_report_does_not_change_the_criteria(project: Path, report: list[str]) -> None:
    done = in_this_process(*EVAL, *report)
    assert (done.returncode, "adk-rs's criteria" in done.stderr) == (1, False)


def test_export_and_show_do_not_score_again(project: Path) -> None:
    assert in_this_process(*EVAL).returncode == 1
    for command in (["export", "latest"], ["show", "latest"]):
        done = in_this_process(*command, "--format", "adk-rs")
        assert scores(done.stdout)["response_match_score"] == "FAILED"


def test_what_failed_runs_again_by_the_same_criteria(project: Path) -> None:
    make_project(project, case("hello", "hello", answer="nothing like it at all"))
    (project / "test_config.json").unlink()
    assert in_this_process(*EVAL, "--format", "adk-rs").returncode == 1
    done = in_this_process("eval", "--failed", "latest")
    assert "final_response_match_v1" in done.stdout
