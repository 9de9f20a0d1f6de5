"""Ctrl-C once and twice, SIGTERM, a terminal that goes away, a reader that leaves: what was done is kept, the rest resumes.

The numbers in brackets are of the fault catalogue; see `test_kill.py` for the counts of the nightly suite.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.kill.crash_runs import (
    KilledRun,
    Ledger,
    Process,
    Project,
    differences,
    rows_of,
    stored,
    undisturbed,
)
from tests.scenarios.kill.test_kill import SEED, nightly

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP"),
    pytest.mark.slow,  # runs are stopped by signals
]

DRAIN = 10.0
RESUME = re.compile(r"proctor (resume \w+)")


def interrupt(process: Process) -> None:
    """Press Ctrl-C: at the terminal, or as one sends it to the group."""
    if process.terminal:
        process.type(b"\x03")
    else:
        process.signal(signal.SIGINT)


def twice(process: Process) -> None:
    """Press it, and again before anything could have ended."""
    interrupt(process)
    time.sleep(0.1)
    interrupt(process)


@dataclass(frozen=True)
class Way:
    """A way to stop a run."""

    stop: Callable[[Process], None]
    code: int
    drains: bool
    """Whether what is under way may finish."""
    heard: bool = True
    """Whether a reader of the output remains."""


WAYS = {
    "Ctrl-C": Way(interrupt, 130, drains=True),
    "Ctrl-C twice": Way(twice, 130, drains=False),
    "SIGTERM": Way(lambda process: process.signal(signal.SIGTERM), 143, drains=True),
    "SIGTERM to the process alone": Way(lambda process: process.child.terminate(), 143, drains=True),
    "SIGHUP": Way(lambda process: process.signal(signal.SIGHUP), 129, drains=True),
    "the terminal goes away": Way(lambda process: process.hang_up(), 129, drains=True, heard=False),
}


SHORT = {"Ctrl-C", "the terminal goes away"}
"""Those that the short run tries, in a terminal."""
SLOW = {"Ctrl-C twice", "SIGTERM"}
"""Those that the slow one tries, too; the others, and all without a terminal, are for the night."""


def stopped(project: Project, way: str, number: int, *, terminal: bool, after: int) -> KilledRun | None:
    """Stop a run after so many trials, and check all that holds at once; `None` when it was too late to stop it."""
    asked, run = WAYS[way], KilledRun(project, number)
    process = run.start(terminal=terminal)
    process.listen(lambda: process.count("trial") >= after)
    asked.stop(process)
    began = time.monotonic()
    code = process.wait()
    took = time.monotonic() - began
    everything = process.stdout + process.stderr
    assert "Traceback" not in everything
    assert took < DRAIN + 20  # what hangs, hangs for an hour
    run.check(process)
    ledger, kept = Ledger.read(run.ledger), rows_of(project.folder / run.store)
    if len(kept.verdicts) == project.cases:
        assert code in (asked.code, 0, 1, 3), everything
        return None
    assert code == asked.code, everything
    if asked.drains:
        assert kept.names == {name for _, name in ledger.of("start")}, "what was begun was not finished"
    if asked.heard:
        assert RESUME.findall(everything) == [f"resume {kept.run_id}"], everything
    return run


def resume_and_compare(project: Project, run: KilledRun, expected: tuple[int, Any], *, drained: bool) -> None:
    """Resume it, and compare it with an uninterrupted run."""
    code, report = expected
    last = run.start()
    assert last.wait() == code, last.stderr
    run.check(last)
    starts = len(Ledger.read(run.ledger).of("start"))
    repeated = starts - project.trials
    assert repeated == 0 if drained else 0 <= repeated <= project.concurrency
    run.toll.in_flight += repeated
    run.check_end()
    assert differences(stored(project, run.store), report) == []


def a_project(folder: Path, cases: int = 30, **more: tuple[float, float]) -> Project:
    given: dict[str, Any] = {
        "concurrency": 8,
        "agent_seconds": (0.05, 0.15),
        "judge_seconds": (0.0, 0.1),
        **more,
    }
    return Project(folder, cases, **given)


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, tuple[int, Any]]:
    """A project, and the report of its uninterrupted run."""
    project = a_project(tmp_path_factory.mktemp("stopped"))
    return project, undisturbed(project)


def how_long(way: str, terminal: bool) -> list[pytest.MarkDecorator]:
    if terminal and way in SHORT:
        return []
    return [pytest.mark.slow if terminal and way in SLOW else pytest.mark.nightly]


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(
    ("way", "terminal"),
    [
        pytest.param(
            way,
            terminal,
            marks=how_long(way, terminal),
            id=f"{way} {where}",
        )
        for way in WAYS
        for terminal, where in ((True, "in a terminal"), (False, "elsewhere"))
        if terminal or way != "the terminal goes away"
    ],
)
def test_stopped_run_keeps_finished_trials_and_its_resume_command_works(
    quick: tuple[Project, tuple[int, Any]], way: str, terminal: bool
) -> None:
    project, expected = quick
    run = stopped(project, way, list(WAYS).index(way) * 2 + terminal, terminal=terminal, after=5)
    assert run is not None, "it had ended before it was stopped"
    resume_and_compare(project, run, expected, drained=WAYS[way].drains)


@pytest.mark.nightly
@pytest.mark.timeout(0)
@pytest.mark.parametrize("way", WAYS)
def test_fifty_times_at_random_moments(tmp_path: Path, way: str) -> None:
    project = a_project(tmp_path, 60, agent_seconds=(0.0, 0.05))
    expected, runs, too_late = undisturbed(project), nightly(50), 0
    for number in range(SEED, SEED + runs):
        chance = random.Random(number)
        terminal = way == "the terminal goes away" or chance.random() < 0.5
        run = stopped(project, way, number, terminal=terminal, after=chance.randint(1, 40))
        if run is None:
            too_late += 1
            continue
        resume_and_compare(project, run, expected, drained=WAYS[way].drains)
        run.forget()
    print(f"{way}: {runs} runs, {runs - too_late} of them stopped before their end; seeds from {SEED}")
    assert too_late < runs / 2


@pytest.mark.nightly
@pytest.mark.timeout(0)
def test_fifty_times_while_it_starts(tmp_path: Path) -> None:
    """The command line without changes; before it is loaded, Python itself takes the signal."""
    project = a_project(tmp_path)
    for number in range(SEED, SEED + nightly(50)):
        store, ledger = tmp_path / f"early-{number}.sqlite3", tmp_path / f"ledger-{number}"
        process = subprocess.Popen(
            [sys.executable, "-m", "proctor", *project.eval(store.name)],
            cwd=tmp_path, env=project.variables(ledger), start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        time.sleep(random.Random(number).uniform(0.15, 0.6))
        os.killpg(process.pid, signal.SIGINT)
        stderr = process.communicate()[1]
        assert process.returncode in (130, -signal.SIGINT), (number, stderr)
        assert "Traceback" not in stderr or "/proctor/cli/" not in stderr, (
            number,
            stderr,
        )  # Python's own start
        kept = rows_of(store)
        if kept.run_id is None:
            assert not Ledger.read(ledger).lines
        elif "nothing was run" not in stderr:
            left = len(kept.verdicts) < project.cases
            assert RESUME.findall(stderr) == [f"resume {kept.run_id}"] * left, (number, stderr)


# --- agents and metrics that go on for ever -----------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.slow
def test_what_does_not_end_is_left_after_ten_seconds(tmp_path: Path) -> None:
    """An agent that does not end is asked again; of a metric that does not end the agent is done."""
    stuck = {}
    for what in ("agent_seconds", "judge_seconds"):
        project = a_project(tmp_path / what, 16, **{what: (3600.0, 3600.0)})
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            run = KilledRun(project, number)
            stuck[run] = (run.start(), number, code, what == "judge_seconds")
    for run, (process, number, _, _) in stuck.items():
        wait_until(lambda run=run: len(Ledger.read(run.ledger).of("start")) >= 8)  # type: ignore[misc]  # bound here
        process.signal(number)
    began = time.monotonic()
    for run, (process, _, code, _) in stuck.items():
        assert process.wait() == code
        assert "Traceback" not in process.stderr
        run.check(process)
    assert DRAIN - 1 < time.monotonic() - began < DRAIN + 30
    for run in stuck:
        run.project.agent_seconds = run.project.judge_seconds = (0.0, 0.0)
    expected = undisturbed(next(reversed(stuck)).project)
    for run, (_, _, _, agent_is_done) in stuck.items():
        if agent_is_done:
            resume_and_compare(run.project, run, expected, drained=True)
        else:
            assert run.start().wait() == expected[0]
            assert len(Ledger.read(run.ledger).of("start")) == 16 + 8


@pytest.mark.nightly
def test_the_second_ctrl_c_does_not_wait_for_what_does_not_end(tmp_path: Path) -> None:
    project = a_project(tmp_path, agent_seconds=(3600.0, 3600.0))
    run = KilledRun(project, 1)
    process = run.start()
    wait_until(lambda: len(Ledger.read(run.ledger).of("start")) == 8)
    interrupt(process)
    wait_until(lambda: "Ctrl-C again stops at once" in process.stderr_so_far())
    interrupt(process)
    began = time.monotonic()
    assert process.wait() == 130
    assert time.monotonic() - began < DRAIN - 1
    assert len(RESUME.findall(process.stderr)) == 1
    project.agent_seconds = (0.0, 0.0)
    resume_and_compare(project, run, undisturbed(project), drained=False)


def wait_until(holds: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# --- readers that leave --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_reader_may_close_the_output(quick: tuple[Project, tuple[int, Any]]) -> None:
    project, (code, report) = quick
    words = " ".join(
        map(shlex.quote, [sys.executable, "cli.py", *project.eval("head.sqlite3"), "--format=json"])
    )
    done = subprocess.run(
        ["bash", "-c", f"{words} 3>/dev/null | head -c 1; exit ${{PIPESTATUS[0]}}"],
        cwd=project.folder,
        env={**project.variables(project.folder / "head.ledger"), "CRASH_REPORTED": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, "{"), done.stderr
    assert "Traceback" not in done.stderr
    assert differences(stored(project, "head.sqlite3"), report) == []
