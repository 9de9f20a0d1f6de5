"""Runs with a judge behind HTTP: a project, its command line in separate processes, a server that counts."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.runs.storage.open import open_runs
from proctor.schema.results.run_result import RunResult
from tests.cli.fork_command import fork_command
from tests.models.loopback import Completion, ModelRequest, ModelServer, serve_models

METRIC = "final_response_match_v2"
PATIENCE = 60.0

AGENT = """
import os, time

def agent(text: str) -> str:
    with open(os.environ["LEDGER"], "a") as ledger:
        ledger.write(text + "\\n")
    return f"the answer to {text}"
"""


def ballot_of(asked: ModelRequest) -> str:
    """The number of the ballot that a request is about."""
    found = re.search(r"The number of this ballot: (\w+)", asked.text)
    assert found
    return found[1]


def question_of(asked: ModelRequest) -> str:
    """Return the user's message in the turn of a request."""
    found = re.search(r"<<<BEGIN \w+ user message>>>\n(.*)\n<<<END", asked.text)
    assert found
    return found[1]


def valid(asked: ModelRequest, *, delay: float = 0.0) -> Completion:
    """Every even number is answered well."""
    verdict = "valid" if int(question_of(asked).removeprefix("c")) % 2 == 0 else "invalid"
    return Completion(
        data={"ballot": ballot_of(asked), "rationale": "because", "verdict": verdict}, delay=delay
    )


@contextmanager
def judge(answer: Callable[[ModelRequest], Any] = valid) -> Iterator[ModelServer]:
    """A server that judges."""
    with serve_models(answer) as server:
        yield server


@dataclass
class Project:
    """A folder with an agent, a set and a config that asks a judge."""

    folder: Path
    server: ModelServer
    cases: int = 12
    model: str = "openai:gpt-5"
    options: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        """Write it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "agent.py").write_text(AGENT)
        turn = {
            "user_content": {"role": "user", "parts": [{"text": "c{}"}]},
            "final_response": {"parts": [{"text": "c{}"}]},
        }
        text = json.dumps(turn)
        cases = [
            {"eval_id": f"c{n}", "conversation": [json.loads(text.replace("{}", str(n)))]}
            for n in range(self.cases)
        ]
        (self.folder / "set.evalset.json").write_text(json.dumps({"eval_set_id": "set", "eval_cases": cases}))
        options = {"judge_model": self.model, **(self.options or {})}
        config = {"criteria": {METRIC: {"threshold": 1.0, "judge_model_options": options}}}
        (self.folder / "test_config.json").write_text(json.dumps(config))

    @property
    def variables(self) -> dict[str, str]:
        """The environment of its processes."""
        return {**os.environ, **self.server.environment(), "LEDGER": str(self.folder / "ledger.txt")}

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command of `proctor`, as the leader of a process group."""
        return subprocess.Popen(
            [sys.executable, "-m", "proctor", *words], cwd=self.folder, env=self.variables, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

    def run(self, *words: str) -> tuple[int, str, str]:
        """Run a command of `proctor` to its end."""
        ended = fork_command(*words, cwd=self.folder, environment=self.variables, timeout=PATIENCE)
        return ended.returncode, ended.stdout, ended.stderr

    def eval(self, *more: str) -> tuple[str, ...]:
        """The command that runs the set."""
        return ("eval", "agent.py:agent", "set.evalset.json", "--store", "s.sqlite3", *more)

    def asked(self) -> Counter[str]:
        """How often the agent was asked what."""
        ledger = self.folder / "ledger.txt"
        return Counter(ledger.read_text().split()) if ledger.exists() else Counter()

    def judged(self) -> Counter[str]:
        """How often the judge was asked about what."""
        return Counter(map(question_of, self.server.requests))

    def result(self) -> RunResult:
        """The last run, as the store has it."""
        store = open_runs(str(self.folder / "s.sqlite3"))
        try:
            found = store.load(store.find("latest"))
            found.cases = list(found.cases)  # now: the store is closed when they are read
            return found
        finally:
            store.close()


def kill(process: subprocess.Popen[str], number: int = signal.SIGKILL) -> None:
    """Send a signal to a whole process group, and wait for its end."""
    os.killpg(process.pid, number)
    process.communicate(timeout=PATIENCE)


def wait_for(process: subprocess.Popen[str], condition: Callable[[], bool]) -> bool:
    """Wait until something holds; false where the process ends before."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if process.poll() is not None:
            return False
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return True
