"""W4: the kernels of the deterministic metrics, against the bare limit and against rouge-score.

    python benchmarks/metrics.py [--pairs 300] [--rounds 5]

Prints microseconds per pair of texts (60 words) and per invocation (5 tool calls), medians of rounds that alternate
between the contestants, and their ratios. The bare limit of ROUGE is the straightforward loop around a
stemmer that remembers words (regular expression, stem, count); that of a trajectory compares prepared tuples. Words
are the natural text of this repository's documents, drawn as often as they occur; the small vocabulary has 40 words.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from proctor.metrics.base import CaseView
from proctor.metrics.text.porter import stem
from proctor.metrics.text.rouge import rouge_1
from proctor.metrics.trajectory.call_matching import exact
from proctor.metrics.trajectory.tool_trajectory import ToolTrajectory
from proctor.schema.format.content import FunctionCall, user_text
from proctor.schema.format.invocation import IntermediateData, Invocation

WORDS_IN_TEXT = 60
CALLS = 5
Pair = tuple[str, str]
Score = Callable[[str, str], float]


def measure(pairs: int, rounds: int, seed: int = 1) -> dict[str, dict[str, float]]:
    """Microseconds by workload and contestant."""
    chance = random.Random(seed)
    words = _natural_words()
    workloads = {
        "ROUGE-1, natural text": _pairs(words, pairs, chance),
        "ROUGE-1, small vocabulary": _pairs(sorted(set(words))[:40], pairs, chance),
    }
    table = {name: _rouge(made, rounds) for name, made in workloads.items()}
    table[f"exact trajectory, {CALLS} calls"] = _trajectory(rounds)
    return table


def _natural_words() -> list[str]:
    root = Path(__file__).resolve().parent.parent
    texts = [path.read_text("utf-8") for path in sorted(root.glob("**/*.md")) if ".venv" not in path.parts]
    return re.findall(r"[A-Za-z][a-z']*[,.]?", "\n".join(texts))


def _pairs(words: list[str], count: int, chance: random.Random) -> list[Pair]:
    """Texts of which about seven words in ten are shared."""
    made = []
    for _ in range(count):
        reference = chance.choices(words, k=WORDS_IN_TEXT)
        answer = [word if chance.random() < 0.7 else chance.choice(words) for word in reference]
        made.append((" ".join(reference), " ".join(answer)))
    return made


def _rouge(pairs: list[Pair], rounds: int) -> dict[str, float]:
    contestants: dict[str, Score] = {
        "proctor": lambda one, other: rouge_1(one, other).fmeasure,
        "bare limit": _bare_rouge,
    }
    if (theirs := _rouge_score()) is not None:
        contestants["rouge-score"] = theirs
    scores = {name: [score(*pair) for pair in pairs] for name, score in contestants.items()}
    for found in scores.values():
        assert all(abs(a - b) < 1e-9 for a, b in zip(found, scores["proctor"], strict=True)), (
            "not the same numbers"
        )

    def run(score: Score) -> Callable[[], object]:
        return lambda: [score(*pair) for pair in pairs]

    return _alternate({name: run(score) for name, score in contestants.items()}, len(pairs), rounds)


def _rouge_score() -> Score | None:
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError:
        print("rouge-score is not installed: only the bare limit is compared", file=sys.stderr)
        return None
    scorer: Any = RougeScorer(["rouge1"], use_stemmer=True)
    return lambda one, other: float(scorer.score(one, other)["rouge1"].fmeasure)


_remembered = lru_cache(maxsize=None)(stem)


def _bare_rouge(reference: str, answer: str) -> float:
    expected, actual = Counter(_bare_tokens(reference)), Counter(_bare_tokens(answer))
    shared = sum((expected & actual).values())
    precision, recall = shared / max(actual.total(), 1), shared / max(expected.total(), 1)
    return 2 * precision * recall / (precision + recall) if shared else 0.0


def _bare_tokens(text: str) -> Iterator[str]:
    for word in re.split(r"\s+", re.sub(r"[^a-z0-9]+", " ", text.lower())):
        if word:
            yield _remembered(word) if len(word) > 3 else word


def _trajectory(rounds: int) -> dict[str, float]:
    """One case of many turns, scored as a run scores it; a fresh view each time, so that its turns are read again."""
    wanted, made = _invocation(), _invocation()
    metric = ToolTrajectory()
    turns, times = 50, 100
    actual, expected = [made] * turns, [wanted] * turns

    def ours() -> None:
        for _ in range(times):
            metric.score(CaseView(eval_id="case", actual=actual, expected=expected))

    def alone() -> None:
        for _ in range(turns * times):
            exact(wanted.tool_calls, made.tool_calls)

    def bare() -> None:
        for _ in range(turns * times):
            _bare_exact(made, wanted)

    return _alternate(
        {"proctor": ours, "bare limit": bare, "the comparison alone": alone}, turns * times, rounds
    )


def _bare_exact(made: Invocation, wanted: Invocation) -> bool:
    """A straightforward implementation over the same two objects."""
    data, other = made.intermediate_data, wanted.intermediate_data
    if not isinstance(data, IntermediateData) or not isinstance(other, IntermediateData):
        return False
    return [(call.name, call.args) for call in data.tool_uses] == [
        (call.name, call.args) for call in other.tool_uses
    ]


def _invocation() -> Invocation:
    uses = [FunctionCall(name=f"tool_{n}", args={"city": f"city {n}", "days": n}) for n in range(CALLS)]
    return Invocation(user_content=user_text("q"), intermediate_data=IntermediateData(tool_uses=uses))


def _alternate(contestants: dict[str, Callable[[], object]], per_run: int, rounds: int) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            started = time.perf_counter()
            run()
            taken[name].append((time.perf_counter() - started) / per_run * 1e6)
    return {name: statistics.median(times) for name, times in taken.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="W4: metric kernels, as ratios measured in one run.")
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="for run.py, which puts it into its table")
    asked = parser.parse_args()
    if asked.json:
        print(json.dumps({"workloads": measure(asked.pairs, asked.rounds)}))
        return
    print(f"{'workload':<28}{'contestant':<26}{'µs':>10}{'× proctor':>12}")
    for workload, times in measure(asked.pairs, asked.rounds).items():
        for name, microseconds in times.items():
            ratio = microseconds / times["proctor"]
            print(f"{workload:<28}{name:<26}{microseconds:>10.2f}{ratio:>12.2f}")


if __name__ == "__main__":
    main()
