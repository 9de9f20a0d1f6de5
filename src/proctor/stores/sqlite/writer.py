"""The writer of a run: a thread that writes all queued records with one commit and reports it."""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from proctor.errors import StoreError
from proctor.schema.results.manifest import RunSummary
from proctor.stores.base import AnswerRecord, Committed, Record
from proctor.stores.sqlite import leases
from proctor.stores.sqlite.connection import Connection, Place
from proctor.stores.sqlite.encoding import compact
from proctor.stores.sqlite.rows import Rows, RowWriter
from proctor.stores.sqlite.run_state import Hold

_Found = TypeVar("_Found")

_GATHERING = 0.001
"""Seconds that a commit waits for what comes right after its first record: so it takes half as many of them."""


@dataclass(frozen=True, slots=True)
class _End:
    summary: RunSummary | None
    complete: bool = False


class Writer:
    """Writes one judging of one run (see `RunWriter` of this room's contract)."""

    def __init__(self, place: Place, hold: Hold, committed: Committed) -> None:
        self.run_id = hold.lease.run_id
        self.judging = hold.judging.number
        self._place = place
        self._hold = hold
        self._committed = committed
        self._began = time.perf_counter() - hold.judging.duration
        self._error: Exception | None = None
        self._queue: queue.SimpleQueue[tuple[Rows, object] | _End] = queue.SimpleQueue()
        self._rows = RowWriter(hold)
        self._thread = threading.Thread(target=self._work, name=f"proctor-store-{self.run_id}", daemon=True)
        self._thread.start()

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
        connection = self._try(self._place.connect)
        end: _End | None = None
        while end is None:
            items, end = self._take_queued()
            if connection is not None and (items or end is None):
                self._try(partial(self._commit, connection, [rows for rows, _ in items]))
            self._tell(items)
        if connection is not None:
            self._finish(connection, end)
            with suppress(StoreError):
                connection.close()

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

    def _take_queued(self) -> tuple[list[tuple[Rows, object]], _End | None]:
        """Everything that is queued; nothing, when there was nothing for a while."""
        items: list[tuple[Rows, object]] = []
        try:
            item = self._queue.get(timeout=leases.RENEWED_EVERY)
            time.sleep(_GATHERING)
            while not isinstance(item, _End):
                items.append(item)
                item = self._queue.get_nowait()
        except queue.Empty:
            return items, None
        return items, item

    def _tell(self, items: list[tuple[Rows, object]]) -> None:
        tokens = [token for _, token in items if token is not None]
        if tokens:
            with suppress(Exception):  # the listener may have ended: the records are written all the same
                self._committed(tokens, self._error)

    def _commit(self, connection: Connection, items: list[Rows], *, last: bool = False) -> None:
        self._place.check_place()
        with connection.transaction() as raw:
            for rows in items:
                self._rows.add(rows)
            self._rows.write(raw, connection)
            if items:  # and not while it only waits for its turn
                self._hold.judging.note_duration(time.perf_counter() - self._began)
            self._keep_hold(raw)
            if last:
                leases.release(raw, self._hold.lease)
        self._place.check_place()

    def _keep_hold(self, raw: sqlite3.Connection) -> None:
        hold = self._hold
        if not hold.run.write(raw, hold.lease, time.time() + leases.SECONDS):
            raise leases.lost_lease_error(hold.lease, self._place.name)
        hold.judging.write(raw)

    def _finish(self, connection: Connection, end: _End) -> None:
        if end.summary is not None:
            self._try(partial(self._sum_up, connection, end.summary, end.complete))
        if end.summary is None or self._error is not None:
            self._release(connection)

    def _sum_up(self, connection: Connection, summary: RunSummary, complete: bool) -> None:  # noqa: FBT001 - handed on
        self._hold.judging.summary = compact(summary.model_dump())
        self._hold.judging.complete = int(complete)
        if self.judging == 1:
            self._hold.run.complete = int(complete)
        self._commit(connection, [], last=True)

    def _release(self, connection: Connection) -> None:
        with (
            suppress(StoreError),
            connection.transaction() as raw,
        ):  # where it cannot, the lease ends with its time
            leases.release(raw, self._hold.lease)
