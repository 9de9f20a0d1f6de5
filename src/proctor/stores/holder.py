"""Who is at work on a run: this process and its machine, and whether another one is still there."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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
    """When the process started, in the system's own words; a number is used again by later processes."""

    def is_gone(self) -> bool:
        """Tell whether that process has certainly ended. Of another machine nothing is certain."""
        if self.machine is None or self.machine != _machine() or self.started is None:
            return False
        return _start_of(self.pid) != self.started

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


def _start_of(pid: int) -> str | None:
    """When the process `pid` started; `None` when there is none (or one that is dead and only not yet buried)."""
    if not PROC.joinpath("self").exists():
        return _start_by_ps(pid) if os.name == "posix" else None
    try:
        facts = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *others = facts.rpartition(")")[2].split()
    return None if state in {"Z", "X"} else others[18]


def _start_by_ps(pid: int) -> str | None:
    """The same where there is no /proc, as on macOS."""
    try:
        asked = ["ps", "-o", "stat=", "-o", "lstart=", "-p", str(pid)]
        done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    state, _, started = done.stdout.strip().partition(" ")
    return None if not started or state.startswith("Z") else " ".join(started.split())
