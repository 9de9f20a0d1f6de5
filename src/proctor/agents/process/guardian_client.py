"""Client of `guardian.py`, a separate process: registers the process groups that must not outlive this process."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

_PROGRAM = Path(__file__).with_name("guardian.py")


class Guardian:
    """One for all processes of an agent; started with the first, dismissed when the last has ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def watch(self, group: int) -> None:
        """Have a process group ended, should this process end without having done so."""
        if os.name != "posix":
            return
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                bufsize=0,
            )
        self._say(f"+{group}\n")

    def forget(self, group: int) -> None:
        """Leave a group alone from now on: it has ended, and its number may be given to another."""
        self._say(f"-{group}\n")

    def dismiss(self) -> None:
        """End the registered groups and the guardian."""
        process, self._process = self._process, None
        if process is not None:
            process.communicate()

    def _say(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.write(line.encode())
