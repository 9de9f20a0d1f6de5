"""W13: workers. The processor time of the process that hands out trials, and how much of the ideal concurrency workers reach.

python -m benchmarks.workers AGENT TRIALS CONCURRENCY WORKERS [ON KILL]     a new run; 0 workers: in this process

ON: `processes`, or a cluster of Ray such as `ray:local`. After KILL trials one worker is killed; 0: none.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import workload
from benchmarks.measuring import alternate, module
from benchmarks.table import OURS, Budget, Row

SLOTS = 50
"""Trials at a time of each worker that waits."""
REACHED = {4: 0.9, 16: 0.8}
"""By number of workers: the ideal time over the time of the run, at least."""
_PADDING = "The agent looked this up. " * 400  # about 10 kB


async def short(text: str) -> str:
    """Answer at once."""
    return text


async def long(text: str) -> str:
    """Answer at once, with evidence of 10 kB."""
    return text + _PADDING


async def waiting(text: str) -> str:
    """Answer after a second, as a model does."""
    await asyncio.sleep(1)
    return text


def rows(repeats: int, *, trials: int = 5_000, rounds: int = 20, most: int = 16) -> Iterator[Row]:
    """Measure: two rows about processor time, and one for each number of workers up to `most`."""
    few = trials // 5
    for agent in (short, long):
        name = agent.__name__
        found = alternate(
            {
                f"{workers} {count}": module("workers", name, count, 100, workers)
                for workers in (2, 0)
                for count in (few, trials)
            },
            repeats,
        )
        more = {n: found[f"{n} {trials}"]["cpu"] - found[f"{n} {few}"]["cpu"] for n in (2, 0)}
        what = f"processor time of the main process for {trials - few:,} further trials, {name} answers: 2 workers / none"
        yield Row("W13", what, "×", {OURS: more[2] / more[0]}, [Budget(1.0)])
    for workers, least in REACHED.items():
        if workers > most:
            continue
        slots = workers * SLOTS
        found = alternate({OURS: module("workers", "waiting", slots * rounds, slots, workers)}, repeats)
        what = f"{workers} workers, {SLOTS} trials of 1 s at a time each: ideal / time of the trials"
        reached = rounds / found[OURS]["trials"]
        yield Row("W13", what, "", {OURS: reached}, [Budget(least, at_least=True)])
        yield Row("W13", f"{workers} workers: time until the first trial", "s", {OURS: found[OURS]["start"]})


def run(
    agent: str, trials: int, concurrency: int, workers: int, on: str = "processes", kill: int = 0
) -> None:
    """Run one case so many times into a new store, and report; `start` ends and `trials` begins when all workers have started.

    After `kill` trials, one worker is killed.
    """
    from proctor import EvalSet, evaluate_sync
    from proctor.engine.execution.run_control import NoProgress

    class Times(NoProgress):
        """When the trials began, and when the last one ended."""

        began = ended = 0.0
        finished = 0

        def run_started(self, *_: object) -> None:
            self.began = time.perf_counter()

        def trial_finished(self, *_: object) -> None:
            self.ended = time.perf_counter()
            self.finished += 1
            if self.finished == kill:
                os.kill(processes_of(os.getpid(), "trial_server")[-1], signal.SIGKILL)

    message = {"parts": [{"text": "hello"}]}
    turns = [{"user_content": message, "final_response": message}]
    cases = EvalSet.model_validate(
        {"eval_set_id": "workers", "eval_cases": [{"eval_id": "hello", "conversation": turns}]}
    )
    with tempfile.TemporaryDirectory() as folder:
        watch, times, called = workload.Stopwatch(), Times(), time.perf_counter()
        evaluate_sync(
            f"{__file__}:{agent}",
            cases,
            config={"criteria": {"response_match_score": 0.0001}},
            store=Path(folder, "runs.sqlite3"),
            num_runs=trials,
            concurrency=concurrency,
            on=on if workers else None,
            workers=workers or None,
            progress=times,
        )
        workload.report(**watch.stop(), start=times.began - called, trials=times.ended - times.began)


def processes_of(head: int, words: str) -> list[int]:
    """Return the descendants on this machine of the process `head` whose command lines contain `words`."""
    listed = subprocess.run(["ps", "-wweo", "pid=,ppid=,args="], capture_output=True, text=True, check=True)
    rows = [
        (int(row[0]), int(row[1]), row[2])
        for row in (line.split(None, 2) for line in listed.stdout.splitlines())
    ]
    family = {head}
    while more := {pid for pid, parent, _ in rows if parent in family} - family:
        family |= more
    return [pid for pid, _, command in rows if pid in family and words in command]


if __name__ == "__main__":
    match sys.argv[1:]:
        case [agent, trials, concurrency, workers]:
            run(agent, int(trials), int(concurrency), int(workers))
        case [agent, trials, concurrency, workers, on, kill]:
            run(agent, int(trials), int(concurrency), int(workers), on, int(kill))
        case _:
            sys.exit(__doc__)
