"""Runs many trials at once, so many at a time; one that cannot be ended does not hold up the others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Generic, TypeVar

from proctor.engine.deadlines import Deadlines, Slot, TimedSteps

Job = TypeVar("Job")
Done = TypeVar("Done")


class LocalExecutor(Generic[Job, Done]):
    """Runs jobs as tasks of the running event loop.

    `work(job, slot)` does one job; `abandoned(job, slot)` makes the outcome of one that ignored its cancellation;
    `on_done(job, outcome)` is called for each job exactly once, in the order in which they end.
    """

    def __init__(
        self,
        work: Callable[[Job, Slot], Awaitable[Done]],
        *,
        abandoned: Callable[[Job, Slot], Done],
        on_done: Callable[[Job, Done], None],
        concurrency: int,
        shortest_timeout: float | None,
    ) -> None:
        """Take what to do, and how many at a time."""
        self._work, self._abandoned, self._on_done = work, abandoned, on_done
        self._concurrency = concurrency
        self._shortest = shortest_timeout
        self._active: dict[Slot, Job] = {}
        self._wake: asyncio.Future[None] | None = None
        self._error: BaseException | None = None
        self.left_behind: set[asyncio.Task[None]] = set()
        """Tasks that ignored their cancellation and may never end."""

    async def run(self, jobs: Iterator[Job], *, stopped: Callable[[], bool] = lambda: False) -> None:
        """Run `jobs` until they are all done, or until `stopped()` says to start no more."""
        loop = asyncio.get_running_loop()
        with Deadlines(self._shortest, self._abandon) as deadlines:
            try:
                while True:
                    while len(self._active) < self._concurrency and not stopped():
                        job = next(jobs, None)
                        if job is None:
                            break
                        self._start(job, deadlines)
                    if not self._active:
                        break
                    self._wake = loop.create_future()
                    await self._wake
                    if self._error is not None:
                        raise self._error
            finally:
                self._wake = None
                for slot in self._active:
                    if slot.task is not None:
                        slot.stopping = True
                        slot.task.cancel()
                        self.left_behind.add(slot.task)

    def _start(self, job: Job, deadlines: Deadlines) -> None:
        # Nothing here may refer back to the slot: a circle per trial would keep its evidence until the next collection.
        slot = Slot()
        self._active[slot] = job
        deadlines.add(slot)
        slot.task = asyncio.create_task(TimedSteps(self._one(job, slot, deadlines), slot))

    async def _one(self, job: Job, slot: Slot, deadlines: Deadlines) -> None:
        try:
            outcome = await self._work(job, slot)
        except BaseException as error:  # noqa: BLE001 - the work catches what the agent does: this is ours
            deadlines.remove(slot)
            if slot in self._active:  # else abandoned earlier
                self._error = self._error or error
                self._release(slot)
        else:
            deadlines.remove(slot)
            if slot in self._active:  # else abandoned earlier: what it says now comes too late
                self._settle(slot, outcome)

    def _abandon(self, slot: Slot) -> None:
        """Settle a trial that ignored its cancellation, and leave its task behind."""
        if slot.task is not None:
            self.left_behind.add(slot.task)
        self._settle(slot, self._abandoned(self._active[slot], slot))

    def _settle(self, slot: Slot, outcome: Done) -> None:
        try:
            self._on_done(self._active[slot], outcome)
        except BaseException as error:  # noqa: BLE001 - reported to whoever runs the executor
            self._error = self._error or error
        self._release(slot)

    def _release(self, slot: Slot) -> None:
        """Give a slot back and let the loop start the next job."""
        self._active.pop(slot, None)
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)
