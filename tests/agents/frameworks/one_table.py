"""The one table: the toy agent in every framework and protocol, evaluated on the same set.

python tests/agents/frameworks/one_table.py TOY      evaluates one toy and prints what came out, as JSON
python tests/agents/frameworks/one_table.py          evaluates all, and writes the table into docs/reference/agents.md
"""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
if __name__ == "__main__":  # as `tests.agents.frameworks`, wherever it is started
    sys.path[:0] = [str(ROOT)]

PAGE = ROOT / "docs" / "reference" / "agents.md"
BEGIN, END = (
    "<!-- the one table: python tests/agents/frameworks/one_table.py -->",
    "<!-- end of the one table -->",
)


def outcome_of(toy: str) -> dict[str, Any]:
    """Evaluate one toy and return the compared data: by case its verdict, its calls and texts."""
    import proctor

    module = import_module(f"tests.agents.frameworks.toys.{toy}")
    serving: AbstractContextManager[Any] = (
        module.serve() if hasattr(module, "serve") else nullcontext(module.root_agent)
    )
    with serving as agent:
        result = proctor.evaluate_sync(
            agent, HERE / "toy.evalset.json", config=HERE / "test_config.json", timeout=60
        )
    return {case.eval_id: _of_case(case) for case in result.cases}


def _of_case(case: Any) -> dict[str, Any]:
    trial = case.trials[0].trial
    usages = [event.usage_metadata for turn in trial.turns for event in turn.events if event.usage_metadata]
    return {
        "verdict": str(case.outcome.value),
        "scores": {name: metric.score for name, metric in case.metrics.items()},
        "failure": trial.failure and f"{trial.failure.where} {trial.failure.kind.value}",
        "turns": [_of_turn(turn) for turn in trial.invocations],
        "state": trial.final_state,
        "authors": sorted({event.author for turn in trial.turns for event in turn.events}),
        "tokens": sum(usage.total_token_count or _both(usage) for usage in usages),
    }


def _both(usage: Any) -> int:
    return (usage.prompt_token_count or 0) + (usage.candidates_token_count or 0)


TRANSFER = "transfer_to_agent"
"""What a framework's own tool answers is its own affair."""


def _of_turn(turn: Any) -> dict[str, Any]:
    return {
        "calls": [
            [call.name, call.args, response.response if response and call.name != TRANSFER else None]
            for call, response in turn.calls_with_responses
        ],
        "answer": turn.final_response.joined_text() if turn.final_response else None,
    }


def main(toys: list[str]) -> None:
    """Print the outcome of one toy; of none: write the table."""
    if toys:
        print(json.dumps(outcome_of(toys[0])))
        return
    from tests.agents.frameworks.comparison import ran, table

    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(ran())}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
