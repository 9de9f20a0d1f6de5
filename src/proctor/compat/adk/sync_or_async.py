"""One call for both documented forms: awaited in an `async def`, plain in a `def`; a missing `await` is an error.

Outside of an event loop the evaluation runs during the call, inside one when it is awaited. An evaluation that is never
awaited cancels the task that created it, so that the test (or script) fails and the error names the reason.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

from proctor.errors import ProctorError

Answer = TypeVar("Answer")


class ForgottenAwaitError(RuntimeError):
    """An evaluation was begun inside an event loop and never awaited, so that nothing was evaluated."""


class Evaluation(Coroutine[object, object, Answer], Generic[Answer]):
    """What `evaluate` returns: to be awaited, or done already. Has the attributes of its result once there is one."""

    def __init__(self, called: str, work: Callable[[], Coroutine[object, object, Answer]]) -> None:
        """Take how the call is spelled, for messages, and what to do; outside of an event loop it is done at once."""
        self._called = called
        self._work: Callable[[], Coroutine[object, object, Answer]] | None = work
        self._inner: Coroutine[object, object, Answer] | None = None
        self._task: asyncio.Task[Any] | None = None
        self._answer: list[Answer] = []
        try:
            self._loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None
        __tracebackhide__ = True  # pytest shows the test, not how the engine was run
        if self._loop is None:
            self._work = None
            self._answer.append(_done_at_once(work))
            return
        self._task = asyncio.current_task()
        self._thread = threading.get_ident()
        _waiting.add(self)

    @property
    def result(self) -> Answer:
        """Return the result.

        Raises:
            ForgottenAwaitError: it was not awaited yet.
        """
        if not self._answer:
            raise ForgottenAwaitError(self._message())
        return self._answer[0]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.result, name)

    def __repr__(self) -> str:
        if self._answer:
            return repr(self._answer[0])
        return f"<{self._called}(...), not awaited: write `await {self._called}(...)`>"

    def __bool__(self) -> bool:
        return bool(self.result)

    def __await__(self) -> Generator[object, object, Answer]:
        __tracebackhide__ = True
        if not self._answer:
            yield from self._start().__await__()
        return self.result

    def send(self, value: Any) -> Any:
        """Go on, as a coroutine does: for `asyncio.run` and tasks."""
        if self._answer and self._inner is None:  # done when it was called
            raise StopIteration(self._answer[0])
        return self._start().send(value)

    def throw(self, *error: Any) -> Any:
        """Raise inside it, as a coroutine does."""
        return self._start().throw(*error)

    def close(self) -> None:
        """Leave it undone on purpose."""
        self._work = None
        if self._inner is not None:
            self._inner.close()

    def _start(self) -> Coroutine[object, object, Answer]:
        if self._inner is None:
            work, self._work, self._task = self._work, None, None
            self._inner = self._keep(work)
        return self._inner

    async def _keep(self, work: Callable[[], Coroutine[object, object, Answer]] | None) -> Answer:
        __tracebackhide__ = True
        if work is not None:
            self._answer.append(await work())
        return self.result

    def _message(self) -> str:
        return f"{self._called}(...) was called inside an event loop and not awaited: nothing was evaluated. Write: await {self._called}(...)"

    def __del__(self) -> None:
        if getattr(self, "_work", None) is None or self._loop is None:
            return
        self._work, task = None, self._task
        _lost.append(self._message())
        if task is None or task.done() or self._loop.is_closed():
            raise ForgottenAwaitError(
                self._message()
            )  # printed by the interpreter: no test can fail any more
        if threading.get_ident() == self._thread:
            task.cancel(self._message())
        else:  # collected from another thread
            self._loop.call_soon_threadsafe(task.cancel, self._message())


_waiting: weakref.WeakSet[Evaluation[Any]] = weakref.WeakSet()
_lost: list[str] = []


def unawaited_messages() -> list[str]:
    """Return the messages about evaluations that were started in an event loop and not awaited; each message once.

    After the end of a test, nothing can await them. The pytest plug-in calls this after each test, because a runner of
    coroutines may swallow a cancellation, and a reference may keep an evaluation alive.
    """
    messages, _lost[:] = list(_lost), []
    for one in list(_waiting):
        if one._work is not None:  # noqa: SLF001 - its own module's
            messages.append(one._message())  # noqa: SLF001 - its own module's
            one.close()
    return messages


def _done_at_once(work: Callable[[], Coroutine[object, object, Answer]]) -> Answer:
    """Run it on a new event loop; raise its errors without the frames of the engine."""
    from proctor.engine.execution.run_control import run_sync

    __tracebackhide__ = True
    try:
        return run_sync(work)
    except (ProctorError, AssertionError) as error:
        raise error.with_traceback(None) from error.__cause__
