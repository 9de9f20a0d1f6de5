"""W12: an audit of 300 cases from the command line, with 16 classes of mutants; and its growth with the number of cases.

    python -m benchmarks.auditing FILE CASES      writes the set

Every class applies to every case, so that there are 29 mutants of a case; a real set has fewer. Agents that do nothing are added.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measuring import Command, alternate
from benchmarks.table import OURS, Budget, Row

CLASSES = "calls,wrong-number,wrong-date,wrong-amount,wrong-unit,wrong-name,wrong-id,negation,answer-cut"
TIMES = 4
"""How many times the cases of the larger set."""


def rows(folder: Path, repeats: int, cases: int = 300) -> Iterator[Row]:
    """Measure, one row for the time and one for its growth."""
    found = alternate(
        {OURS: _audit(folder, cases), "large": _audit(folder, TIMES * cases)},
        repeats,
    )
    ours, large = found[OURS], found["large"]
    what = f"audit of {cases:,} cases × 2 turns, 16 classes, command line"
    yield Row(
        "W12", what, "s", {OURS: ours["process_cpu"]}, [Budget(10, size="10 s")], {OURS: ours["process_wall"]}
    )
    growth = {OURS: large["process_cpu"] / ours["process_cpu"]}
    yield Row(
        "W12", f"growth, {TIMES * cases:,} cases against {cases:,}", "×", growth, [Budget(1.05 * TIMES)]
    )


def _audit(folder: Path, cases: int) -> Command:
    path = folder / f"audited{cases}.evalset.json"
    write_set(path, cases)
    return Command(
        [sys.executable, "-m", "proctor", "audit", str(path), "--mutants", CLASSES, "--json"], reports=False
    )


def write_set(path: Path, cases: int) -> None:
    """Write an eval set whose cases permit every class of mutants."""
    data = {"eval_set_id": "audited", "eval_cases": [_case(number) for number in range(cases)]}
    path.write_text(json.dumps(data), encoding="utf-8")


def _case(number: int) -> dict[str, Any]:
    order, days = f"ORD-{number + 1000}", number % 27 + 1
    first = _turn(
        f"Where is parcel {number}?",
        f"Parcel {order} has {number + 20} items and is on the van of Miller Transport. It costs ${number + 12}.50 and "
        f"weighs {days} kg. It arrives on June {days}. You can return it, except if the seal is broken. Should I cancel it?",
        {"name": "find_order", "args": {"user": f"user {number}", "open": True}},
        {"name": "track", "args": {"id": order, "days": days}},
    )
    second = _turn(
        "Yes, cancel it.",
        f"The order is cancelled. You get {number + 40} points for it.",
        {"name": "cancel", "args": {"id": order}},
    )
    return {
        "eval_id": f"case_{number}",
        "conversation": [first, second],
        "session_input": {"app_name": "shop", "user_id": "user", "state": {"orders": 1}},
        "final_session_state": {"orders": 0},
    }


def _turn(asked: str, answer: str, *calls: dict[str, Any]) -> dict[str, Any]:
    return {
        "user_content": {"role": "user", "parts": [{"text": asked}]},
        "final_response": {"role": "model", "parts": [{"text": answer}]},
        "intermediate_data": {"tool_uses": list(calls), "tool_responses": [], "intermediate_responses": []},
    }


if __name__ == "__main__":
    match sys.argv[1:]:
        case [file, cases]:
            write_set(Path(file), int(cases))
        case _:
            sys.exit(__doc__)
