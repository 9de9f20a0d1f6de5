"""Several agents side by side that are killed or stopped: each has its run, and each goes on."""

from __future__ import annotations

import re
import shutil
import signal
from contextlib import closing
from pathlib import Path

import pytest

from proctor.api.runs import open_runs
from proctor.schema.run import RunState
from tests.stories.crashing import Blow, Ledger, Process, Project, differences, stored
from tests.stories.test_resuming import CASES, a_project, told_to


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return a_project(tmp_path)


def matrix(project: Project, store: str, ledger: str) -> Process:
    """Begin a run of two agents, one after the other."""
    for name in ("one.py", "other.py"):
        shutil.copy(project.folder / "agent.py", project.folder / name)
    agents = ["--agent", "one.py", "--agent", "other.py"]
    words = ["eval", *agents, *project.sets, "--store", store, "--concurrency", str(project.concurrency)]
    return Process(project, words, project.folder / ledger)


def each_run(project: Project, store: str) -> dict[str, tuple[str, RunState, str | None]]:
    """By agent the id of its run, how that stands, and the agent's version."""
    with closing(open_runs(project.folder / store, read_only=True)) as opened:
        return {
            run.agent: (run.run_id, run.state, opened.manifest(run.run_id).agent.version)
            for run in opened.runs()
        }


@pytest.mark.parametrize(
    ("after", "left", "version"),
    [
        pytest.param(6, ["other", "one"], None, id="while the first is at work"),
        pytest.param(CASES + 6, ["other"], "1", id="while the second is", marks=pytest.mark.slow),
    ],
)
def test_of_several_agents_that_are_killed_each_run_goes_on(
    project: Project, after: int, left: list[str], version: str | None
) -> None:
    assert matrix(project, "both.sqlite3", "both.ledger").wait() == 1
    process = matrix(project, "s.sqlite3", "ledger")
    assert Blow(trials=after).strike(process), process.stderr
    under_way = len(Ledger.read(project.folder / "ledger").of("start")) - process.count("trial")
    found = each_run(project, "s.sqlite3")
    assert {
        name: state for name, (_, state, _) in found.items() if state is RunState.UNFINISHED
    } == dict.fromkeys(left, RunState.UNFINISHED)
    assert (found["one"][2], found["other"][2]) == ("1", version)
    for number, name in enumerate(left):
        resumed = Process(project, ["resume", "--store", "s.sqlite3"], project.folder / "ledger")
        assert resumed.wait() == 1, resumed.stderr
        said = f"2 runs are unfinished. This goes on with the newest, {found['other'][0]} (other)"
        assert (said in resumed.stderr) == (len(left) - number == 2)
        assert each_run(project, "s.sqlite3")[name] == (found[name][0], RunState.FINISHED, "1")
    assert len(Ledger.read(project.folder / "ledger").of("start")) <= 2 * CASES + under_way
    assert told_to(project, "resume", "--store", "s.sqlite3").child.returncode == 2
    whole = each_run(project, "both.sqlite3")
    for name, (run_id, _, _) in found.items():
        report = stored(project, "both.sqlite3", whole[name][0])
        assert differences(stored(project, "s.sqlite3", run_id), report) == []


def test_of_several_agents_that_are_stopped_each_run_goes_on_as_it_says(project: Project) -> None:
    process = matrix(project, "s.sqlite3", "ledger")
    assert process.listen(lambda: process.count("trial") >= 4)
    process.signal(signal.SIGINT)
    assert process.wait() == 130, process.stderr
    found = each_run(project, "s.sqlite3")
    ways = re.findall(r"`proctor (resume \w+)`", process.stderr)
    assert ways == [f"resume {found[name][0]}" for name in ("one", "other")]
    for way in ways:
        assert told_to(project, *way.split(), "--store", "s.sqlite3").child.returncode == 1
    assert {state for _, state, _ in each_run(project, "s.sqlite3").values()} == {RunState.FINISHED}


@pytest.mark.slow
def test_an_agent_whose_turn_has_not_come_is_nobody_elses(tmp_path: Path) -> None:
    project = a_project(tmp_path, agent_seconds=(1.0, 1.0))
    process = matrix(project, "s.sqlite3", "ledger")
    assert process.listen(lambda: process.count("trial") >= 1)
    found = each_run(project, "s.sqlite3")
    assert {state for _, state, _ in found.values()} == {RunState.RUNNING}
    for words in (["resume"], ["resume", found["other"][0]], ["prune", "--run", found["other"][0], "--yes"]):
        refused = told_to(project, *words, "--store", "s.sqlite3")
        assert refused.child.returncode in (2, 3), refused.stderr
        assert re.search("worked on|under way|nothing to resume", refused.stderr), refused.stderr
