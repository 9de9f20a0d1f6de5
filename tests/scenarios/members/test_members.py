"""Processes that write one run together (`--shard I/N --join RUN`), on a SQLite file and on a PostgreSQL server."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import proctor
from proctor.schema.results.run_result import Outcome
from proctor.stores.sql.store import SqlStore
from tests.stores.conftest import postgres  # noqa: F401 - a fixture
from tests.stores.postgres.server import PostgresServer

pytestmark = pytest.mark.slow  # several processes

PARTS, CASES = 3, 40
AGENT = """
import asyncio, os

async def root_agent(message):
    log = os.open("calls.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(log, f"{message}\\n".encode())
    os.close(log)
    await asyncio.sleep(0.15)
    return "wrong" if message == "n3" else f"You sent {message}."
"""
CLOCK = """
import os, time

before, off = time.time, int(os.environ["CLOCK_OFF"])
time.time = lambda: before() + off
"""


class Project:
    """A folder with an agent that writes each call to a log, and the members that run it."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.environment: dict[str, str] = {}
        self.members: dict[int, subprocess.Popen[str]] = {}
        (folder / "agent.py").write_text(AGENT, encoding="utf-8")
        cases = [
            {
                "eval_id": f"n{number}",
                "conversation": [
                    {
                        "user_content": {"parts": [{"text": f"n{number}"}]},
                        "final_response": {"parts": [{"text": f"You sent n{number}."}]},
                    }
                ],
            }
            for number in range(CASES)
        ]
        document = {"eval_set_id": "numbers", "eval_cases": cases}
        (folder / "numbers.evalset.json").write_text(json.dumps(document), encoding="utf-8")
        (folder / "test_config.json").write_text('{"criteria": {"response_match_score": 0.9}}')
        self.store = proctor.open_store(url)

    def ask_judges(self) -> None:
        """Let a judge grade the answers: a script, whose answers the store counts."""
        judged = {"final_response_match_v2": {"threshold": 0.5, "judge_model_options": {"num_samples": 1}}}
        (self.folder / "test_config.json").write_text(json.dumps({"criteria": judged}), encoding="utf-8")
        script = [{"when": "n", "say": {"rationale": "the same", "verdict": "valid"}}]
        (self.folder / "judge.json").write_text(json.dumps(script), encoding="utf-8")

    def start(self, part: int, *options: str) -> subprocess.Popen[str]:
        command = (
            "eval",
            "agent.py",
            "numbers.evalset.json",
            "--shard",
            f"{part}/{PARTS}",
            "--join",
            "nightly",
        )
        self.members[part] = self.run(*command, "--concurrency", "2", *options)
        return self.members[part]

    def run(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "proctor", *words, "--store", self.url], cwd=self.folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, env={**os.environ, **self.environment},
        )  # fmt: skip

    def set_clock(self, seconds: int) -> None:
        """Let the clock of processes that start from now on differ by so many seconds."""
        (self.folder / "clock").mkdir(exist_ok=True)
        (self.folder / "clock" / "sitecustomize.py").write_text(CLOCK, encoding="utf-8")
        self.environment = {"PYTHONPATH": str(self.folder / "clock"), "CLOCK_OFF": str(seconds)}

    def calls(self) -> Counter[str]:
        log = self.folder / "calls.log"
        return Counter(log.read_text(encoding="utf-8").split()) if log.exists() else Counter()

    def stored(self) -> set[str]:
        """Return the cases whose verdict is in the store."""
        if not any(record.run_id == "nightly" for record in self.store.runs()):
            return set()
        found = self.store.briefly("nightly")
        return {case.eval_id for case in found if case.outcome is not Outcome.NOT_RUN}

    def kill(self, part: int) -> None:
        os.killpg(self.members[part].pid, signal.SIGKILL)
        self.members[part].communicate()

    def wait_until_stored(self, count: int) -> None:
        until = time.monotonic() + 60
        while len(self.stored()) < count:
            assert time.monotonic() < until, [child.poll() for child in self.members.values()]
            time.sleep(0.02)


@pytest.fixture(params=["sqlite", "postgres"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Project]:
    url = f"sqlite:{tmp_path / 'runs.db'}"
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        url = server.new_url()
    made = Project(tmp_path, url)
    yield made
    for child in made.members.values():
        if child.poll() is None:
            child.kill()
            child.communicate()
    made.store.close()


def test_members_are_killed_and_started_again_and_no_finished_trial_is_repeated(project: Project) -> None:
    chance = random.Random(5)
    for part in range(1, PARTS + 1):
        project.start(part)
    finished: dict[str, int] = {}
    for done in (6, 14, 22):
        project.wait_until_stored(done)
        part = chance.randint(1, PARTS)
        project.kill(part)
        calls = project.calls()
        finished |= {eval_id: finished.get(eval_id, calls[eval_id]) for eval_id in project.stored()}
        project.start(part)
    ends = {part: (child.communicate()[0], child.returncode) for part, child in project.members.items()}
    calls = project.calls()
    assert {eval_id: calls[eval_id] for eval_id in finished} == finished
    assert len(calls) == CASES
    assert calls.total() <= CASES + 3 * 2  # what was under way: two trials for each kill
    assert "run nightly is complete: failed: 1 of 40 cases fails" in "".join(
        text for text, _ in ends.values()
    )
    assert {code for _, code in ends.values()} <= {0, 1}
    whole = project.store.load("nightly")
    assert (whole.outcome, whole.counts) == (Outcome.FAILED, {Outcome.PASSED: CASES - 1, Outcome.FAILED: 1})


@pytest.mark.nightly
@pytest.mark.parametrize("seconds", [300, -300])
def test_members_whose_clocks_differ_run_each_case_once_or_nothing(project: Project, seconds: int) -> None:
    for part in range(1, PARTS + 1):
        project.set_clock(seconds if part == 2 else 0)
        project.start(part, "--join-timeout", "20")
    ends = {part: (child.communicate()[0], child.returncode) for part, child in project.members.items()}
    if project.url.startswith("sqlite:"):  # a file, and so one clock: of this machine
        assert {code for _, code in ends.values()} == {2}, ends
        assert (project.calls(), [*project.store.runs()]) == (Counter(), [])
        return
    assert {code for _, code in ends.values()} == {0, 1}, ends
    assert project.calls() == Counter(f"n{number}" for number in range(CASES))
    assert project.store.load("nightly").counts == {Outcome.PASSED: CASES - 1, Outcome.FAILED: 1}


@pytest.mark.nightly(check=1)
def test_resume_runs_the_part_of_a_dead_member_while_the_others_live(project: Project) -> None:
    for part in range(1, PARTS + 1):
        project.start(part)
    project.wait_until_stored(6)
    project.kill(2)
    assert isinstance(project.store, SqlStore)
    waiting = project.run("show", "nightly", "--wait", "--wait-timeout", "120")
    resumed = project.run("resume", "nightly")
    text, _ = resumed.communicate()
    assert resumed.returncode in {0, 1}, text
    for part in (1, 3):
        project.members[part].communicate()
    shown, _ = waiting.communicate()
    assert waiting.returncode == 1, shown
    assert "failed: 1 of 40 cases fails" in shown
    assert max(project.calls().values()) <= 2
    assert project.calls().total() <= CASES + 2


@pytest.mark.nightly(check=1)
def test_a_limit_of_calls_holds_for_all_members_and_after_kills(project: Project) -> None:
    project.ask_judges()
    options = ("--judge", "scripted:judge.json", "--max-judge-calls", "25")
    for part in range(1, PARTS + 1):
        project.start(part, *options)
    project.wait_until_stored(6)
    project.kill(2)
    project.start(2, *options)
    ends = {part: (child.communicate()[0], child.returncode) for part, child in project.members.items()}
    texts = "".join(text for text, _ in ends.values())
    assert "stopped by max_judge_calls: judges were asked 25 times" in texts, texts
    assert 3 in {code for _, code in ends.values()}
    assert (
        25 - 2 <= len(project.stored()) <= 25
    )  # the killed process may have made two calls whose answers it did not store
    resumed = project.run("resume", "nightly", "--max-judge-calls", "100")
    text, _ = resumed.communicate()
    assert (resumed.returncode, project.store.load("nightly").passed) == (0, True), text
