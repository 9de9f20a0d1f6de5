"""A project with runs of several kinds, made by the command line in this process."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.browser.samples import ROOT
from tests.cli.project import in_this_process

_MOODY = '''
"""Answers well now and then, breaks when it is asked to, and is better once a file asks for it."""
from collections import defaultdict
from itertools import count
from pathlib import Path

_asked = defaultdict(count)

def root_agent(text):
    if "break" in text:
        raise RuntimeError(f"no answer to {text!r}")
    is_turn = next(_asked[text]) % 2 == 0  # one step: trials ask at the same time
    better = Path(__file__).with_name("better").exists()
    if "mended" in text:
        return "Hello!" if better else "Go away."
    if "spoiled" in text:
        return "Go away." if better else "Hello!"
    return "Hello!" if "always" in text or is_turn else "Go away."
'''
_OUTPUT = ("always", "moody", "mended", "spoiled", "break", "always <script>alert(1)</script>")
RUNS = {
    "flaky cases, an error": "moody.py greetings.evalset.json --num-runs 4",
    "one trial each": "moody.py greetings.evalset.json",
    "a judge": "examples/city_guide examples/city_guide/guide.evalset.yaml --judge scripted:examples/city_guide/judge.json",
    "simulated users": "examples/retail/hasty.py examples/retail --user examples/retail/customer.py:customer --num-runs 2",
    "everything passes": "examples/dice examples/dice/dice.evalset.json",
    "two sets, a rule": "moody.py greetings.evalset.json more.evalset.json --config rule.json",
}
"""What `proctor eval` receives."""


def make_kept_runs(folder: Path) -> dict[str, str]:
    """Run everything; return the runs' ids by their names in `RUNS`."""
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    write_greetings(folder)
    return {name: run(folder, reported) for name, reported in RUNS.items()}


def write_greetings(folder: Path) -> None:
    """Write an agent and two sets: cases that are flaky, that break, and that change when there is a file `better`."""
    (folder / "moody.py").write_text(_MOODY, encoding="utf-8")
    for name, message in {"greetings": _OUTPUT, "more": _OUTPUT[:3]}.items():
        cases = [_case(text) for text in message]
        (folder / f"{name}.evalset.json").write_text(json.dumps({"eval_set_id": name, "eval_cases": cases}))
    rule = {"criteria": {"response_match_score": 0.8}, "trials": {"num_runs": 3, "min_pass_rate": 0.6}}
    (folder / "rule.json").write_text(json.dumps(rule))
    (folder / "proctor.toml").write_text("")


def run(folder: Path, reported: str) -> str:
    """Run `proctor eval` with these words; return the id of the run."""
    with working_in(folder):
        done = in_this_process("eval", *reported.split())
        assert done.returncode in {0, 1, 3}, done.stdout + done.stderr
        listed = in_this_process("runs", "--json", "--limit", "1")
    return str(json.loads(listed.stdout)["runs"][0]["run_id"])


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Work in `folder` for a while."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _case(text: str) -> dict[str, Any]:
    turn = {"user_content": {"parts": [{"text": text}]}, "final_response": {"parts": [{"text": "Hello!"}]}}
    return {"eval_id": text, "conversation": [turn]}
