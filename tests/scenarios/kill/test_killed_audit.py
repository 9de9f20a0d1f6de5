"""An audit with a judge behind HTTP that is killed: the next one asks only for the answers that are not stored."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.authoring.audit_judge import script_of
from tests.cli.project import case, make_project, proctor
from tests.models.loopback import Completion, ModelRequest, serve_models

pytest.importorskip("pydantic_ai", reason="the extra `judges` is not installed")
pytestmark = pytest.mark.slow  # it starts three processes

ANSWERED = 6
AT_ONCE = 8
"""Requests that an audit sends at a time."""
SHOW = ["runs", "--kind", "audit"]


@pytest.mark.nightly
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT], ids=lambda one: one.name)
def test_the_answers_of_an_interrupted_audit_are_not_paid_for_again(
    end: signal.Signals, tmp_path: Path
) -> None:
    vote = {"threshold": 1, "judge_model_options": {"num_samples": 1}}
    answer = "The table is booked for 4 people and costs $30. It is not near the window. Ask for Anna Miller."
    make_project(tmp_path, case("seats", "book", answer=answer), criteria={"final_response_match_v2": vote})
    valid = script_of(str.__eq__)

    def holds(asked: ModelRequest) -> Completion:
        return valid(asked, delay=0.0 if asked.number < ANSWERED else 3600.0)

    with serve_models(holds) as server:
        words = ["audit", "cases.evalset.json", "--judge", server.name("openai:gpt-5"), "--json"]
        variables: dict[str, Any] = server.environment()
        killed = subprocess.Popen(
            [sys.executable, "-m", "proctor", *words], cwd=tmp_path, env={**os.environ, **variables}
        )
        while server.count < ANSWERED + AT_ONCE - 1:
            assert killed.poll() is None
            time.sleep(0.01)
        killed.send_signal(end)
        killed.wait()
        asked_before = server.count
        server.script = valid
        done = proctor(*words, cwd=tmp_path, **variables)
        assert done.returncode == 0, done.stderr
        (judged,) = json.loads(done.stdout)["judged"]["judges"]
        usage = json.loads(done.stdout)["judged"]["usage"]
        calls, known = map(int, re.findall(r"\((\d+) calls.* (\d+) known from before", usage)[0])
        assert known >= ANSWERED
        assert calls == server.count - asked_before
        assert judged["without_verdict"] == 0
        listed = proctor(*SHOW, cwd=tmp_path).stdout.splitlines()
        assert [line.split()[2] for line in listed] == ["failed", "unfinished"]
