"""The bare limits: the same work in a plain loop, without an evaluation framework. Standard library and pydantic only.

python -m benchmarks.bare evaluate CASES exact|rouge [FILE]
python -m benchmarks.bare wait CASES CONCURRENCY SECONDS
python -m benchmarks.bare one FILE REPORT
python -m benchmarks.bare load FILE
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks import workload

Prepared = list[list[tuple[str, list[tuple[str, Any]], str]]]
"""Per case, per turn: the user's message, the expected calls and the expected text."""

THRESHOLD = 0.8


@dataclass(slots=True)
class Event:
    """One thing that the agent emitted, with the least that can be known about it."""

    author: str
    call: tuple[str, dict[str, Any]] | None = None
    response: dict[str, Any] | None = None
    text: str = ""


@dataclass(slots=True)
class Verdict:
    """The result of one case: the events of each turn, the scores of each turn, whether they meet the thresholds."""

    passed: bool
    turns: list[list[Event]]
    exact: list[float]
    alike: list[float]


async def agent(text: str) -> AsyncIterator[Event]:
    """The scripted agent with plain objects for events."""
    place = workload.asked_city(text)
    yield Event("agent", call=(workload.TOOL, workload.arguments(place)))
    yield Event("agent", response=dict(workload.RESPONSE))
    yield Event("agent", text=workload.answer_text(place))


def prepare(document: dict[str, Any]) -> Prepared:
    """Take from the eval set what a plain loop needs."""
    return [[_expected(turn) for turn in case["conversation"]] for case in document["eval_cases"]]


def _expected(turn: dict[str, Any]) -> tuple[str, list[tuple[str, Any]], str]:
    calls = [(use["name"], use["args"]) for use in turn["intermediate_data"]["tool_uses"]]
    return turn["user_content"]["parts"][0]["text"], calls, turn["final_response"]["parts"][0]["text"]


async def run(cases: Prepared, *, rouge: bool) -> int:
    """Run and judge every case, keeping what failed; return how many did."""
    failed = []
    similar = similarity() if rouge else None
    for turns in cases:
        verdict = Verdict(passed=False, turns=[], exact=[], alike=[])
        for text, calls, answer in turns:
            events = [event async for event in agent(text)]
            verdict.turns.append(events)
            made = [event.call for event in events if event.call is not None]
            verdict.exact.append(1.0 if made == calls else 0.0)
            if similar:
                verdict.alike.append(similar(answer, events[-1].text))
        verdict.passed = _mean(verdict.exact) >= 1.0 and _mean(verdict.alike) >= THRESHOLD
        if not verdict.passed:
            failed.append(verdict)
    return len(failed)


def _mean(scores: list[float]) -> float:
    return sum(scores) / len(scores) if scores else 1.0


def similarity() -> Callable[[str, str], float]:
    """Stemmed ROUGE-1 in a straightforward form, around a stemmer that caches words."""
    from proctor.metrics.text.porter import stem

    remembered = lru_cache(maxsize=None)(stem)

    def tokens(text: str) -> Iterator[str]:
        for word in re.split(r"\s+", re.sub(r"[^a-z0-9]+", " ", text.lower())):
            if word:
                yield remembered(word) if len(word) > 3 else word

    def score(reference: str, answer: str) -> float:
        expected, actual = Counter(tokens(reference)), Counter(tokens(answer))
        shared = sum((expected & actual).values())
        return 2 * shared / (expected.total() + actual.total()) if shared else 0.0

    return score


def evaluate(cases: int, metric: str, path: str = "") -> None:
    """W2: seconds for all cases, from memory or from a file."""
    asyncio.run(run(prepare(workload.eval_set(20)), rouge=metric == "rouge"))
    prepared = [] if path else prepare(workload.eval_set(cases))
    watch = workload.Stopwatch()
    if path:
        prepared = prepare(json.loads(Path(path).read_bytes()))
    failed = asyncio.run(run(prepared, rouge=metric == "rouge"))
    workload.report(**watch.stop(), failed=failed)


def wait(cases: int, concurrency: int, seconds: float) -> None:
    """W3: an agent that waits, so many cases at once, two turns each."""

    async def one(gate: asyncio.Semaphore) -> None:
        async with gate:
            for _ in range(2):
                await asyncio.sleep(seconds)

    async def everything() -> None:
        gate = asyncio.Semaphore(concurrency)
        await asyncio.gather(*(one(gate) for _ in range(cases)))

    watch = workload.Stopwatch()
    asyncio.run(everything())
    workload.report(**watch.stop())


def one(path: str, report: str) -> None:
    """W1: one case with the least that can be done: read, check with pydantic, run, judge, write."""
    from pydantic import BaseModel

    class Set(BaseModel):
        eval_set_id: str
        eval_cases: list[dict[str, Any]]

    given = Set.model_validate_json(Path(path).read_bytes())
    failed = asyncio.run(run(prepare(given.model_dump()), rouge=False))
    Path(report).write_text(json.dumps({"failed": failed}), encoding="utf-8")


def load(path: str) -> None:
    """W5: the bytes as plain objects."""
    watch = workload.Stopwatch()
    json.loads(Path(path).read_bytes())
    workload.report(**watch.stop())


def main(words: list[str]) -> None:
    """Run the workload named by the first word."""
    match words:
        case ["evaluate", cases, metric, *path]:
            evaluate(int(cases), metric, *path)
        case ["wait", cases, concurrency, seconds]:
            wait(int(cases), int(concurrency), float(seconds))
        case ["one", path, report]:
            one(path, report)
        case ["load", path]:
            load(path)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
