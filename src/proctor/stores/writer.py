"""The writer of a run: a thread that takes all that is queued, writes it with one commit, and says so."""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from proctor.errors import StoreError
from proctor.schema.run import RunSummary
from proctor.stores import leases
from proctor.stores.base import Committed, Record
from proctor.stores.database import Connection, Place
from proctor.stores.encoding import compact
from proctor.stores.rows import Rows, RowWriter
from proctor.stores.states import Hold


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
        self._error: Exception | None = None
        self._queue: queue.SimpleQueue[tuple[Rows, object] | _End] = queue.SimpleQueue()
        self._rows = RowWriter(hold)
        self._thread = threading.Thread(target=self._work, name=f"proctor-store-{self.run_id}", daemon=True)
        self._thread.start()

    def put(self, records: Sequence[Record], token: object = None) -> None:
        """Take records, to be written together."""
        # encoded here and now: what is changed later is not what was put, and the thread has less to wait for
        self._queue.put((self._rows.encode(records), token))

    def finish(self, summary: RunSummary, *, complete: bool) -> None:
        """Write what is left and what came of the run, and let go of it."""
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
        connection: Connection | None = None
        end: _End | None = None
        try:
            try:
                connection = self._place.connect()
            except StoreError as error:
                self._error = error
            while end is None:
                items, end = self._taken()
                self._write(connection, items)
            if connection is not None:
                self._finish(connection, end)
        finally:
            if connection is not None:
                connection.close()

    def _taken(self) -> tuple[list[tuple[Rows, object]], _End | None]:
        """Everything that is queued; nothing, when there was nothing for a while."""
        items: list[tuple[Rows, object]] = []
        try:
            item = self._queue.get(timeout=leases.RENEWED_EVERY)
            while not isinstance(item, _End):
                items.append(item)
                item = self._queue.get_nowait()
        except queue.Empty:
            return items, None
        return items, item

    def _write(self, connection: Connection | None, items: list[tuple[Rows, object]]) -> None:
        if self._error is None and connection is not None:
            try:
                self._commit(connection, [rows for rows, _ in items])
            except StoreError as error:
                self._error = error
            except Exception as error:  # noqa: BLE001 - whoever waits for these records must hear of it
                self._error = StoreError(
                    f"{self._place.name}: writing failed: {type(error).__name__}: {error}"
                )
        tokens = [token for _, token in items if token is not None]
        if tokens:
            self._committed(tokens, self._error)

    def _commit(self, connection: Connection, items: list[Rows]) -> None:
        self._place.check_place()
        with connection.transaction() as raw:
            for rows in items:
                self._rows.add(rows)
            self._rows.write(raw, connection)
            self._keep_hold(raw)
        self._place.check_place()

    def _keep_hold(self, raw: sqlite3.Connection) -> None:
        hold = self._hold
        if not hold.run.write(raw, hold.lease, time.time() + leases.SECONDS):
            raise leases.lost(hold.lease, self._place.name)
        hold.judging.write(raw)

    def _finish(self, connection: Connection, end: _End) -> None:
        try:
            with connection.transaction() as raw:
                if end.summary is not None and self._error is None:
                    self._hold.judging.summary = compact(end.summary.model_dump())
                    self._hold.judging.complete = int(end.complete)
                    if self.judging == 1:
                        self._hold.run.complete = int(end.complete)
                    self._keep_hold(raw)
                leases.release(raw, self._hold.lease)
        except StoreError as error:
            self._error = self._error or error
