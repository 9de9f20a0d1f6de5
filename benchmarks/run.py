"""Measures Proctor's budgets and prints the table: ours, the bare limit, peers where installed, within or outside.

    make bench                            everything, medians of 3 rounds; some minutes
    make bench ARGS='--only W2,W4 --repeats 5'
    make bench ARGS='--peers FOLDER'      with the peers that `python benchmarks/peers.py FOLDER` installed

Every round runs each contestant once, in a separate process. Figures of one machine mean little, ratios of one run
much more: a budget is a multiple of the bare limit (the same work in a plain loop) or of a peer, measured in the same
run. Exit code 1 when a budget is not kept.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

# the scripts are one package, wherever they start
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import (
    auditing,
    compare,
    judges,
    kept_runs,
    kernels,
    long_conversations,
    overhead,
    scale,
    startup,
    store,
    waiting,
    web,
    workers,
)
from benchmarks.measuring import load_average, versions
from benchmarks.peers import PACKAGES, python_of
from benchmarks.table import Row, markdown

WORKLOADS = ("W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8", "W9", "W10", "W11", "W12", "W13")


def measured(asked: argparse.Namespace, folder: Path, peers: Mapping[str, Path]) -> Iterator[Row]:
    """Every row that was asked for."""
    repeats, small = asked.repeats, asked.tiny
    for name in asked.only:
        match name:
            case "W1":
                yield from startup.rows(folder, peers, repeats, install=not small)
            case "W2":
                sizes = overhead.Sizes(20, 40) if small else overhead.Sizes(huge=asked.huge)
                yield from overhead.rows(folder, peers, repeats, sizes)
                yield from kept_runs.rows(folder, repeats, sizes)
            case "W3":
                cases, seconds = (8, 0.01) if small else (200, 0.1)
                yield from waiting.rows(peers, repeats, cases=cases, seconds=seconds)
            case "W4":
                yield from kernels.metric_rows(repeats, pairs=5 if small else 300)
            case "W5":
                yield from kernels.load_rows(folder, peers, repeats, cases=20 if small else 10_000)
            case "W6":
                few: dict[str, Any] = {"count": 5, "seconds": 0.01, "large": 20}
                yield from judges.rows(folder, repeats, **(few if small else {}))
            case "W7":
                yield from store.rows(folder, peers, repeats, cases=100 if small else 10_000)
            case _:
                yield from _last(name, folder, repeats, small=small)


def _last(name: str, folder: Path, repeats: int, *, small: bool) -> Iterator[Row]:
    if name == "W8":
        yield from long_conversations.rows(repeats, turns=20 if small else 200, cases=1 if small else 10)
    elif name == "W9":
        yield from web.rows(folder, repeats, cases=40 if small else 10_000, watching=5 if small else 500)
    elif name == "W10":
        yield from compare.rows(folder, repeats, cases=40 if small else 10_000)
    elif name == "W11":
        yield from scale.rows(folder, repeats, small=20 if small else 1_000, large=40 if small else 10_000)
    elif name == "W12":
        yield from auditing.rows(folder, repeats, cases=3 if small else 300)
    elif small:
        yield from workers.rows(repeats, trials=20, rounds=1, most=4)
    else:
        yield from workers.rows(repeats)


def _workloads(text: str) -> list[str]:
    names = [name.strip().upper() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in WORKLOADS]
    if unknown or not names:
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(WORKLOADS)}, got {text!r}")
    # in their own order: on Linux, a child of W1 is reported with the memory of this process
    return [name for name in WORKLOADS if name in names]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", type=_workloads, default=list(WORKLOADS), metavar="W2,W4")
    parser.add_argument("--repeats", type=int, default=3, help="counted rounds (3), after one that is not")
    parser.add_argument("--peers", type=Path, help="folder with the peers' environments")
    parser.add_argument("--json", action="store_true", help="everything as JSON")
    parser.add_argument(
        "--tiny", action="store_true", help="sizes too small to mean anything, to try the scripts"
    )
    parser.add_argument(
        "--huge", type=int, default=0, metavar="CASES", help="also the memory of a run this large"
    )
    return parser.parse_args()


def main() -> int:
    """Measure and print; 1 when a budget is not kept."""
    asked = _arguments()
    peers = {peer: python for peer in PACKAGES if (python := python_of(asked.peers, peer)) is not None}
    before = load_average()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for row in measured(asked, Path(folder), peers):
            rows.append(row)
            print(f"{row.workload} {row.what}: {row.verdict or 'measured'}", file=sys.stderr, flush=True)
    facts = {
        **versions(peers),
        "machine": platform.machine(),
        "system": platform.system(),
        "load before": before,
        "load after": load_average(),
        "rounds": str(asked.repeats),
    }
    if asked.json:
        print(json.dumps({"facts": facts, "rows": [row.as_json() for row in rows]}, indent=2))
    else:
        print(markdown(rows))
        print("\n" + " · ".join(f"{name} {value}" for name, value in facts.items()))
    return int(any(row.verdict == "OUTSIDE" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
