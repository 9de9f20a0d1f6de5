"""Processes that ask judges are killed: together with their successors they neither ask more often nor spend more than allowed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from proctor.models.prices import price_of
from tests.authoring.audit_judge import script_of
from tests.cli.project import case, make_project
from tests.models.loopback import Completion, ModelRequest, ModelServer, serve_models

pytest.importorskip("pydantic_ai", reason="the extra `judges` is not installed")
pytestmark = pytest.mark.nightly  # many processes

CASES, KILLS, MOST_CALLS = 100, 8, 80
AT_ONCE = 2
"""Calls of the judge at a time: those under way at a kill count as spent, although the judge may not have been asked."""
TOKENS = [(100, 20), (400, 20), (100, 200)]
"""Input and output of the answers, in turn."""

Start = Callable[..., subprocess.Popen[bytes]]
Killed = Callable[..., tuple[int, str]]


def prices() -> list[float]:
    """Return what an answer of gemini-2.5-flash with each of `TOKENS` costs in dollars."""
    return [
        price_of("gemini-2.5-flash", input_tokens=read, output_tokens=written) or 0.0
        for read, written in TOKENS
    ]


@contextmanager
def judged_project(folder: Path) -> Iterator[tuple[ModelServer, Start]]:
    """Write a project whose cases a judge scores; yield its server, and what starts a command there with its output in a file."""
    names = [f"n{number}" for number in range(CASES)]
    options = {"num_samples": 1, "parallelism_limit": AT_ONCE}
    judged = {"final_response_match_v2": {"threshold": 0.5, "judge_model_options": options}}
    make_project(folder, *(case(name, name) for name in names), criteria=judged)
    scripts = [script_of(str.__eq__, tokens=tokens) for tokens in TOKENS]

    def at_various_times(asked: ModelRequest) -> Completion:
        return scripts[asked.number % len(scripts)](asked, delay=0.02 * (asked.number % 5))

    with serve_models(at_various_times) as server:
        environment = {**os.environ, **server.environment()}

        def start(*words: str) -> subprocess.Popen[bytes]:
            with (folder / "output.txt").open("ab") as output:
                return subprocess.Popen(
                    [sys.executable, "-m", "proctor", *words, "--store", "sqlite:runs.db"], cwd=folder,
                    env=environment, stdout=output, stderr=subprocess.STDOUT,
                )  # fmt: skip

        yield server, start


def kill_when_asked(process: subprocess.Popen[bytes], server: ModelServer, times: int) -> bool:
    """Kill `process` after the judge was asked so many times; return `False` if it has ended before."""
    until = time.monotonic() + 60
    while server.count < times and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.005)
    has_ended = process.poll() is not None
    process.send_signal(signal.SIGKILL)
    process.wait()
    return not has_ended


def killed_parts(folder: Path, *limit: str, model: str) -> tuple[int, str]:
    """Run two parts, of which one is killed again and again; return how often the judge was asked, and the output."""
    with judged_project(folder) as (server, start):

        def start_part(part: int) -> subprocess.Popen[bytes]:
            return start(
                "eval", "agent.py", "cases.evalset.json", "--judge", model.format(server.name("openai:gpt-5")),
                *limit, "--shard", f"{part}/2", "--join", "nightly",
            )  # fmt: skip

        parts = [start_part(1), start_part(2)]
        for kill in range(1, KILLS + 1):
            kill_when_asked(parts[0], server, 5 * kill)
            parts[0] = start_part(1)
        output = output_of(folder, *parts)
        return server.count, output


def killed_run(folder: Path, *limit: str, model: str) -> tuple[int, str]:
    """Run one process, which is killed and resumed again and again; return how often the judge was asked, and the output."""
    with judged_project(folder) as (server, start):
        judge = "--judge", model.format(server.name("openai:gpt-5"))
        process = start("eval", "agent.py", "cases.evalset.json", *judge, *limit)
        for kill in range(1, KILLS + 1):
            if not kill_when_asked(process, server, 5 * kill):
                break  # the limit was reached: a further `resume` has no limit
            process = start("resume")
        output = output_of(folder, process)
        return server.count, output


def output_of(folder: Path, *processes: subprocess.Popen[bytes]) -> str:
    """Wait for the end of processes, and return what all have printed."""
    codes = {process.wait(120) for process in processes}
    output = (folder / "output.txt").read_text()
    assert codes <= {0, 1, 3}, output
    assert "Traceback" not in output
    return output


killed = pytest.mark.parametrize(
    "killed",
    [pytest.param(killed_run, id="one process"), pytest.param(killed_parts, id="one of two parts")],
)


@killed
def test_the_limit_of_calls_holds_over_kills(tmp_path: Path, killed: Killed) -> None:
    calls, output = killed(tmp_path, "--max-judge-calls", str(MOST_CALLS), model="{}")
    assert MOST_CALLS / 4 < calls <= MOST_CALLS, output


@killed
def test_the_limit_of_cost_holds_over_kills(tmp_path: Path, killed: Killed) -> None:
    """The last call may cost more than is left: all processes together spend at most the limit and one call."""
    price = prices()
    most = sum(price) * MOST_CALLS / len(price)
    calls, output = killed(tmp_path, "--max-cost", f"{most:.6f}", model="google:gemini-2.5-flash")
    spent = sum(price[number % len(price)] for number in range(1, calls + 1))
    print(f"{calls} calls, ${spent:.6f} of ${most:.6f}")
    assert most / 5 < spent < most + max(price), output
