"""`--on ray:local`, `ray:auto`, `ray://HOST:PORT`: Ray places the workers on the machines of a cluster.

Each worker is an actor of Ray that starts a process of `processes` on its machine: what an agent does to its process concerns
no other worker, and no Python object crosses the network, only JSON.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
import warnings
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from proctor.agents.process.child_process import Guardian
from proctor.common.optional_packages import import_extra
from proctor.engine.execution.worker_engine import Facts, Worker, WorkerLostError
from proctor.errors import SetupError
from proctor.runs.setup.workers.processes import ProcessWorker

LOCAL, AUTO, ADDRESS = "ray:local", "ray:auto", "ray://"
_TO_CONNECT = 150.0
"""Seconds to start a cluster or to connect to one."""
_STARTS = 4
"""Attempts to start a cluster of this run: Ray gives each 30 seconds, which may be too few on a busy machine."""
_TO_START = 300.0
"""Seconds for a worker to start: the cluster may have to add a machine."""
_TO_STOP = 15.0
_LOOK_SECONDS = 3.0
_SILENT_SECONDS = 25.0
"""Seconds without an answer of Ray's head, or without a machine, after which the run ends. Ray ends this process after 60."""
_NOT_SENT = [".git", ".venv", "node_modules", "__pycache__", ".proctor", "*.sqlite3", "*.sqlite3-*"]
"""What is not copied to a cluster with the working folder."""


class HostedWorker:
    """The actor: a worker process on a machine of the cluster."""

    def __init__(self, folder: str | None, path: list[str] | None) -> None:
        """Take the working folder and `sys.path`; `None`: those that Ray gives the actor."""
        if folder is not None:
            os.chdir(folder)
        self._guardian = Guardian()
        self._worker = ProcessWorker(self._guardian, path or [str(Path.cwd()), *sys.path])

    async def open(self, job: bytes) -> tuple[str, Facts]:
        """Start the process, and open the agent there; return its name and its facts, or why it ended."""
        try:
            facts = await self._worker.open(job)
        except WorkerLostError as error:
            return self._worker.name, {"lost": str(error)}
        return self._worker.name, facts

    async def run(self, trial: bytes) -> tuple[bytes, str, bool]:
        """Run one trial; return its evidence, or why the process ended and whether it crashed."""
        try:
            return await self._worker.run(trial), "", False
        except WorkerLostError as error:
            return b"", str(error), error.is_crash

    async def close(self) -> None:
        """Close the agent, and end the process."""
        await self._worker.close()
        self._worker.kill()
        self._guardian.dismiss()


class RayWorker:
    """A worker in an actor of Ray (see `Worker`)."""

    def __init__(self, ray: Any, actor: Any) -> None:
        """Take Ray and the handle of the actor."""
        self._ray, self._actor = ray, actor
        self._name = "a worker"

    @property
    def name(self) -> str:
        """The name in messages."""
        return self._name

    async def open(self, job: bytes) -> Facts:
        """Open the agent on the worker."""
        try:
            async with asyncio.timeout(_TO_START):
                self._name, facts = await self._answer(self._actor.open.remote(job))
        except TimeoutError:
            raise WorkerLostError(
                f"Ray has started no worker within {_TO_START:g} s: the cluster has too few free CPUs for so many workers "
                "(--workers, --worker-cpu); `ray status` shows them"
            ) from None
        if lost := facts.get("lost"):
            raise WorkerLostError(lost)
        return cast("Facts", facts)

    async def run(self, trial: bytes) -> bytes:
        """Run one trial."""
        evidence, lost, is_crash = await self._answer(self._actor.run.remote(trial))
        if lost:
            raise WorkerLostError(lost, is_crash=is_crash)
        return cast("bytes", evidence)

    async def close(self) -> None:
        """Close the agent, and end the process."""
        with suppress(WorkerLostError):
            await self._answer(self._actor.close.remote())

    def kill(self) -> None:
        """End the actor; its process ends with it."""
        threading.Thread(target=self._kill, daemon=True, name="proctor-ray-kill").start()

    def _kill(self) -> None:
        with suppress(Exception):  # it has ended, or the cluster has
            self._ray.kill(self._actor)

    async def _answer(self, reference: Awaitable[Any]) -> Any:
        errors = self._ray.exceptions
        try:
            return await reference
        except errors.RayActorError as error:
            why = str(error).strip().splitlines()
            raise WorkerLostError(
                f"{self._name} was lost: {why[0] if why else 'Ray reports no reason'}"
            ) from None
        except (errors.RayError, ConnectionError) as error:
            raise WorkerLostError(f"{self._name} was lost: {error}") from None


class RayEngine:
    """A cluster of Ray: its own on this machine, or one that runs already (see `Engine`)."""

    def __init__(self, address: str, per_worker: int, *, cpus: float = 1) -> None:
        """Take the address, the trials that a worker runs at a time, and the CPUs that it takes.

        Raises:
            MissingExtraError: Ray is not installed.
        """
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent to anyone
        self._ray: Any = import_extra("ray", extra="ray", feature=f"--on {address}")
        self._address, self._per_worker, self._cpus = address, per_worker, cpus
        self._seen = 0.0
        self._watching: asyncio.Task[None] | None = None
        self._closing = threading.Event()
        self._closed: asyncio.Future[None] | None = None

    async def open(self) -> None:
        """Start or join the cluster.

        Raises:
            SetupError: it cannot be reached.
        """
        loop = asyncio.get_running_loop()
        done, self._closed = loop.create_future(), loop.create_future()
        threading.Thread(
            target=self._live, args=[loop, done, self._closed], daemon=True, name="proctor-ray"
        ).start()
        try:
            await asyncio.wait_for(done, _TO_CONNECT)
        except TimeoutError:
            raise SetupError(
                f"{self._cluster_error}: no answer within {_TO_CONNECT:g} s. {self._remedy}"
            ) from None
        except Exception as error:  # noqa: BLE001 - Ray raises errors of many kinds
            raise SetupError(f"{self._cluster_error}: {_first_line(error)}. {self._remedy}") from None

    def _live(
        self, loop: asyncio.AbstractEventLoop, connected: asyncio.Future[None], closed: asyncio.Future[None]
    ) -> None:
        """Connect, look whether the cluster is alive, and leave; in one thread, with which a cluster of this run ends."""
        error: BaseException | None = None
        try:
            self._connect()
        except BaseException as raised:  # noqa: BLE001 - reported to the user
            error = raised
        _settle_later(loop, connected, error)
        while error is None and not self._closing.is_set():
            with suppress(Exception):
                if any(node["Alive"] for node in self._ray.nodes()):
                    self._seen = time.monotonic()
            self._closing.wait(_LOOK_SECONDS)
        with suppress(Exception):
            self._ray.shutdown()
        _settle_later(loop, closed, None)

    def _connect(self) -> None:
        logging.getLogger("ray").setLevel(logging.ERROR)
        warnings.filterwarnings("ignore", category=UserWarning, module="ray")  # errors contain the same
        is_local = self._address == LOCAL
        place: dict[str, Any] = {"address": {LOCAL: "local", AUTO: "auto"}.get(self._address, self._address)}
        if is_local:
            place["include_dashboard"] = False
        elif self._address.startswith(ADDRESS):
            place["runtime_env"] = {"working_dir": str(Path.cwd()), "excludes": _NOT_SENT}
        quiet = {"configure_logging": False, "log_to_driver": False, "logging_level": "ERROR"}
        self._init({**place, **quiet}, attempts=_STARTS if is_local else 1)

    def _init(self, arguments: Mapping[str, Any], attempts: int) -> None:
        try:
            self._ray.init(**arguments)
        except Exception:
            if attempts == 1 or self._closing.is_set():
                raise
            self._ray.shutdown()
            self._init(arguments, attempts - 1)

    @property
    def _cluster_error(self) -> str:
        return f"on: the cluster of Ray at {self._address} cannot be used"

    @property
    def _remedy(self) -> str:
        if self._address == LOCAL:
            return "`ray start --head` shows more"
        return (
            "Check that it runs (`ray status`), that Python and Ray have the same versions here and there, and, if it "
            "requires a token, that RAY_AUTH_MODE=token and RAY_AUTH_TOKEN are set"
        )

    async def start(self) -> Worker:
        """Ask Ray for a worker; it starts when it is opened."""
        here = self._address != AUTO and not self._address.startswith(ADDRESS)
        actor = self._ray.remote(HostedWorker).options(
            num_cpus=self._cpus, max_restarts=0, max_concurrency=self._per_worker + 2
        )
        folder, path = (str(Path.cwd()), sys.path) if here else (None, None)
        return RayWorker(self._ray, actor.remote(folder, path))

    def on_lost(self, notify: Callable[[str], None]) -> None:
        """Report if the cluster has no head that answers any more, or no machine."""
        self._seen = time.monotonic()
        self._watching = asyncio.get_running_loop().create_task(self._watch(notify))

    async def _watch(self, notify: Callable[[str], None]) -> None:
        while time.monotonic() - self._seen < _SILENT_SECONDS:  # noqa: ASYNC110 - another thread looks
            await asyncio.sleep(1.0)
        notify(
            f"the cluster of Ray at {self._address} has had no head that answers, or no machine, for {_SILENT_SECONDS:g} s"
        )

    async def close(self) -> None:
        """Leave the cluster; one of this run ends."""
        if self._watching is not None:
            self._watching.cancel()
        self._closing.set()
        if self._closed is not None:
            await asyncio.wait([self._closed], timeout=_TO_STOP)


def _settle_later(
    loop: asyncio.AbstractEventLoop, done: asyncio.Future[None], error: BaseException | None
) -> None:
    """Settle a future of `loop` from another thread."""
    with suppress(RuntimeError):  # the loop is closed: no one waits any more
        loop.call_soon_threadsafe(_settle, done, error)


def _settle(done: asyncio.Future[None], error: BaseException | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0].rstrip('.')}" if lines else type(error).__name__
