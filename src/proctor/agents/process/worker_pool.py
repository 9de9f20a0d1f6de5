"""The processes of a run: as many as conversations at once, each used for one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from proctor.agents.process.child_process import Child
from proctor.agents.process.guardian_client import Guardian

_PATIENCE = 1.0
"""Seconds that processes have to end when their input does."""


class Pool:
    """Lends processes, and ends them all with the run."""

    def __init__(self, start: Callable[[Guardian], Awaitable[Child]]) -> None:
        """Take what starts one more, which the guardian it is given then watches."""
        self._start = start
        self.idle: list[Child] = []
        """Those that wait for a conversation."""
        self._living: set[Child] = set()
        self._guardian = Guardian()

    async def take(self) -> Child:
        """Return a process that waits for a conversation; a new one where there is none.

        Raises:
            AgentLoadError: it cannot be started.
        """
        while self.idle:
            child = self.idle.pop()
            if child.can_be_asked:
                return child
            self.drop(child)
        child = await self._start(self._guardian)
        self._living.add(child)
        return child

    def give_back(self, child: Child) -> None:
        """Take a process back; one that cannot be asked again is ended."""
        if child.can_be_asked:
            self.idle.append(child)
        else:
            self.drop(child)

    def drop(self, child: Child) -> None:
        """End a process, at once."""
        child.kill()
        self._living.discard(child)

    async def close(self) -> None:
        """End them all: by the end of their input, and with force where that does not do."""
        living, self.idle = list(self._living), []
        for child in living:
            child.close_input()
        try:
            await asyncio.gather(*(child.ended_within(_PATIENCE) for child in living))
        finally:
            for child in living:
                self.drop(child)
        await asyncio.gather(*(child.ended_within(_PATIENCE) for child in living))  # no zombie is left
        self._guardian.dismiss()
