"""What the tests of agents in other processes share: running one, and looking for processes that are left."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.schema.evidence.trial import Failure, Trial
from proctor.schema.results.run_result import RunResult

CRITERIA = {"criteria": {"response_match_score": 0.5}}


def eval_set(*conversations: Sequence[str], state: dict[str, Any] | None = None) -> dict[str, Any]:
    """A set of cases `case_0` …, each with these user messages; every answer is expected to be `ok`."""
    return {
        "eval_set_id": "s",
        "eval_cases": [
            {
                "eval_id": f"case_{number}",
                "session_input": {"app_name": "shop", "user_id": "ann", "state": state or {}},
                "conversation": [
                    {
                        "user_content": {"role": "user", "parts": [{"text": text}]},
                        "final_response": {"role": "model", "parts": [{"text": "ok"}]},
                    }
                    for text in texts
                ],
            }
            for number, texts in enumerate(conversations)
        ],
    }


def run(
    agent: Any, *conversations: Sequence[str], state: dict[str, Any] | None = None, **options: Any
) -> RunResult:
    """Run such a set; what it takes from the command line has its defaults."""
    options.setdefault("config", CRITERIA)
    return proctor.evaluate_sync(agent, eval_set(*conversations, state=state), **options)


def times(short: int, full: int = 20) -> pytest.MarkDecorator:
    """How often a fault is tried: always, and at night."""
    return pytest.mark.parametrize("times", [short, pytest.param(full, marks=pytest.mark.nightly)])


def failure_of(result: RunResult, case: int = 0) -> Failure:
    """The failure of a case's only trial, which must be an error."""
    failure = result.cases[case].trials[0].failure
    assert failure is not None, result.cases[case]
    assert result.cases[case].outcome is proctor.Outcome.ERROR
    return failure


def trial_of(result: RunResult, case: int = 0) -> Trial:
    """The evidence of a case's only trial."""
    trial = result.cases[case].trials[0].trial
    assert trial is not None
    return trial


def texts_of(result: RunResult, case: int = 0) -> list[str]:
    """Return the texts of the agent, of all turns."""
    return [
        part.text
        for turn in trial_of(result, case).turns
        for event in turn.events
        for part in (event.content and event.content.parts) or ()
        if part.text is not None
    ]


def lives(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    if Path("/proc/self/stat").exists():
        return False
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def wait_until(is_so: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Wait until something is so; whether it came to be."""
    until = time.monotonic() + seconds
    while not (found := is_so()) and time.monotonic() < until:
        time.sleep(0.02)
    return found


class Pids:
    """A folder in which programs of a test leave their ids: a file each, named like it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def __call__(self) -> list[int]:
        return [int(file.name) for file in self.folder.iterdir()]

    def left(self) -> list[int]:
        """Those that live, a moment after they should not."""
        wait_until(lambda: not any(map(lives, self())), 5)
        return [pid for pid in self() if lives(pid)]


@pytest.fixture
def pids(tmp_path: Path) -> Iterator[Pids]:
    """The folder where programs leave their ids (`NOTE_PID` of a program does); survivors are killed at the end."""
    found = Pids(tmp_path / "pids")
    yield found
    for pid in found():
        if lives(pid):
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def program(tmp_path: Path, pids: Pids) -> Callable[..., str]:
    """Writes a Python program and returns the AGENT string that runs it; it notes its id."""

    def write(text: str, name: str = "agent.py") -> str:
        note = f"import pathlib, os\npathlib.Path({str(pids.folder)!r}, str(os.getpid())).touch()\n"
        (tmp_path / name).write_text(note + text)
        return f"cmd:{sys.executable} {tmp_path / name}"

    return write
