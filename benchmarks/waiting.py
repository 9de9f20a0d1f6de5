"""W3: how much of the ideal concurrency is reached when the agent waits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.measuring import alternate, module
from benchmarks.table import BARE, OURS, Budget, Row

TURNS = 2
LIMITS = {4: 0.97, 50: 0.88, 200: 0.70}
"""By concurrency: the ideal over the wall clock that Proctor should reach. A ratio already, so it is absolute."""


def rows(peers: Mapping[str, Path], repeats: int, *, cases: int = 200, seconds: float = 0.1) -> Iterator[Row]:
    """Measure, one row per concurrency and kind of agent."""
    for concurrency, least in LIMITS.items():
        contestants = {
            OURS: module("ours", "wait", cases, concurrency, seconds, "async"),
            BARE: module("bare", "wait", cases, concurrency, seconds),
            "plain def": module("ours", "wait", cases, concurrency, seconds, "plain"),
        }
        for peer, script in (("adk", "peer_adk"), ("pydantic-evals", "peer_pydantic_evals")):
            if peer in peers:
                contestants[peer] = module(script, "wait", cases, concurrency, seconds, python=peers[peer])
        found = alternate(contestants, repeats)
        ideal = -(-cases // concurrency) * TURNS * seconds
        reached = {name: ideal / one["wall"] for name, one in found.items()}
        budget = Budget(least, size=f"{least:.2f}", at_least=True)
        what = f"{cases} cases × {TURNS} turns of {seconds * 1000:.0f} ms, concurrency {concurrency}: ideal / wall"
        plain = reached.pop("plain def", None)
        yield Row("W3", what, "", reached, [budget])
        if plain is not None:
            figures = {OURS: plain, BARE: reached[BARE]}
            yield Row(
                "W3", f"the same with a plain `def`, in threads, concurrency {concurrency}", "", figures
            )
