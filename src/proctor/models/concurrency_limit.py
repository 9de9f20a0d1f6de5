"""How many calls of a model run at once: as many as allowed, fewer when the provider says that it is too much.

Additive increase, multiplicative decrease (Chiu and Jain, "Analysis of the increase and decrease algorithms for congestion
avoidance in computer networks", 1989).
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

__all__ = ["Limiter", "Slot"]

_FALLS_TO = 0.7
"""Of what was under way, when it was too much."""
_RISES_BY = 0.1
"""For each reply, at least: the rule of one for each round would take 20,000 replies from 1 to 200; this takes 2,000."""


@dataclass(slots=True)
class Slot:
    """Leave to make one request."""

    round: int
    """It was given after so many falls of the limit: only what was asked since then says anything about it."""


class Limiter:
    """Gives leave to ask, in the order of asking. For one event loop at a time."""

    def __init__(self, most: int = 200) -> None:
        """Start with `most` at once, which is never passed."""
        self.most = most
        self.lowest = float(most)
        """The lowest that the limit has been; for reports."""
        self.limit = float(most)
        self.in_use = 0
        self._round = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> Slot:
        """Wait until one more request may be made."""
        if not self._has_room() or any(not leave.done() for leave in self._waiting):
            leave: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(leave)
            try:
                await leave
            except asyncio.CancelledError:
                if not leave.cancelled():  # leave was given, and is not wanted any more
                    self._give_back()
                raise
        else:
            self.in_use += 1
        return Slot(self._round)

    def release(self, slot: Slot, *, limited: bool | None = None) -> None:
        """Give leave back. `limited`: whether the provider said that it was too much; `None`: it says nothing of it."""
        if limited and slot.round == self._round:
            self._round += 1
            self.limit = max(1.0, min(self.limit, self.in_use) * _FALLS_TO)
            self.lowest = min(self.lowest, self.limit)
        elif limited is False:
            self.limit = min(float(self.most), self.limit + max(_RISES_BY, 1.0 / self.limit))
        self._give_back()

    def widen(self, most: int) -> None:
        """Let `most` run at once from now on."""
        self.most, self.limit = most, float(most)
        self._let_in()

    def _has_room(self) -> bool:
        return self.in_use < int(self.limit)

    def _give_back(self) -> None:
        self.in_use -= 1
        self._let_in()

    def _let_in(self) -> None:
        while self._waiting and self._has_room():
            leave = self._waiting.popleft()
            if not leave.done():  # else whoever waited has given up
                self.in_use += 1
                leave.set_result(None)
