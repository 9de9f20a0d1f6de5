"""A small project to run pytest in: an agent that repeats the message, and eval sets for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

AGENT = '''
"""Says what it hears. "raise: x" raises, "wait: x" waits for its fellows; what it was asked is in calls.txt."""

import asyncio
import os
from pathlib import Path

CALLS = Path(__file__).with_name("calls.txt")
together = most = 0


async def root_agent(text):
    global together, most
    with CALLS.open("a", encoding="utf-8") as file:
        print(repr(text), os.environ.get("PYTEST_XDIST_WORKER", ""), file=file)
    word, _, rest = text.partition(": ")
    if word == "raise":
        raise ValueError(rest)
    if word == "wait":
        together += 1
        most = max(most, together)
        await asyncio.sleep(float(rest))
        together -= 1
        CALLS.with_name("most.txt").write_text(str(most))
    return text
'''

CONFIG = {"criteria": {"exact_match": 1.0}}


def case(eval_id: str, text: str, expected: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a case of one turn; it passes unless another answer than `said` is expected."""
    turn = {
        "user_content": {"parts": [{"text": text}]},
        "final_response": {"parts": [{"text": text if expected is None else expected}]},
    }
    return {"eval_id": eval_id, "conversation": [turn], **more}


GOOD, BAD, ERROR = case("good", "yes"), case("bad", "yes", "no"), case("broken", "raise: out of order")


class Sandbox:
    """A folder with the agent, in which pytest is run."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path
        self.write("bot.py", AGENT)
        self.write("test_config.json", CONFIG)
        self.ini()

    def ini(self, *lines: str) -> None:
        """Write pytest's ini file."""
        self.write("pytest.ini", "\n".join(["[pytest]", "addopts = -p proctor.pytest_plugin", *lines]))

    def write(self, name: str, content: Any) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, indent=2)
        path.write_text(text, encoding="utf-8")
        return path

    def cases(self, *cases: dict[str, Any], name: str = "cases.evalset.json", set_id: str = "") -> str:
        """Write an eval set and return its name."""
        self.write(name, {"eval_set_id": set_id or name.partition(".")[0], "eval_cases": list(cases)})
        return name

    def run(self, *words: str, agent: str | None = "bot.py") -> pytest.RunResult:
        """Run pytest in this process, every warning an error."""
        chosen = ("--proctor-agent", agent) if agent is not None else ()
        return self.pytester.runpytest_inprocess("-W", "error", *chosen, *words)

    def run_apart(self, *words: str, agent: str | None = "bot.py") -> pytest.RunResult:
        """Run pytest in a separate process, every warning an error."""
        chosen = ("--proctor-agent", agent) if agent is not None else ()
        return self.pytester.runpytest_subprocess("-W", "error", *chosen, *words)

    @property
    def calls(self) -> list[str]:
        """What the agent was asked, in order."""
        path = self.path / "calls.txt"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def outcomes(result: pytest.RunResult) -> dict[str, str]:
    """The outcomes that `-v` shows, by the last part of the node id."""
    words = ("PASSED", "FAILED", "ERROR", "INCONCLUSIVE", "SKIPPED", "XFAIL", "XPASS")
    found = {}
    for line in result.outlines:
        node, _, rest = line.partition(" ")
        if "::" in node and rest.split(" ")[0] in words:
            found[node.rpartition("::")[2]] = rest.split(" ")[0]
    return found
