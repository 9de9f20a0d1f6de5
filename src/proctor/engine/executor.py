"""Runs many trials at once, so many at a time; one that cannot be ended does not hold up the others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Generic, TypeVar

from proctor.engine.deadlines import Deadlines, Slot

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
        self._active: set[Slot] = set()
        self._wake: asyncio.Future[None] | None = None
        self._error: BaseException | None = None
        self.left_behind: set[asyncio.Task[None]] = set()
        """Tasks that ignored their cancellation and may never end."""

    async def run(self, jobs: Iterator[Job], *, stopped: Callable[[], bool] = lambda: False) -> None:
        """Run `jobs` until they are all done, or until `stopped()` says to start no more."""
        loop = asyncio.get_running_loop()
        with Deadlines(self._shortest) as deadlines:
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
                        slot.task.cancel()
                        self.left_behind.add(slot.task)

    def _start(self, job: Job, deadlines: Deadlines) -> None:
        def abandon() -> None:
            if slot.task is not None:
                self.left_behind.add(slot.task)
            self._settle(slot, deadlines, lambda: self._on_done(job, self._abandoned(job, slot)))

        slot = Slot(abandon)
        deadlines.add(slot)
        self._active.add(slot)
        slot.task = asyncio.create_task(self._one(job, slot, deadlines))

    async def _one(self, job: Job, slot: Slot, deadlines: Deadlines) -> None:
        try:
            outcome = await self._work(job, slot)
        except BaseException as error:  # noqa: BLE001 - reported to whoever runs the executor
            problem = error  # the work catches what the agent does: this is ours, or a cancellation
            self._settle(slot, deadlines, lambda: self._fail(problem))
        else:
            self._settle(slot, deadlines, lambda: self._on_done(job, outcome))

    def _settle(self, slot: Slot, deadlines: Deadlines, report: Callable[[], None]) -> None:
        """Give a slot back, once, and let the loop start the next job."""
        if slot not in self._active:
            return  # abandoned earlier: what it says now comes too late
        self._active.discard(slot)
        deadlines.remove(slot)
        try:
            report()
        except BaseException as error:  # noqa: BLE001 - reported to whoever runs the executor
            self._fail(error)
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def _fail(self, error: BaseException) -> None:
        self._error = self._error or error
