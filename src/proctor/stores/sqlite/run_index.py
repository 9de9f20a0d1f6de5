"""Runs as lines: listing, finding one, and deleting."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proctor.schema.results.manifest import RunState
from proctor.stores.base import RunEntry
from proctor.stores.sqlite.connection import Connection, Row, damage_error, sound
from proctor.stores.sqlite.encoding import checksum
from proctor.stores.sqlite.leases import held_by
from proctor.stores.sqlite.run_state import RUN_COLUMNS, RunProgress

_AT_ONCE = 50
_HOLDER = "holder_host, holder_machine, holder_pid, holder_started, lease_until"
_COLUMNS = (
    f"seq, run_id, created_at, agent, sets, num_runs, crc, manifest, {RUN_COLUMNS}, state_crc, {_HOLDER}"
)


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run, as its row has it."""

    seq: int
    run_id: str
    created_at: float
    agent: str
    sets: tuple[str, ...]
    num_runs: int
    manifest: str
    progress: RunProgress
    state: RunState

    @staticmethod
    def key(seq: int, run_id: str, created_at: float, agent: str, sets: str, num_runs: int) -> str:
        """What the checksum of a run is over, besides its manifest."""
        return f"run/{seq}/{run_id}/{created_at!r}/{agent}/{sets}/{num_runs}"


def run_line(connection: Connection, run_id: str) -> RunLine | None:
    """Return the run `run_id`, if it is there."""
    rows = connection.rows(f"SELECT {_COLUMNS} FROM runs WHERE run_id = ?", (run_id,))  # noqa: S608 - our own columns
    return _line(connection, rows[0]) if rows else None


def run_lines(connection: Connection) -> Iterator[RunLine]:
    """Return all runs, newest first, some at a time."""
    before, seen = 1 << 62, 0
    while True:
        rows = connection.rows(
            f"SELECT {_COLUMNS} FROM runs WHERE seq < ? ORDER BY seq DESC LIMIT {_AT_ONCE}",  # noqa: S608 - our own columns
            (before,),
        )
        for row in rows:
            seen += 1
            before = row[0]
            yield _line(connection, row)
        if len(rows) < _AT_ONCE:
            break
    _check_all(connection, seen)


def run_index(connection: Connection) -> list[RunEntry]:
    """Return all runs, newest first, without their long fields; their checksums are not verified."""
    with connection.looking():
        rows = connection.rows("SELECT run_id, created_at, agent, sets, complete FROM runs ORDER BY seq DESC")
        _check_all(connection, len(rows))
    sets: dict[str, tuple[str, ...]] = {}
    with sound(connection.name, "the list of runs"):
        for row in rows:
            if row[3] not in sets:
                sets[row[3]] = tuple(json.loads(row[3]))
        return [
            RunEntry(run_id, created_at, agent, sets[names], bool(complete))
            for run_id, created_at, agent, names, complete in rows
        ]


def _check_all(connection: Connection, seen: int) -> None:
    total = connection.row("SELECT value FROM totals WHERE name = 'runs'")
    if total is None or total[0] > seen:
        raise damage_error(connection.name, "not all runs are there")


def _line(connection: Connection, row: Row) -> RunLine:
    with sound(connection.name, f"run {row[1]}"):
        return _line_of(row)


def _line_of(row: Row) -> RunLine:
    seq, run_id, created_at, agent, sets, num_runs, crc, manifest, *others = row
    progress = RunProgress(seq, *others[:5])
    key = RunLine.key(seq, run_id, created_at, agent, sets, num_runs)
    if crc != checksum(key, manifest) or others[5] != progress.crc:
        raise ValueError(crc)
    host, machine, pid, started, until = others[6:]
    if held_by((host, machine, pid, started, until)) is not None:
        state = RunState.RUNNING
    else:
        state = RunState.FINISHED if progress.complete else RunState.UNFINISHED
    return RunLine(
        seq, run_id, created_at, agent, tuple(json.loads(sets)), num_runs, manifest, progress, state
    )


def delete_runs(raw: sqlite3.Connection, runs: Sequence[int]) -> None:
    """Delete runs and what only they needed, within a transaction."""
    for run in runs:
        for table in (
            "verdicts",
            "scores",
            "trials",
            "planned",
            "judgings",
            "media_uses",
            "labels",
            "answer_uses",
        ):
            raw.execute(f"DELETE FROM {table} WHERE run = ?", (run,))  # noqa: S608 - our own tables
        raw.execute("DELETE FROM runs WHERE seq = ?", (run,))
    raw.execute(
        "DELETE FROM documents WHERE hash NOT IN (SELECT document FROM trials WHERE document IS NOT NULL)"
    )
    raw.execute("DELETE FROM answers WHERE name NOT IN (SELECT answer FROM answer_uses)")
    raw.execute("DELETE FROM media WHERE hash NOT IN (SELECT media FROM media_uses)")
    raw.execute("UPDATE totals SET value = (SELECT COUNT(*) FROM runs) WHERE name = 'runs'")
