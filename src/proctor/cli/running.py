"""Running a coroutine that people may stop: Ctrl-C and SIGTERM once end it in order, twice at once."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from proctor.cli.failures import Stopped, say
from proctor.cli.process import end_now
from proctor.engine.loop import CANCELLED_FROM_WITHIN
from proctor.errors import EvalError

_Result = TypeVar("_Result")

GRACE = 10.0
"""Seconds that an interrupted run has to end in order."""
_TIDY = 1.0  # seconds that what an agent has left behind gets to notice its cancellation
_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


class Stop:
    """Listens for Ctrl-C and SIGTERM. `code` is the exit code of the first one, `None` before it."""

    def __init__(self, cancel: Callable[[], object], has_begun: Callable[[], bool]) -> None:
        self.code: int | None = None
        self._cancel = cancel
        self._has_begun = has_begun

    def __call__(self, number: int, _frame: object) -> None:
        """Take a signal. It must not raise: whatever agent code happens to run would be blamed for it."""
        if self.code is not None:
            end_now(self.code)
        self.code = _CODES[signal.Signals(number)]
        if not self._has_begun():
            say("interrupted: nothing was run")
            end_now(self.code)
        say("stopping: what has finished is kept (once more stops at once)")
        self._cancel()
        timer = threading.Timer(GRACE, end_now, [self.code])
        timer.daemon = True
        timer.start()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take signals inside the block; ones that the process was started to ignore stay ignored."""
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


def run_until_stopped(
    start: Callable[[], Coroutine[Any, Any, _Result]], has_begun: Callable[[], bool]
) -> _Result:
    """Run the coroutine that `start` makes and return its result.

    As long as it has not begun (it loads the agent, it checks the files), being stopped ends the process at once.

    Raises:
        Stopped: somebody stopped it; whoever watched its progress knows what had finished by then.
        EvalError: code of an agent, a tool or a metric cancelled it.
    """
    loop = asyncio.new_event_loop()
    task = loop.create_task(start())
    stop = Stop(lambda: loop.call_soon_threadsafe(task.cancel), has_begun)
    try:
        with stop.listening():
            result = _answer_of(task, loop)
    except (asyncio.CancelledError, KeyboardInterrupt) as error:
        if stop.code is not None:
            raise Stopped(stop.code) from None
        if isinstance(error, KeyboardInterrupt):
            raise
        raise EvalError(CANCELLED_FROM_WITHIN) from None
    finally:
        _tidy(loop)
    if stop.code is not None:
        raise Stopped(stop.code)
    return result


def _answer_of(task: asyncio.Task[_Result], loop: asyncio.AbstractEventLoop) -> _Result:
    while True:
        try:
            return loop.run_until_complete(task)
        except RuntimeError:
            if task.done():
                raise
            # else an agent has stopped the loop: the others still wait for it


def _tidy(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what is left on the loop, without waiting for what does not listen."""
    left = [task for task in asyncio.all_tasks(loop) if not task.done()]
    loop.set_exception_handler(lambda *_: None)  # what is left behind was reported as the error of its trial
    for task in left:
        task.cancel()
    with suppress(BaseException):  # whatever an agent's clean-up raises changes no verdict
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=_TIDY))
        loop.run_until_complete(asyncio.wait_for(loop.shutdown_asyncgens(), _TIDY))
    if not [task for task in left if not task.done()]:
        loop.close()
