"""The processes of a run: as many as conversations at once, each used for one after the other."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from proctor.agents.process.child import Child

_PATIENCE = 1.0
"""Seconds that processes have to end when their input does."""

_GUARDIAN = Path(__file__).with_name("guardian.py")


class Pool:
    """Lends processes, and ends them all with the run."""

    def __init__(self, start: Callable[[], Awaitable[Child]]) -> None:
        """Take what starts one more."""
        self._start = start
        self._idle: list[Child] = []
        self._living: set[Child] = set()
        self._guardian: subprocess.Popen[bytes] | None = None

    async def take(self) -> Child:
        """Return a process that waits for a conversation; a new one where there is none.

        Raises:
            AgentLoadError: it cannot be started.
        """
        while self._idle:
            child = self._idle.pop()
            if child.can_be_asked:
                return child
            self.drop(child)
        child = await self._start()
        self._living.add(child)
        self._tell_guardian("+", child)
        return child

    def give_back(self, child: Child) -> None:
        """Take a process back; one that cannot be asked again is ended."""
        if child.can_be_asked:
            self._idle.append(child)
        else:
            self.drop(child)

    def drop(self, child: Child) -> None:
        """End a process, at once."""
        child.kill()
        if child in self._living:
            self._living.discard(child)
            self._tell_guardian("-", child)

    async def close(self) -> None:
        """End them all: by the end of their input, and with force where that does not do."""
        living, self._idle = list(self._living), []
        for child in living:
            child.close_input()
        try:
            await asyncio.gather(*(child.ended_within(_PATIENCE) for child in living))
        finally:
            for child in living:
                self.drop(child)
            self._dismiss_guardian()
        await asyncio.gather(*(child.ended_within(_PATIENCE) for child in living))  # no zombie is left

    def _tell_guardian(self, sign: str, child: Child) -> None:
        if os.name != "posix":
            return
        if self._guardian is None:
            self._guardian = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_GUARDIAN)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                bufsize=0,
            )
        with suppress(OSError):
            self._guardian.stdin.write(f"{sign}{child.pid}\n".encode())  # type: ignore[union-attr]  # it is a pipe

    def _dismiss_guardian(self) -> None:
        guardian, self._guardian = self._guardian, None
        if guardian is not None:
            guardian.kill()  # its input is ours: with its end it would do what is done already
            guardian.communicate()
