"""Who may write a run: one process at a time, for a while, with a number that tells a late one that it is too late."""

from __future__ import annotations

import os
import sqlite3
import time
from functools import cache
from pathlib import Path

from proctor.common.quick_dataclasses import dataclass
from proctor.errors import RunInUseError, StoreError

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


# --- Who is at work on a run: this process and its machine, and whether another one is still there --------------------


PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Holder:
    """One process on one machine."""

    host: str
    """For people."""
    machine: str | None
    """Names the boot and the process numbers' space; `None` where neither can be told."""
    pid: int
    started: str | None
    """When the process started, in the system's own words; a number is used again by later processes. `None` where
    the system does not tell."""

    def is_gone(self) -> bool:
        """Tell whether that process has certainly ended. Of another machine nothing is certain."""
        if self.machine is None or self.machine != _machine():
            return False
        if not _is_used(self.pid):
            return True
        started = _start_of(self.pid)
        return started == _ENDED or (None not in (started, self.started) and started != self.started)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def this_process() -> Holder:
    """Return the process that calls."""
    pid = os.getpid()
    return Holder(_host(), _machine(), pid, _start_of(pid))


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


def _is_used(pid: int) -> bool:
    """Tell whether there is a process of this number: in doubt there is."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it is somebody else's
        return True
    return True


def _start_of(pid: int) -> str | None:
    """When the process `pid` started; `_ENDED` when it is dead and only not yet buried.

    `None` where nobody tells: without a /proc, as on macOS, or of another user's processes in a /proc that hides them.
    Then a run whose process number is in use again is free when its lease ends. (`ps` is no way out: when it says that
    a process started depends on language, time zone and, on some systems, on how the clock was set since.)
    """
    try:
        facts = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *others = facts.rpartition(")")[2].split()
    return _ENDED if state in {"Z", "X"} else others[18]
