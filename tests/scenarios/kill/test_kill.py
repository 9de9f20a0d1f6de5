"""kill -9 of whole process groups, at random moments: a result that was reported is on disk, and nothing runs twice.

The numbers in brackets are of the fault catalogue. `CRASH_RUNS` sets how many runs the nightly suite takes (`make
nightly`); every run has its seed in its test's output, and `CRASH_SEED` begins the count elsewhere.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from pathlib import Path

import pytest

from tests.scenarios.kill.crash_runs import (
    Blow,
    KilledRun,
    Project,
    Toll,
    at_random,
    differences,
    stored,
    undisturbed,
)

pytestmark = pytest.mark.slow  # runs are killed

SEED = int(os.environ.get("CRASH_SEED", "1"))
NIGHTLY = os.environ.get("CRASH_RUNS")


def nightly(most: int) -> int:
    """The number of runs: from the environment, else from the fault catalogue."""
    return int(NIGHTLY) if NIGHTLY else most


def many(
    folder: Path,
    project: Project,
    runs: int,
    blows: Callable[[random.Random], Sequence[Blow]],
    *,
    seed: int = SEED,
) -> Toll:
    """Kill so many runs, compare each with an undisturbed one, and print the summary."""
    code, expected = undisturbed(project)
    total = Toll()
    for number in range(seed, seed + runs):
        killed = KilledRun(project, number)
        try:
            last = killed.through(blows(random.Random(number)))
        except AssertionError as error:
            error.add_note(f"seed {number} in {folder}; {killed.toll}")
            raise
        assert last.child.returncode == code, number
        assert differences(stored(project, killed.store), expected) == [], number
        total.add(killed.toll)
        if runs > 10:
            print(f"seed {number}: {total}", flush=True)
            killed.forget()
    print(f"seeds {seed} to {seed + runs - 1}: {total}")
    assert (total.lost, total.duplicated) == (0, 0)
    assert total.repeated <= total.in_flight
    return total


def anywhere(trials: int, least: int, most: int) -> Callable[[random.Random], list[Blow]]:
    """Return what chooses some blows at random moments of what is left of a run."""

    def choose(chance: random.Random) -> list[Blow]:
        count = chance.randint(least, most)
        return [at_random(chance, max(1, trials // (1 + index))) for index in range(count)]

    return choose


# --- while the agent is at work [1] --------------------------------------------------------------------------------------


def killed_while_running(
    folder: Path, *, cases: int, runs: int, blows: tuple[int, int], num_runs: int = 1
) -> Toll:
    project = Project(folder, cases, num_runs)
    return many(folder, project, runs, anywhere(project.trials, *blows))


@pytest.mark.nightly
def test_a_run_that_is_killed_again_and_again_ends_as_if_nothing_had_been(tmp_path: Path) -> None:
    toll = killed_while_running(tmp_path, cases=80, runs=1, blows=(3, 3))
    assert toll.kills >= 1


@pytest.mark.nightly
@pytest.mark.slow
def test_repeats_are_kept_one_by_one(tmp_path: Path) -> None:
    killed_while_running(tmp_path, cases=8, runs=1, blows=(2, 2), num_runs=5)


@pytest.mark.nightly
@pytest.mark.slow
def test_killed_run_is_free_at_once_without_proc(tmp_path: Path) -> None:
    """As on macOS."""
    project = Project(tmp_path, 80, environment={"CRASH_NO_PROC": "1"})
    toll = many(tmp_path, project, 1, anywhere(80, 3, 3))
    assert toll.kills >= 1


@pytest.mark.nightly
@pytest.mark.slow
def test_a_larger_run_that_is_killed(tmp_path: Path) -> None:
    toll = killed_while_running(tmp_path, cases=1000, runs=1, blows=(3, 3))
    assert toll.kills >= 2


@pytest.mark.nightly
@pytest.mark.timeout(0)
@pytest.mark.parametrize("num_runs", [1, 5])
def test_two_hundred_runs_that_are_killed(tmp_path: Path, num_runs: int) -> None:
    runs = nightly(200 if num_runs == 1 else 20)
    toll = killed_while_running(tmp_path, cases=1000 // num_runs, runs=runs, blows=(3, 5), num_runs=num_runs)
    assert toll.kills >= 2.5 * runs


# --- while metrics are at work: the agent is done [2] --------------------------------------------------------------------


def killed_while_scoring(folder: Path, *, cases: int, runs: int, num_runs: int = 1) -> Toll:
    project = Project(folder, cases, num_runs, agent_seconds=(0.0, 0.002), judge_seconds=(0.05, 0.15))
    trials = project.trials

    def choose(chance: random.Random) -> list[Blow]:
        return [
            Blow(trials=chance.randint(1, trials // 3), pause=chance.uniform(0.02, 0.05)) for _ in range(2)
        ]

    return many(folder, project, runs, choose)


@pytest.mark.nightly
def test_killed_while_scoring_no_agent_is_asked_again(tmp_path: Path) -> None:
    toll = killed_while_scoring(tmp_path, cases=40, runs=1)
    assert toll.only_judged > 0


@pytest.mark.nightly
@pytest.mark.timeout(0)
def test_a_hundred_runs_that_are_killed_while_scoring(tmp_path: Path) -> None:
    toll = killed_while_scoring(tmp_path, cases=200, runs=nightly(100))
    assert toll.only_judged > toll.runs


# --- before every single statement of SQL: begin, evidence, scores, verdict, finish, and all statements of resuming [4] ------


def killed_before(folder: Path, statements: Iterable[int], *, cases: int) -> Toll:
    """Kill a run before its nth statement, and the process that resumes it before its nth, for each n."""
    project = Project(folder, cases, 2, concurrency=1, agent_seconds=(0.0, 0.0))
    _, expected = undisturbed(project)
    total = Toll()
    for statement in statements:
        killed = KilledRun(project, statement)
        killed.through([Blow(statement=statement), Blow(statement=statement)])
        assert differences(stored(project, killed.store), expected) == [], statement
        total.add(killed.toll)
        if not killed.toll.kills:
            break  # there are not so many
        killed.forget()
    return total


@pytest.mark.nightly
@pytest.mark.slow
def test_killed_before_single_statements(tmp_path: Path) -> None:
    toll = killed_before(tmp_path, (9, 33, 51), cases=1)
    assert toll.kills > 3


@pytest.mark.nightly
@pytest.mark.timeout(0)
def test_killed_before_every_statement(tmp_path: Path) -> None:
    toll = killed_before(tmp_path, count(1), cases=3)
    print(f"before every statement: {toll}")
    assert toll.kills > toll.runs > 50
