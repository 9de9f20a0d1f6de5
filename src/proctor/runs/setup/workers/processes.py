"""`--on processes`: workers on this machine, each a process (`trial_server`) at the other end of two pipes."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import sys
from collections.abc import Callable

from proctor.agents.process.child_process import Child, Guardian
from proctor.agents.process.worker_agent import PATH_VARIABLE
from proctor.engine.execution.worker_engine import Facts, Worker, WorkerLostError
from proctor.errors import AgentError, AgentLoadError
from proctor.runs.setup.workers.trial_server import CLOSE

_PATIENCE = 120.0
"""Seconds that a worker may take to load its agent."""
_CLOSING = 8.0
"""Seconds that it may take to close it."""


class ProcessWorker:
    """A worker in a process of this machine (see `Worker`)."""

    def __init__(self, guardian: Guardian, path: list[str]) -> None:
        """Take what ends the process if this one ends, and the worker's `sys.path`."""
        self._guardian, self._path = guardian, path
        self._child: Child | None = None
        self._reading: asyncio.Task[None] | None = None
        self._answers: dict[bytes, asyncio.Future[bytes]] = {}
        """The answers that the worker owes, by the number of their request; also those of cancelled trials."""
        self._count = 0
        self._unsent: list[bytes] = []
        self._why, self._is_crash = "it was ended", False

    @property
    def name(self) -> str:
        """The name in messages."""
        pid = self._child.pid if self._child is not None else 0
        return f"worker {pid} on {platform.node()}"

    async def open(self, job: bytes) -> Facts:
        """Start the process and open the agent there."""
        command = [sys.executable, "-P", "-m", "proctor.runs.setup.workers.trial_server"]
        environment = {"PYTHONUNBUFFERED": "1", **os.environ, PATH_VARIABLE: json.dumps(self._path)}
        try:
            child = await Child.start(command, self._guardian, name="a worker", env=environment)
            self._child = child
            child.send(json.loads(job))
            received = await asyncio.wait_for(child.receive(), _PATIENCE)
        except TimeoutError:
            raise WorkerLostError(f"{self.name} has not opened the agent within {_PATIENCE:g} s") from None
        except (AgentError, AgentLoadError) as error:
            raise WorkerLostError(str(error)) from None
        answer: Facts = received if isinstance(received, dict) else {"error": f"it answered {received!r}"}
        if "facts" not in answer:
            return answer
        self._reading = asyncio.get_running_loop().create_task(self._read(child))
        facts: Facts = answer["facts"]
        return facts

    async def run(self, trial: bytes) -> bytes:
        """Run one trial."""
        if self._child is None or self._reading is None or self._reading.done():
            raise WorkerLostError(self._why)
        self._count += 1
        number = b"%d" % self._count
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        self._send(self._child, number + b" " + trial)
        return await answer

    def _send(self, child: Child, line: bytes) -> None:
        """Send a line; those of trials that begin together share one write, which wakes the process once."""
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._send_all, child)
        self._unsent.append(line)

    def _send_all(self, child: Child) -> None:
        lines, self._unsent = self._unsent, []
        child.send_line(b"\n".join(lines))

    async def _read(self, child: Child) -> None:
        """Hand each answer to its trial until the process ends."""
        try:
            while True:
                self._set_answer(child, await child.receive_line())
        except AgentError as error:
            self._why, self._is_crash = str(error), child.has_crashed
        finally:
            for waiting in self._answers.values():
                if not waiting.done():
                    waiting.set_exception(WorkerLostError(self._why, is_crash=self._is_crash))

    def _set_answer(self, child: Child, line: bytes) -> None:
        """Hand an answer to its trial, unless that was cancelled.

        Raises:
            AgentError: the line answers no request. A trial whose answer it damaged would wait without end.
        """
        number, _, answer = line.partition(b" ")
        if (waiting := self._answers.pop(number, None)) is None:
            raise child.unknown_line(line)
        if not waiting.done():
            waiting.set_result(answer)

    async def close(self) -> None:
        """Close the agent and end the process."""
        if self._child is not None and not self._child.is_gone:
            self._child.send_line(CLOSE)
            await self._child.ends_within(_CLOSING)

    def kill(self) -> None:
        """End the process at once."""
        if self._reading is not None:
            self._reading.cancel()
        if self._child is not None:
            self._child.kill()


class ProcessEngine:
    """Starts processes of this machine (see `Engine`)."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._guardian = Guardian()

    async def open(self) -> None:
        """Do nothing: processes can be started."""

    async def start(self) -> Worker:
        """Return a worker, whose process starts when it is opened."""
        return ProcessWorker(self._guardian, sys.path)

    def on_lost(self, notify: Callable[[str], None]) -> None:
        """Do nothing: this machine is not lost without this process."""

    async def close(self) -> None:
        """Release the guardian."""
        self._guardian.dismiss()
