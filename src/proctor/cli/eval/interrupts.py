"""Running what people may stop: Ctrl-C and SIGTERM once end it in order, twice at once."""

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
"""Seconds that a run has to end in order, once the trials under way had theirs."""
_TIDY = 1.0  # seconds that what an agent has left behind gets to notice its cancellation
_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP"}


class Stop:
    """Listens for Ctrl-C, SIGTERM and a terminal that goes away. `code` is the exit code of the first one."""

    def __init__(
        self, request: StopRequest, has_begun: Callable[[], bool], farewell: Callable[[], None]
    ) -> None:
        """Take whom to ask, whether anything runs already, and what is said before an end that cannot wait."""
        self.code: int | None = None
        self._request = request
        self._has_begun = has_begun
        self._farewell = farewell

    def __call__(self, number: int, _frame: object) -> None:
        """Take a signal. It must not raise: whatever agent code happens to run would be blamed for it."""
        if self.code is not None:
            self._end()
        signalled = signal.Signals(number)
        self.code = _CODES[signalled]
        if not self._has_begun():
            say("interrupted: nothing was run")
            end_now(self.code)
        say(f"stopping: what is under way gets {DRAIN:g} seconds to finish (once more stops at once)")
        self._request(_NAMES[signalled])
        timer = threading.Timer(DRAIN + GRACE, self._end)
        timer.daemon = True
        timer.start()

    def _end(self) -> None:
        """End now; what was reported is on disk."""
        with suppress(Exception):
            self._farewell()
        end_now(self.code or ERROR)

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


def run_until_stopped(start: Callable[[], Coroutine[Any, Any, _Result]], stop: Stop) -> _Result:
    """Run the coroutine that `start` makes and return its result; `stop.code` says whether somebody stopped it.

    As long as it has not begun (it loads the agent, it checks the files), being stopped ends the process at once.

    Raises:
        EvalError: code of an agent, a tool or a metric cancelled it.
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
            # else an agent has stopped the loop, or a task of its framework's raised what ends programs (Ctrl-C itself
            # raises nothing, see `Stop`): that error is the task's, too, and the others still wait for the loop


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
    stuck = [task for task in left if not task.done()]
    if not stuck:
        loop.close()
    leave_behind(stuck)
