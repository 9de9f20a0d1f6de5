"""A limit of concurrent calls that falls when the provider reports too many requests.

Additive increase, multiplicative decrease (Chiu and Jain, "Analysis of the increase and decrease algorithms for congestion
avoidance in computer networks", 1989).
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

__all__ = ["Limiter", "Slot"]

_FALLS_TO = 0.7
"""The new limit, as a fraction of the calls in progress at a rate limit error."""
_RISES_BY = 0.1
"""The minimum rise for each reply: from 1 to 200 it takes 2,000 replies; a rise of one for each round would take 20,000."""


@dataclass(slots=True)
class Slot:
    """The permission for one request."""

    round: int
    """The number of falls of the limit before this request; only requests after the last fall may lower it again."""


class Limiter:
    """Grants slots for requests, first come, first served. For one event loop at a time."""

    def __init__(self, most: int = 200) -> None:
        """Start with the limit `most`, which is also the maximum."""
        self.most = most
        self.lowest = float(most)
        """The lowest limit so far, for reports."""
        self.limit = float(most)
        self.in_use = 0
        self._round = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> Slot:
        """Wait for a slot."""
        if not self._has_room() or any(not slot.done() for slot in self._waiting):
            slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(slot)
            try:
                await slot
            except asyncio.CancelledError:
                if not slot.cancelled():  # the slot was granted before the cancellation
                    self._free_slot()
                raise
        else:
            self.in_use += 1
        return Slot(self._round)

    def release(self, slot: Slot, *, limited: bool | None = None) -> None:
        """Return a slot. `limited`: whether the provider reported too many requests; `None` if unknown."""
        if limited and slot.round == self._round:
            self._round += 1
            self.limit = max(1.0, min(self.limit, self.in_use) * _FALLS_TO)
            self.lowest = min(self.lowest, self.limit)
        elif limited is False:
            self.limit = min(float(self.most), self.limit + max(_RISES_BY, 1.0 / self.limit))
        self._free_slot()

    def widen(self, most: int) -> None:
        """Raise the limit and its maximum to `most`."""
        self.most, self.limit = most, float(most)
        self._grant_slots()

    def _has_room(self) -> bool:
        return self.in_use < int(self.limit)

    def _free_slot(self) -> None:
        self.in_use -= 1
        self._grant_slots()

    def _grant_slots(self) -> None:
        while self._waiting and self._has_room():
            slot = self._waiting.popleft()
            if not slot.done():  # otherwise the waiting call was cancelled
                self.in_use += 1
                slot.set_result(None)
