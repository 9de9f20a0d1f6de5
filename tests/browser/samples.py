"""A project with runs of every kind, made by the real commands on the sample agents."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.cli.fork_command import fork_command

ROOT = Path(__file__).resolve().parents[2]

# An agent that is broken for some: the user's words decide which ones, so it is always the same.
_SHAKY = '''
"""Answers a greeting, now and then wrongly, and breaks when it is asked to."""

from collections import defaultdict
from itertools import count

_asked = defaultdict(count)


def root_agent(text: str) -> str:
    """Answer every second time only."""
    if "break" in text:
        raise RuntimeError(f"the kitchen is closed: no answer to {text!r}")
    if "<script>" in text:
        return "<script>alert('no')</script> [link](https://example.com) <img src=x onerror=alert(1)>"
    is_turn = next(_asked[text]) % 2 == 0  # one step: trials ask at the same time
    return "Hello, and welcome!" if "always" in text or is_turn else "Go away."
'''
_HELLO = "Hello, and welcome!"
_OUTPUT = {
    "always_polite": "always hello",
    "moody": "hello",
    "breaks": "please break",
    "<script>alert(1)</script>": "<script>hi</script>",
}
_TRAVEL = "examples/travel/bookings.evalset.json"
_RETAIL = "examples/retail --user examples/retail/customer.py:customer"
_GUIDE = "examples/city_guide/guide.evalset.yaml --judge scripted:examples/city_guide/judge.json"
_RUNS = [
    f"examples/travel {_TRAVEL} --num-runs 5",
    "examples/dice examples/dice/dice.evalset.json",
    f"examples/travel {_TRAVEL} --num-runs 5",
    "examples/custom_metric examples/custom_metric/units.evalset.json",
    f"examples/city_guide {_GUIDE}",
    f"examples/retail/hasty.py {_RETAIL} --num-runs 4",
    "greeter.py greetings.evalset.json --num-runs 4",
    f"examples/city_guide/boastful.py {_GUIDE}",
    f"examples/retail {_RETAIL} --num-runs 2",
    f"examples/travel/flawed.py {_TRAVEL} --num-runs 5",
]
"""What `proctor eval` receives, oldest first: passes, failures, errors, flaky cases, judges, simulated users."""
NUM_RUNS = len(_RUNS)
STORE = Path(".proctor", "store.sqlite3")


def make_project(folder: Path) -> Path:
    """Make a project in `folder` with sample agents and their runs; return its store."""
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "greeter.py").write_text(_SHAKY, encoding="utf-8")
    (folder / "greetings.evalset.json").write_text(json.dumps(_greetings()), encoding="utf-8")
    _commit(folder)
    for reported in _RUNS:
        proctor(folder, f"eval {reported}")
    return folder / STORE


def proctor(folder: Path, reported: str) -> str:
    """Run the command in `folder`; return its output. Any end is fine but a mistake in what was asked (2) or a crash."""
    done = fork_command(*shlex.split(reported), cwd=folder, environment=os.environ, timeout=120)
    assert done.returncode in {0, 1, 3, 4}, f"proctor {reported}: {done.stdout}{done.stderr}"
    return done.stdout


def _greetings() -> dict[str, Any]:
    cases = [{"eval_id": eval_id, "conversation": [_turn(output)]} for eval_id, output in _OUTPUT.items()]
    return {"eval_set_id": "greetings", "eval_cases": cases}


def _turn(output: str) -> dict[str, Any]:
    return {"user_content": {"parts": [{"text": output}]}, "final_response": {"parts": [{"text": _HELLO}]}}


def _commit(folder: Path) -> None:
    """Make the project a git repository, so that its runs know what they ran at."""
    if shutil.which("git") is None:
        return
    who = {
        f"GIT_{role}_{what}": "tests@localhost"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    (folder / ".gitignore").write_text(".proctor/\n__pycache__/\n", encoding="utf-8")
    for reported in ("init -q -b main", "add -A", "commit -q -m sample"):
        subprocess.run(
            ["git", *reported.split()], cwd=folder, check=True, env={**os.environ, **who}, timeout=60
        )
