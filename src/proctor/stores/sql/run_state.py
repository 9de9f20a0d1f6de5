"""The rows of stored runs: the progress of runs and scorings, the list of runs, and which run a name means."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from proctor.common.safe_text import count_text
from proctor.errors import StoreError, UnknownNameError, did_you_mean
from proctor.schema.results.manifest import RunState, RunSummary, runs_back
from proctor.schema.results.run_result import RunKind
from proctor.stores.base import RunEntry, ScoringProgress
from proctor.stores.sql import leases
from proctor.stores.sql.database import (
    Database,
    Row,
    Transaction,
    checksum,
    compact,
    damage_error,
    has_version,
    run_checksum,
    scoring_checksum,
    sound,
)
from proctor.stores.sql.leases import (
    HOLDER_COLUMNS,
    Holder,
    Lease,
    held_by,
    in_use_error,
    take_lease,
)
from proctor.stores.sql.members import Member, members_of, members_within, summary_so_far, total_counts

_RUN_COLUMNS = "cases, complete, trials, trials_sum, judgings"
_SCORING_COLUMNS = "complete, counts, verdicts_sum, summary"


@dataclass(slots=True)
class RunProgress:
    """The progress of a run."""

    run: int
    cases: int = 0
    complete: int = 0
    trials: int = 0
    trials_sum: int = 0
    """Sum of the positions of the trials: shows that a row is missing."""
    scorings: int = 1

    @property
    def crc(self) -> int:
        """The checksum of these values."""
        return checksum(
            f"{self.run}/{self.cases}/{self.complete}/{self.trials}/{self.trials_sum}/{self.scorings}"
        )

    def write(self, transaction: Transaction, lease: Lease) -> bool:
        """Write the progress and renew the lease; return `False` if another process has taken over the run."""
        values = self.cases, self.complete, self.trials, self.trials_sum, self.scorings, self.crc
        written = transaction.execute(
            "UPDATE runs SET cases = ?, complete = ?, trials = ?, trials_sum = ?, judgings = ?, state_crc = ?, "
            "lease_until = unix_now() + ? WHERE seq = ? AND fence = ?",
            (*values, leases.LEASE_SECONDS, self.run, lease.fence),
        )
        return written.rowcount == 1

    def add(self, members: Sequence[Member]) -> None:
        """Add what the members of the run have written."""
        self.trials += sum(member.trials for member in members)
        self.trials_sum += sum(member.trials_sum for member in members)


@dataclass(slots=True)
class ScoringState:
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

    def update_summary(self, figures: Mapping[str, float]) -> None:
        """Store figures so far, such as the duration; a process that is killed cannot store them."""
        if figures:
            self.summary = compact({**json.loads(self.summary or "{}"), **figures})

    def add(self, members: Sequence[Member]) -> None:
        """Add what the members of the run have written."""
        if members:
            self.counts = compact(total_counts([self.counts, *(member.counts for member in members)]))
            self.verdicts_sum += sum(member.verdicts_sum for member in members)
            self.summary = summary_so_far(members)

    def write(self, transaction: Transaction) -> None:
        """Write the progress."""
        values = self.complete, self.counts, self.verdicts_sum, self.summary, self.crc
        transaction.execute(
            "UPDATE judgings SET complete = ?, counts = ?, verdicts_sum = ?, summary = ?, state_crc = ? "
            "WHERE run = ? AND number = ?",
            (*values, self.run, self.number),
        )


def run_progress(database: Database, run: int) -> RunProgress:
    """Read the progress of a run.

    Raises:
        StoreError: it is damaged.
    """
    row = database.row(f"SELECT {_RUN_COLUMNS}, state_crc FROM runs WHERE seq = ?", (run,))  # noqa: S608 - our own columns
    with sound(database.name, "the state of a run"):
        progress = RunProgress(run, *(row or ())[:-1])
        if row is None or progress.crc != row[-1]:
            raise ValueError(row)
    if not progress.complete:
        progress.add(members_of(database, run))
    return progress


def scoring_state(database: Database, run: int, number: int) -> ScoringState:
    """Read the progress of a scoring.

    Raises:
        StoreError: it is damaged.
    """
    row = database.row(
        f"SELECT {_SCORING_COLUMNS}, state_crc FROM judgings WHERE run = ? AND number = ?",  # noqa: S608 - our own columns
        (run, number),
    )
    with sound(database.name, "the state of a scoring"):
        progress = _scoring_state(run, number, *(row or ()))
    if number == 1 and not progress.complete:
        progress.add(members_of(database, run))
    return progress


def stored_scorings(database: Database, line: RunLine) -> list[tuple[ScoringState, str]]:
    """Return every scoring of a run, in order: its progress, and its description as JSON.

    Raises:
        StoreError: one is missing or damaged.
    """
    rows = database.rows(
        f"SELECT number, crc, judging, {_SCORING_COLUMNS}, state_crc FROM judgings WHERE run = ? ORDER BY number",  # noqa: S608 - our own columns
        (line.seq,),
    )
    if len(rows) != line.progress.scorings:
        raise damage_error(database.name, f"a scoring of run {line.run_id} is missing")
    with sound(database.name, f"a scoring of run {line.run_id}"):
        scorings = [_stored_scoring(line.seq, *row) for row in rows]
    scorings[0][0].add(line.members)
    return scorings


def _stored_scoring(run: int, number: int, crc: int, text: str, *state: Any) -> tuple[ScoringState, str]:
    if crc != scoring_checksum(run, number, text):
        raise ValueError(crc)
    return _scoring_state(run, number, *state), text


def _scoring_state(run: int, number: int, *columns: Any) -> ScoringState:
    *state, crc = columns
    progress = ScoringState(run, number, *state)
    if progress.crc != crc:
        raise ValueError(crc)
    return progress


# --- Kinds: audits are runs of another kind, and left out of lists ------------------------------------------------------

_VERSION_OF_KINDS = 8


def kind_column(database: Database) -> str:
    """Return the column with the kind of a run; an older store, opened for reading, has no audits."""
    return "kind" if has_version(database, _VERSION_OF_KINDS) else f"'{RunKind.RUN}'"


def kind_condition(column: str, kind: RunKind | None) -> tuple[str, tuple[str, ...]]:
    """Return the condition that leaves audits out of every list of runs, and its values; `column` has the kind."""
    return ("", ()) if kind is None else (f" AND {column} = ?", (kind.value,))


def set_kind(transaction: Transaction, run: int, kind: RunKind) -> None:
    """Write the kind of a run that was inserted as one of an agent."""
    if kind is not RunKind.RUN:
        transaction.execute("UPDATE runs SET kind = ? WHERE seq = ?", (kind.value, run))


# --- The rows of runs: list them, find one, delete some ---------------------------------------------------------------


_AT_ONCE = 50
_COLUMNS = f"seq, run_id, created_at, agent, sets, num_runs, crc, manifest, {_RUN_COLUMNS}, state_crc, {HOLDER_COLUMNS}"


@dataclass(frozen=True, slots=True)
class RunLine:
    """The row of one run."""

    seq: int
    run_id: str
    created_at: float
    agent: str
    sets: tuple[str, ...]
    num_runs: int
    kind: RunKind
    manifest: str
    progress: RunProgress
    holder: Holder | None
    """The process that works on the run."""
    members: Sequence[Member] = ()
    """The members of a run that several processes write."""
    unread_sets: tuple[str, ...] = ()
    """The ids of the eval sets that could not be run."""

    @property
    def state(self) -> RunState:
        """Whether the run is under way, finished, or to be resumed."""
        if self.holder is not None:
            return RunState.RUNNING
        return RunState.FINISHED if self.progress.complete else RunState.UNFINISHED


def run_line(database: Database, run_id: str) -> RunLine | None:
    """Return the run `run_id`; `None` if there is none."""
    rows = database.rows(
        f"SELECT {kind_column(database)}, {_COLUMNS} FROM runs WHERE run_id = ?",  # noqa: S608 - our own columns
        (run_id,),
    )
    return _line(database, rows[0]) if rows else None


def run_lines(database: Database, kind: RunKind | None) -> Iterator[RunLine]:
    """Return the runs of a kind (`None`: all), newest first, some at a time."""
    before = 1 << 62
    column = kind_column(database)
    condition, values = kind_condition(column, kind)
    while True:
        rows = database.rows(
            f"SELECT {column}, {_COLUMNS} FROM runs WHERE seq < ?{condition} ORDER BY seq DESC LIMIT {_AT_ONCE}",  # noqa: S608 - our own columns
            (before, *values),
        )
        for row in rows:
            before = row[1]
            yield _line(database, row)
        if len(rows) < _AT_ONCE:
            break
    with database.snapshot():  # runs may have been added and deleted since the first row was read
        check_run_count(database, column)


def _line(database: Database, row: Row) -> RunLine:
    with sound(database.name, f"run {row[2]}"):
        kind, seq, run_id, created_at, agent, sets, num_runs, crc, manifest, *state = row
        progress = RunProgress(seq, *state[:5])
        covered = run_checksum(kind, seq, run_id, created_at, agent, sets, num_runs, manifest)
        if crc != covered or state[5] != progress.crc:
            raise ValueError(crc)
        holder = held_by(*state[6:])
        names = tuple(json.loads(sets))
        line = RunLine(
            seq, run_id, created_at, agent, names, num_runs, RunKind(kind), manifest, progress, holder,
            unread_sets=stored_unread_sets(manifest),
        )  # fmt: skip
    return line if progress.complete else _with_members(database, line)


def stored_unread_sets(manifest: str) -> tuple[str, ...]:
    """Return the ids of the eval sets that could not be run, from the text of a manifest."""
    if '"failure":{' not in manifest:  # parsed only if needed: a list reads many runs
        return ()
    return tuple(one["eval_set_id"] for one in json.loads(manifest)["sets"] if one["failure"])


def _with_members(database: Database, line: RunLine) -> RunLine:
    members = members_of(database, line.seq)
    line.progress.add(members)
    holder = next((member.holder for member in members if member.holder is not None), line.holder)
    return replace(line, holder=holder, members=members)


def standing_of(database: Database, line: RunLine, scoring: int) -> ScoringProgress:
    """Return the progress of a scoring in a few numbers, which a client that follows the run reads again and again."""
    progress = scoring_state(database, line.seq, scoring)
    so_far = RunSummary.model_validate(json.loads(progress.summary or "{}"))
    return ScoringProgress(
        state=line.state,
        cases=line.progress.cases,
        trials=line.progress.trials,
        counts=progress.by_outcome(),
        complete=bool(progress.complete),
        seconds=so_far.duration,
        in_flight=so_far.in_flight if line.holder is not None else 0,
        lost_workers=so_far.lost_text,
        worker=str(line.holder or ""),
        worker_pid=line.holder.pid if line.holder is not None else None,
    )


def check_deletable(transaction: Transaction, line: RunLine, name: str) -> None:
    """Acquire a run that is to be deleted, within an exclusive transaction.

    Raises:
        RunInUseError: a process writes it.
    """
    members = members_within(transaction, line.seq, name)
    if (holder := next((member.holder for member in members if member.holder is not None), None)) is not None:
        raise in_use_error(f"run {line.run_id}", name, holder)
    if not members:
        take_lease(transaction, line.seq, line.run_id, name)


def check_of_one_process(line: RunLine, name: str) -> None:
    """Check that one process at a time writes a run, and not several together.

    Raises:
        StoreError: they do, and have not completed it.
    """
    if line.members:
        raise StoreError(
            f"{name}: run {line.run_id} is not complete: several processes write it. `proctor show {line.run_id} --wait` waits "
            f"for its end, and `proctor resume {line.run_id}` runs the parts whose process has died"
        )


# --- The index: which runs a list has, and which one a name means -----------------------------------------------------


def run_index(database: Database, kind: RunKind | None) -> list[RunEntry]:
    """Return the runs of a kind (`None`: all), newest first, without their long fields; their checksums are not verified."""
    column = kind_column(database)
    condition, values = kind_condition(column, kind)
    with database.snapshot():
        rows = database.rows(
            f"SELECT run_id, created_at, agent, sets, complete FROM runs WHERE seq > 0{condition} ORDER BY seq DESC",  # noqa: S608 - our own columns
            values,
        )
        check_run_count(database, column)
    with sound(database.name, "the list of runs"):
        sets = {text: tuple(json.loads(text)) for text in {row[3] for row in rows}}
        return [
            RunEntry(run_id, created_at, agent, sets[text], bool(complete))
            for run_id, created_at, agent, text, complete in rows
        ]


def find_run(database: Database, store: str, name: str, kind: RunKind | None) -> str:
    """Return the id of the run called `name`: as `Store.find`; `store` is the name of the store in messages.

    Raises:
        UnknownNameError: there is none, or several, or it is of another kind.
    """
    rows = database.rows(f"SELECT seq, run_id, {kind_column(database)} FROM runs")  # noqa: S608 - our own columns
    kinds: dict[str, str] = {run_id: one for _, run_id, one in sorted(rows, reverse=True)}
    if {*kinds.values()} - {*RunKind}:
        raise damage_error(database.name, "the kind of a run cannot be read")
    ids = [run_id for run_id, one in kinds.items() if one == (RunKind.RUN if kind is None else kind)]
    if (back := runs_back(name)) is not None and name not in kinds:
        return _earlier(ids, name, back, store)
    run_id = _match(name, kinds)
    if run_id is None and not ids:
        raise _no_runs_error(store)
    if run_id is None:
        raise UnknownNameError(
            f"No run named {name!r} in {store}.{did_you_mean(name, ('latest', 'previous'))} The newest: {_format_ids(ids)}; "
            "`proctor runs` lists all"
        )
    if kind not in (None, kinds[run_id]):
        raise UnknownNameError(_other_kind(run_id, kinds[run_id]))
    return run_id


def _match(name: str, ids: Collection[str]) -> str | None:
    """Return the id that is `name`, or the only one that begins with it."""
    matches = [name] if name in ids else [run_id for run_id in ids if name and run_id.startswith(name)]
    if len(matches) > 1:
        raise UnknownNameError(
            f"{name!r} is the beginning of {len(matches)} runs: {_format_ids(matches)}; give more of it"
        )
    return matches[0] if matches else None


def _earlier(ids: Sequence[str], name: str, back: int, store: str) -> str:
    if not ids:
        raise _no_runs_error(store)
    if back < len(ids):
        return ids[back]
    count = count_text(len(ids), "run")
    raise UnknownNameError(f"No run {name!r}: the store {store} has {count}. `proctor runs` lists them")


def _no_runs_error(store: str) -> UnknownNameError:
    return UnknownNameError(f"{store} has no runs yet")


def _other_kind(run_id: str, kind: str) -> str:
    if kind == RunKind.AUDIT:
        return (
            f"{run_id} is an audit: it has mutants of recorded conversations, and no trials of an agent. Expected a run "
            f"(`proctor runs` lists them); `proctor show {run_id}` shows the audit"
        )
    return f"{run_id} is a run, and an audit is expected: `proctor runs --kind audit` lists them"


def _format_ids(ids: Sequence[str]) -> str:
    return ", ".join(ids[:5]) + (" …" if len(ids) > 5 else "")


def check_run_count(database: Database, column: str) -> None:
    """Check that no row of a run is missing, and that each is of a kind that a list can have; `column` has the kind."""
    known = f"SELECT COUNT(*) FROM runs WHERE {column} IN ({', '.join('?' * len(RunKind))})"  # noqa: S608 - our own columns
    counted = database.row(known, [kind.value for kind in RunKind])
    total = database.row("SELECT value FROM totals WHERE name = 'runs'")
    if total is None or counted is None or total[0] > counted[0]:
        raise damage_error(database.name, "not all runs are there")
