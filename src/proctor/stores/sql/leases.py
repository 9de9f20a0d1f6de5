"""Leases: one process at a time may write a run, for a limited time, with a number that excludes earlier holders.

`Holder` is the process that holds a lease: its machine, and whether it still exists.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proctor.errors import RunInUseError, StoreError
from proctor.stores.sql.database import Transaction

LEASE_SECONDS = 60.0
"""How long a process keeps a run without renewing its lease."""
LEASE_RENEWED_EVERY = 15.0
_ASKEW = LEASE_SECONDS
"""The largest tolerated difference of clocks: a lease that ends later than this dates from before a clock was set back."""
HOLDER_COLUMNS = "holder_host, holder_machine, holder_pid, holder_started, lease_until, unix_now()"
"""The columns of a row with a lease, for `held_by`."""

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

    def is_here(self) -> bool:
        """Return whether it is a process of this machine, so that its end is noticed."""
        return self.machine is not None and self.machine == _machine()

    def is_gone(self) -> bool:
        """Return whether that process has certainly ended. For a process of another machine this is never certain."""
        if not self.is_here():
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


def held_by(
    host: str | None, machine: str | None, pid: int | None, started: str | None, until: float, now: float
) -> Holder | None:
    """Return the process that holds the lease of a run, by the columns `HOLDER_COLUMNS`; `None` if there is none."""
    if pid is None or not 0 < until - now <= LEASE_SECONDS + _ASKEW:
        return None
    holder = Holder(host or "another machine", machine, pid, started)
    return None if holder.is_gone() else holder


# --- The right of one process to write a run -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write one run."""

    run: int
    run_id: str
    fence: int
    """Increases by one with each holder: a process with a lower number has lost the lease."""


def take_lease(transaction: Transaction, run: int, run_id: str, name: str) -> Lease:
    """Acquire the lease of a run, within a transaction.

    Raises:
        RunInUseError: another process writes it.
    """
    *row, fence = transaction.execute(
        f"SELECT {HOLDER_COLUMNS}, fence FROM runs WHERE seq = ?",  # noqa: S608 - our own columns
        (run,),
    ).fetchone()
    if (holder := held_by(*row)) is not None:
        raise in_use_error(f"run {run_id}", name, holder)
    me = this_process()
    lease_row = transaction.execute(
        "UPDATE runs SET holder_host = ?, holder_machine = ?, holder_pid = ?, holder_started = ?, "
        "lease_until = unix_now() + ?, fence = fence + 1 WHERE seq = ? AND fence = ? RETURNING fence",
        (me.host, me.machine, me.pid, me.started, LEASE_SECONDS, run, fence),
    ).fetchone()
    if lease_row is None:  # another process has taken it between the two statements
        raise in_use_error(f"run {run_id}", name, None)
    return Lease(run, run_id, lease_row[0])


def release_lease(transaction: Transaction, lease: Lease) -> bool:
    """Release a run, within a transaction; return `False` if another process has taken it over."""
    released = transaction.execute(
        "UPDATE runs SET lease_until = 0, holder_pid = NULL WHERE seq = ? AND fence = ?",
        (lease.run, lease.fence),
    )
    return released.rowcount == 1


def in_use_error(what: str, name: str, holder: Holder | None) -> RunInUseError:
    """Return the error for a run, or a part of one, that another process works on; `None`: it is not known which."""
    error = RunInUseError(
        f"{name}: {what} is being worked on by {holder or 'another process'}. Wait for it to end or stop it, then try again "
        f"(a process that died on another machine is waited for: {LEASE_SECONDS:.0f} s at most)"
    )
    error.may_have_died = holder is not None and not holder.is_here()
    return error


def lost_lease_error(lease: Lease, name: str) -> StoreError:
    """Return the error for a write after another process has taken over the run."""
    return StoreError(
        f"{name}: another process has taken over run {lease.run_id}, because this one did not renew its lease for "
        f"{LEASE_SECONDS:.0f} s, or because their clocks differ (processes that share a SQLite file need the same clock; for "
        "several machines use PostgreSQL). That process runs the cases that were not written until then"
    )
