"""W2: what each invocation costs beyond the agent, how that grows, and how much memory a run needs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import workload
from benchmarks.measuring import Command, Found, alternate, module
from benchmarks.table import BARE, OURS, Budget, Row

TURNS = 2
PEER_CASES = 100


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many cases each part takes."""

    base: int = 1_000
    large: int = 10_000
    huge: int = 0
    """For the memory of a run alone; 0: not measured."""


def rows(folder: Path, peers: Mapping[str, Path], repeats: int, sizes: Sizes) -> Iterator[Row]:
    """Measure, one row after the other."""
    yield _each(
        "exact",
        "exact trajectory only",
        [Budget(60 / 4.7, BARE, "60 µs"), Budget(1.5, "pydantic-evals")],
        peers,
        repeats,
        sizes,
    )
    budget = Budget(250 / 124, BARE, "250 µs")
    yield _each("rouge", "the same with stemmed ROUGE-1", [budget], peers, repeats, sizes)
    yield from _growth(folder, repeats, sizes)


def _each(
    metric: str, what: str, budgets: list[Budget], peers: Mapping[str, Path], repeats: int, sizes: Sizes
) -> Row:
    cases = {OURS: sizes.base, BARE: sizes.base}
    contestants = {
        OURS: module("ours", "evaluate", sizes.base, metric),
        BARE: module("bare", "evaluate", sizes.base, metric),
    }
    note = f"{sizes.base:,} cases × {TURNS} turns, store off"
    if "adk" in peers:
        cases["adk"] = min(PEER_CASES, sizes.base)
        contestants["adk"] = module("peer_adk", "evaluate", cases["adk"], metric, python=peers["adk"])
        note += f"; adk: {cases['adk']} cases"
    if "pydantic-evals" in peers and metric == "exact":
        cases["pydantic-evals"] = sizes.base
        contestants["pydantic-evals"] = module(
            "peer_pydantic_evals", "evaluate", sizes.base, python=peers["pydantic-evals"]
        )
    found = alternate(contestants, repeats)
    return Row(
        "W2",
        f"per invocation, {what}",
        "µs",
        _per_turn(found, "cpu", cases),
        budgets,
        _per_turn(found, "wall", cases),
        note,
    )


def _per_turn(found: dict[str, Found], column: str, cases: Mapping[str, int]) -> dict[str, float]:
    return {name: one[column] / cases[name] / TURNS * 1e6 for name, one in found.items()}


def _growth(folder: Path, repeats: int, sizes: Sizes) -> Iterator[Row]:
    small, large = set_file(folder, sizes.base), set_file(folder, sizes.large)
    contestants: dict[str, Command] = {
        "small": module("ours", "evaluate", sizes.base, "exact"),
        "large": module("ours", "evaluate", sizes.large, "exact"),
        "small file": module("ours", "evaluate", sizes.base, "exact", small),
        "large file": module("ours", "evaluate", sizes.large, "exact", large),
        "bare small": module("bare", "evaluate", sizes.base, "exact", small),
        "bare large": module("bare", "evaluate", sizes.large, "exact", large),
    }
    found = alternate(contestants, repeats)
    factor = sizes.large / sizes.base
    what = f"growth, {sizes.large:,} cases against {sizes.base:,}"
    for where, pair in (("in memory", ("small", "large")), ("from disk", ("small file", "large file"))):
        figures = {OURS: found[pair[1]]["cpu"] / found[pair[0]]["cpu"]}
        if where == "from disk":
            figures[BARE] = found["bare large"]["cpu"] / found["bare small"]["cpu"]
        yield Row("W2", f"{what}, {where}", "×", figures, [Budget(1.05 * factor)])
    per_turn = found["small file"]["cpu"] / sizes.base / TURNS * 1e6
    yield Row("W2", "per invocation from disk, the set's check included", "µs", {OURS: per_turn})
    yield from _memory(folder, found, sizes)


def _memory(folder: Path, found: dict[str, Found], sizes: Sizes) -> Iterator[Row]:
    what = "peak memory from disk, {:,} cases"
    for cases, name, bare, budget in (
        (sizes.base, "small file", "bare small", 80),
        (sizes.large, "large file", "bare large", 120),
    ):
        figures = {OURS: found[name]["peak"], BARE: found[bare]["peak"]}
        yield Row("W2", what.format(cases), "MB", figures, [Budget(budget, size=f"{budget} MB")])
    if sizes.huge:
        once = module("ours", "evaluate", sizes.huge, "exact", set_file(folder, sizes.huge))()
        note = "measured once; without a store the results of all cases are in memory"
        yield Row(
            "W2", what.format(sizes.huge), "MB", {OURS: once["peak"]}, [Budget(150, size="150 MB")], note=note
        )


def set_file(folder: Path, cases: int) -> Path:
    """A file with so many cases; made when it is asked for first."""
    path = folder / f"scripted_{cases}.evalset.json"
    if not path.exists():
        path.write_text(json.dumps(workload.eval_set(cases), indent=2), encoding="utf-8")
    return path
