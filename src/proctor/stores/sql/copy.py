"""Copy runs from one store into another, row by row: every scoring, label and judge's answer, whatever databases they are in.

The number of a run differs between stores, and is part of the checksums of its rows: each row is verified with the old number
and gets a checksum with the new one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from proctor.errors import StoreError
from proctor.stores.sql.annotations import copy_annotation
from proctor.stores.sql.database import (
    Database,
    Row,
    Transaction,
    blocks,
    checksum,
    compact,
    document_checksum,
    insert,
    newest_version,
    placeholders,
    planned_checksum,
    score_checksum,
    scoring_checksum,
    sound,
    trial_checksum,
    verdict_checksum,
)
from proctor.stores.sql.labels import insert_calibration, insert_look, label_checksum
from proctor.stores.sql.media import copy_media
from proctor.stores.sql.reader import RunReader
from proctor.stores.sql.run_state import RunLine, RunProgress, run_line, stored_scorings
from proctor.stores.sql.writer import insert_head, new_run_number

_CASES = 100
"""Cases whose rows are in memory at one time."""


@dataclass(frozen=True, slots=True)
class _Table:
    """A table with rows of one run, and the checksum of a row: of the run's number and the columns."""

    name: str
    columns: str
    checksum_of: Callable[[int, Row], int]


_OF_CASES = (
    _Table(
        "planned",
        "position, crc, eval_set_id, eval_id, content_hash, place",
        lambda run, row: planned_checksum(run, row[0], row[2:]),
    ),
    _Table(
        "trials",
        "position, number, attempt, failed, crc, document, media, evidence",
        lambda run, row: trial_checksum(run, *row[:4], *row[5:]),
    ),
    _Table(
        "scores",
        "judging, position, number, attempt, crc, scores",
        lambda run, row: score_checksum(run, *row[:4], *row[5:]),
    ),
    _Table(
        "verdicts",
        "judging, position, outcome, crc, verdict",
        lambda run, row: verdict_checksum(run, *row[:3], *row[4:]),
    ),
    _Table(
        "labels",
        "position, number, turn, rubric_id, metric, passes, labelled_at, note, labeller, crc",
        lambda run, row: label_checksum(run, row[:-1]),
    ),
)


@dataclass(frozen=True, slots=True)
class _SharedTable:
    """A table whose rows several runs use, by name; `uses` finds the names that a run uses."""

    name: str
    columns: str
    checksum_of: Callable[[Row], int]
    uses: str
    table_of_uses: str = ""


_SHARED = (
    _SharedTable(
        "documents",
        "hash, crc, media, body",
        lambda row: document_checksum(row[0], row[2], row[3]),
        "SELECT DISTINCT document FROM trials WHERE run = ? AND document IS NOT NULL ORDER BY document",
    ),
    _SharedTable(
        "answers",
        "name, crc, body",
        lambda row: checksum(f"answer/{row[0]}", row[2]),
        "SELECT answer FROM answer_uses WHERE run = ? ORDER BY answer",
        "answer_uses (run, answer)",
    ),
)


def copy_run(source: Database, target: Database, run_id: str) -> bool:
    """Copy a run; return `False` if the target has it already.

    Raises:
        StoreError: a row of the source is damaged, or the target has another run of this name. Then nothing was copied.
    """
    _check_version(source)
    with source.snapshot(), target.transaction() as transaction:
        line = run_line(source, run_id)
        if line is None:
            raise StoreError(f"{source.name}: the run {run_id} was deleted while it was copied")
        there = run_line(target, run_id)
        if there is not None:
            if there.manifest != line.manifest:
                raise StoreError(f"{target.name}: has another run named {run_id}")
            return False
        with sound(source.name, f"run {run_id}"):
            run = new_run_number(transaction)
            _copy_head(transaction, source, line, run)
            copy_annotation(source, transaction, line.seq, run)
            copy_media(transaction, source, target, line.seq, run)
            for shared in _SHARED:
                _copy_shared(transaction, source, shared, (line.seq, run))
            for first in range(0, line.progress.cases, _CASES):
                for table in _OF_CASES:
                    _copy_cases(transaction, source, table, (line.seq, run), first)
    return True


def _check_version(source: Database) -> None:
    version = source.row("SELECT MAX(version) FROM schema_versions")
    if version != (newest_version(),):
        raise StoreError(
            f"{source.name}: its tables are of an older version. `proctor runs --store {source.name}` updates them; then copy it"
        )


def _copy_head(transaction: Transaction, source: Database, line: RunLine, run: int) -> None:
    """Write the row of the run and those of its scorings."""
    old = line.progress
    progress = RunProgress(run, old.cases, old.complete, old.trials, old.trials_sum, old.scorings)
    identity = line.run_id, line.created_at, line.agent, compact(list(line.sets)), line.num_runs
    insert_head(transaction, progress, identity, line.kind, line.manifest)
    scorings = []
    for scoring, text in stored_scorings(source, line):
        RunReader(source, line.seq, line.run_id, scoring.number).check_totals(old, scoring)
        scoring.run = run
        crc = scoring_checksum(run, scoring.number, text)
        scorings.append(
            (run, scoring.number, scoring.complete, scoring.counts, scoring.verdicts_sum, scoring.crc, crc, scoring.summary, text)
        )  # fmt: skip
    columns = "run, number, complete, counts, verdicts_sum, state_crc, crc, summary, judging"
    insert(transaction, "judgings", columns, scorings)


def _copy_cases(
    transaction: Transaction, source: Database, table: _Table, numbers: tuple[int, int], first: int
) -> None:
    """Copy the rows of some cases; `numbers` are those of the run in the source and in the target."""
    before, after = numbers
    rows = source.rows(
        f"SELECT {table.columns} FROM {table.name} WHERE run = ? AND position >= ? AND position < ?",  # noqa: S608 - our own tables
        (before, first, first + _CASES),
    )
    place = table.columns.split(", ").index("crc")
    new = []
    for row in rows:
        _check(row[place], table.checksum_of(before, row))
        new.append((after, *row[:place], table.checksum_of(after, row), *row[place + 1 :]))
    insert(transaction, table.name, f"run, {table.columns}", new)


def _copy_shared(
    transaction: Transaction, source: Database, table: _SharedTable, numbers: tuple[int, int]
) -> None:
    before, after = numbers
    names = [name for (name,) in source.rows(table.uses, (before,))]
    key = table.columns.partition(",")[0]
    for some in blocks(names):
        rows = source.rows(
            f"SELECT {table.columns} FROM {table.name} WHERE {key} IN ({placeholders(some)}) ORDER BY {key}",  # noqa: S608 - our own tables
            some,
        )
        if len(rows) != len(some) or any(row[1] != table.checksum_of(row) for row in rows):
            raise ValueError(table.name)
        insert(transaction, table.name, table.columns, rows, f"ON CONFLICT ({key}) DO NOTHING")
        if table.table_of_uses:
            uses, columns = table.table_of_uses.split(" ", 1)
            insert(transaction, uses, columns.strip("()"), [(after, name) for name in some])


# --- What belongs to no run -------------------------------------------------------------------------------------------


def copy_calibrations_and_looks(source: Database, target: Database) -> None:
    """Copy calibrations of judges and looks at held-out cases that the target does not have.

    Raises:
        StoreError: a row of the source is damaged.
    """
    _check_version(source)
    with (
        source.snapshot(),
        target.transaction(exclusive=True) as transaction,
        sound(source.name, "a calibration or a look"),
    ):
        known = {row[-1] for row in target.rows(_CALIBRATIONS)}
        for metric, crc, text in source.rows(_CALIBRATIONS):
            _check(crc, checksum(f"calibration/{metric}", text))
            if text not in known:
                insert_calibration(transaction, metric, text)
        known = {row[-1] for row in target.rows(_LOOKS)}
        for seq, crc, text in source.rows(_LOOKS):
            _check(crc, checksum(f"look/{seq}", text))
            if text not in known:
                insert_look(transaction, text)


_CALIBRATIONS = "SELECT metric, crc, calibration FROM calibrations ORDER BY seq"
_LOOKS = "SELECT seq, crc, look FROM looks ORDER BY seq"


def _check(stored: int, computed: int) -> None:
    if stored != computed:
        raise ValueError(stored)
