"""The content of the one table: every row's outcome compared with that of the plain Python function."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from tests.agents.frameworks.environments import is_installed, python_of, run_in
from tests.agents.frameworks.rows import ROWS, Row

Outcome = dict[str, Any]
"""By case id what `one_table.outcome_of` returns."""

HEAD = (
    "| the toy as | verdicts | tool calls and responses | final responses | final state | a sub-agent's name | tokens |\n"
    "|---|---|---|---|---|---|---|"
)
ASKS = ("verdict", "calls", "answers", "state", "authors", "tokens")


class NotHereError(Exception):
    """A row cannot be run here; the message names the package to install."""


@cache
def outcome(row: Row) -> Outcome:
    """Evaluate a row's toy in its environment.

    Raises:
        NotHereError: it is not installed.
    """
    if not python_of(row.environment).exists():
        raise NotHereError(f"the environment of {row.environment} is not installed: make {row.environment}")
    if row.needs and not is_installed(row.needs):
        raise NotHereError(f"{row.needs} is not installed: {row.install}")
    if row.program and shutil.which(row.program) is None:
        raise NotHereError(f"{row.program} is not installed: {row.install}")
    done = run_in(row.environment, "-W", "ignore", "tests/agents/frameworks/one_table.py", row.toy)
    if done.returncode != 0:
        raise AssertionError(f"{row.kind}: {done.stdout[-2_000:]}\n{done.stderr[-6_000:]}")
    found: Outcome = json.loads(done.stdout.splitlines()[-1])
    return found


def ran(rows: Sequence[Row] = ROWS) -> dict[Row, Outcome]:
    """Return the outcomes of all rows; all must be installed."""
    return {row: outcome(row) for row in rows}


def compared(found: Outcome) -> dict[str, dict[str, Any]]:
    """Return what is compared, by question and case.

    Of a turn that ends in an error nothing but its verdict is compared: some kinds show what came before, others cannot.
    """
    judged = {name: case for name, case in found.items() if case["verdict"] != "error"}
    return {
        "verdict": {
            name: [case["verdict"], _own(case["scores"]), case["failure"]] for name, case in found.items()
        },
        "calls": {name: [turn["calls"] for turn in case["turns"]] for name, case in judged.items()},
        "answers": {name: [turn["answer"] for turn in case["turns"]] for name, case in judged.items()},
        "state": {name: case["state"] for name, case in judged.items()},
        "authors": {name: case["authors"] for name, case in judged.items()},
        "tokens": {name: case["tokens"] for name, case in judged.items()},
    }


def _own(scores: Mapping[str, Any]) -> dict[str, Any]:
    """The scores that decide; figures (durations, tokens) are no part of the comparison."""
    return {
        name: scores[name] for name in ("tool_trajectory_avg_score", "response_match_score") if name in scores
    }


def answers(row: Row, found: Outcome) -> dict[str, str]:
    """Return by question `the same`, `not reported` (where the row cannot report it) or `differs`."""
    untold = {"state": not row.has_state, "authors": not row.has_authors, "tokens": not row.has_usage}
    expected, came = compared(outcome(ROWS[0])), compared(found)
    answered: dict[str, str] = {}
    for ask in ASKS:
        same = came[ask] == expected[ask]
        answered[ask] = "not reported" if untold.get(ask) and not same else "the same" if same else "differs"
    return answered


def differences(found: Outcome) -> dict[str, Any]:
    """Return where an outcome is another than the first row's: by question and case both, for a test's message."""
    expected, came = compared(outcome(ROWS[0])), compared(found)
    return {
        f"{ask} of {name}": {"expected": expected[ask].get(name), "came": came[ask].get(name)}
        for ask in ASKS
        for name in expected[ask].keys() | came[ask].keys()
        if expected[ask].get(name) != came[ask].get(name)
    }


def line(row: Row, found: Outcome) -> str:
    """Return a row of the table."""
    answered = answers(row, found)
    cells = [answered[ask] for ask in ASKS]
    passed = sum(case["verdict"] == "passed" for case in found.values())
    failed = sum(case["verdict"] == "failed" for case in found.values())
    cells[0] += f": {passed} passed, {failed} failed, {len(found) - passed - failed} error"
    return f"| {row.kind} | {' | '.join(cells)} |"


def table(found: Mapping[Row, Outcome]) -> str:
    """Return the table in Markdown."""
    return "\n".join([HEAD, *(line(row, came) for row, came in found.items())])
