"""Each kind of process that a run needs is killed again and again: no finished trial is lost, and none is run again.

    CRASH_RUNS=12 python -m pytest -m nightly -s tests/scenarios/kill/test_every_kind.py     12 kills of each kind; a line each

A trial is finished when its verdict is in the store. The agent writes each call to a log, which counts what was run again.
A gate holds later trials back until a kill: however slow the machine is, each kill meets trials in flight.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from benchmarks.workers import processes_of
from proctor.errors import ProctorError
from proctor.schema.results.run_result import Outcome
from proctor.stores.open import open_store_url
from tests.agents.frameworks.environments import python_of, variables_with_bytecode
from tests.cli.project import case, make_project
from tests.scenarios.kill.test_kill import nightly
from tests.stores.postgres.server import PostgresServer, binaries, postgres_server

pytestmark = pytest.mark.nightly

AGENT = """
import asyncio, os

async def root_agent(message):
    log = os.open("calls.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(log, f"{message} {os.getpid()}\\n".encode())
    os.close(log)
    await asyncio.sleep(0.1)
    while int(message[1:]) >= os.path.getsize("gate"):
        await asyncio.sleep(0.02)
    return f"You sent {message}."
"""
BETWEEN, SLOTS = 6, 4
"""Trials that finish between two kills at least, and trials that run at the same time."""
RAY = python_of("ray")
EVAL = ("eval", "agent.py", "cases.evalset.json", "--concurrency", str(SLOTS))


@dataclass
class KilledRun:
    """One run, its processes, and what was finished before each kill."""

    folder: Path
    kills: int
    url: str = ""
    options: Sequence[str] = ()
    python: str = sys.executable
    heads: list[subprocess.Popen[bytes]] = field(default_factory=list)
    calls_of_finished: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Write the project: enough trials for all kills."""
        self.names = [f"n{number}" for number in range(2 * SLOTS + (BETWEEN + SLOTS) * self.kills)]
        make_project(
            self.folder, *(case(name, name) for name in self.names), criteria={"response_match_score": 0.9}
        )
        (self.folder / "agent.py").write_text(AGENT)
        self.open_gate(0)
        self.url = self.url or f"sqlite:{self.folder / 'runs.db'}"

    def open_gate(self, trials: int) -> None:
        """Let so many trials of the run finish."""
        (self.folder / "gate").write_bytes(b"." * trials)

    def start(self, *command: str) -> None:
        """Start a process of the run, the leader of a process group."""
        words = [self.python, "-m", "proctor", *command, "--store", self.url, *self.options]
        with (self.folder / "output.txt").open("ab") as output:
            head = subprocess.Popen(
                words, cwd=self.folder, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                env=variables_with_bytecode(),
            )  # fmt: skip
        self.heads.append(head)

    def calls(self) -> list[tuple[str, int]]:
        """Return trial and process of each call of the agent."""
        log = self.folder / "calls.log"
        return (
            [(name, int(pid)) for name, pid in map(str.split, log.read_text().splitlines())]
            if log.exists()
            else []
        )

    def stored(self) -> set[str]:
        """Return the trials whose verdict is stored."""
        try:
            store = open_store_url(self.url, read_only=True)
        except ProctorError:  # the run has not begun
            return set()
        try:
            verdicts = (one for record in store.runs() for one in store.briefly(record.run_id))
            return {one.eval_id for one in verdicts if one.outcome is not Outcome.NOT_RUN}
        finally:
            store.close()

    def wait_until_more_is_finished(self) -> None:
        """Wait for trials that finish after the last kill, and note them."""
        least, until = len(self.calls_of_finished) + BETWEEN, time.monotonic() + 300
        self.open_gate(least + SLOTS)
        while len(finished := self.stored()) < least:
            assert time.monotonic() < until, (self.folder / "output.txt").read_text()[-2000:]
            time.sleep(0.02)
        self.note_finished(finished)

    def note_finished(self, finished: set[str]) -> None:
        """Note how often each finished trial was called."""
        called = Counter(name for name, _ in self.calls())
        self.calls_of_finished.update(
            {name: called[name] for name in finished - self.calls_of_finished.keys()}
        )

    def kill_head(self) -> None:
        """Kill the newest process with its group."""
        head = self.heads.pop()
        os.killpg(head.pid, signal.SIGKILL)
        head.wait()

    def row(self, kind: str, disturb: Callable[[KilledRun], None]) -> str:
        """Run it and disturb it; return a line of the table: kills, trials, finished lost, finished repeated, begun again."""
        try:
            disturb(self)
            self.open_gate(len(self.names))
            return self._outcome(kind)
        finally:
            for head in self.heads:
                if head.poll() is None:
                    os.killpg(head.pid, signal.SIGKILL)
                    head.wait()

    def _outcome(self, kind: str) -> str:
        codes = [head.wait(180) for head in self.heads]
        output = (self.folder / "output.txt").read_text()[-2000:]
        assert not any(codes), output
        called = Counter(name for name, _ in self.calls())
        lost = (set(self.names) | self.calls_of_finished.keys()) - self.stored()
        repeated = [name for name, count in self.calls_of_finished.items() if called[name] > count]
        again = called.total() - len(self.names)
        assert (lost, repeated) == (set(), []), output
        assert again <= 2 * SLOTS * self.kills, output
        return f"| {kind} | {self.kills} | {len(self.names)} | {len(lost)} | {len(repeated)} | {again} |"


def _process(run: KilledRun) -> None:
    run.start(*EVAL)
    for _ in range(run.kills):
        run.wait_until_more_is_finished()
        run.kill_head()
        run.start("resume")


def _worker(run: KilledRun) -> None:
    run.start(*EVAL)
    for _ in range(run.kills):
        run.wait_until_more_is_finished()
        os.kill(run.calls()[-1][1], signal.SIGKILL)


def _service(name: str) -> Callable[[KilledRun], None]:
    """Kill a process of Ray itself: the run must end in order, and is resumed."""

    def kill_and_resume(run: KilledRun) -> None:
        run.start(*EVAL)
        for _ in range(run.kills):
            run.wait_until_more_is_finished()
            os.kill(processes_of(run.heads[0].pid, name)[0], signal.SIGKILL)
            assert run.heads.pop().wait(180) == 3, (run.folder / "output.txt").read_text()[-2000:]
            run.note_finished(run.stored())  # the workers of a cluster without its head finish trials
            run.start("resume")

    return kill_and_resume


def _member(run: KilledRun) -> None:
    def start(part: int) -> None:
        run.start(*EVAL, "--shard", f"{part}/2", "--join", "killed")

    start(1)
    start(2)
    for kill in range(run.kills):
        run.wait_until_more_is_finished()
        run.heads.reverse()  # the one that was started before the other
        run.kill_head()
        start(1 + kill % 2)


def _database(server: PostgresServer) -> Callable[[KilledRun], None]:
    def stop_and_start(run: KilledRun) -> None:
        run.start(*EVAL)
        for _ in range(run.kills):
            run.wait_until_more_is_finished()
            server.stop("immediate")
            server.start()

    return stop_and_start


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    programs = binaries()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    with postgres_server(programs) as running:
        yield running


WORKERS = ("--on", "processes", "--workers", "2")


@pytest.mark.parametrize(
    ("kind", "disturb", "options"),
    [
        ("the process of a run", _process, ()),
        ("a worker (`--on processes`)", _worker, WORKERS),
        ("the process that hands out trials to workers", _process, WORKERS),
        ("a part (`--shard`)", _member, ()),
    ],
    ids=["process", "worker", "head", "part"],
)
def test_processes(
    tmp_path: Path, kind: str, disturb: Callable[[KilledRun], None], options: Sequence[str]
) -> None:
    run = KilledRun(tmp_path, nightly(100), options=options)
    print(run.row(kind, disturb))


def test_database(tmp_path: Path, server: PostgresServer) -> None:
    run = KilledRun(tmp_path, nightly(100), server.new_url())
    print(run.row("the PostgreSQL server (immediate stop)", _database(server)))


@pytest.mark.skipif(not RAY.exists(), reason="no environment with Ray (make ray)")
@pytest.mark.timeout(
    7200
)  # a cluster starts after each kill, and one that is gone is noticed after 25 seconds
@pytest.mark.parametrize(
    ("kind", "disturb"),
    [
        ("a worker on Ray (`--on ray:local`)", _worker),
        ("the process that hands out trials to workers on Ray", _process),
        ("the GCS of Ray", _service("gcs_server")),
        ("the raylet of Ray", _service("raylet/raylet")),
    ],
    ids=["worker", "head", "gcs", "raylet"],
)
def test_ray(tmp_path: Path, kind: str, disturb: Callable[[KilledRun], None]) -> None:
    options = "--on", "ray:local", "--workers", "2"
    run = KilledRun(tmp_path, nightly(12), options=options, python=str(RAY))
    print(run.row(kind, disturb))
