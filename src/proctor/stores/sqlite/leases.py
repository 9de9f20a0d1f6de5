"""Who may write a run: one process at a time, for a while, with a number that tells a late one that it is too late."""

from __future__ import annotations

import sqlite3
import time

from proctor.common.quick_dataclasses import dataclass
from proctor.errors import StoreError
from proctor.stores.sqlite.holder import Holder, this_process

SECONDS = 60.0
"""How long a run stays with a process that is not heard of."""
RENEWED_EVERY = 15.0
_ASKEW = SECONDS
"""How far clocks may differ: a lease that ends later than this after its time is from before a clock was put back."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write one run."""

    run: int
    run_id: str
    fence: int
    """One more for each holder: whoever has a lower one is late."""


def take(connection: sqlite3.Connection, run: int, run_id: str, name: str) -> Lease:
    """Take hold of a run, within a transaction.

    Raises:
        StoreError: another process is at work on it.
    """
    row = connection.execute(
        "SELECT holder_host, holder_machine, holder_pid, holder_started, lease_until FROM runs WHERE seq = ?",
        (run,),
    ).fetchone()
    if (holder := held_by(row)) is not None:
        raise StoreError(
            f"{name}: run {run_id} is being worked on by {holder}. Wait for it to end or stop it, then try again "
            f"(a process that died on another machine is waited for: {SECONDS:.0f} s at most)"
        )
    me = this_process()
    found = connection.execute(
        "UPDATE runs SET holder_host = ?, holder_machine = ?, holder_pid = ?, holder_started = ?, lease_until = ?, "
        "fence = fence + 1 WHERE seq = ? RETURNING fence",
        (me.host, me.machine, me.pid, me.started, time.time() + SECONDS, run),
    ).fetchall()
    return Lease(run, run_id, found[0][0])


def held_by(row: tuple[str | None, str | None, int | None, str | None, float]) -> Holder | None:
    """Return who is at work on a run, by its holder's columns and `lease_until`; `None` when nobody is."""
    host, machine, pid, started, until = row
    left = until - time.time()
    if pid is None or not 0 < left <= SECONDS + _ASKEW:
        return None
    holder = Holder(host or "another machine", machine, pid, started)
    return None if holder.is_gone() else holder


def lost(lease: Lease, name: str) -> StoreError:
    """Build the error for a write that came after another process had taken the run."""
    return StoreError(
        f"{name}: another process has taken over run {lease.run_id}, because this one was not heard of for "
        f"{SECONDS:.0f} s; what was not written until then is left to it"
    )


def release(connection: sqlite3.Connection, lease: Lease) -> None:
    """Let go of a run, within a transaction."""
    connection.execute(
        "UPDATE runs SET lease_until = 0, holder_pid = NULL WHERE seq = ? AND fence = ?",
        (lease.run, lease.fence),
    )
