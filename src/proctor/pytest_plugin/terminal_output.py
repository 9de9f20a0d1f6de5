"""What agents print stays with the tests, also what a thread prints while pytest itself writes and captures nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

INSIDE: ContextVar[bool] = ContextVar("proctor_inside_a_run", default=False)
"""Whether the code that runs belongs to a run: to its agent, a metric, a hook."""
_MOST = 2**20  # characters that are kept of what is printed between two tests


class Guarded:
    """A stream that keeps for later what code inside a run writes to it; others write through."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self._kept: list[str] = []
        self._size = 0

    def write(self, text: str) -> int:
        """Write, or keep."""
        if not INSIDE.get():
            written: int = self.stream.write(text)
            return written
        if self._size < _MOST:
            self._kept.append(text)
            self._size += len(text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts, or keep them."""
        for line in lines:
            self.write(line)

    def give_up(self) -> str:
        """Return what was kept, and forget it."""
        kept, self._kept, self._size = "".join(self._kept), [], 0
        return kept

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class Prints:
    """Guards the streams that are there between two tests, when pytest's capture lets go, while a run is under way.

    Only text that goes through `sys.stdout` and `sys.stderr` is kept back. Where pytest has no capture, or one of
    another kind than is known here, everything is as it was.
    """

    def __init__(self, config: pytest.Config) -> None:
        """Put the guards up."""
        capture = getattr(config.pluginmanager.get_plugin("capturemanager"), "_global_capturing", None)
        sides = [getattr(capture, name, None) for name in ("out", "err")]
        captures: list[Any] = [getattr(side, "syscapture", side) for side in sides]
        self._guards: list[tuple[Any, Guarded]] = []
        for one in captures:
            if hasattr(one, "_old"):  # where it puts the stream back from: pytest has no hook for that moment
                one._old = Guarded(one._old)  # noqa: SLF001 - see above
                self._guards.append((one, one._old))  # noqa: SLF001 - see above

    def tell(self) -> None:
        """Print what was kept: called while pytest captures, so that it becomes part of the test's output."""
        for stream, (_, guard) in zip((sys.stdout, sys.stderr), self._guards, strict=False):
            if kept := guard.give_up():
                stream.write(kept)

    def end(self) -> None:
        """Take the guards down."""
        for one, guard in self._guards:
            if getattr(one, "_old", None) is guard:
                one._old = guard.stream  # noqa: SLF001 - see above
            for name in ("stdout", "stderr"):
                if getattr(sys, name) is guard:
                    setattr(sys, name, guard.stream)
        self._guards = []
