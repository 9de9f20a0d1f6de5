"""A framework's run, and what its hooks tell meanwhile, as one stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any, Generic, TypeVar

Told = TypeVar("Told")

_PATIENCE = 1.0
"""Seconds that a cancelled run has for leaving in order; one that does not go is left behind."""


class Pump(Generic[Told]):
    """Runs a coroutine in a task of its own and yields what `post` is given, as it comes; then `result` is there.

    Whoever stops reading, or is cancelled, ends the run: the task is cancelled before the stream is closed.
    """

    def __init__(self) -> None:
        """Begin with nothing; to be made in the event loop that reads."""
        self._loop = asyncio.get_running_loop()
        self._posted: asyncio.Queue[Told | None] = asyncio.Queue()
        self.result: Any = None

    def post(self, told: Told) -> None:
        """Hand something over, from any thread."""
        self._loop.call_soon_threadsafe(self._posted.put_nowait, told)

    async def run(self, work: Coroutine[Any, Any, Any]) -> AsyncIterator[Told]:
        """Yield what is posted while `work` runs; what it raises is raised after that."""
        task = asyncio.ensure_future(_settled(work))
        task.add_done_callback(lambda _: self._loop.call_soon(self._posted.put_nowait, None))
        try:
            while (told := await self._posted.get()) is not None:
                yield told
            self.result, error = task.result()
            if error is not None:
                raise error
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait([task], timeout=_PATIENCE)


async def _settled(work: Coroutine[Any, Any, Any]) -> tuple[Any, BaseException | None]:
    """Return what came of it: an event loop lets nobody catch what ends a program in a task of its own."""
    try:
        return await work, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - raised where the events are read
        return None, error
