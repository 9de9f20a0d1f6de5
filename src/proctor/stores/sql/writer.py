"""Write a run: its first rows, and a thread that writes all queued records with one commit and reports it."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TypeVar

from proctor.errors import StoreError
from proctor.schema.results.manifest import AgentManifest, Manifest, PlannedCase, RunSummary, ScoringManifest
from proctor.schema.results.run_result import RunKind
from proctor.stores.base import CAPS, Allotment, AnswerRecord, Caps, Committed, Record
from proctor.stores.sql import leases
from proctor.stores.sql.database import (
    Database,
    LostConnectionError,
    StoreLocation,
    Transaction,
    compact,
    insert,
    planned_checksum,
    run_checksum,
    scoring_checksum,
    storable,
)
from proctor.stores.sql.media import Uploaded, upload
from proctor.stores.sql.reader import RunReader
from proctor.stores.sql.rows import DecidedOutcomes, Hold, Rows, RowWriter
from proctor.stores.sql.run_budget import write_caps
from proctor.stores.sql.run_state import (
    RunLine,
    RunProgress,
    ScoringState,
    run_progress,
    scoring_state,
    set_kind,
)

_Found = TypeVar("_Found")

RECONNECT_SECONDS = 600.0
"""How long a run waits for a database that it cannot reach; nothing is reported as stored meanwhile."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 10.0
"""Seconds between two attempts to reach it."""
_PAUSES = (0.002,) * 10
"""Seconds that a commit waits for what comes right after its first record: so it takes half as many of them."""
_PAUSES_OF_SCORING = (0.025,) * 10
"""The same for a further scoring, whose trials do not wait for each other's commits: one commit stores many."""
_FIGURES_AFTER = 1.0
"""Seconds from the start, and from the last record, until the live figures are written again: the next trials have begun."""
_ENOUGH = 200
"""Queued groups of records for which a commit waits at most."""


@dataclass(frozen=True, slots=True)
class _End:
    summary: RunSummary | None
    complete: bool = False


class Writer:
    """Writes one scoring of one run (see `RunWriter` of `stores/base.py`)."""

    def __init__(
        self,
        place: StoreLocation,
        hold: Hold,
        committed: Committed,
        created_at: float,
        *,
        only_scores: bool = False,
    ) -> None:
        self.run_id = hold.lease.run_id
        self.created_at = created_at
        self.scoring = hold.scoring.number
        self._place = place
        self._hold = hold
        self._committed = committed
        self.live_figures: Callable[[], Mapping[str, int]] = dict
        self._began = time.perf_counter() - hold.scoring.duration
        self._pauses = _PAUSES_OF_SCORING if only_scores else _PAUSES
        self._error: Exception | None = None
        self._queue: queue.SimpleQueue[tuple[Rows, object] | _End] = queue.SimpleQueue()
        self._rows = RowWriter(hold)
        self._is_known = True
        self._wait = _FIGURES_AFTER
        self._thread = threading.Thread(target=self._work, name=f"proctor-store-{self.run_id}", daemon=True)
        self._thread.start()

    @property
    def completes_run(self) -> bool:
        """Whether this was the last part of a run of several processes; known once it has finished."""
        return self._hold.completes_run

    def use_allotment(self, allotment: Allotment | None) -> None:
        """Write what is spent from `allotment` with each commit from now on."""
        self._hold.allotment, self._hold.has_caps = allotment, allotment is not None

    def put(self, records: Sequence[Record | AnswerRecord], token: object = None) -> None:
        """Take records, to be written together."""
        # encoded here and now: what is changed later is not what was put, and the thread has less to wait for
        self._queue.put((self._rows.encode(records), token))

    def finish(self, summary: RunSummary, *, complete: bool) -> None:
        """Write the remaining records and the summary of the run, and release the run."""
        self._end(_End(summary, complete))
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Let go of the run without a summary."""
        self._end(_End(None))

    def _end(self, end: _End) -> None:
        if self._thread.is_alive():
            self._queue.put(end)
            self._thread.join()

    # --- on the thread -----------------------------------------------------------------------------------------------

    def _work(self) -> None:
        database = self._try(self._place.connect)
        end: _End | None = None
        while end is None:
            items, end = self._dequeue()
            if database is not None and (items or end is None):
                self._try(partial(self._commit, database, [rows for rows, _ in items]))
            self._report_committed(items)
        if database is not None:
            if end.summary is not None:
                self._try(partial(self._commit, database, [], end))
            if end.summary is None or self._error is not None:
                self._release(database)
            with suppress(StoreError):
                database.close()

    def _try(self, step: Callable[[], _Found]) -> _Found | None:
        """Take a step unless an earlier one failed; keep its error for the callers that wait for records."""
        if self._error is not None:
            return None
        try:
            return step()
        except StoreError as error:
            self._error = error
        except Exception as error:  # noqa: BLE001 - a thread's exception would be lost, and the run would wait forever
            what = f"{type(error).__name__}: {error}"
            self._error = StoreError(f"{self._place.name}: the store cannot be written: {what}")
        return None

    def _dequeue(self) -> tuple[list[tuple[Rows, object]], _End | None]:
        """Everything that is queued; nothing, when there was nothing for a while."""
        items: list[tuple[Rows, object]] = []
        try:
            item = self._queue.get(timeout=self._wait)
            self._gather()
            while not isinstance(item, _End):
                items.append(item)
                item = self._queue.get_nowait()
        except queue.Empty:
            self._wait = _FIGURES_AFTER if items else leases.LEASE_RENEWED_EVERY
            return items, None
        return items, item

    def _gather(self) -> None:
        """Wait for what comes after the first records, as long as something comes."""
        for pause in self._pauses:
            queued = self._queue.qsize()
            time.sleep(pause)
            if not queued < self._queue.qsize() < _ENOUGH:
                break

    def _report_committed(self, items: list[tuple[Rows, object]]) -> None:
        tokens = [token for _, token in items if token is not None]
        if tokens:
            with suppress(Exception):  # the listener may have ended: the records are written anyway
                self._committed(tokens, self._error)

    def _commit(self, database: Database, items: list[Rows], end: _End | None = None) -> None:
        """Write rows, and the end of the scoring if this is it; after a lost connection again, on a new one."""
        rows = Rows()
        for some in items:
            rows.add(some)
        until, pause = time.monotonic() + RECONNECT_SECONDS, _FIRST_PAUSE
        while True:
            try:
                self._write(database, rows, end, is_wait=not items)
            except LostConnectionError:
                if time.monotonic() + pause > until:
                    raise
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                self._is_known = False  # whether the last transaction was committed
            else:
                self._is_known = True
                return

    def _write(self, database: Database, rows: Rows, end: _End | None, *, is_wait: bool) -> None:
        self._place.check_place()
        uploaded = upload(database, rows.media) if rows.media else Uploaded()
        with database.transaction() as transaction:
            if not self._is_known:
                self._hold.reload(database)
            self._rows.write(transaction, database, rows, uploaded)
            scoring = self._hold.scoring
            if end is not None and end.summary is not None:
                scoring.summary, scoring.complete = compact(end.summary.model_dump()), int(end.complete)
                if self.scoring == 1:
                    self._hold.run.complete = int(end.complete)
            else:
                figures: dict[str, float] = {**self.live_figures()}
                if not is_wait:  # the time in which a part waits for the others does not count
                    figures["duration"] = round(time.perf_counter() - self._began, 6)
                scoring.update_summary(figures)
            if not self._hold.write(transaction):
                raise leases.lost_lease_error(self._hold.lease, self._place.name)
            if end is not None:
                self._hold.release(transaction)
        self._place.check_place()

    def _release(self, database: Database) -> None:
        with (
            suppress(StoreError),
            database.transaction() as transaction,
        ):  # where it cannot, the lease ends with its time
            self._hold.release(transaction)


# --- The first rows of a run and of a scoring -------------------------------------------------------------------------


_PLANNED = "run, position, crc, eval_set_id, eval_id, content_hash, place"
_OTHER_CONTENT = (
    "ON CONFLICT (run, position) DO UPDATE"
    " SET crc = excluded.crc, content_hash = excluded.content_hash, place = excluded.place"
)
_PLANNED_AT_ONCE = 1000


def begin_run(
    transaction: Transaction,
    name: str,
    manifest: Manifest,
    cases: Iterable[PlannedCase],
    scoring: ScoringManifest,
) -> Hold:
    """Write down a new run, within a transaction, and take hold of it."""
    progress = RunProgress(new_run_number(transaction))
    insert_run(transaction, progress, manifest, name)
    caps = {name: manifest.options[name] for name in CAPS if manifest.options.get(name) is not None}
    if caps:
        write_caps(transaction, progress.run, Caps(**caps))
    lease = leases.take_lease(transaction, progress.run, manifest.run_id, name)
    progress.cases = insert_planned_cases(transaction, progress.run, cases)
    hold = Hold(
        lease,
        progress,
        ScoringState(progress.run, scoring.number),
        DecidedOutcomes(),
        {},
        has_caps=bool(caps),
    )
    insert_scoring(transaction, hold.scoring, scoring)
    hold.write(transaction)
    return hold


def new_run_number(transaction: Transaction) -> int:
    """Count one more run, and return its number, which no earlier run had."""
    transaction.execute("UPDATE totals SET value = value + 1 WHERE name = 'runs'")
    rows = transaction.execute("UPDATE totals SET value = value + 1 WHERE name = 'last_run' RETURNING value")
    number: int = rows.fetchall()[0][0]
    return number


def resume_run(
    transaction: Transaction, database: Database, lease: leases.Lease, added: Sequence[PlannedCase]
) -> Hold:
    """Take up a run, within a transaction, with cases that it did not have before, or not so."""
    run = lease.run
    progress = run_progress(database, run)
    _reset_in_flight(transaction, database, progress)
    hold = Hold(
        lease,
        progress,
        scoring_state(database, run, 1),
        DecidedOutcomes(RunReader(database, run, lease.run_id, 1).outcomes()),
        last_attempts(database, run),
    )
    insert_planned_cases(transaction, run, added)
    hold.run.cases += sum(case.position >= hold.run.cases for case in added)
    hold.run.complete = hold.scoring.complete = 0
    for number in range(2, hold.run.scorings + 1):  # what comes now is not in them
        later = scoring_state(database, run, number)
        later.complete = 0
        later.write(transaction)
    hold.write(transaction)
    return hold


def begin_scoring(
    transaction: Transaction, database: Database, lease: leases.Lease, scoring: ScoringManifest
) -> Hold:
    """Write down another scoring of a run, within a transaction; its number is chosen here."""
    progress = run_progress(database, lease.run)
    _reset_in_flight(transaction, database, progress)
    progress.scorings += 1
    numbered = scoring.model_copy(update={"number": progress.scorings})
    new = ScoringState(lease.run, numbered.number)
    hold = Hold(lease, progress, new, DecidedOutcomes(), last_attempts(database, lease.run))
    insert_scoring(transaction, new, numbered)
    hold.write(transaction)
    return hold


def _reset_in_flight(transaction: Transaction, database: Database, run: RunProgress) -> None:
    """Remove the number of trials that ran when a process died: its successor has not started one."""
    for number in range(1, run.scorings + 1):
        progress = scoring_state(database, run.run, number)
        if json.loads(progress.summary or "{}").get("in_flight"):
            progress.update_summary({"in_flight": 0})
            progress.write(transaction)


def last_attempts(database: Database, run: int) -> dict[tuple[int, int], int]:
    """Return the last attempt by position and number, of trials that were repeated."""
    rows = database.rows(
        "SELECT position, number, MAX(attempt) FROM trials WHERE run = ? AND attempt > 0 GROUP BY position, number",
        (run,),
    )
    return {(position, number): attempt for position, number, attempt in rows}


def insert_run(transaction: Transaction, progress: RunProgress, manifest: Manifest, name: str) -> None:
    """Write down what is run.

    Raises:
        StoreError: there is a run of this name.
    """
    agent = storable(manifest.agent.label)
    sets, text = compact([one.eval_set_id for one in manifest.sets]), compact(manifest.model_dump())
    identity = manifest.run_id, manifest.created_at, agent, sets, manifest.num_runs
    if not insert_head(transaction, progress, identity, manifest.kind, text):
        raise StoreError(f"{name}: it already has a run named {manifest.run_id}")


Identity = tuple[str, float, str, str, int]
"""Id, time of creation, agent, sets (JSON) and number of repeats of a run."""


def insert_head(
    transaction: Transaction, progress: RunProgress, identity: Identity, kind: RunKind, manifest: str
) -> bool:
    """Write the row of a run that no process holds; return `False` if there is a run of this name."""
    run_id, created_at, agent, sets, num_runs = identity
    state = progress.cases, progress.complete, progress.trials, progress.trials_sum, progress.scorings
    crc = run_checksum(kind, progress.run, run_id, created_at, agent, sets, num_runs, manifest)
    row = (progress.run, *identity, *state, progress.crc, 0, 0, crc, manifest)
    if not insert(transaction, "runs", _HEAD, [row], "ON CONFLICT (run_id) DO NOTHING"):
        return False
    set_kind(transaction, progress.run, kind)
    return True


_HEAD = (
    "seq, run_id, created_at, agent, sets, num_runs, cases, complete, trials, trials_sum, judgings, state_crc, "
    "lease_until, fence, crc, manifest"
)


def insert_scoring(transaction: Transaction, progress: ScoringState, scoring: ScoringManifest) -> None:
    """Write down how it is scored."""
    text = compact(scoring.model_dump())
    transaction.execute(
        "INSERT INTO judgings (run, number, complete, counts, verdicts_sum, state_crc, crc, judging) "
        "VALUES (?, ?, 0, '{}', 0, 0, ?, ?)",
        (
            progress.run,
            progress.number,
            scoring_checksum(progress.run, progress.number, text),
            text,
        ),
    )


def name_agent(transaction: Transaction, line: RunLine, manifest: Manifest, agent: AgentManifest) -> None:
    """Write down what is known of the agent by now; nothing else of the manifest changes."""
    text = compact(manifest.model_copy(update={"agent": agent}).model_dump())
    sets = compact(list(line.sets))
    crc = run_checksum(
        line.kind, line.seq, line.run_id, line.created_at, line.agent, sets, line.num_runs, text
    )
    transaction.execute("UPDATE runs SET manifest = ?, crc = ? WHERE seq = ?", (text, crc, line.seq))


def insert_planned_cases(transaction: Transaction, run: int, cases: Iterable[PlannedCase]) -> int:
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
            rows.append((run, case.position, planned_checksum(run, case.position, texts), *texts))
        total += insert(transaction, "planned", _PLANNED, rows, _OTHER_CONTENT)
    return total


# --- Deletion ---------------------------------------------------------------------------------------------------------


_TABLES_OF_RUN = "verdicts scores trials planned judgings media_uses labels answer_uses members purses purse_parts run_annotations".split()
_DELETE_USED_ONLY_HERE = tuple(
    f"DELETE FROM {table} WHERE {key} IN (SELECT {use} FROM {uses} WHERE run = ? AND {use} IS NOT NULL) "  # noqa: S608 - our own tables
    f"AND NOT EXISTS (SELECT 1 FROM {uses} WHERE {use} = {key} AND run <> ?)"
    for table, key, uses, use in (
        ("documents", "hash", "trials", "document"),
        ("answers", "name", "answer_uses", "answer"),
        ("media", "hash", "media_uses", "media"),
    )
)
"""The time that these statements take depends on the size of the run, not on that of the store."""


def delete_runs(transaction: Transaction, runs: Sequence[int]) -> None:
    """Delete runs, and everything that only they used, within a transaction."""
    for run in runs:
        for statement in _DELETE_USED_ONLY_HERE:
            transaction.execute(statement, (run, run))
        for table in _TABLES_OF_RUN:
            transaction.execute(f"DELETE FROM {table} WHERE run = ?", (run,))  # noqa: S608 - our own tables
        transaction.execute("DELETE FROM runs WHERE seq = ?", (run,))
    transaction.execute("UPDATE totals SET value = (SELECT COUNT(*) FROM runs) WHERE name = 'runs'")
