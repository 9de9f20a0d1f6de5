"""W4 and W5 as rows of the table; `metrics.py` and `loading.py` hold the work itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.measuring import alternate, module
from benchmarks.table import BARE, OURS, Budget, Row

METRIC_BUDGETS = {
    "ROUGE-1, natural text": Budget(1 / 14, "rouge-score"),
    "ROUGE-1, small vocabulary": Budget(1 / 25, "rouge-score"),
    "exact trajectory, 5 calls": Budget(3 / 1.15, BARE, "3 µs"),
}


def metric_rows(repeats: int, *, pairs: int = 300) -> Iterator[Row]:
    """W4: microseconds a pair of texts or an invocation. Contestants alternate within one process."""
    words = ["--json", "--pairs", pairs, "--rounds", max(repeats, 1)]
    for workload, times in module("metrics", *words)()["workloads"].items():  # type: ignore[attr-defined]  # what JSON holds is untyped
        times.pop("the comparison alone", None)
        yield Row("W4", workload, "µs", times, [METRIC_BUDGETS[workload]])


def load_rows(folder: Path, peers: Mapping[str, Path], repeats: int, *, cases: int = 10_000) -> Iterator[Row]:
    """W5: seconds and memory to load and check a set, and one of a tenth of its size."""
    from benchmarks.loading import eval_set

    large, small = folder / "large.json", folder / "small.json"
    large.write_text(json.dumps(eval_set(cases), indent=2), encoding="utf-8")
    small.write_text(json.dumps(eval_set(max(1, cases // 10)), indent=2), encoding="utf-8")
    contestants = {OURS: module("ours", "load", large), BARE: module("bare", "load", large)}
    if "adk" in peers:
        contestants["adk"] = module("peer_adk", "load", large, python=peers["adk"])
    found = alternate(contestants, repeats)
    what = f"load and check {cases:,} cases ({large.stat().st_size / 1e6:.0f} MB)"
    cpu = {name: one["cpu"] for name, one in found.items()}
    wall = {name: one["wall"] for name, one in found.items()}
    # without google-adk its figure of performance.md is used, as a multiple of json.loads there
    budget = Budget(1 / 4, "adk") if "adk" in found else Budget(5.1 / 4 / 0.61, BARE, "adk / 4")
    yield Row("W5", what, "s", cpu, [budget], wall)
    memory = {name: one["peak"] for name, one in found.items()}
    yield Row("W5", "its peak memory, the process included", "MB", memory)
    tenth = alternate({OURS: module("ours", "load", small), BARE: module("bare", "load", small)}, repeats)
    cpu = {name: one["cpu"] for name, one in tenth.items()}
    yield Row(
        "W5",
        f"check of {cases // 10:,} cases before the first agent call",
        "s",
        cpu,
        [Budget(0.2 / 0.061, BARE, "0.2 s")],
    )
