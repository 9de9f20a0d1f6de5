"""Ratios of runs of several processes, each taken in one go: writers and totals in PostgreSQL, Ray, and a killed worker.

    python -m benchmarks.scale_ratios writers ROWS          4 processes write so many trials, with 200 and with 1 of each in flight
    python -m benchmarks.scale_ratios totals TRIALS         the totals of an unfinished run, as sums over its members and as a count
    python -m benchmarks.scale_ratios ray TRIALS            trials that answer at once, and plain calls of actors (`make ray`)
    python -m benchmarks.scale_ratios kill ON ROUNDS        time that a killed worker costs; ON: processes, ray:local

The first two start a PostgreSQL server of their own, whose commits wait for the disk.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from itertools import repeat
from pathlib import Path
from queue import SimpleQueue
from typing import Any

# the scripts are one package, wherever they start
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import workload
from benchmarks.measuring import alternate, load_average, module
from benchmarks.table import BARE, OURS, Budget, Row, markdown
from benchmarks.workers import SLOTS

WRITERS = 4
IN_FLIGHT = 200
"""Trials of a writer that wait for their commit at a time."""
BYTES = 400
"""Padding of the evidence of a trial; with its scores and its verdict a trial is about 1 kB."""
WORKERS = 2
CALLS = 100
"""Calls of actors, or trials, at a time."""


# --- writers -------------------------------------------------------------------------------------------------------------


def writers(url: Callable[[], str], rows: int) -> Row:
    """Compare the rate of commits of many trials with that of commits of single ones, in a new store each."""
    batched = _rate(url(), rows, IN_FLIGHT)
    single = _rate(url(), max(WRITERS, rows // 20), 1)
    what = f"trials/s of {WRITERS} writers, {rows:,} trials: batched ({batched:,.0f}) / unbatched ({single:,.0f})"
    return Row("scale", what, "×", {OURS: batched / single}, [Budget(15, at_least=True)])


def _rate(url: str, rows: int, in_flight: int) -> float:
    """Return the trials a second of all writers together."""
    with ProcessPoolExecutor(WRITERS) as pool:
        parts = range(1, WRITERS + 1)
        times = [*pool.map(_write_part, repeat(url), parts, repeat(rows), repeat(in_flight))]
    return rows / (max(end for _, end in times) - min(begin for begin, _ in times))


def _write_part(url: str, part: int, rows: int, in_flight: int) -> tuple[float, float]:
    """Write one part of a run; return when it began and ended."""
    from proctor.schema.results.manifest import RunSummary
    from proctor.stores.open import open_store_url
    from proctor.stores.sql import writer as writer_module
    from tests.stores.sample_runs import manifest, planned, records, scoring

    if in_flight == 1:
        writer_module._PAUSES = ()  # type: ignore[assignment]  # noqa: SLF001  # a commit does not wait for what cannot come
    positions = range(part - 1, rows, WRITERS)
    made = [records(position, size=BYTES) for position in positions]
    gc.freeze()  # what is handed in is not looked through again and again
    committed: SimpleQueue[int] = SimpleQueue()
    store: Any
    with closing(open_store_url(url)) as store:
        member = store.join(manifest(cases=rows), planned(rows), scoring(), part=part, parts=WRITERS)
        member.set_ready()
        while sum(each.is_ready for each in member.members()) < WRITERS:
            time.sleep(0.05)
        writer = member.writer(positions, lambda tokens, _: committed.put(len(tokens)))
        began, waiting = time.time(), 0
        for position, trial in zip(positions, made, strict=True):
            writer.put(trial, position)
            waiting += 1
            if waiting >= in_flight:
                waiting -= committed.get()
        writer.finish(RunSummary(), complete=True)
        return began, time.time()


# --- totals --------------------------------------------------------------------------------------------------------------


def totals(url: Callable[[], str], trials: int) -> Row:
    """Compare the time of reading the totals of a run with that of counting its trials."""
    import psycopg

    from proctor.stores.open import open_store_url
    from tests.stores.sample_runs import manifest, planned, records, scoring

    name = url()
    store: Any = open_store_url(name)
    with closing(store), psycopg.connect(name, autocommit=True) as connection:
        run, plan = manifest(cases=WRITERS), planned(WRITERS)
        parts = [store.join(run, plan, scoring(), part=part + 1, parts=WRITERS) for part in range(WRITERS)]
        for member in parts:
            member.set_ready()
        for position, member in enumerate(parts):
            writer = member.writer([position], lambda *_: None)
            writer.put(records(position, size=BYTES))
            writer.close()
        connection.execute(
            "INSERT INTO trials SELECT run, further, number, attempt, failed, crc, document, media, evidence "
            "FROM trials, generate_series(%s::integer, %s) AS further WHERE position = 0",
            (WRITERS, trials - 1),
        )
        connection.execute("VACUUM ANALYZE trials")
        count = "SELECT COUNT(*) FROM trials WHERE run = 1"
        if connection.execute(count).fetchone() != (trials,):
            sys.exit("the store does not have these trials")
        summed = _median(lambda: store.standing(run.run_id))
        counted = _median(lambda: connection.execute(count).fetchone())
    what = f"totals of a run of {trials:,} trials: sums ({1000 * summed:.2f} ms) / COUNT ({1000 * counted:.1f} ms)"
    return Row("scale", what, "×", {OURS: summed / counted}, [Budget(1 / 20)])


def _median(read: Callable[[], object]) -> float:
    """Return the seconds that it takes, the median of nine times after one."""
    read()
    taken = []
    for _ in range(9):
        began = time.perf_counter()
        read()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


# --- Ray -----------------------------------------------------------------------------------------------------------------


def ray(trials: int) -> Row:
    """Compare the trials a second of a run on Ray with the calls a second of the same number of actors."""
    found = alternate(
        {
            OURS: module("workers", "short", trials, CALLS, WORKERS, "ray:local", 0),
            BARE: module("scale_ratios", "actors", trials),
        },
        0,
    )
    rates = {name: trials / one["trials"] for name, one in found.items()}
    what = f"{trials:,} trials that answer at once, {WORKERS} workers of Ray, a second"
    return Row("scale", what, "", rates, [Budget(0.3, BARE, at_least=True)])


def actors(calls: int) -> None:
    """Call actors of Ray that return what they get, and report."""
    import ray

    class Echo:
        """An actor."""

        async def answer(self, trial: bytes) -> bytes:
            """Return the trial."""
            return trial

    ray.init(address="local", include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    echoes = [ray.remote(Echo).options(num_cpus=1, max_concurrency=CALLS).remote() for _ in range(WORKERS)]
    body = b"x" * BYTES

    async def call(lane: int) -> None:
        for _ in range(calls // CALLS):
            await echoes[lane % WORKERS].answer.remote(body)

    async def call_all() -> None:
        await asyncio.gather(*(echo.answer.remote(body) for echo in echoes))  # they have started
        watch = workload.Stopwatch()
        await asyncio.gather(*map(call, range(CALLS)))
        workload.report(trials=watch.stop()["wall"])

    asyncio.run(call_all())
    ray.shutdown()


# --- A killed worker -----------------------------------------------------------------------------------------------------


def kill(on: str, rounds: int) -> Row:
    """Compare a run of which a worker is killed with one without; a trial takes 1 s."""
    slots = WORKERS * SLOTS
    trials = rounds * slots
    found = alternate(
        {
            name: module("workers", "waiting", trials, slots, WORKERS, on, killed)
            for name, killed in ((OURS, trials // 2), (BARE, 0))
        },
        0,
    )
    lost = found[OURS]["trials"] - found[BARE]["trials"]
    limit = 2 + found[BARE]["start"]
    what = f"time lost to a kill of one of {WORKERS} workers ({on}) / (2 trials of 1 s + {limit - 2:.1f} s to start)"
    return Row("scale", what, "×", {OURS: lost / limit}, [Budget(1.0)])


def _in_postgres(measure: Callable[[Callable[[], str], int], Row], count: int) -> Row:
    from tests.stores.postgres.server import binaries, postgres_server

    programs = binaries()
    if programs is None:
        sys.exit("PostgreSQL is not installed: `apt-get install postgresql`")
    with postgres_server(programs, fsync=True) as server:
        return measure(server.new_url, count)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["writers", rows]:
            row = _in_postgres(writers, int(rows))
        case ["totals", trials]:
            row = _in_postgres(totals, int(trials))
        case ["ray", trials]:
            row = ray(int(trials))
        case ["actors", calls]:
            actors(int(calls))
            sys.exit()
        case ["kill", on, rounds]:
            row = kill(on, int(rounds))
        case _:
            sys.exit(__doc__)
    print(markdown([row]))
    print(f"\nload {load_average()}")
