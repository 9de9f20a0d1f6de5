"""W2 with the durable store: what each invocation costs when it is on disk before it counts, how that grows, and memory.

    python -m benchmarks.kept_runs FOLDER CASES exact|rouge [FILE]

The set comes from memory (for the cost of an invocation, as without a store) or from a file (for growth and memory, as
in `proctor eval`), and the run goes to a store on disk; what is counted in the end is read from there.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

# the scripts are one package, wherever they start
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import overhead, workload
from benchmarks.measuring import Command, alternate, module
from benchmarks.table import BARE, OURS, Budget, Row

GROWN = 1.05


def rows(folder: Path, repeats: int, sizes: overhead.Sizes) -> Iterator[Row]:
    """Measure, one row after the other."""
    base, large = sizes.base, sizes.large
    contestants = {
        OURS: module("kept_runs", folder, base, "rouge"),
        BARE: module("bare", "evaluate", base, "rouge"),
        "small": _from_disk(folder, base),
        "large": _from_disk(folder, large),
    }
    found = alternate(contestants, repeats)
    per_turn = {
        kind: {name: found[name][kind] / base / overhead.TURNS * 1e6 for name in (OURS, BARE)}
        for kind in ("cpu", "wall")
    }
    yield Row(
        "W2",
        "per invocation, stemmed ROUGE-1, with the durable store",
        "µs",
        per_turn["cpu"],
        [Budget(400 / 124, BARE, "400 µs")],
        per_turn["wall"],
    )
    growth = {OURS: found["large"]["cpu"] / found["small"]["cpu"]}
    what = f"growth with the store, {large:,} cases against {base:,}"
    yield Row("W2", what, "×", growth, [Budget(GROWN * large / base)])
    what = "peak memory with the store, {:,} cases"
    for cases, name, most in ((base, "small", 80), (large, "large", 120)):
        peak = {OURS: found[name]["peak"]}
        yield Row("W2", what.format(cases), "MB", peak, [Budget(most, size=f"{most} MB")])
    if sizes.huge:
        yield from _huge(folder, sizes.huge, large, found["large"]["cpu"])


def _huge(folder: Path, cases: int, large: int, seconds: float) -> Iterator[Row]:
    once = _from_disk(folder, cases)()
    note = "measured once"
    grown, peak = {OURS: once["cpu"] / seconds}, {OURS: once["peak"]}
    what = f"growth with the store, {cases:,} cases against {large:,}"
    yield Row("W2", what, "×", grown, [Budget(GROWN * cases / large)], note=note)
    what = f"peak memory with the store, {cases:,} cases"
    yield Row("W2", what, "MB", peak, [Budget(150, size="150 MB")], note=note)


def _from_disk(folder: Path, cases: int) -> Command:
    return module("kept_runs", folder, cases, "exact", overhead.set_file(folder, cases))


def keep(folder: Path, cases: int, metric: str, path: str = "") -> None:
    """Run the set, of `path` where one is given, into a new store."""
    from benchmarks.ours import CONFIGS, ScriptedAgent
    from proctor import EvalSet, Outcome, evaluate_sync

    store = folder / f"{time.time_ns()}.sqlite3"
    evaluate_sync(
        ScriptedAgent(), EvalSet.model_validate(workload.eval_set(20)), config=CONFIGS[metric], store=store
    )
    given = path or EvalSet.model_validate(workload.eval_set(cases))
    watch = workload.Stopwatch()
    result = evaluate_sync(
        ScriptedAgent(), given, config=CONFIGS[metric], store=store, keep_evidence="failures"
    )
    taken = watch.stop()
    failed = result.counts.get(Outcome.FAILED, 0)
    if failed != workload.expected_failures(cases):
        sys.exit(f"{failed} of {cases} cases failed")
    workload.report(**taken, failed=failed, bytes=store.stat().st_size / cases)
    for file in folder.glob(f"{store.name}*"):
        file.unlink()


if __name__ == "__main__":
    match sys.argv[1:]:
        case [folder, cases, metric, *path]:
            keep(Path(folder), int(cases), metric, *path)
        case _:
            sys.exit(__doc__)
