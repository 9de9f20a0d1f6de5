"""Checks one toy of the one table, in the environment that runs this, and prints the findings as JSON.

python tests/runs/conformance/toy_checks.py TOY
"""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[3]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT)]


def findings_of(toy: str) -> dict[str, list[str]]:
    """Return by check what it found, and its evidence."""
    from proctor.conformance import check_agent_sync

    module = import_module(f"tests.agents.frameworks.toys.{toy}")
    serving = module.serve() if hasattr(module, "serve") else nullcontext(module.root_agent)
    with TemporaryDirectory() as folder, serving as agent:
        sets = Path(folder, "toy.evalset.json")
        sets.write_text(_without_crash((ROOT / "tests/agents/frameworks/toy.evalset.json").read_text()))
        found = check_agent_sync(agent, eval_set=sets, failing="Please crash.")
    return {finding.name: [finding.fit.value, finding.evidence] for finding in found}


def _without_crash(text: str) -> str:
    data = json.loads(text)
    data["eval_cases"] = [case for case in data["eval_cases"] if case["eval_id"] != "must_be_an_error"]
    return json.dumps(data)


if __name__ == "__main__":
    print(json.dumps(findings_of(sys.argv[1])))
