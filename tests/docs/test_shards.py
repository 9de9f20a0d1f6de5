"""The recipes of docs/how-to/shards.md: each file is valid, and the processes that it starts write one run."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import proctor
from tests.docs.examples.pages import ROOT, blocks

pytestmark = pytest.mark.slow  # each starts four processes

PAGE = "docs/how-to/shards.md"
PARTS = 4
Jobs = tuple[list[tuple[str, dict[str, str]]], tuple[str, dict[str, str]] | None]
"""The command and environment of each member, and of the job that shows the verdict."""


def recipe(name: str) -> str:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    return next(block.text for block in blocks(page, PAGE) if block.option("file") == name)


def github() -> Jobs:
    document: Any = yaml.safe_load(recipe(".github/workflows/shards.yml"))
    part, verdict = document["jobs"]["part"], document["jobs"]["verdict"]
    assert part["strategy"]["matrix"]["shard"] == [*range(1, PARTS + 1)]
    assert part["env"]["SHARD"] == "${{ matrix.shard }}"
    assert (part["strategy"]["fail-fast"], verdict["needs"], verdict["if"]) == (False, "part", "always()")
    (command, shown) = (job["steps"][-1]["run"] for job in (part, verdict))
    assert "${{" not in command + shown
    members = [(command, {"SHARD": str(i), "GITHUB_RUN_ID": "17"}) for i in range(1, PARTS + 1)]
    return members, (shown, {"GITHUB_RUN_ID": "17"})


def gitlab() -> Jobs:
    document: Any = yaml.safe_load(recipe(".gitlab-ci.yml"))
    part, verdict = document["part"], document["verdict"]
    assert (part["parallel"], part["allow_failure"]) == (PARTS, True)
    assert verdict["artifacts"]["reports"] == {"junit": "evals.xml"}
    pipeline = {"CI_PIPELINE_ID": "17", "CI_NODE_TOTAL": str(PARTS)}
    members = [(part["script"][-1], {**pipeline, "CI_NODE_INDEX": str(i)}) for i in range(1, PARTS + 1)]
    return members, (verdict["script"][-1], pipeline)


def kubernetes() -> Jobs:
    document: Any = yaml.safe_load(recipe("job.yaml"))
    assert (document["apiVersion"], document["kind"]) == ("batch/v1", "Job")
    spec, pod = document["spec"], document["spec"]["template"]["spec"]
    assert spec["completionMode"] == "Indexed"
    assert spec["completions"] == spec["parallelism"] == PARTS  # the members wait for each other
    assert pod["restartPolicy"] == "Never"  # a pod failure policy requires it
    (rule,) = spec["podFailurePolicy"]["rules"]
    assert (rule["action"], rule["onExitCodes"]["operator"]) == ("FailIndex", "In")
    assert rule["onExitCodes"]["values"] == sorted({1, 2, 3, 4})  # and not 137: a pod that was killed
    (container,) = pod["containers"]
    assert container["command"] == ["sh", "-c"]
    (command,) = container["args"]
    given = {one["name"]: one["value"] for one in container["env"] if "value" in one}
    return [(command, {"RUN": given["RUN"], "JOB_COMPLETION_INDEX": str(i)}) for i in range(PARTS)], None


def slurm() -> Jobs:
    script = recipe("evals.sbatch")
    assert script.startswith("#!/bin/bash\n")
    assert f"#SBATCH --array=1-{PARTS}\n" in script
    array = {"SLURM_ARRAY_JOB_ID": "17", "SLURM_ARRAY_TASK_COUNT": str(PARTS)}
    return [(script, {**array, "SLURM_ARRAY_TASK_ID": str(i)}) for i in range(1, PARTS + 1)], None


@pytest.mark.parametrize("jobs_of", [github, gitlab, kubernetes, slurm])
def test_the_jobs_of_a_recipe_write_one_run(
    jobs_of: Callable[[], Jobs], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(
        ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__", ".proctor")
    )
    monkeypatch.chdir(tmp_path)
    members, later = jobs_of()
    started = [_start(command, environment) for command, environment in members]
    texts = [child.communicate(timeout=120)[0] for child in started]
    assert [child.returncode for child in started] == [0] * PARTS, texts
    assert sum("is complete: passed: all 8 cases pass" in text for text in texts) == 1, texts
    (record,) = proctor.list_runs("runs.db")
    assert (record.cases, record.summary.counts) == (8, {"passed": 8})
    if later is not None:
        shown = _start(*later)
        assert "all 8 cases pass" in shown.communicate(timeout=60)[0]
        assert shown.returncode == 0


def _start(command: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.Popen(
        ["bash", "-e", "-o", "pipefail", "-c", command], text=True,
        env={**os.environ, "PATH": path, "STORE": "runs.db", **environment},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
