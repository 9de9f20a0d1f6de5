"""Who is at work on a run: this process and its machine, and whether another one is still there."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from proctor.common.quick_dataclasses import dataclass

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
