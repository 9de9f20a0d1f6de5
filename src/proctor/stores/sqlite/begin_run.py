"""The first rows of a run and of a judging."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Sequence
from itertools import islice

from proctor.errors import StoreError
from proctor.schema.results.manifest import AgentManifest, Judging, Manifest, PlannedCase
from proctor.stores.sqlite import leases
from proctor.stores.sqlite.bulk_insert import insert
from proctor.stores.sqlite.connection import Connection
from proctor.stores.sqlite.encoding import checksum, compact, storable
from proctor.stores.sqlite.leases import Lease
from proctor.stores.sqlite.reader import RunReader
from proctor.stores.sqlite.rows import planned_key
from proctor.stores.sqlite.run_index import RunLine
from proctor.stores.sqlite.run_state import (
    Decided,
    Hold,
    JudgingProgress,
    RunProgress,
    judging_progress,
    run_progress,
)

_PLANNED = "run, position, crc, eval_set_id, eval_id, content_hash, place"
_OTHER_CONTENT = (
    "ON CONFLICT (run, position) DO UPDATE"
    " SET crc = excluded.crc, content_hash = excluded.content_hash, place = excluded.place"
)
_PLANNED_AT_ONCE = 1000


def begin_run(
    raw: sqlite3.Connection, name: str, manifest: Manifest, cases: Iterable[PlannedCase], judging: Judging
) -> Hold:
    """Write down a new run, within a transaction, and take hold of it."""
    raw.execute("UPDATE totals SET value = value + 1 WHERE name = 'runs'")
    run = raw.execute(
        "UPDATE totals SET value = value + 1 WHERE name = 'last_run' RETURNING value"
    ).fetchall()
    progress = RunProgress(run[0][0])
    insert_run(raw, progress, manifest, name)
    lease = leases.take(raw, progress.run, manifest.run_id, name)
    progress.cases = insert_planned_cases(raw, progress.run, cases)
    hold = Hold(lease, progress, JudgingProgress(progress.run, judging.number), Decided(), {})
    insert_judging(raw, hold.judging, judging)
    keep(raw, hold)
    return hold


def resume_run(
    raw: sqlite3.Connection, connection: Connection, lease: Lease, added: Sequence[PlannedCase]
) -> Hold:
    """Take up a run, within a transaction, with cases that it did not have before, or not so."""
    run = lease.run
    hold = Hold(
        lease,
        run_progress(connection, run),
        judging_progress(connection, run, 1),
        Decided(RunReader(connection, run, lease.run_id, 1).outcomes()),
        _attempts(connection, run),
    )
    insert_planned_cases(raw, run, added)
    hold.run.cases += sum(case.position >= hold.run.cases for case in added)
    hold.run.complete = hold.judging.complete = 0
    for number in range(2, hold.run.judgings + 1):  # what comes now is not in them
        later = judging_progress(connection, run, number)
        later.complete = 0
        later.write(raw)
    keep(raw, hold)
    return hold


def begin_judging(raw: sqlite3.Connection, connection: Connection, lease: Lease, judging: Judging) -> Hold:
    """Write down another judging of a run, within a transaction; its number is chosen here."""
    progress = run_progress(connection, lease.run)
    progress.judgings += 1
    numbered = judging.model_copy(update={"number": progress.judgings})
    new = JudgingProgress(lease.run, numbered.number)
    hold = Hold(lease, progress, new, Decided(), _attempts(connection, lease.run))
    insert_judging(raw, new, numbered)
    keep(raw, hold)
    return hold


def _attempts(connection: Connection, run: int) -> dict[tuple[int, int], int]:
    rows = connection.rows(
        "SELECT position, number, MAX(attempt) FROM trials WHERE run = ? AND attempt > 0 GROUP BY position, number",
        (run,),
    )
    return {(position, number): attempt for position, number, attempt in rows}


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


def name_agent(raw: sqlite3.Connection, line: RunLine, manifest: Manifest, agent: AgentManifest) -> None:
    """Write down what is known of the agent by now; nothing else of the manifest changes."""
    text = compact(manifest.model_copy(update={"agent": agent}).model_dump())
    sets = compact(list(line.sets))
    head = RunLine.key(line.seq, line.run_id, line.created_at, line.agent, sets, line.num_runs)
    raw.execute("UPDATE runs SET manifest = ?, crc = ? WHERE seq = ?", (text, checksum(head, text), line.seq))


def insert_planned_cases(raw: sqlite3.Connection, run: int, cases: Iterable[PlannedCase]) -> int:
    """Write what is planned, some at a time: there may be very many. Return how many there were.

    A case that is stored at its position already, and has not been run, gets its new content.
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
