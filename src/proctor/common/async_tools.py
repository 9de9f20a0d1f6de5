"""Concurrency: await several tasks without leaking one, await plain or async functions, and run plain ones in daemon threads."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


async def gather_all(waiting: Sequence[Awaitable[T]]) -> list[T]:
    """Await all of them concurrently. If one raises, or the caller is cancelled, cancel the others first and wait for their end."""
    if len(waiting) == 1:
        return [await waiting[0]]
    tasks = [asyncio.ensure_future(one) for one in waiting]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


async def settle(outcome: Any) -> Any:
    """Return `outcome`, awaited if it is awaitable: users write `def` or `async def`, and some plain functions return a coroutine."""
    return await outcome if inspect.isawaitable(outcome) else outcome


def forget_cancellation() -> None:
    """Withdraw the cancellation of the current task: a deadline ended one call of foreign code, not the task."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()


def is_within_a_loop() -> bool:
    """Return whether an event loop runs this code."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # nothing is run in here: every error of an agent would carry this one along
        return False
    return True


# --- Daemon threads: they are reused, and never delay the exit of the process ------------------------------------------


class CallResult(NamedTuple):
    """The result of a call: a value, or the exception of any kind that it raised."""

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


class WorkerThread:
    """A daemon thread that runs one call at a time. `Threads` creates, lends and reuses it."""

    __slots__ = ("_jobs", "context")

    def __init__(self, number: int) -> None:
        """Start the thread."""
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self.context: Context | None = None
        threading.Thread(target=_work, args=(self._jobs,), daemon=True, name=f"proctor-{number}").start()

    async def call(self, function: Callable[..., object], *args: Any) -> CallResult:
        """Run `function(*args)` in the thread; with the contextvars of the moment when the worker was lent.

        An exception of any kind is part of the outcome: raised in an event loop, SystemExit would end the run.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[CallResult] = loop.create_future()
        self._jobs.put(_Job(loop, done, self.context or copy_context(), function, args))
        return await done

    def dismiss(self, last: Callable[[], Any] | None = None) -> None:
        """End the thread after its current call, and after calling `last`."""
        if last is not None:
            self._jobs.put(_Job(None, None, self.context or copy_context(), last, ()))
        self._jobs.put(None)


@dataclass(slots=True)
class Threads:
    """The threads of a process that run plain functions: one per concurrent call; idle threads are reused."""

    _idle: list[WorkerThread] = field(default_factory=list)
    _made: int = 0

    def acquire(self) -> WorkerThread:
        """Return a thread for exclusive use, with a copy of the current contextvars; return it with `release`."""
        try:
            worker = self._idle.pop()
        except IndexError:
            self._made += 1
            worker = WorkerThread(self._made)
        worker.context = copy_context()
        return worker

    def release(self, worker: WorkerThread) -> None:
        """Take back an idle thread."""
        worker.context = None
        self._idle.append(worker)

    async def call(self, function: Callable[..., object], *args: Any) -> Any:
        """Return what `function(*args)` returns in a thread, or raise what it raises.

        If the caller is cancelled, the thread continues (nothing can stop it) and is not reused.
        """
        worker = self.acquire()
        try:
            outcome = await worker.call(function, *args)
        except BaseException:  # cancelled while the call runs
            worker.dismiss()
            raise
        self.release(worker)
        return outcome.get()


class _Job(NamedTuple):
    loop: asyncio.AbstractEventLoop | None
    done: asyncio.Future[CallResult] | None
    context: Context
    function: Callable[..., object]
    args: tuple[Any, ...]


def _work(jobs: SimpleQueue[_Job | None]) -> None:
    while (job := jobs.get()) is not None:
        try:
            outcome = CallResult(job.context.run(job.function, *job.args), None)
        except BaseException as error:  # noqa: BLE001 -- the trial receives it as data
            outcome = CallResult(None, error)
        _deliver(job, outcome)
        del job, outcome  # an idle thread holds no reference to its last call


def _deliver(job: _Job, outcome: CallResult) -> None:
    if job.loop is None or job.done is None:
        return
    with suppress(RuntimeError):  # the loop is closed: the trial was abandoned
        job.loop.call_soon_threadsafe(_settle, job.done, outcome)


def _settle(done: asyncio.Future[CallResult], outcome: CallResult) -> None:
    if not done.done():
        done.set_result(outcome)


THREADS = Threads()
"""The pool of this process."""
