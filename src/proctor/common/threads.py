"""Daemon threads for plain functions of the user: reused, never waited for, never in the way of an exit."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from queue import SimpleQueue
from typing import Any, NamedTuple


class Outcome(NamedTuple):
    """What a call came to: a value or the exception that it raised, whatever its kind."""

    value: Any
    error: BaseException | None

    def get(self) -> Any:
        """Return the value or raise the exception.

        Raises:
            RuntimeError: the call raised StopIteration or StopAsyncIteration, which would end a loop instead.
        """
        error = self.error
        if error is None:
            return self.value
        if isinstance(error, StopIteration | StopAsyncIteration):
            what = f"{type(error).__name__} was raised"
            raise RuntimeError(what) from error  # noqa: TRY004 -- as Python does for generators
        raise error


class Worker:
    """One daemon thread that makes one call at a time. Made, lent and taken back by `Threads`."""

    __slots__ = ("_jobs", "context")

    def __init__(self, number: int) -> None:
        """Start the thread."""
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self.context: Context | None = None
        threading.Thread(target=_work, args=(self._jobs,), daemon=True, name=f"proctor-{number}").start()

    async def call(self, function: Callable[..., Any], *args: Any) -> Outcome:
        """Run `function(*args)` in the thread; contextvars are those of the time the worker was lent.

        An exception of any kind is part of the outcome: raised in an event loop, SystemExit would end the run.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Outcome] = loop.create_future()
        self._jobs.put(_Job(loop, done, self.context or copy_context(), function, args))
        return await done

    def dismiss(self, last: Callable[[], Any] | None = None) -> None:
        """Let the thread end when it can: after the call it is in, if it is in one, and after calling `last`."""
        if last is not None:
            self._jobs.put(_Job(None, None, self.context or copy_context(), last, ()))
        self._jobs.put(None)


class Threads:
    """The threads of a process that run plain functions: as many as calls at one time, and idle ones are reused."""

    def __init__(self) -> None:
        """Start without any thread."""
        self._idle: list[Worker] = []
        self._made = 0

    def lend(self) -> Worker:
        """Return a thread of one's own, with a copy of the current contextvars; `give_back` it when it is free."""
        try:
            worker = self._idle.pop()
        except IndexError:
            self._made += 1
            worker = Worker(self._made)
        worker.context = copy_context()
        return worker

    def give_back(self, worker: Worker) -> None:
        """Take a thread back that is in no call."""
        worker.context = None
        self._idle.append(worker)

    async def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return what `function(*args)` returns in a thread, or raise what it raises.

        When the caller is cancelled the thread is left to itself: nothing can stop it, and it is not used again.
        """
        worker = self.lend()
        try:
            outcome = await worker.call(function, *args)
        except BaseException:  # cancelled while the thread still works
            worker.dismiss()
            raise
        self.give_back(worker)
        return outcome.get()


class _Job(NamedTuple):
    loop: asyncio.AbstractEventLoop | None
    done: asyncio.Future[Outcome] | None
    context: Context
    function: Callable[..., Any]
    args: tuple[Any, ...]


def _work(jobs: SimpleQueue[_Job | None]) -> None:
    while (job := jobs.get()) is not None:
        try:
            outcome = Outcome(job.context.run(job.function, *job.args), None)
        except BaseException as error:  # noqa: BLE001 -- it travels to the trial as data
            outcome = Outcome(None, error)
        _deliver(job, outcome)
        del job, outcome  # an idle thread keeps nothing of the last call alive


def _deliver(job: _Job, outcome: Outcome) -> None:
    if job.loop is None or job.done is None:
        return
    with suppress(RuntimeError):  # the loop was closed: the trial was given up long ago
        job.loop.call_soon_threadsafe(_settle, job.done, outcome)


def _settle(done: asyncio.Future[Outcome], outcome: Outcome) -> None:
    if not done.done():
        done.set_result(outcome)


THREADS = Threads()
"""The one pool of this process."""
