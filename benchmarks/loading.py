"""W5: reading and checking a whole eval set, against the bare limit (`json.loads` of the same bytes).

    python benchmarks/loading.py [--cases 10000] [--rounds 5]

Prints seconds, medians of rounds that alternate between the contestants, and their ratios: for a set of 37 MB laid out
as ADK writes it, for the same set on one line, for 1,000 cases of it, and for `proctor check` on it; and the peak of
memory of a process that does nothing else. ADK 2.13 took 8.4 times the bare limit for the first.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from proctor.files.eval_sets.file_problems import check_file
from proctor.files.eval_sets.source import open_eval_set

PEAK = (
    "import resource, sys; from proctor.files.eval_sets.source import open_eval_set; open_eval_set(sys.argv[1]);"
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
)


def eval_set(cases: int) -> dict[str, Any]:
    """A set of two turns a case, one tool call a turn; 3.7 kB a case, indented."""
    return {"eval_set_id": "large", "name": "large", "eval_cases": [_case(index) for index in range(cases)]}


def _case(index: int) -> dict[str, Any]:
    return {
        "eval_id": f"case_{index}",
        "conversation": [_turn(index, turn) for turn in range(2)],
        "session_input": {"app_name": "app", "user_id": "user", "state": {"count": index}},
        "creation_timestamp": 1750000000.25,
    }


def _turn(index: int, turn: int) -> dict[str, Any]:
    call = f"call-{index}-{turn}"
    return {
        "invocation_id": f"invocation-{index}-{turn}",
        "user_content": {"parts": [{"text": f"What is the weather on day {index}? " * 4}], "role": "user"},
        "final_response": {
            "parts": [{"text": f"It is sunny, 21 degrees, on day {index}. " * 7}],
            "role": "model",
        },
        "intermediate_data": {
            "tool_uses": [
                {"id": call, "args": {"city": "Paris", "day": index, "hour": 12.5}, "name": "get_weather"}
            ],
            "tool_responses": [
                {
                    "id": call,
                    "name": "get_weather",
                    "response": {"city": "Paris", "weather": "sunny", "temp": 21},
                }
            ],
            "intermediate_responses": [["planner", [{"text": "Looking at the forecast. " * 5}]]],
        },
        "creation_timestamp": 1750000000.25,
    }


def medians(contestants: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Seconds of each contestant; rounds alternate between them."""
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            start = time.perf_counter()
            run()
            taken[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in taken.items()}


def measure(folder: Path, cases: int, rounds: int) -> dict[str, float]:
    """Seconds by contestant."""
    indented, compact, tenth = folder / "indented.json", folder / "compact.json", folder / "tenth.json"
    indented.write_text(json.dumps(eval_set(cases), indent=2), encoding="utf-8")
    compact.write_text(json.dumps(eval_set(cases)), encoding="utf-8")
    tenth.write_text(json.dumps(eval_set(cases // 10), indent=2), encoding="utf-8")
    return medians(
        {
            "bare limit: json.loads": lambda: json.loads(indented.read_bytes()),
            "read and check every case": lambda: open_eval_set(indented),
            "the same, on one line": lambda: open_eval_set(compact),
            "the same, a tenth of the cases": lambda: open_eval_set(tenth),
            "read it a second time (the run)": lambda: sum(1 for _ in open_eval_set(indented)),
            "proctor check": lambda: check_file(indented),
        },
        rounds,
    )


def peak(path: Path) -> float:
    """The peak of memory, in MB, of a process that opens the set and nothing else."""
    # Through a shell: Linux counts the process that starts another as part of its peak, and this one is large.
    command = ["sh", "-c", '"$0" "$@"; exit $?', sys.executable, "-c", PEAK, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout) / (1e6 if sys.platform == "darwin" else 1e3)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = measure(Path(folder), arguments.cases, arguments.rounds)
        path = Path(folder) / "indented.json"
        print(f"{arguments.cases} cases, {path.stat().st_size / 1e6:.0f} MB")
        bare = table["bare limit: json.loads"]
        for name, seconds in table.items():
            print(f"  {name:34} {seconds:7.3f} s   {seconds / bare:5.2f} x bare limit")
        print(f"  peak of memory                     {peak(path):7.0f} MB")


if __name__ == "__main__":
    main()
