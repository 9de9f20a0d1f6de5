"""A project whose runs have cases of every kind to look at: differing calls, errors, judges, simulated users, passes."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.browser.samples import ROOT
from tests.web.stored_runs import run, write_greetings

RUNS = {
    "passes": "examples/travel examples/travel/bookings.evalset.json --num-runs 2",
    "fails": "examples/travel/flawed.py examples/travel/bookings.evalset.json --num-runs 3",
    "breaks": "moody.py greetings.evalset.json --num-runs 4",
    "judged": "examples/city_guide/boastful.py examples/city_guide/guide.evalset.yaml --judge scripted:examples/city_guide/judge.json",
    "played": "examples/retail/hasty.py examples/retail --user examples/retail/customer.py:customer --num-runs 2",
}
"""What `proctor eval` receives."""


def make_case_project(folder: Path) -> dict[str, str]:
    """Run everything; return the runs' ids by their names in `RUNS`."""
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    write_greetings(folder)
    return {name: run(folder, reported) for name, reported in RUNS.items()}
