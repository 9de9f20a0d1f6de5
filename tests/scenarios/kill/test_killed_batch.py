"""The commands of docs/how-to/batch-judges.md at a local server: also interrupted and killed, they submit one batch."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.project import hear
from tests.docs.examples.pages import ROOT, blocks
from tests.models.loopback import Completion, ModelRequest
from tests.models.loopback.batches import BatchServer, serve_batches

pytest.importorskip("pydantic_ai", reason="the extra `judges` is not installed")
pytestmark = pytest.mark.slow  # it starts four processes

PAGE = "docs/how-to/batch-judges.md"
SHOWN = list(blocks((ROOT / PAGE).read_text(encoding="utf-8"), PAGE))
COMMANDS = re.findall(r"^\$ proctor (.*)$", SHOWN[0].text, re.MULTILINE)


def agrees(asked: ModelRequest) -> Completion:
    number = asked.text.partition("The number of this ballot: ")[2].split()[0]
    return Completion(data={"ballot": number, "rationale": "It is the same.", "verdict": "valid"})


def start(command: str, folder: Path, server: BatchServer) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "proctor", *command.split()],
        cwd=folder,
        env={**os.environ, **server.environment()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with the files of the page."""
    shutil.copytree(ROOT / "examples" / "travel", tmp_path / "examples" / "travel")
    (config,) = [block for block in SHOWN if block.option("file") == "judged.json"]
    (tmp_path / "judged.json").write_text(config.text)
    return tmp_path


@pytest.mark.nightly
def test_the_commands_of_the_page_submit_one_batch_though_they_are_interrupted_and_killed(
    project: Path,
) -> None:
    run_agent, score = COMMANDS
    with serve_batches(agrees) as server:
        first = start(run_agent, project, server)
        first.communicate()
        assert first.returncode in (0, 1)
        server.is_held = True

        interrupted = start(score, project, server)
        hear(interrupted, "waiting for the provider")
        interrupted.send_signal(signal.SIGINT)
        _, errors = interrupted.communicate()
        assert interrupted.returncode == 130, errors
        assert errors.splitlines()[-1] == (
            "interrupted: nothing was scored yet; the provider continues batches that were submitted, "
            "and the same command waits for them"
        )

        killed = start(score, project, server)
        assert "of an earlier command; not submitted again" in hear(killed, "waiting for the provider")
        killed.kill()
        killed.communicate()

        server.is_held = False
        last = start(score, project, server)
        report, errors = last.communicate()
        assert last.returncode in (0, 1), errors
        assert len(server.batches) == 1
        assert re.search(r"^batch batch_1: (\d+) of \1 requests answered$", errors, re.MULTILINE)
        assert "COST  judges $" in report
        assert f"({server.asked} calls, " in report


def test_a_process_that_was_killed_during_the_submission_is_continued(project: Path) -> None:
    """The server has the batch before the process gets the answer: this is where a kill leaves no reference."""
    run_agent, score = COMMANDS
    with serve_batches(agrees) as server:
        start(run_agent, project, server).communicate()
        server.delay = 30.0
        killed = start(score, project, server)
        while not server.batches:
            assert killed.poll() is None, killed.communicate()
            time.sleep(0.01)
        killed.kill()
        killed.communicate()
        server.delay = 0.0
        last = start(score, project, server)
        _, errors = last.communicate()
        assert last.returncode in (0, 1), errors
        assert "of an earlier command; not submitted again" in errors
        assert len(server.batches) == 1
