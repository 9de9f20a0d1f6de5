"""Nothing is left running when a run ends before its time: Ctrl-C, SIGTERM, `kill -9`. Looked for by process id."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agents.process.conftest import Pids, eval_set, lives, wait_until

STUBBORN = """
import json, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGINT, signal.SIG_IGN)
started = subprocess.Popen(["sleep", "3600"])
pathlib.Path(PIDS, str(started.pid)).touch()
"""
"""An agent that ignores requests to end, and has a child process."""

COMMAND = STUBBORN + "for line in sys.stdin:\n    while True: pass\n"
ISOLATED = STUBBORN + "def agent(text):\n    while True: pass\n"


def _begun(tmp_path: Path, pids: Pids, arguments: list[str]) -> subprocess.Popen[bytes]:
    """Start a run of two trials and wait until both are in the middle of a turn."""
    (tmp_path / "s.evalset.json").write_text(json.dumps(eval_set(["hi"], ["hi"])))
    (tmp_path / "test_config.json").write_text('{"criteria": {"response_match_score": 0.5}}')
    started = subprocess.Popen(
        [sys.executable, "-m", "proctor", "eval", *arguments, "s.evalset.json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert wait_until(lambda: len(pids()) >= 4, 120), "the agents did not start"
    return started


@pytest.mark.nightly(check=1)
@pytest.mark.slow
@pytest.mark.parametrize("how", ["cmd", "isolate"])
@pytest.mark.parametrize(
    ("signals", "code"),
    [
        pytest.param([signal.SIGKILL], -signal.SIGKILL, id="kill -9"),
        pytest.param([signal.SIGINT, signal.SIGINT], 130, id="Ctrl-C twice"),
        pytest.param([signal.SIGTERM, signal.SIGTERM], 143, id="SIGTERM twice"),
    ],
)
def test_a_run_that_is_ended_leaves_nothing_running(
    how: str,
    signals: list[signal.Signals],
    code: int,
    tmp_path: Path,
    pids: Pids,
    program: Callable[..., str],
) -> None:
    text = (COMMAND if how == "cmd" else ISOLATED).replace("PIDS", repr(str(pids.folder)))
    command = program(text)
    arguments = [command] if how == "cmd" else ["agent.py:agent", "--isolate"]
    process = _begun(tmp_path, pids, arguments)
    for number in signals:
        process.send_signal(number)
        wait_until(lambda: process.poll() is not None, 1)
    assert process.wait(60) == code
    assert len(pids()) >= 4
    assert pids.left() == []


@pytest.mark.slow
def test_the_group_of_a_run_may_be_killed_as_a_whole(
    tmp_path: Path, pids: Pids, program: Callable[..., str]
) -> None:
    command = program(COMMAND.replace("PIDS", repr(str(pids.folder))))
    (tmp_path / "outer.py").write_text(
        "import subprocess, sys; subprocess.run([sys.executable, '-m', 'proctor', 'eval', *sys.argv[1:]])"
    )
    (tmp_path / "s.evalset.json").write_text(json.dumps(eval_set(["hi"], ["hi"])))
    outer = subprocess.Popen(
        [sys.executable, "outer.py", command, "s.evalset.json"],
        cwd=tmp_path, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert wait_until(lambda: len(pids()) >= 4, 120)
    assert all(lives(pid) for pid in pids())
    os.killpg(outer.pid, signal.SIGKILL)
    outer.wait(60)
    assert pids.left() == []
