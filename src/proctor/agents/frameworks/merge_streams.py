"""Merge the run of a framework and the events of its hooks into one stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")

_PATIENCE = 1.0
"""Seconds that a cancelled run gets to end; afterwards it is abandoned."""


class Pump(Generic[Item]):
    """Runs a coroutine in a separate task and yields the posted items as they come; then `result` is set.

    If the reader stops or is cancelled, the task is cancelled before the stream is closed.
    """

    def __init__(self) -> None:
        """Start empty; create it in the event loop of the reader."""
        self._loop = asyncio.get_running_loop()
        self._posted: asyncio.Queue[Item | None] = asyncio.Queue()
        self.result: Any = None

    def post(self, item: Item) -> None:
        """Hand something over, from any thread."""
        self._loop.call_soon_threadsafe(self._posted.put_nowait, item)

    async def run(self, work: Coroutine[Any, Any, Any]) -> AsyncIterator[Item]:
        """Yield the posted items while `work` runs; its exception is raised afterwards."""
        task = asyncio.ensure_future(_outcome(work))
        task.add_done_callback(lambda _: self._loop.call_soon(self._posted.put_nowait, None))
        try:
            while (item := await self._posted.get()) is not None:
                yield item
            self.result, error = task.result()
            if error is not None:
                raise error
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait([task], timeout=_PATIENCE)


async def _outcome(work: Coroutine[Any, Any, Any]) -> tuple[Any, BaseException | None]:
    """Return the result. An event loop does not allow a task to catch SystemExit, so it is passed on here."""
    try:
        return await work, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - raised where the events are read
        return None, error
