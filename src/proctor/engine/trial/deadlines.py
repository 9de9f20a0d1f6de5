"""Deadlines for agents that hang, that ignore cancellation, or that block the event loop.

One timer serves all trials under way. A trial past its deadline is cancelled; if it does not end then, it is
abandoned: its slot is released and its task left behind. A signal interrupts code that blocks the event loop (main
thread, POSIX); elsewhere the blocking is noticed when the code returns.
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
"""Seconds that a cancelled trial has to end before it is abandoned (less with short time-outs)."""


class LoopBlocked(BaseException):
    """Raised inside code that blocks the event loop past its deadline."""


@dataclass(slots=True, eq=False)
class TrialSlot:
    """One trial under way and its deadlines, in seconds of `time.monotonic`."""

    turn_deadline: float = inf
    trial_deadline: float = inf
    expired: str = ""
    """The deadline that passed: `turn` or `trial`; empty before."""
    cancelled_at: float = inf
    stopping: bool = False
    """Whether the run itself is being stopped; the code under test causes any other cancellation."""
    task: asyncio.Task[None] | None = field(default=None)
    began: float = 0.0
    """When the turn began."""
    others: bool = False
    """Whether another party than the agent works: the simulated user, or a process that starts."""
    step: str = ""
    """The step outside of the turns that is under way: `setup`, `teardown`, or a method of the agent (`begin()`)."""
    held: float = 0.0
    """Seconds for which this turn held the event loop since the last look at the deadlines."""

    @property
    def deadline(self) -> float:
        """The earlier of the two deadlines."""
        return min(self.turn_deadline, self.trial_deadline)

    def begin_turn(self, timeout: float | None, step: str = "") -> None:
        """Start the clock of a turn, or of a `step` outside of the turns; forget earlier deadlines."""
        self.expired, self.cancelled_at, self.others, self.step = "", inf, False, step
        self.began, self.held = time.monotonic(), 0.0
        self.turn_deadline = inf if timeout is None else self.began + timeout

    @contextmanager
    def exclude_time(self, limit: float | None = None) -> Iterator[None]:
        """Stop the clocks of the turn and of the trial: the code inside has its own deadline.

        `limit`: seconds after which it is ended if it misses that deadline.
        """
        left, self.trial_deadline = self.trial_deadline, inf
        self.begin_turn(limit)
        began, self.others = time.monotonic(), True
        try:
            yield
        finally:
            self.trial_deadline = left + time.monotonic() - began

    def expire(self, now: float) -> None:
        """Record which deadline passed."""
        self.expired = "trial" if self.trial_deadline <= now else "turn"


class TimedSteps(Coroutine[object, object, None]):
    """A trial's coroutine that records in its slot how long it holds the event loop."""

    __slots__ = ("_inner", "_slot")

    def __init__(self, inner: Coroutine[object, object, None], slot: TrialSlot) -> None:
        """Wrap `inner`."""
        self._inner, self._slot = inner, slot

    def send(self, value: Any) -> Any:
        """Run the coroutine up to its next wait."""
        began = time.monotonic()
        try:
            return self._inner.send(value)
        finally:
            self._slot.held += time.monotonic() - began

    def throw(self, *error: Any) -> Any:
        """Raise inside the coroutine, and run it up to its next wait."""
        began = time.monotonic()
        try:
            return self._inner.throw(*error)
        finally:
            self._slot.held += time.monotonic() - began

    def close(self) -> None:
        """Close the coroutine."""
        self._inner.close()

    def __await__(self) -> Generator[object, object, None]:
        return self._inner.__await__()


def is_running(task: asyncio.Task[Any] | None) -> bool:
    """Return whether `task` runs this code; false if the interpreter closes a coroutine that was left behind."""
    try:
        return asyncio.current_task() is task
    except RuntimeError:  # no event loop runs any more
        return False


class Deadlines:
    """Watches the slots of a run on the running event loop; use as a context manager."""

    def __init__(self, shortest: float | None, abandon: Callable[[TrialSlot], None]) -> None:
        """Keep the shortest time-out in force (seconds), which determines how often deadlines are checked.

        `abandon` is called with a slot whose trial ignored its cancellation; the slot is not watched any more.
        """
        self._abandon = abandon
        limit = inf if shortest is None else shortest
        self._tick = min(1.0, max(0.01, limit / 20))
        self._grace = min(_GRACE, max(0.05, limit / 10))
        self._slots: set[TrialSlot] = set()
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._last = time.monotonic()
        self._watchdog = _Watchdog(self._loop, self._slots, self._tick) if limit < inf else None

    def __enter__(self) -> Self:
        self._last = time.monotonic()
        if self._watchdog:
            self._timer = self._loop.call_later(self._tick, self._check_deadline)
            self._watchdog.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer:
            self._timer.cancel()
        if self._watchdog:
            self._watchdog.stop()

    def add(self, slot: TrialSlot) -> None:
        """Watch `slot`."""
        self._slots.add(slot)

    def remove(self, slot: TrialSlot) -> None:
        """Stop watching `slot`."""
        self._slots.discard(slot)

    def _check_deadline(self) -> None:
        now = time.monotonic()
        late = now - self._last - self._tick
        self._last = now
        if late > max(self._tick, 0.1):  # one trial held the loop: the others get that time back
            for slot in self._slots:
                lost = max(0.0, min(late, now - slot.began) - slot.held)
                slot.turn_deadline += lost
                slot.trial_deadline += lost
        for slot in self._slots:
            slot.held = 0.0
        for slot in list(self._slots):
            self._check(slot, now)
        self._timer = self._loop.call_later(self._tick, self._check_deadline)

    def _check(self, slot: TrialSlot, now: float) -> None:
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

    def __init__(self, loop: asyncio.AbstractEventLoop, slots: set[TrialSlot], tick: float) -> None:
        self._loop, self._slots, self._tick = loop, slots, tick
        self._done = threading.Event()
        self._target: TrialSlot | None = None
        self._signal = _free_signal() if threading.current_thread() is threading.main_thread() else None

    def start(self) -> None:
        """Begin to watch if code can be interrupted here."""
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
        if _is_ours(
            frame
        ):  # the machine is slow, and no code blocks: the timer ends this trial at its next step
            return
        now = time.monotonic()
        if now < slot.deadline:
            # the late code ended before the signal came; the code that runs now has its own deadline
            return
        slot.expire(now)
        raise LoopBlocked


def _is_ours(frame: FrameType | None) -> bool:
    """Return whether the signal interrupted the engine or its libraries (schema, pydantic), not code that they called."""
    while frame is not None and _is_shared_library(frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(_OURS)


def _is_shared_library(file: str) -> bool:
    """Return whether both the engine and user code call this file: the standard library, and the library of models."""
    if _PACKAGES in file:
        return file.rpartition(_PACKAGES)[2].partition(os.sep)[0] in _OF_MODELS
    return file.startswith(_STANDARD)


_PROCTOR = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))  # noqa: PTH120 - text is compared with text, in a signal handler
_OURS = tuple(os.path.join(_PROCTOR, package, "") for package in ("engine", "schema"))  # noqa: PTH118 - as above
_STANDARD = (os.path.dirname(os.__file__) + os.sep, "<frozen")  # noqa: PTH120 - as above
_PACKAGES = f"{os.sep}site-packages{os.sep}"
_OF_MODELS = ("pydantic", "pydantic_core", "annotated_types", "typing_extensions.py", "typing_inspection")


def _free_signal() -> signal.Signals | None:
    """Return a signal without a handler in this process; `None` if signals cannot be sent to a thread (Windows)."""
    if not hasattr(signal, "pthread_kill"):
        return None
    candidates = (signal.SIGUSR2, signal.SIGUSR1, signal.SIGALRM)
    return next((number for number in candidates if signal.getsignal(number) is signal.SIG_DFL), None)
