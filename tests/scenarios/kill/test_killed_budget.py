"""Parts of a run are killed while they ask judges: together with their successors they ask no more often than allowed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.authoring.audit_judge import script_of
from tests.cli.project import case, make_project
from tests.models.loopback import Asked, Completion, serve_models

pytest.importorskip("pydantic_ai", reason="the extra `judges` is not installed")
pytestmark = pytest.mark.nightly  # many processes

CASES, KILLS, MOST_CALLS = 100, 8, 80


def test_the_limit_of_judge_calls_holds_over_kills(tmp_path: Path) -> None:
    names = [f"n{number}" for number in range(CASES)]
    judged = {"final_response_match_v2": {"threshold": 0.5, "judge_model_options": {"num_samples": 1}}}
    make_project(tmp_path, *(case(name, name) for name in names), criteria=judged)
    answer = script_of(str.__eq__)

    def at_various_times(asked: Asked) -> Completion:
        return answer(asked, delay=0.02 * (asked.number % 5))

    with serve_models(at_various_times) as server:
        command = [
            "eval",
            "agent.py",
            "cases.evalset.json",
            "--judge",
            server.name("openai:gpt-5"),
            "--max-judge-calls",
            str(MOST_CALLS),
        ]
        environment = {**os.environ, **server.environment()}

        def start(part: int) -> subprocess.Popen[bytes]:
            words = [*command, "--store", "sqlite:runs.db", "--shard", f"{part}/2", "--join", "nightly"]
            with (tmp_path / "output.txt").open("ab") as output:
                return subprocess.Popen(
                    [sys.executable, "-m", "proctor", *words], cwd=tmp_path, env=environment,
                    stdout=output, stderr=subprocess.STDOUT,
                )  # fmt: skip

        parts = [start(1), start(2)]
        for kill in range(1, KILLS + 1):
            until = time.monotonic() + 60
            while server.count < 5 * kill and parts[0].poll() is None:
                assert time.monotonic() < until
                time.sleep(0.005)
            parts[0].send_signal(signal.SIGKILL)
            parts[0].wait()
            parts[0] = start(1)
        codes = {part.wait(120) for part in parts}
        output = (tmp_path / "output.txt").read_text()
        assert codes <= {0, 1, 3}, output
        assert MOST_CALLS / 2 < server.count <= MOST_CALLS, output
    assert "Traceback" not in output
