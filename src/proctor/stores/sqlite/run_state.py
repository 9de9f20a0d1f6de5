"""The state of stored runs: progress of runs and scorings, the list of runs, and their deletion."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from proctor.schema.results.manifest import RunState
from proctor.schema.results.run_result import Outcome
from proctor.stores.base import RunEntry, Standing
from proctor.stores.sqlite.connection import Connection, Row, damage_error, sound
from proctor.stores.sqlite.encoding import checksum, compact
from proctor.stores.sqlite.leases import Holder, Lease, held_by

_RUN_COLUMNS = "cases, complete, trials, trials_sum, judgings"
_JUDGING_COLUMNS = "complete, counts, verdicts_sum, summary"


@dataclass(slots=True)
class RunProgress:
    """The progress of a run."""

    run: int
    cases: int = 0
    complete: int = 0
    trials: int = 0
    trials_sum: int = 0
    """Sum of the positions of the trials: shows that a row is missing."""
    judgings: int = 1

    @property
    def crc(self) -> int:
        """The checksum of these values."""
        return checksum(
            f"{self.run}/{self.cases}/{self.complete}/{self.trials}/{self.trials_sum}/{self.judgings}"
        )

    def write(self, connection: sqlite3.Connection, lease: Lease, until: float) -> bool:
        """Write the progress and renew the lease `until` then; return `False` if another process has taken over the run."""
        values = self.cases, self.complete, self.trials, self.trials_sum, self.judgings, self.crc
        written = connection.execute(
            "UPDATE runs SET cases = ?, complete = ?, trials = ?, trials_sum = ?, judgings = ?, state_crc = ?, "
            "lease_until = ? WHERE seq = ? AND fence = ?",
            (*values, until, self.run, lease.fence),
        )
        return written.rowcount == 1


@dataclass(slots=True)
class JudgingProgress:
    """The progress of a scoring."""

    run: int
    number: int
    complete: int = 0
    counts: str = "{}"
    """Verdicts by outcome, as JSON."""
    verdicts_sum: int = 0
    """Sum of the positions of the verdicts."""
    summary: str | None = None

    @property
    def crc(self) -> int:
        """The checksum of these values."""
        key = f"{self.run}/{self.number}/{self.complete}/{self.counts}/{self.verdicts_sum}"
        return checksum(key, self.summary or "")

    def by_outcome(self) -> dict[str, int]:
        """Return the number of decided cases by outcome."""
        counts: dict[str, int] = json.loads(self.counts)
        return counts

    @property
    def duration(self) -> float:
        """Seconds that processes have worked on it so far."""
        return float(json.loads(self.summary or "{}").get("duration", 0.0))

    def note_duration(self, seconds: float) -> None:
        """Store the duration so far; a process that is killed cannot store it."""
        self.summary = compact({**json.loads(self.summary or "{}"), "duration": round(seconds, 6)})

    def write(self, connection: sqlite3.Connection) -> None:
        """Write the progress."""
        values = self.complete, self.counts, self.verdicts_sum, self.summary, self.crc
        connection.execute(
            "UPDATE judgings SET complete = ?, counts = ?, verdicts_sum = ?, summary = ?, state_crc = ? "
            "WHERE run = ? AND number = ?",
            (*values, self.run, self.number),
        )


class Decided:
    """The outcomes of a scoring so far; one byte per case."""

    def __init__(self, outcomes: Iterable[tuple[int, str]] = ()) -> None:
        self._codes = bytearray()
        self._counts = [0] * (len(_OUTCOMES) + 1)
        self.positions_sum = 0
        for position, outcome in outcomes:
            self.record(position, outcome)

    def __contains__(self, position: int) -> bool:
        return position < len(self._codes) and self._codes[position] != 0

    def record(self, position: int, outcome: str | None) -> None:
        """Record the outcome of a case; `None`: it is undecided again."""
        if position >= len(self._codes):
            self._codes += bytes(position + 1 - len(self._codes))
        before, code = self._codes[position], _CODES[outcome]
        self._codes[position] = code
        self._counts[before] -= 1
        self._counts[code] += 1
        self.positions_sum += position * ((code > 0) - (before > 0))

    def counts(self) -> str:
        """Return the number of cases by outcome, as JSON."""
        counted = zip(_OUTCOMES, self._counts[1:], strict=True)
        return compact({outcome.value: count for outcome, count in counted if count})


_OUTCOMES = tuple(Outcome)
_CODES: dict[str | None, int] = {None: 0, **{outcome.value: i for i, outcome in enumerate(_OUTCOMES, 1)}}


@dataclass(slots=True)
class Hold:
    """A run that this process may write: the lease, and the progress of the run and of one scoring."""

    lease: Lease
    run: RunProgress
    judging: JudgingProgress
    decided: Decided
    """The cases with a verdict in this scoring."""
    attempts: dict[tuple[int, int], int]
    """By position and number the last attempt, if it is not the first."""


def run_progress(connection: Connection, run: int) -> RunProgress:
    """Read the progress of a run.

    Raises:
        StoreError: it is damaged.
    """
    row = connection.row(f"SELECT {_RUN_COLUMNS}, state_crc FROM runs WHERE seq = ?", (run,))  # noqa: S608 - our own columns
    with sound(connection.name, "the state of a run"):
        progress = RunProgress(run, *(row or ())[:-1])
        if row is None or progress.crc != row[-1]:
            raise ValueError(row)
    return progress


def judging_progress(connection: Connection, run: int, number: int) -> JudgingProgress:
    """Read the progress of a scoring.

    Raises:
        StoreError: it is damaged.
    """
    row = connection.row(
        f"SELECT {_JUDGING_COLUMNS}, state_crc FROM judgings WHERE run = ? AND number = ?",  # noqa: S608 - our own columns
        (run, number),
    )
    with sound(connection.name, "the state of a judging"):
        progress = JudgingProgress(run, number, *(row or ())[:-1])
        if row is None or progress.crc != row[-1]:
            raise ValueError(row)
    return progress


# --- The rows of runs: list them, find one, delete some ---------------------------------------------------------------


_AT_ONCE = 50
_COLUMNS = (
    f"seq, run_id, created_at, agent, sets, num_runs, crc, manifest, {_RUN_COLUMNS}, state_crc, "
    "holder_host, holder_machine, holder_pid, holder_started, lease_until"
)


@dataclass(frozen=True, slots=True)
class RunLine:
    """The row of one run."""

    seq: int
    run_id: str
    created_at: float
    agent: str
    sets: tuple[str, ...]
    num_runs: int
    manifest: str
    progress: RunProgress
    holder: Holder | None
    """The process that works on the run."""

    @property
    def state(self) -> RunState:
        """Whether the run is under way, finished, or to be resumed."""
        if self.holder is not None:
            return RunState.RUNNING
        return RunState.FINISHED if self.progress.complete else RunState.UNFINISHED

    @staticmethod
    def key(seq: int, run_id: str, created_at: float, agent: str, sets: str, num_runs: int) -> str:
        """Return the text that the checksum of a run covers in addition to its manifest."""
        return f"run/{seq}/{run_id}/{created_at!r}/{agent}/{sets}/{num_runs}"


def run_line(connection: Connection, run_id: str) -> RunLine | None:
    """Return the run `run_id`; `None` if there is none."""
    rows = connection.rows(f"SELECT {_COLUMNS} FROM runs WHERE run_id = ?", (run_id,))  # noqa: S608 - our own columns
    return _line(connection, rows[0]) if rows else None


def run_lines(connection: Connection) -> Iterator[RunLine]:
    """Return all runs, newest first, some at a time."""
    before, count = 1 << 62, 0
    while True:
        rows = connection.rows(
            f"SELECT {_COLUMNS} FROM runs WHERE seq < ? ORDER BY seq DESC LIMIT {_AT_ONCE}",  # noqa: S608 - our own columns
            (before,),
        )
        for row in rows:
            count += 1
            before = row[0]
            yield _line(connection, row)
        if len(rows) < _AT_ONCE:
            break
    _check_count(connection, count)


def run_index(connection: Connection) -> list[RunEntry]:
    """Return all runs, newest first, without their long fields; their checksums are not verified."""
    with connection.snapshot():
        rows = connection.rows("SELECT run_id, created_at, agent, sets, complete FROM runs ORDER BY seq DESC")
        _check_count(connection, len(rows))
    with sound(connection.name, "the list of runs"):
        sets = {text: tuple(json.loads(text)) for text in {row[3] for row in rows}}
        return [
            RunEntry(run_id, created_at, agent, sets[text], bool(complete))
            for run_id, created_at, agent, text, complete in rows
        ]


def _check_count(connection: Connection, count: int) -> None:
    total = connection.row("SELECT value FROM totals WHERE name = 'runs'")
    if total is None or total[0] > count:
        raise damage_error(connection.name, "not all runs are there")


def _line(connection: Connection, row: Row) -> RunLine:
    with sound(connection.name, f"run {row[1]}"):
        seq, run_id, created_at, agent, sets, num_runs, crc, manifest, *state = row
        progress = RunProgress(seq, *state[:5])
        key = RunLine.key(seq, run_id, created_at, agent, sets, num_runs)
        if crc != checksum(key, manifest) or state[5] != progress.crc:
            raise ValueError(crc)
        host, machine, pid, started, until = state[6:]
        holder = held_by((host, machine, pid, started, until))
        return RunLine(
            seq, run_id, created_at, agent, tuple(json.loads(sets)), num_runs, manifest, progress, holder
        )


def standing_of(connection: Connection, line: RunLine, judging: int) -> Standing:
    """Return the progress of a scoring in a few numbers, which a client that follows the run reads again and again."""
    progress = judging_progress(connection, line.seq, judging)
    return Standing(
        state=line.state,
        cases=line.progress.cases,
        trials=line.progress.trials,
        counts=progress.by_outcome(),
        complete=bool(progress.complete),
        seconds=progress.duration,
        worker=str(line.holder or ""),
        worker_pid=line.holder.pid if line.holder is not None else None,
    )


_TABLES_OF_RUN = "verdicts scores trials planned judgings media_uses labels answer_uses".split()
_DELETE_UNUSED = (
    "DELETE FROM documents WHERE hash NOT IN (SELECT document FROM trials WHERE document IS NOT NULL)",
    "DELETE FROM answers WHERE name NOT IN (SELECT answer FROM answer_uses)",
    "DELETE FROM media WHERE hash NOT IN (SELECT media FROM media_uses)",
    "UPDATE totals SET value = (SELECT COUNT(*) FROM runs) WHERE name = 'runs'",
)


def delete_runs(raw: sqlite3.Connection, runs: Sequence[int]) -> None:
    """Delete runs, and everything that only they used, within a transaction."""
    for run in runs:
        for table in _TABLES_OF_RUN:
            raw.execute(f"DELETE FROM {table} WHERE run = ?", (run,))  # noqa: S608 - our own tables
        raw.execute("DELETE FROM runs WHERE seq = ?", (run,))
    for statement in _DELETE_UNUSED:
        raw.execute(statement)
