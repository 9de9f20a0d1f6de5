"""What others write while a bar is drawn on the same stream: lines above the bar instead of a torn one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

_MOST_WAITING = 10_000
"""Characters without a line's end that are kept back."""


class Direct:
    """The way past an `Aside` onto the stream, for whoever draws the bar."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.write = stream.write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Aside:
    """Between `begin` and `end`, hands each whole line that anybody writes to `stream` to `show`.

    It takes the place of the stream's own `write`, so that log handlers which hold the stream since long before are
    caught, too. Only what is written by the number of the descriptor (C libraries, child processes) is not.
    """

    def __init__(self, stream: TextIO, show: Callable[[str], None]) -> None:
        self._stream = stream
        self._direct = stream.write
        self._show = show
        self._waiting = ""
        self._lock = threading.RLock()
        self._process = os.getpid()

    def begin(self) -> None:
        """Catch what is written from now on; a stream that cannot be changed stays as it is."""
        with suppress(AttributeError, TypeError):
            setattr(self._stream, "write", self._write)  # noqa: B010  (a method of an object, not of its class)

    def end(self) -> None:
        """Let the stream be as it was, and write what was kept back."""
        with suppress(AttributeError):
            del self._stream.write
        if self._waiting:
            self._direct(self._waiting + "\n")
            self._waiting = ""

    def _write(self, text: str) -> int:
        if os.getpid() != self._process:  # a child process: its copy of the bar is drawn by nobody
            return self._direct(text)
        with self._lock:
            *lines, self._waiting = (self._waiting + text).split("\n")
            if len(self._waiting) > _MOST_WAITING:
                lines, self._waiting = [*lines, self._waiting], ""
        if lines:
            try:
                self._show("\n".join(lines))
            except Exception:  # noqa: BLE001  (whatever ails the display, who writes a line must not feel it)
                self._direct("\n".join(lines) + "\n")
        return len(text)
