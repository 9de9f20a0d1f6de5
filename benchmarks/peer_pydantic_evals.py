"""pydantic-evals' side of the workloads; runs in its own environment (see `peers.py`).

python -m benchmarks.peer_pydantic_evals evaluate CASES
python -m benchmarks.peer_pydantic_evals wait CASES CONCURRENCY SECONDS
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import Any

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Evaluator, EvaluatorContext

from benchmarks import bare, workload

Calls = list[tuple[str, dict[str, Any]]]
"""The tool calls of one turn."""


@dataclass
class SameCalls(Evaluator[list[str], list[Calls], None]):
    """Every turn must make exactly the expected calls."""

    def evaluate(self, ctx: EvaluatorContext[list[str], list[Calls], None]) -> bool:
        """Compare all turns."""
        expected = ctx.expected_output or []
        same: int = sum(one == other for one, other in zip(ctx.output, expected, strict=True))
        return same == len(expected)


def run(cases: int, concurrency: int, seconds: float = 0.0) -> int:
    """Evaluate every case; return how many failed. A case is the list of its turns."""

    async def task(texts: list[str]) -> list[Calls]:
        made: list[Calls] = []
        for text in texts:
            if seconds:
                await asyncio.sleep(seconds)
            events = [event async for event in bare.agent(text)]
            made.append([event.call for event in events if event.call is not None])
        return made

    prepared = bare.prepare(workload.eval_set(cases))
    dataset = Dataset[list[str], list[Calls], None](
        name="scripted",
        cases=[
            Case(
                name=f"case_{index}",
                inputs=[turn[0] for turn in turns],
                expected_output=[turn[1] for turn in turns],
            )
            for index, turns in enumerate(prepared)
        ],
        evaluators=[SameCalls()],
    )
    watch = workload.Stopwatch()
    result = dataset.evaluate_sync(task, max_concurrency=concurrency, progress=False)
    failed = sum(not one.assertions["SameCalls"].value for one in result.cases)
    workload.report(**watch.stop(), failed=failed)
    return failed


def main(words: list[str]) -> None:
    """Run the workload named by the first word."""
    match words:
        case ["evaluate", cases]:
            run(20, 8)
            failed = run(int(cases), 8)
            if failed != workload.expected_failures(int(cases)):
                sys.exit(f"{failed} of {cases} cases failed")
        case ["wait", cases, concurrency, seconds]:
            run(5, 4)
            run(int(cases), int(concurrency), float(seconds))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
