"""The progress of a run in a few numbers, which a client that follows the run reads again and again."""

from __future__ import annotations

from proctor.errors import UnknownNameError
from proctor.stores.base import RunEntry, Standing
from proctor.stores.sqlite.connection import Connection
from proctor.stores.sqlite.leases import held_by
from proctor.stores.sqlite.run_index import run_index, run_line
from proctor.stores.sqlite.run_state import judging_progress

_HOLDER = (
    "SELECT holder_host, holder_machine, holder_pid, holder_started, lease_until FROM runs WHERE seq = ?"
)


class StandingStore:
    """The part of a store that lists the runs and reports the progress of one."""

    _connection: Connection

    def index(self) -> list[RunEntry]:
        """List the runs, newest first, with only the fields that identify them."""
        return run_index(self._connection)

    def standing(self, run_id: str, judging: int = 1) -> Standing:
        """Return how far a judging of a run is, without reading its cases.

        Raises:
            UnknownNameError: the store has no run of this id, or the run has no such scoring.
        """
        line = run_line(self._connection, run_id)
        if line is None or not 1 <= judging <= line.progress.judgings:
            raise UnknownNameError(
                f"No judging {judging} of a run named {run_id!r} in {self._connection.name}"
            )
        found = judging_progress(self._connection, line.seq, judging)
        row = self._connection.row(_HOLDER, (line.seq,))
        holder = held_by(row) if row is not None else None
        return Standing(
            state=line.state,
            cases=line.progress.cases,
            trials=line.progress.trials,
            counts=found.by_outcome(),
            complete=bool(found.complete),
            seconds=found.duration,
            worker=str(holder or ""),
            worker_pid=holder.pid if holder is not None else None,
        )
