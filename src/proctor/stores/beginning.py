"""The first rows of a run and of a judging."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from itertools import islice

from proctor.errors import StoreError
from proctor.schema.run import Judging, Manifest, PlannedCase
from proctor.stores import leases
from proctor.stores.encoding import checksum, compact, storable
from proctor.stores.insertion import insert
from proctor.stores.listing import RunLine
from proctor.stores.rows import planned_key
from proctor.stores.states import Hold, JudgingProgress, RunProgress

_PLANNED = "run, position, crc, eval_set_id, eval_id, content_hash, place"
_OTHER_CONTENT = (
    "ON CONFLICT (run, position) DO UPDATE"
    " SET crc = excluded.crc, content_hash = excluded.content_hash, place = excluded.place"
)
_PLANNED_AT_ONCE = 1000


def keep(raw: sqlite3.Connection, hold: Hold) -> None:
    """Write down how far everything is."""
    hold.run.write(raw, hold.lease, time.time() + leases.SECONDS)
    hold.judging.write(raw)


def insert_run(raw: sqlite3.Connection, progress: RunProgress, manifest: Manifest, name: str) -> None:
    """Write down what is run.

    Raises:
        StoreError: there is a run of this name.
    """
    agent = storable(manifest.agent.label)
    sets, text = compact([one.eval_set_id for one in manifest.sets]), compact(manifest.model_dump())
    head = RunLine.key(progress.run, manifest.run_id, manifest.created_at, agent, sets, manifest.num_runs)
    try:
        raw.execute(
            "INSERT INTO runs (seq, run_id, created_at, agent, sets, num_runs, cases, complete, trials, trials_sum, "
            "judgings, state_crc, lease_until, fence, crc, manifest) VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 1, 0, 0, 0, ?, ?)",
            (
                progress.run,
                manifest.run_id,
                manifest.created_at,
                agent,
                sets,
                manifest.num_runs,
                checksum(head, text),
                text,
            ),
        )
    except sqlite3.IntegrityError:
        raise StoreError(f"{name}: a run named {manifest.run_id} is there already") from None


def insert_judging(raw: sqlite3.Connection, progress: JudgingProgress, judging: Judging) -> None:
    """Write down how it is judged."""
    text = compact(judging.model_dump())
    raw.execute(
        "INSERT INTO judgings (run, number, complete, counts, verdicts_sum, state_crc, crc, judging) "
        "VALUES (?, ?, 0, '{}', 0, ?, ?, ?)",
        (
            progress.run,
            progress.number,
            progress.crc,
            checksum(f"judging/{progress.run}/{progress.number}", text),
            text,
        ),
    )


def insert_planned(raw: sqlite3.Connection, run: int, cases: Iterable[PlannedCase]) -> int:
    """Write what is planned, some at a time: there may be very many. Return how many there were.

    A case that stands at its place already, and has not been run, gets its new content.
    """
    total, source = 0, iter(cases)
    while some := list(islice(source, _PLANNED_AT_ONCE)):
        rows = []
        for case in some:
            texts = (
                storable(case.eval_set_id),
                storable(case.eval_id),
                case.content_hash,
                storable(case.place),
            )
            rows.append((run, case.position, checksum(planned_key(run, case.position, texts)), *texts))
        total += insert(raw, "planned", _PLANNED, rows, _OTHER_CONTENT)
    return total
