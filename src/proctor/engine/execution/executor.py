"""Run many jobs concurrently, at most a given number at a time; a job that ignores its cancellation is left behind."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from proctor.common import process_exit
from proctor.engine.trial.deadlines import Deadlines, TimedSteps, TrialSlot

Job = TypeVar("Job")
Done = TypeVar("Done")


MOST_ASIDE = 200
"""Jobs that may wait for judges or commits while other jobs have their places. It bounds the memory that they take."""


class LocalExecutor(Generic[Job, Done]):
    """Runs jobs as tasks of the running event loop.

    `work(job, slot)` does one job; `abandoned(job, slot)` makes the outcome of one that ignored its cancellation;
    `commit(outcome)`, if there is one, stores an outcome; only then
    `on_done(outcome)` is called, exactly once for each job. While a job waits for its commit, its place is given to the next
    one, so that one commit stores many outcomes; `commits_aside` bounds the number of such jobs.
    """

    def __init__(
        self,
        work: Callable[[Job, TrialSlot], Awaitable[Done]],
        *,
        abandoned: Callable[[Job, TrialSlot], Done],
        on_done: Callable[[Done], None],
        commit: Callable[[Done], Awaitable[None]] | None = None,
        concurrency: int,
        shortest_timeout: float | None,
        most_aside: int = MOST_ASIDE,
        commits_aside: int = 0,
    ) -> None:
        """Keep the work, how many jobs run at a time, and how many may wait for judges or commits in addition."""
        self._work, self._abandoned, self._on_done, self._commit = work, abandoned, on_done, commit
        self._concurrency = concurrency
        self._shortest = shortest_timeout
        self._active: dict[TrialSlot, Job] = {}
        self._aside: set[TrialSlot] = set()
        self._most_aside = most_aside
        self._commits_aside = commits_aside
        self._given_up: set[TrialSlot] = set()
        self._wake: asyncio.Future[None] | None = None
        self._error: BaseException | None = None
        self.abandoned: set[asyncio.Task[None]] = set()
        """Tasks that ignored their cancellation and may never end."""
        self._commits: set[asyncio.Task[None]] = set()
        self._stopping = self._cut_short = False

    async def run(self, jobs: Iterator[Job | None]) -> None:
        """Run `jobs` until they are all done, or until `stop` is called.

        `None` among them: there is no job now, but there may be one when a job that is under way ends.
        """
        loop = asyncio.get_running_loop()
        process_exit.install_task_factory(loop)
        with fewer_collections(), Deadlines(self._shortest, self._abandon) as deadlines:
            try:
                while not self._cut_short:
                    while self._has_place() and not self._stopping:
                        job = next(jobs, None)
                        if job is None:
                            break
                        self._start(job, deadlines, loop)
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
                        self.abandoned.add(slot.task)

    @property
    def in_flight(self) -> int:
        """The number of jobs that have a place: at most `concurrency`. Another thread may read it."""
        return max(0, len(self._active) - len(self._aside))

    def set_aside(self, slot: TrialSlot) -> None:
        """Give the place of a job that only waits for a judge or its commit to the next job."""
        self._aside.add(slot)
        self._wake_up()

    def _has_place(self) -> bool:
        return len(self._active) < self._concurrency + min(len(self._aside), self._most_aside)

    def stop(self, drain: float | None = None) -> None:
        """Begin no further job; jobs under way get `drain` seconds to end (`None`: as long as they take)."""
        self._stopping = True
        if drain is not None:
            asyncio.get_running_loop().call_later(drain, self._end_now)
        self._wake_up()

    def _end_now(self) -> None:
        self._cut_short = True
        self._wake_up()

    def _wake_up(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def _start(self, job: Job, deadlines: Deadlines, loop: asyncio.AbstractEventLoop) -> None:
        # Nothing here may refer back to the slot: a cycle per trial would keep its evidence until the next collection.
        slot = TrialSlot()
        self._active[slot] = job
        deadlines.add(slot)
        slot.task = loop.create_task(TimedSteps(self._run_job(job, slot, deadlines), slot))

    async def _run_job(self, job: Job, slot: TrialSlot, deadlines: Deadlines) -> None:
        process_exit.contain_exits()
        try:
            outcome = await self._work(job, slot)
            deadlines.remove(slot)
            if slot in self._given_up:  # its outcome was recorded as a timeout already
                return
            if self._commit is not None:
                if len(self._aside) < self._commits_aside:
                    self.set_aside(slot)
                await self._commit(outcome)
        except BaseException as error:  # noqa: BLE001 - the work catches errors of the agent: this is an error of Proctor
            deadlines.remove(slot)
            if slot not in self._given_up:
                self._fail(slot, error)
        else:
            self._settle(slot, outcome)
            slot.task = None  # or slot, task and steps would keep each other until the next collection

    def _abandon(self, slot: TrialSlot) -> None:
        """Record the outcome of a job that ignored its cancellation, and leave its task behind."""
        if slot.task is not None:
            self.abandoned.add(slot.task)
        self._given_up.add(slot)
        outcome = self._abandoned(self._active[slot], slot)
        if self._commit is None:
            self._settle(slot, outcome)
            return
        committing = asyncio.create_task(self._commit_and_settle(slot, outcome, self._commit))
        self._commits.add(committing)
        committing.add_done_callback(self._commits.discard)

    async def _commit_and_settle(
        self, slot: TrialSlot, outcome: Done, commit: Callable[[Done], Awaitable[None]]
    ) -> None:
        try:
            await commit(outcome)
        except BaseException as error:  # noqa: BLE001 - reported to the caller of the executor
            self._fail(slot, error)
        else:
            self._settle(slot, outcome)

    def _fail(self, slot: TrialSlot, error: BaseException) -> None:
        """End the whole run with `error`, which is an error of Proctor, not of the agent."""
        self._error = self._error or error
        self._release(slot)

    def _settle(self, slot: TrialSlot, outcome: Done) -> None:
        try:
            self._on_done(outcome)
        except BaseException as error:  # noqa: BLE001 - reported to the caller of the executor
            self._error = self._error or error
        self._release(slot)

    def _release(self, slot: TrialSlot) -> None:
        """Give a slot back and let the loop start the next job."""
        self._active.pop(slot, None)
        self._aside.discard(slot)
        self._wake_up()


# --- The garbage collector while a run is under way -------------------------------------------------------------------


_OFTEN, _SELDOM, _MANY = 50_000, 50, 2_000
"""New objects between two looks of the garbage collector while a run is under way (Python: 700), and how many of these
looks to one at what survived them (Python: 10): what a run keeps is looked at once, while the processor has it at hand."""


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Let the garbage collector look less often: a run makes many small objects that die by themselves.

    What a large run kept is put among the oldest objects without a look: results are no garbage. A small one leaves
    what it leaves to the collector's next look, so that many of them leave nothing behind.
    """
    before = gc.get_threshold()
    if 0 < before[0] < _OFTEN:
        gc.set_threshold(_OFTEN, max(_SELDOM, before[1]), before[2])
    try:
        yield
    finally:
        if (
            gc.get_count()[0] > _MANY and gc.get_freeze_count() == 0
        ):  # objects that the caller froze stay frozen
            gc.freeze()
            gc.unfreeze()
        gc.set_threshold(*before)
