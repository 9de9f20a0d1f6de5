"""The main job on the sample agents: `python examples/demo.py`, or `make demo`.

Each command is printed before it runs, as you would type it. Nothing needs a key, the network or a server. The bad
build must fail and every other one must pass: an exit code that is not the expected one ends the demo with 1.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Step(NamedTuple):
    """One command of the demo and how it must end."""

    title: str
    command: str
    exit_code: int = 0
    needs: str = ""


_GUIDE = "examples/city_guide/guide.evalset.yaml --judge scripted:examples/city_guide/judge.json"
_CUSTOMERS = "examples/retail --user examples/retail/customer.py:customer"
STEPS = [
    Step(
        "Can the files be read?",
        "check examples/home_automation examples/dice examples/travel examples/adk_weather examples/custom_metric",
    ),
    Step(
        "A house to talk to: cases in google-adk's format, in its old one, and in YAML",
        "eval examples/home_automation examples/home_automation",
    ),
    Step("Dice and primes: tool calls in any order", "eval examples/dice examples/dice/dice.evalset.json"),
    Step(
        "A travel desk: bookings must be in the session state",
        "eval examples/travel examples/travel/bookings.evalset.json",
    ),
    Step(
        "The same cases against a bad build of it (this must fail, with the reasons)",
        "eval examples/travel/flawed.py examples/travel/bookings.evalset.json",
        exit_code=1,
    ),
    Step(
        "Both builds side by side",
        "eval --agent examples/travel --agent examples/travel/flawed.py examples/travel/bookings.evalset.json --only-different",
        exit_code=1,
    ),
    Step("Metrics of our own", "eval examples/custom_metric examples/custom_metric/units.evalset.json"),
    Step(
        "Rubrics, and what an answer makes up: asked of a judge (here one that follows a script, so no key is needed)",
        f"eval examples/city_guide {_GUIDE}",
    ),
    Step(
        "The same cases against a guide that boasts (this must fail, and quote the invented sentence)",
        f"eval examples/city_guide/boastful.py {_GUIDE}",
        exit_code=1,
    ),
    Step(
        "A service desk with a database, and ten simulated customers, eight times each: policy rules, and the required rows "
        "in the database",
        f"eval examples/retail {_CUSTOMERS} --num-runs 8",
    ),
    Step(
        "The same customers at a hasty desk (this must fail; pass^k is the chance of being right every time)",
        f"eval examples/retail/hasty.py {_CUSTOMERS} --num-runs 8",
        exit_code=1,
    ),
    Step(
        "Is the hasty desk worse than the careful one? (this must report a regression, with its confidence)",
        "compare previous latest",
        exit_code=1,
    ),
    Step(
        "Agents written for google-adk, through its own runner",
        "eval examples/adk_weather examples/adk_weather/weather.evalset.json",
        needs="google.adk",
    ),
]


def main() -> int:
    """Run every step; return 0 when each ended as it must."""
    ended_well = [run(step) for step in STEPS]
    wrong = ended_well.count(False)
    print(
        f"\n{wrong} of {len(STEPS)} commands did not end as expected"
        if wrong
        else "\nThe demo ended as expected."
    )
    return 1 if wrong else 0


def run(step: Step) -> bool:
    """Run one step; return whether it ended with the expected exit code."""
    print(f"\n## {step.title}\n\n$ proctor {step.command}", flush=True)
    if step.needs and not _is_installed(step.needs):
        print(f"(left out: {step.needs.replace('.', '-')} is not installed; `make adk` brings it)")
        return True
    finished = subprocess.run(
        [sys.executable, "-m", "proctor", *shlex.split(step.command)], cwd=ROOT, check=False
    )
    as_expected = finished.returncode == step.exit_code
    print(
        f"\n(exit code {finished.returncode}{'' if as_expected else f', expected {step.exit_code}'})",
        flush=True,
    )
    return as_expected


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package around it
        return False


if __name__ == "__main__":
    sys.exit(main())
