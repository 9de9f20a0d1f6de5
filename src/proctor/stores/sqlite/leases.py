"""Leases: one process at a time may write a run, for a limited time, with a number that excludes earlier holders."""

from __future__ import annotations

import os
import sqlite3
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proctor.errors import RunInUseError, StoreError

SECONDS = 60.0
"""How long a process keeps a run without renewing its lease."""
RENEWED_EVERY = 15.0
_ASKEW = SECONDS
"""The largest tolerated difference of clocks: a lease that ends later than this dates from before a clock was set back."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write one run."""

    run: int
    run_id: str
    fence: int
    """Increases by one with each holder: a process with a lower number has lost the lease."""


def take(connection: sqlite3.Connection, run: int, run_id: str, name: str) -> Lease:
    """Acquire the lease of a run, within a transaction.

    Raises:
        RunInUseError: another process writes it.
    """
    row = connection.execute(
        "SELECT holder_host, holder_machine, holder_pid, holder_started, lease_until FROM runs WHERE seq = ?",
        (run,),
    ).fetchone()
    if (holder := held_by(row)) is not None:
        raise RunInUseError(
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
    """Return the process that holds the lease of a run, by its holder's columns and `lease_until`; `None` if there is none."""
    host, machine, pid, started, until = row
    left = until - time.time()
    if pid is None or not 0 < left <= SECONDS + _ASKEW:
        return None
    holder = Holder(host or "another machine", machine, pid, started)
    return None if holder.is_gone() else holder


def lost_lease_error(lease: Lease, name: str) -> StoreError:
    """Return the error for a write after another process has taken over the run."""
    return StoreError(
        f"{name}: another process has taken over run {lease.run_id}, because this one did not renew its lease for "
        f"{SECONDS:.0f} s; that process runs the cases that were not written until then"
    )


def release(connection: sqlite3.Connection, lease: Lease) -> None:
    """Release a run, within a transaction."""
    connection.execute(
        "UPDATE runs SET lease_until = 0, holder_pid = NULL WHERE seq = ? AND fence = ?",
        (lease.run, lease.fence),
    )


# --- The holder of a lease: this process and its machine, and whether another process still exists --------------------


PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Holder:
    """One process on one machine."""

    host: str
    """The name of the machine, for people."""
    machine: str | None
    """Return an id of the boot and of the namespace of process ids; `None` if either is unknown."""
    pid: int
    started: str | None
    """The start time of the process as the system writes it: ids are reused by later processes. `None` where the system
    does not provide it."""

    def is_gone(self) -> bool:
        """Return whether that process has certainly ended. For a process of another machine this is never certain."""
        if self.machine is None or self.machine != _machine():
            return False
        if not _process_exists(self.pid):
            return True
        started = _start_time(self.pid)
        return started == _ENDED or (None not in (started, self.started) and started != self.started)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def this_process() -> Holder:
    """Return the current process."""
    pid = os.getpid()
    return Holder(_host(), _machine(), pid, _start_time(pid))


@cache
def _host() -> str:
    import platform

    return platform.node() or "this machine"


@cache
def _machine() -> str | None:
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {(PROC / 'self/ns/pid').readlink()}"
    except OSError:
        pass
    if os.name != "posix":
        return None
    import uuid

    return f"{_host()} {uuid.getnode():x}"


_ENDED = ""


def _process_exists(pid: int) -> bool:
    """Return whether a process with this id exists; if this cannot be determined, `True`."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # the process belongs to another user
        return True
    return True


def _start_time(pid: int) -> str | None:
    """Return the start time of the process `pid`; `_ENDED` if it is a zombie.

    `None` if it is unknown: without a /proc, as on macOS, or for another user's processes in a /proc that hides them.
    A run whose process id has been reused is then free when its lease ends. (`ps` is not a substitute: the start time
    that it prints depends on language, time zone and, on some systems, on later changes of the clock.)
    """
    try:
        facts = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *others = facts.rpartition(")")[2].split()
    return _ENDED if state in {"Z", "X"} else others[18]
