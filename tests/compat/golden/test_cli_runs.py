"""google-adk's recorded `adk eval` command lines, typed here: the same argument order and options, counts, exit codes."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.project import proctor
from tests.compat.golden.conftest import REAL
from tests.compat.golden.recorded import Json, golden

pytestmark = pytest.mark.slow  # each test starts the command line

AGENT = """
import json, sys
sys.path.insert(0, {root!r})
from tests.compat.golden.recorded import ScriptedApp

root_agent = ScriptedApp(json.loads({script!r}))
"""
REAL_AGENT = """
import json, sys
sys.path.insert(0, {root!r})
from tests.compat.golden.golden_agent import golden_agent

root_agent = golden_agent(json.loads({script!r}))
"""

# exit code there -> here, where they differ, and the required message (without sets: those of the agent's folder are run)
DIFFERS: dict[str, tuple[int, int, str]] = {
    "eval empty set": (1, 2, "empty.evalset.json:1:1: eval_cases: no cases"),
    "eval without sets": (1, 2, "empty.evalset.json:1:1: eval_cases: no cases"),
    "eval with missing config": (0, 2, "missing.json"),
    "eval only informational": (1, 2, "nothing decides it"),
}
SAME = [
    "eval by id, all pass", "eval by id, failing", "eval with detailed results", "eval selected cases",
    "eval from file with test_config beside it", "eval old file",
]  # fmt: skip


def vectors(shared: Path) -> dict[str, Json]:
    found = golden(shared, "cli.json", 15)["vectors"]
    return {one["name"]: one for one in found if one["argv"][0] == "eval"}


@pytest.fixture(scope="module", params=["replayed", REAL])
def project(
    request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory, root: Path
) -> Path:
    """`agents/scripted_app` with the eval sets that its recorded runs used."""
    folder = tmp_path_factory.mktemp("project")
    app = folder / "agents" / "scripted_app"
    app.mkdir(parents=True)
    script = json.dumps(golden(shared, "service_runs.json", 16)["script"])
    code = AGENT if request.param == "replayed" else REAL_AGENT
    (app / "agent.py").write_text(code.format(root=str(root), script=script), encoding="utf-8")
    for name in ("all_pass", "mixed", "state_and_media"):
        shutil.copy(shared / "golden" / "files" / f"{name}.evalset.json", app)
    (app / "empty.evalset.json").write_text('{"eval_set_id": "empty", "name": "empty", "eval_cases": []}')
    return folder


def counts_there(stdout: str) -> tuple[int, int]:
    found = re.findall(r"Tests (?:passed|failed): (\d+)", stdout)
    return sum(map(int, found[0::2])), sum(map(int, found[1::2]))


def counts_here(report: Path) -> tuple[int, int]:
    """Passed, and all that is not."""
    outcomes = [case["outcome"] for run in json.loads(report.read_text())["runs"] for case in run["cases"]]
    return outcomes.count("passed"), len(outcomes) - outcomes.count("passed")


def write(folder: Path, recorded: Json) -> None:
    for name, content in (recorded["files"] or {}).items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")


def test_every_recorded_command_line_has_its_place_here(shared: Path) -> None:
    assert set(vectors(shared)) == {*SAME, *DIFFERS}


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("name", SAME)
def test_the_counts_and_the_exit_code_are_the_same(shared: Path, project: Path, name: str) -> None:
    recorded = vectors(shared)[name]
    write(project, recorded)
    done = proctor(*recorded["argv"], "--compat", "adk", "--report", "json=report.json", cwd=project)
    assert done.returncode == recorded["exit_code"], done.stdout + done.stderr
    assert counts_here(project / "report.json") == counts_there(recorded["stdout"])


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("name", DIFFERS)
def test_what_decides_nothing_is_a_set_up_error_here(shared: Path, project: Path, name: str) -> None:
    recorded = vectors(shared)[name]
    there, here, message = DIFFERS[name]
    write(project, recorded)
    done = proctor(*recorded["argv"], "--compat", "adk", cwd=project)
    assert (recorded["exit_code"], done.returncode) == (there, here), done.stdout + done.stderr
    assert message in done.stderr
    assert done.stdout == ""
