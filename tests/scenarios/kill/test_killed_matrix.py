"""Several agents of one command, killed or stopped: each has its run, and each resumes."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

import proctor
from proctor import Content, Event, Session
from proctor.agents.base import AgentInfo
from proctor.errors import AgentLoadError
from proctor.runs.storage.open import open_runs
from proctor.schema.results.manifest import RunState
from proctor.schema.results.run_result import Outcome
from proctor.stores.open import open_store_url
from tests.cli.project import proctor as proctor_there
from tests.scenarios.kill.crash_runs import Blow, Ledger, Process, Project, differences, stored
from tests.scenarios.kill.test_resume import CASES, a_project, run_command

pytestmark = pytest.mark.slow  # runs are killed and resumed


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
    """By agent the id of its run, its state, and the agent's version."""
    with closing(open_runs(project.folder / store, read_only=True)) as opened:
        return {
            run.agent: (run.run_id, run.state, opened.manifest(run.run_id).agent.version)
            for run in opened.runs()
        }


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("after", "left", "version"),
    [
        pytest.param(6, ["other", "one"], None, id="while the first is at work"),
        pytest.param(CASES + 6, ["other"], "1", id="while the second is", marks=pytest.mark.slow),
    ],
)
def test_each_run_of_several_killed_agents_resumes(
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
        message = f"2 runs are unfinished. This resumes the newest, {found['other'][0]} (other)"
        assert (message in resumed.stderr) == (len(left) - number == 2)
        assert each_run(project, "s.sqlite3")[name] == (found[name][0], RunState.FINISHED, "1")
    assert len(Ledger.read(project.folder / "ledger").of("start")) <= 2 * CASES + under_way
    assert run_command(project, "resume", "--store", "s.sqlite3").returncode == 2
    whole = each_run(project, "both.sqlite3")
    for name, (run_id, _, _) in found.items():
        report = stored(project, "both.sqlite3", whole[name][0])
        assert differences(stored(project, "s.sqlite3", run_id), report) == []


@pytest.mark.nightly
def test_each_run_of_several_stopped_agents_resumes_by_its_command(project: Project) -> None:
    process = matrix(project, "s.sqlite3", "ledger")
    assert process.listen(lambda: process.count("trial") >= 4)
    process.signal(signal.SIGINT)
    assert process.wait() == 130, process.stderr
    found = each_run(project, "s.sqlite3")
    ways = re.findall(r"`proctor (resume \w+)`", process.stderr)
    assert ways == [f"resume {found[name][0]}" for name in ("one", "other")]
    for way in ways:
        assert run_command(project, *way.split(), "--store", "s.sqlite3").returncode == 1
    assert {state for _, state, _ in each_run(project, "s.sqlite3").values()} == {RunState.FINISHED}


@pytest.mark.nightly
@pytest.mark.slow
def test_waiting_run_of_an_agent_is_not_taken_by_another(tmp_path: Path) -> None:
    project = a_project(tmp_path, agent_seconds=(1.0, 1.0))
    process = matrix(project, "s.sqlite3", "ledger")
    assert process.listen(lambda: process.count("trial") >= 1)
    found = each_run(project, "s.sqlite3")
    assert {state for _, state, _ in found.values()} == {RunState.RUNNING}
    for words in (["resume"], ["resume", found["other"][0]], ["prune", "--run", found["other"][0], "--yes"]):
        refused = run_command(project, *words, "--store", "s.sqlite3")
        assert refused.returncode in (2, 3), refused.stderr
        assert re.search("worked on|under way|nothing to resume", refused.stderr), refused.stderr


# --- in Python -----------------------------------------------------------------------------------------------------------


class Opened:
    """An agent that answers rightly, or cannot be opened."""

    def __init__(self, name: str, *, breaks: bool = False) -> None:
        self.name = name
        self._breaks = breaks

    def open(self) -> None:
        if self._breaks:
            raise ConnectionError("the service is down")

    def describe(self) -> AgentInfo:
        return AgentInfo(name=self.name, version=f"{self.name}-1")

    async def answer(self, message: Content, _session: Session) -> AsyncIterator[Event]:
        yield Event.said(message.joined_text())


TURN = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hi"}]}}
SET = {"eval_set_id": "one", "eval_cases": [{"eval_id": "a", "conversation": [TURN]}]}
CONFIG = {"criteria": {"response_match_score": 0.5}}


def side_by_side(store: str, *agents: Opened) -> list[str | None]:
    """The versions of the agents, as their runs have them."""
    results = asyncio.run(proctor.evaluate_matrix(list(agents), SET, config=CONFIG, store=store))
    assert all(result.passed for result in results)
    opened = open_store_url(store)
    with closing(opened):
        return [opened.manifest(result.run_id).agent.version for result in results]


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("where", ["file", "memory"])
def test_each_of_several_agents_is_described_in_its_own_run(tmp_path: Path, where: str) -> None:
    store = str(tmp_path / "s.sqlite3") if where == "file" else "memory:side by side"
    assert side_by_side(store, Opened("a"), Opened("b"), Opened("c")) == ["a-1", "b-1", "c-1"]
    assert {record.state for record in proctor.list_runs(store)} == {RunState.FINISHED}


def test_where_the_first_cannot_be_opened_nothing_is_left_behind(tmp_path: Path) -> None:
    store = str(tmp_path / "s.sqlite3")
    with pytest.raises(AgentLoadError, match="the service is down"):
        side_by_side(store, Opened("a", breaks=True), Opened("b"))
    assert list(proctor.list_runs(store)) == []


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("kept", [True, False], ids=["kept", "kept nowhere"])
def test_agent_that_cannot_be_opened_leaves_the_others_complete(tmp_path: Path, *, kept: bool) -> None:
    store = str(tmp_path / "s.sqlite3") if kept else None
    agents = [Opened("a"), Opened("b", breaks=True), Opened("c")]
    a, b, c = asyncio.run(proctor.evaluate_matrix(agents, SET, config=CONFIG, store=store))
    assert (a.outcome, b.outcome, c.outcome) == (Outcome.PASSED, Outcome.ERROR, Outcome.PASSED)
    assert (b.counts, b.exit_code) == ({Outcome.NOT_RUN: 1}, 3)
    assert b.failure is not None
    assert (b.failure.where, "the service is down" in b.failure.message) == ("agent", True)
    if store is None:
        return
    states = {record.run_id: record.state for record in proctor.list_runs(store)}
    left = {a.run_id: RunState.FINISHED, b.run_id: RunState.UNFINISHED, c.run_id: RunState.FINISHED}
    assert states == left
    resumed = proctor.resume_sync(b.run_id, store=store, agent=Opened("b"), eval_sets=SET)
    assert resumed.passed
    assert {record.state for record in proctor.list_runs(store)} == {RunState.FINISHED}


THREE = {"eval_set_id": "three", "eval_cases": [{"eval_id": name, "conversation": [TURN]} for name in "xyz"]}


def test_store_that_breaks_during_the_first_run_is_reported_once(
    tmp_path: Path,
) -> None:
    """The second agent cannot even be begun: that it was not run is data, and no reason to lose the first."""
    (tmp_path / "set.evalset.json").write_text(json.dumps(THREE))
    (tmp_path / "test_config.json").write_text(json.dumps(CONFIG))
    breaks = "import os\n\nasked = []\n\ndef root_agent(text):\n    asked.append(text)\n"
    breaks += "    if len(asked) == 3:\n        os.rename('s.db', 'moved.db')\n    return text\n"
    (tmp_path / "first.py").write_text(breaks)
    (tmp_path / "second.py").write_text("def root_agent(text):\n    return text\n")
    agents = ["--agent", "first.py", "--agent", "second.py"]
    command = [
        *agents,
        "set.evalset.json",
        "--store",
        "s.db",
        "--concurrency",
        "1",
        "--report",
        "json=out.json",
    ]
    done = proctor_there("eval", *command, cwd=tmp_path)
    assert done.returncode == 3
    lines = [
        line for line in done.stderr.splitlines() if " trials (" not in line
    ]  # progress, on a busy machine
    assert [line for line in lines if "the store was deleted while it was in use" in line] == lines
    assert len(lines) == 1
    first, second = json.loads((tmp_path / "out.json").read_text())["runs"]
    assert [case["outcome"] for case in first["cases"]] == ["passed", "passed", "not_run"]
    assert [case["outcome"] for case in second["cases"]] == ["not_run"] * 3
    assert (first["outcome"], second["outcome"]) == ("error", "error")
    (tmp_path / "s.db-wal").rename(tmp_path / "moved.db-wal")
    for agent in ("second", "first"):  # the newest first
        resumed = proctor_there("resume", "--store", "moved.db", cwd=tmp_path)
        assert (resumed.returncode, resumed.stdout.splitlines()[0].split()[1]) == (0, agent)


def test_waiting_runs_are_released_when_the_command_is_cancelled(tmp_path: Path) -> None:
    store, asked = str(tmp_path / "s.sqlite3"), asyncio.Event()

    class Slow(Opened):
        async def answer(self, message: Content, _session: Session) -> AsyncIterator[Event]:
            asked.set()
            await asyncio.sleep(60)
            yield Event.said("late")

    async def cancelled() -> None:
        task = asyncio.create_task(
            proctor.evaluate_matrix([Slow("a"), Opened("b")], SET, config=CONFIG, store=store)
        )
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert [record.state for record in proctor.list_runs(store)] == [RunState.UNFINISHED] * 2
