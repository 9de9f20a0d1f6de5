"""The real command line, which also sends each report to its parent process, once it was printed.

A line goes to the descriptor CRASH_REPORTED after each call of the progress: `trial SET CASE OUTCOME`, or
`case SET CASE OUTCOME HASH…` with a hash for the evidence of each trial; `finished` when the run is.

With CRASH_STATEMENT=N the process group dies before its SQL statement number N, on any connection. With
CRASH_TERMINAL its stdin becomes the terminal that it can be interrupted from. With CRASH_NO_PROC there is no /proc.
"""

import fcntl
import os
import signal
import sqlite3
import termios
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from proctor.cli.eval.execution import Screen
from proctor.cli.main import main
from proctor.stores.sql import leases

_TO = int(os.environ["CRASH_REPORTED"])
_STATEMENT = int(os.environ.get("CRASH_STATEMENT", "0"))


def _send(words: str) -> None:
    os.write(_TO, f"{words}\n".encode())


def _after(method: str, words: Callable[..., str]) -> None:
    true = getattr(Screen, method)

    def then_send(self: Screen, *given: Any) -> None:
        true(self, *given)
        _send(words(*given))

    setattr(Screen, method, then_send)


def _case(result: Any) -> str:
    hashes = [sha256(trial._evidence).hexdigest() for trial in result.trials]
    return " ".join(["case", result.eval_set_id, result.eval_id, result.outcome.value, *hashes])


_after("trial_finished", lambda *words: " ".join(["trial", *map(str, words)]))
_after("case_finished", _case)
_after("run_finished", lambda run: "finished")


class _Counted(sqlite3.Connection):
    """A connection that counts statements with all others of this process."""

    statements = 0

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.set_trace_callback(self._count)

    @classmethod
    def _count(cls, _statement: str) -> None:
        cls.statements += 1
        if cls.statements == _STATEMENT:
            os.killpg(os.getpgrp(), signal.SIGKILL)


if _STATEMENT:
    _connect = sqlite3.connect
    sqlite3.connect = lambda *given, **named: _connect(*given, factory=_Counted, **named)  # type: ignore[assignment]  # the same call

if "CRASH_NO_PROC" in os.environ:
    leases.PROC = Path("no proc")

if "CRASH_TERMINAL" in os.environ:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)

if __name__ == "__main__":
    main()
