"""An agent that sometimes fails, by its script, and real runs of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import proctor
from proctor.schema.results.run_result import RunResult

CRITERIA = {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}
SCRIPTS = {"always": "P", "now_and_then": "PPFPP", "rarely": "FFFFP", "broken": "PPPEP"}


class Dice:
    """Rolls the requested die, or fails where its script requires it."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()

    def __call__(self, text: str) -> Iterator[proctor.Event | str]:
        script = SCRIPTS[text]
        act = script[self._asked[text] % len(script)]
        self._asked[text] += 1
        if act == "E":
            raise ConnectionError("the die rolled off the table")
        sides = 6 if act == "P" else 20
        yield proctor.Event.called("roll_die", {"sides": sides})
        yield proctor.Event.returned("roll_die", {"value": sides - 2})
        yield f"You rolled a {sides - 2}."


def asked(name: str) -> dict[str, Any]:
    return {
        "eval_id": name,
        "conversation": [
            {
                "user_content": {"role": "user", "parts": [{"text": name}]},
                "intermediate_data": {"tool_uses": [{"name": "roll_die", "args": {"sides": 6}}]},
                "final_response": {"role": "model", "parts": [{"text": "You rolled a 4."}]},
            }
        ],
    }


def rolled(*names: str, trials: dict[str, Any] | None = None, **options: Any) -> RunResult:
    """A run of the cases called `names`, one trial after the other."""
    result = proctor.evaluate_sync(
        Dice(),
        {"eval_set_id": "dice", "eval_cases": [asked(name) for name in names]},
        config={"criteria": CRITERIA, **({"trials": trials} if trials else {})},
        concurrency=1,
        **options,
    )
    result.agent, result.duration = "dice", 4.2
    for one in result.cases:
        one.metrics = {name: found for name, found in one.metrics.items() if name in CRITERIA}
    return result
