"""W6: a judge that takes 200 ms, five samples for each answer: how long it takes, and how often it is asked.

python -m benchmarks.judges ours COUNT SECONDS one|many [STORE]
python -m benchmarks.judges bare COUNT SECONDS
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import workload
from benchmarks.measuring import alternate, module
from benchmarks.table import BARE, OURS, Budget, Row
from proctor.models.base import Message, ModelOptions, Reply

SAMPLES = 5
NEEDED = 3
"""Votes that decide where they agree."""
METRIC = "final_response_match_v2"
VALID = {"rationale": "the content is the same", "verdict": "valid"}


def rows(
    folder: Path, repeats: int, *, count: int = 50, seconds: float = 0.2, large: int = 2_000
) -> Iterator[Row]:
    """Measure, one row for each shape of the work."""
    budget = Budget(1.45, of=BARE, size="0.30 s")
    for shape, what in (("one", "a conversation of {0} turns"), ("many", "{0} cases of one turn")):
        found = alternate(
            {
                OURS: module("judges", "ours", count, seconds, shape),
                BARE: module("judges", "bare", count, seconds),
            },
            repeats,
        )
        label = f"{what.format(count)}, judge of {seconds * 1000:.0f} ms, {SAMPLES} samples that agree"
        yield Row("W6", label, "s", {name: one["wall"] for name, one in found.items()}, [budget])
        calls = {name: one["calls"] for name, one in found.items()}
        yield Row("W6", f"the same: calls ({what.format(count)})", "", calls, [Budget(NEEDED * count)])
    store = folder / "judged.sqlite3"
    kept = alternate({OURS: module("judges", "ours", count, seconds, "many", store)}, repeats)
    again = {OURS: kept[OURS]["calls_again"]}
    yield Row("W6", f"{count} cases with the store, re-scored: calls", "", again, [Budget(0)])
    small = alternate({OURS: module("judges", "ours", large // 10, 0.01, "many")}, 1)[OURS]["peak"]
    peak = alternate({OURS: module("judges", "ours", large, 0.01, "many")}, 1)[OURS]["peak"]
    figures = {OURS: peak, f"{large // 10:,} cases": small}
    yield Row("W6", f"{large:,} judged cases: peak memory", "MB", figures)


def eval_set(count: int, shape: str) -> dict[str, Any]:
    """`count` invocations: turns of one case, or a case each."""
    turns = [
        {
            "user_content": {"role": "user", "parts": [{"text": f"What is {number} squared?"}]},
            "final_response": {"role": "model", "parts": [{"text": f"It is {number * number}."}]},
        }
        for number in range(count)
    ]
    conversations = [turns] if shape == "one" else [[turn] for turn in turns]
    cases = [{"eval_id": f"case_{n}", "conversation": one} for n, one in enumerate(conversations)]
    return {"eval_set_id": "judged", "eval_cases": cases}


class Judge:
    """Finds every answer valid, after a while; counts how often it was asked and keeps nothing."""

    name = "judge"
    has_schemas = True

    def __init__(self, seconds: float) -> None:
        """Take how long an answer takes."""
        self.seconds, self.calls = seconds, 0

    async def complete(self, messages: Sequence[Message], *, options: ModelOptions) -> Reply:
        """Answer."""
        self.calls += 1
        await asyncio.sleep(self.seconds)
        answer = {**options.echo, **VALID}
        return Reply(text=json.dumps(answer), structured=answer, model=self.name, seconds=self.seconds)


def ours(count: int, seconds: float, shape: str, store: str = "") -> None:
    """Run and judge; with a store, judge what it kept again, too."""
    from proctor import EvalSet, evaluate_sync, rescore_sync

    async def agent(text: str) -> str:
        return f"You asked: {text}"

    def run(given: dict[str, Any], model: Judge, **options: Any) -> Any:
        config = {"criteria": {METRIC: 1.0}}
        found = evaluate_sync(
            agent,
            EvalSet.model_validate(given),
            config=config,
            judge=model,
            keep_evidence="failures",
            **options,
        )
        if not found.passed:
            sys.exit(f"not every answer was found valid: {found.outcome}")
        return found

    run(eval_set(2, "many"), Judge(0.0))  # what is loaded on first use
    given, model = eval_set(count, shape), Judge(seconds)
    where = {"store": f"sqlite:///{store}"} if store else {}
    watch = workload.Stopwatch()
    result = run(given, model, **where)
    measured = watch.stop()
    again = Judge(seconds)
    if store:
        rescore_sync(result, store=f"sqlite:///{store}", judge=again)
    workload.report(**measured, calls=model.calls, calls_again=again.calls)


def bare(count: int, seconds: float) -> None:
    """The least that can be done: every first vote at once."""
    calls = 0

    async def ask() -> None:
        nonlocal calls
        calls += 1
        await asyncio.sleep(seconds)

    async def everything() -> None:
        await asyncio.gather(*(ask() for _ in range(NEEDED * count)))

    watch = workload.Stopwatch()
    asyncio.run(everything())
    workload.report(**watch.stop(), calls=calls)


def main(words: list[str]) -> None:
    """Run the workload named by the first word."""
    match words:
        case ["ours", count, seconds, shape, *store]:
            ours(int(count), float(seconds), shape, *store)
        case ["bare", count, seconds]:
            bare(int(count), float(seconds))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
