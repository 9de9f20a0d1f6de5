"""The workflows of docs/how-to/ci.md do in a repository what the page promises: every command of every job is run."""

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.examples.pages import ROOT, blocks

pytestmark = pytest.mark.slow  # runs the jobs of a pipeline

SETS = Path("examples/travel/bookings.evalset.json")
INSTALL = "pip install ./proctor"


def _block(name: str) -> str:
    page = (ROOT / "docs" / "how-to" / "ci.md").read_text(encoding="utf-8")
    return next(block.text for block in blocks(page, "docs/how-to/ci.md") if block.option("file") == name)


def jobs() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(_block(".github/workflows/evals.yml"))["jobs"]
    return found


def gitlab() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(_block(".gitlab-ci.yml"))
    return found


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A clone of a project that has the samples; returns its commit."""
    ignored = shutil.ignore_patterns("__pycache__", ".proctor", ".adk")
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=ignored)
    monkeypatch.chdir(tmp_path)
    sh("git init -q && git add -A && git -c user.name=x -c user.email=x@example.com commit -q -m x")
    return sh("git rev-parse HEAD").stdout.strip()


def sh(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a runner does: stops at the first error, in its own shell."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", command],
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode in range(5), done.stderr
    return done


def commands(job: dict[str, Any], **expressions: str) -> list[tuple[str, dict[str, str]]]:
    """What the steps of a job run, with their environment; the installation is known to be there."""
    found = []
    assert sum(step.get("run") == INSTALL for step in job["steps"]) == 1
    for step in job["steps"]:
        if "run" in step and step["run"] != INSTALL:
            environment = {**job.get("env", {}), **step.get("env", {})}
            filled = {name: _filled(value, expressions) for name, value in environment.items()}
            assert "${{" not in step["run"], (
                "what GitHub puts in goes through the environment: it may be hostile"
            )
            found.append((step["run"], filled))
    assert found
    return found


def _filled(value: str, expressions: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ *([\w.]+) *\}\}", lambda found: expressions[found[1]], str(value))


def _edit_a_case() -> None:
    SETS.write_text(SETS.read_text().replace("Chez Nous at 8:30 pm", "Chez Nous at 8:45 pm"))


def cases(path: str) -> list[str]:
    return [each.get("name", "") for each in ET.parse(path).iter("testcase")]


def run_changed(base: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    expressions = {"github.event.pull_request.base.sha": base}
    ((command, environment),) = commands(jobs()["changed"], **expressions)
    return sh(command, **environment, GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"))


def test_a_pull_request_that_changes_no_case_is_green_at_once(repository: str, tmp_path: Path) -> None:
    done = run_changed(repository, tmp_path)
    assert (done.returncode, done.stdout.startswith("::notice title=Proctor%3A nothing was run::")) == (
        0,
        True,
    )
    assert "nothing to run: no case has changed since" in done.stderr


def test_a_pull_request_that_changes_a_case_is_annotated_at_its_line(repository: str, tmp_path: Path) -> None:
    _edit_a_case()
    done = run_changed(repository, tmp_path)
    assert done.returncode == 1
    (error,) = (line for line in done.stdout.splitlines() if line.startswith("::error "))
    line = int(re.search(r"file=examples/travel/bookings.evalset.json,line=(\d+),", error)[1])  # type: ignore[index]  # or it fails
    assert "table_in_one_go" in "".join(SETS.read_text().splitlines()[line - 1 : line + 2])
    assert (tmp_path / "summary.md").read_text().startswith("### ✕ failed: the case fails\n")


def test_the_shards_together_run_everything_and_leave_what_is_uploaded(
    repository: str, tmp_path: Path
) -> None:
    job = jobs()["all"]
    shards = job["strategy"]["matrix"]["shard"]
    found: list[str] = []
    for shard in shards:
        ((command, environment),) = commands(job, **{"matrix.shard": str(shard)})
        done = sh(command, **environment, GITHUB_STEP_SUMMARY=str(tmp_path / f"{shard}.md"))
        assert done.returncode == 0
        if Path(f"results/evals-{shard}.xml").exists():
            found += cases(f"results/evals-{shard}.xml")
            assert Path(f"results/evals-{shard}.jsonl").exists()
    assert f"/{len(shards)}" in job["steps"][-2]["run"], "the command has the number of shards, too"
    assert len(found) == len(set(found)) == 8
    upload = job["steps"][-1]["with"]
    assert (upload["path"], upload["if-no-files-found"]) == ("results/", "ignore")


def test_gate_passes_only_after_every_shard() -> None:
    gate = jobs()["gate"]
    assert (gate["needs"], gate["if"]) == ("all", "always()")
    (step,) = gate["steps"]
    assert step["env"] == {"RESULT": "${{ needs.all.result }}"}
    codes = {
        one: sh(step["run"], RESULT=one).returncode for one in ("success", "failure", "cancelled", "skipped")
    }
    assert codes == {"success": 0, "failure": 1, "cancelled": 1, "skipped": 1}


@pytest.mark.nightly
def test_gitlab_shards_and_changes(repository: str) -> None:
    job = gitlab()["evals"]
    found: list[str] = []
    for index in range(1, job["parallel"] + 1):
        Path("evals.xml").unlink(missing_ok=True)
        install, command = job["script"]
        assert install == INSTALL
        done = sh(command, CI_NODE_INDEX=str(index), CI_NODE_TOTAL=str(job["parallel"]))
        assert done.returncode == 0
        found += cases("evals.xml") if Path("evals.xml").exists() else []
    assert len(found) == len(set(found)) == 8
    _edit_a_case()
    done = sh(gitlab()["changed evals"]["script"][1], CI_MERGE_REQUEST_DIFF_BASE_SHA=repository)
    assert done.returncode == 1
    assert cases(gitlab()["changed evals"]["artifacts"]["reports"]["junit"]) == ["table_in_one_go"]


def test_a_variable_that_is_not_set_is_no_green_build(repository: str, tmp_path: Path) -> None:
    done = run_changed("", tmp_path)
    assert done.returncode == 2
    assert "--changed-since is empty" in done.stderr
