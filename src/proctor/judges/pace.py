"""How many calls to judges are under way at once in a run: fewer where a provider says that there are too many."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from types import TracebackType
from typing import Self

__all__ = ["AT_ONCE", "Pace"]

AT_ONCE = 200
_SETTLING = 1.0
"""Seconds within which several refusals are one: they answer calls that were under way together."""


class Pace:
    """Lets so many in at once; half as many after each refusal, one more for each round that went well.

    (Additive increase, multiplicative decrease, as TCP does: Chiu and Jain, 1989.) Use as an async context manager
    around each call.
    """

    def __init__(self, most: int = AT_ONCE) -> None:
        """Begin with all `most` places."""
        self.most = most
        self.limit = float(most)
        self.under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._fell = -_SETTLING

    async def __aenter__(self) -> Self:
        if self.under_way >= int(self.limit) or self._waiting:
            waiting = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
            try:
                await waiting
            except BaseException:
                if waiting.done() and not waiting.cancelled():  # its place was given to it all the same
                    self._leave()
                raise
        else:
            self.under_way += 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None and self.limit < self.most:
            self.limit = min(self.most, self.limit + 1 / self.limit)
        self._leave()

    def fall(self) -> None:
        """Halve the places: a provider refused a call because there are too many."""
        now = time.monotonic()
        if now - self._fell >= _SETTLING:
            self._fell = now
            self.limit = max(1.0, self.limit / 2)

    def _leave(self) -> None:
        self.under_way -= 1
        while self._waiting and self.under_way < int(self.limit):
            waiting = self._waiting.popleft()
            if not waiting.done():
                self.under_way += 1
                waiting.set_result(None)
