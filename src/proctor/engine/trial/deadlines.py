"""Deadlines that hold: for agents that hang, that swallow cancellation, and that block the event loop.

One timer serves all trials under way, so a turn costs no timer of its own. A trial past its deadline is cancelled;
one that does not end then is abandoned (its slot is given back, its task left behind). Code that blocks the event
loop is interrupted by a signal where that can be done (main thread, POSIX); elsewhere it is noticed when it returns.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from types import FrameType
from typing import Any, Self

_GRACE = 2.0
"""Seconds a cancelled trial has to end before it is abandoned (less where the time-outs are short)."""


class LoopBlocked(BaseException):
    """Raised inside code that blocks the event loop past its deadline."""


@dataclass(slots=True, eq=False)
class Slot:
    """One trial under way and its deadlines, in seconds of `time.monotonic`."""

    turn_deadline: float = inf
    trial_deadline: float = inf
    expired: str = ""
    """What ran out: `turn` or `trial`; empty while there is time."""
    cancelled_at: float = inf
    stopping: bool = False
    """Whether the run itself is being stopped: any other cancellation is the doing of code under test."""
    task: asyncio.Task[None] | None = field(default=None)
    began: float = 0.0
    """When the turn began."""
    others: bool = False
    """Whether it is somebody else's time than the agent's: the played user's, or that of a process which starts."""
    step: str = ""
    """What is done instead of a turn: `setup`, `teardown`, or a method of the agent's (`begin()`)."""
    held: float = 0.0
    """Seconds for which this turn held the event loop since the last look at the deadlines."""

    @property
    def deadline(self) -> float:
        """The earlier of the two deadlines."""
        return min(self.turn_deadline, self.trial_deadline)

    def begin_turn(self, timeout: float | None, step: str = "") -> None:
        """Start the clock of a turn, or of a `step` around the turns; what ran out before is over."""
        self.expired, self.cancelled_at, self.others, self.step = "", inf, False, step
        self.began, self.held = time.monotonic(), 0.0
        self.turn_deadline = inf if timeout is None else self.began + timeout

    @contextmanager
    def others_time(self, limit: float | None = None) -> Iterator[None]:
        """Stop the clocks of the turn and of the trial: what happens inside has a deadline of its own.

        `limit`: seconds after which it is ended all the same, if it does not keep to that.
        """
        left, self.trial_deadline = self.trial_deadline, inf
        self.begin_turn(limit)
        began, self.others = time.monotonic(), True
        try:
            yield
        finally:
            self.trial_deadline = left + time.monotonic() - began

    def expire(self, now: float) -> None:
        """Remember which deadline ran out."""
        self.expired = "trial" if self.trial_deadline <= now else "turn"


def forget_cancellation() -> None:
    """Take back the cancellation of the current task: a deadline ended one piece of foreign code, not the task."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()


class TimedSteps(Coroutine[Any, Any, None]):
    """A trial's coroutine that notes in its slot how long it holds the event loop: its own time is its own."""

    __slots__ = ("_inner", "_slot")

    def __init__(self, inner: Coroutine[Any, Any, None], slot: Slot) -> None:
        """Take the coroutine to run."""
        self._inner, self._slot = inner, slot

    def send(self, value: Any) -> Any:
        """Run it up to where it waits next."""
        began = time.monotonic()
        try:
            return self._inner.send(value)
        finally:
            self._slot.held += time.monotonic() - began

    def throw(self, *error: Any) -> Any:
        """Raise inside it, and run it up to where it waits next."""
        began = time.monotonic()
        try:
            return self._inner.throw(*error)
        finally:
            self._slot.held += time.monotonic() - began

    def close(self) -> None:
        """End it where it waits."""
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, None]:
        return self._inner.__await__()


def is_running(task: asyncio.Task[Any] | None) -> bool:
    """Tell whether this is code of `task`; false where the interpreter closes a coroutine that was left behind."""
    try:
        return asyncio.current_task() is task
    except RuntimeError:  # no event loop runs any more
        return False


class Deadlines:
    """Watches the slots of a run on the running event loop; use as a context manager."""

    def __init__(self, shortest: float | None, abandon: Callable[[Slot], None]) -> None:
        """Take the shortest time-out in force (seconds), which decides how often to look.

        `abandon` is called with a slot whose trial ignored its cancellation; it is not watched any more.
        """
        self._abandon = abandon
        limit = inf if shortest is None else shortest
        self._tick = min(1.0, max(0.01, limit / 20))
        self._grace = min(_GRACE, max(0.05, limit / 10))
        self._slots: set[Slot] = set()
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._last = time.monotonic()
        self._watchdog = _Watchdog(self._loop, self._slots, self._tick) if limit < inf else None

    def __enter__(self) -> Self:
        self._last = time.monotonic()
        if self._watchdog:
            self._timer = self._loop.call_later(self._tick, self._look)
            self._watchdog.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer:
            self._timer.cancel()
        if self._watchdog:
            self._watchdog.stop()

    def add(self, slot: Slot) -> None:
        """Watch `slot`."""
        self._slots.add(slot)

    def remove(self, slot: Slot) -> None:
        """Stop watching `slot`."""
        self._slots.discard(slot)

    def _look(self) -> None:
        now = time.monotonic()
        late = now - self._last - self._tick
        self._last = now
        if late > max(self._tick, 0.1):  # somebody held the loop: the others get that time back
            for slot in self._slots:
                lost = max(0.0, min(late, now - slot.began) - slot.held)
                slot.turn_deadline += lost
                slot.trial_deadline += lost
        for slot in self._slots:
            slot.held = 0.0
        for slot in list(self._slots):
            self._check(slot, now)
        self._timer = self._loop.call_later(self._tick, self._look)

    def _check(self, slot: Slot, now: float) -> None:
        if slot.expired:
            if now - slot.cancelled_at >= self._grace:
                self._slots.discard(slot)
                self._abandon(slot)
        elif slot.deadline <= now and slot.task is not None:
            slot.expire(now)
            slot.cancelled_at = now
            slot.task.cancel()


class _Watchdog:
    """A thread that notices a blocked event loop and interrupts the code that blocks it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, slots: set[Slot], tick: float) -> None:
        self._loop, self._slots, self._tick = loop, slots, tick
        self._done = threading.Event()
        self._target: Slot | None = None
        self._signal = _free_signal() if threading.current_thread() is threading.main_thread() else None

    def start(self) -> None:
        """Begin to watch, where interrupting is possible."""
        if self._signal is not None:
            signal.signal(self._signal, self._interrupt)
            threading.Thread(target=self._watch, daemon=True, name="proctor-watchdog").start()

    def stop(self) -> None:
        """Stop watching and give the signal back."""
        self._done.set()
        if self._signal is not None:
            signal.signal(self._signal, signal.SIG_DFL)

    def _watch(self) -> None:
        main = threading.main_thread().ident
        while not self._done.wait(self._tick):
            task = asyncio.current_task(self._loop)
            now = time.monotonic()
            slot = next((s for s in list(self._slots) if s.task is task), None) if task else None
            if slot is None or slot.deadline + 2 * self._tick > now or main is None or self._signal is None:
                continue
            self._target = slot
            signal.pthread_kill(main, self._signal)

    def _interrupt(self, _signum: int, frame: FrameType | None) -> None:
        slot, self._target = self._target, None
        if slot is None or asyncio.current_task(self._loop) is not slot.task:
            return
        if _is_ours(frame):  # the machine is slow, nobody blocks: the timer ends this trial at its next step
            return
        now = time.monotonic()
        if now < slot.deadline:
            # what was late ended before the signal came; what runs now has time of its own
            return
        slot.expire(now)
        raise LoopBlocked


def _is_ours(frame: FrameType | None) -> bool:
    """Tell whether the engine itself was interrupted, or what it uses (the schema, pydantic), and not code that it called."""
    while frame is not None and _is_used_by_anybody(frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(_OURS)


def _is_used_by_anybody(file: str) -> bool:
    """Tell whether who called this code says whose doing it is: the standard library, and what models are made with."""
    if _PACKAGES in file:
        return file.rpartition(_PACKAGES)[2].partition(os.sep)[0] in _OF_MODELS
    return file.startswith(_STANDARD)


_PROCTOR = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))  # noqa: PTH120 - text is compared with text, in a signal handler
_OURS = tuple(os.path.join(_PROCTOR, room, "") for room in ("engine", "schema"))  # noqa: PTH118 - as above
_STANDARD = (os.path.dirname(os.__file__) + os.sep, "<frozen")  # noqa: PTH120 - as above
_PACKAGES = f"{os.sep}site-packages{os.sep}"
_OF_MODELS = ("pydantic", "pydantic_core", "annotated_types", "typing_extensions.py", "typing_inspection")


def _free_signal() -> signal.Signals | None:
    """A signal that nobody in this process uses; `None` where there is none to send to a thread (Windows)."""
    if not hasattr(signal, "pthread_kill"):
        return None
    candidates = (signal.SIGUSR2, signal.SIGUSR1, signal.SIGALRM)
    return next((number for number in candidates if signal.getsignal(number) is signal.SIG_DFL), None)
