"""Run until a signal: the first Ctrl-C or SIGTERM stops the run in order, the second one immediately."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from proctor.cli.errors import ERROR, say
from proctor.cli.streams import end_now
from proctor.engine.execution.event_loop import CANCELLED_FROM_WITHIN, leave_behind
from proctor.engine.execution.run_control import DRAIN, StopRequest
from proctor.errors import EvalError

_Result = TypeVar("_Result")

GRACE = 5.0
"""Seconds that a run has to end in order, after the time limit for its current trials."""
_TIDY = 1.0  # seconds for cancelled tasks that an agent has left behind
_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP"}


class Stop:
    """Handler for Ctrl-C, SIGTERM and a closed terminal. `code` is the exit code of the first signal."""

    def __init__(
        self, request: StopRequest, has_begun: Callable[[], bool], farewell: Callable[[], None]
    ) -> None:
        """Set what the handler calls: `request` stops the run, `farewell` prints the last message before an immediate exit."""
        self.code: int | None = None
        self._request = request
        self._has_begun = has_begun
        self._farewell = farewell
        self._is_handling = False
        self._came_again = False

    def __call__(self, number: int, _frame: object) -> None:
        """Handle a signal. It must not raise: the exception would appear in the agent code that happens to run."""
        if self._is_handling:  # a second signal during the first handler, which may hold the lock of stderr
            self._came_again = True
            return
        self._is_handling = True
        try:
            self._handle(number)
        finally:
            self._is_handling = False
        if self._came_again:
            self._end()

    def _handle(self, number: int) -> None:
        if self.code is not None:
            self._end()
        signalled = signal.Signals(number)
        self.code = _CODES[signalled]
        if not self._has_begun():
            say("interrupted: nothing was run")
            end_now(self.code)
        self._request(_NAMES[signalled])
        timer = threading.Timer(DRAIN + GRACE, self._end)
        timer.daemon = True
        timer.start()
        with suppress(
            RuntimeError
        ):  # the signal has interrupted a write to stderr; the run stops without the message
            say(f"stopping: what is under way gets {DRAIN:g} seconds to finish (once more stops at once)")

    def _end(self) -> None:
        """End the process immediately; reported cases are already on disk."""
        with suppress(Exception):
            self._farewell()
        end_now(self.code or ERROR)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handle signals inside the block, except those that the process was started to ignore."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        taken = [number for number in _CODES if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self) for number in taken}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def run_until_stopped(start: Callable[[], Coroutine[Any, Any, _Result]], stop: Stop) -> _Result:
    """Run the coroutine that `start` creates and return its result; `stop.code` is set if a signal stopped it.

    Before the first trial (while the agent is loaded and files are validated) a signal ends the process immediately.

    Raises:
        EvalError: code of an agent, a tool or a metric cancelled the coroutine.
    """
    loop = asyncio.new_event_loop()
    task = loop.create_task(start())
    try:
        with stop.listening():
            return _answer_of(task, loop)
    except asyncio.CancelledError:
        raise EvalError(CANCELLED_FROM_WITHIN) from None
    finally:
        _tidy(loop)


def _answer_of(task: asyncio.Task[_Result], loop: asyncio.AbstractEventLoop) -> _Result:
    while True:
        try:
            return loop.run_until_complete(task)
        except (RuntimeError, SystemExit, KeyboardInterrupt):
            if task.done():
                raise
            # the agent has stopped the loop, or one of its tasks raised SystemExit or KeyboardInterrupt (Ctrl-C itself raises
            # nothing, see `Stop`): the error belongs to that task, and the other tasks still need the loop


def _tidy(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel the remaining tasks of the loop, without waiting for those that ignore the cancellation."""
    left = [task for task in asyncio.all_tasks(loop) if not task.done()]
    loop.set_exception_handler(lambda *_: None)  # their trials have reported these errors
    for task in left:
        task.cancel()
    with suppress(BaseException):  # an exception in the cleanup of an agent changes no verdict
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=_TIDY))
        loop.run_until_complete(asyncio.wait_for(loop.shutdown_asyncgens(), _TIDY))
    stuck = [task for task in left if not task.done()]
    if not stuck:
        loop.close()
    leave_behind(stuck)
