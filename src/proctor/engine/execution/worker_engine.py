"""The contract of engines that start the workers of a run: processes of this machine, or a cluster (`runs/setup/workers`)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Protocol

from proctor.errors import ProctorError

Facts = dict[str, Any]
"""What a worker reports of itself as JSON: versions, hashes of the agent's code, its description (`runs/setup/workers`)."""


class WorkerLostError(ProctorError):
    """A worker has ended, or its machine is gone; the message has the reason."""

    def __init__(self, message: str, *, is_crash: bool = False) -> None:
        """Take the reason; `is_crash`: its process exited or crashed, and was not killed from outside."""
        super().__init__(message)
        self.is_crash = is_crash


class EngineError(ProctorError):
    """The engine cannot run trials any more. It ends the run; finished trials are stored."""


class Worker(Protocol):
    """A process that runs trials: many at a time, each at least once."""

    @property
    def name(self) -> str:
        """The name in messages: the process and its machine."""
        ...

    async def open(self, job: bytes) -> Facts:
        """Load and open the agent of a job (JSON); return the facts of the worker, or `{"error": …}`.

        Raises:
            WorkerLostError: the worker ended.
        """
        ...

    async def run(self, trial: bytes) -> bytes:
        """Run one trial (JSON); return its evidence as JSON.

        Raises:
            WorkerLostError: the worker ended before it had answered.
        """
        ...

    async def close(self) -> None:
        """Close the agent and end the worker."""
        ...

    def kill(self) -> None:
        """End the worker at once."""
        ...


class Engine(Protocol):
    """Starts workers."""

    async def open(self) -> None:
        """Prepare to start workers.

        Raises:
            SetupError: the engine cannot be used; the message has the remedy.
        """
        ...

    async def start(self) -> Worker:
        """Start a worker.

        Raises:
            WorkerLostError: it did not start.
        """
        ...

    def on_lost(self, notify: Callable[[str], None]) -> None:
        """Call `notify`, on the event loop, with the reason if the engine itself is gone: its workers are lost, too."""
        ...

    async def close(self) -> None:
        """Release everything; workers that still run are ended."""
        ...


class Admission:
    """Admits workers that start: a cluster that starts many at once may need machines, images and keys that it lacks."""

    def __init__(self, most: int | None = None, per_minute: int | None = None) -> None:
        """Take the workers that may start at a time, and within a minute; `None`: no limit."""
        self._free = asyncio.Semaphore(most) if most is not None else nullcontext()
        self._interval = 60 / per_minute if per_minute is not None else 0.0
        self._next = 0.0

    async def __aenter__(self) -> None:
        await self._free.__aenter__()
        now = time.monotonic()
        begin = max(now, self._next)
        self._next = begin + self._interval
        try:
            if begin > now:
                await asyncio.sleep(begin - now)
        except BaseException:
            await self.__aexit__()
            raise

    async def __aexit__(self, *_: object) -> None:
        await self._free.__aexit__(None, None, None)
