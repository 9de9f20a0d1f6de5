"""The state of the ADK-compatible API: the apps, the open agents, and their event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from concurrent.futures import Future
from contextlib import aclosing, suppress
from typing import Annotated, Any, TypeVar
from weakref import WeakSet

from fastapi import Depends
from starlette.requests import HTTPConnection

from proctor.agents.base import Agent
from proctor.agents.chat_host import Host, Json, TurnRequest
from proctor.agents.remote.http.allowed_addresses import named_by_project
from proctor.common.async_tools import settle
from proctor.common.process_exit import contained_exits
from proctor.engine.execution.event_loop import leave_behind
from proctor.errors import AgentRaisedError
from proctor.runs.load import load_agent
from proctor.web.server.adk.apps import App, apps_of, find_app
from proctor.web.server.adk.session_host import SessionHost
from proctor.web.server.context import ServerContext

_LAST_WORDS = 5.0
"""Seconds that agents have to close."""
_TIDY = 1.0
"""Seconds that the remaining tasks then have to end after their cancellation."""


class AgentLoop:
    """An event loop in a daemon thread, started when it is first needed."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._ended: WeakSet[asyncio.AbstractEventLoop] = WeakSet()

    async def run(self, main: Coroutine[Any, Any, Answer]) -> Answer:
        """Run `main` on the loop and await its result; a cancellation here cancels it there."""
        return await asyncio.wrap_future(self._submit(main))

    async def stream(self, make: Callable[[], AsyncGenerator[Answer, None]]) -> AsyncGenerator[Answer, None]:
        """Iterate on the loop over the generator that `make` returns; leaving early closes it there."""
        queue: asyncio.Queue[tuple[bool, Any]] = asyncio.Queue()
        here = asyncio.get_running_loop()

        def enqueue(value: object, *, is_last: bool) -> None:
            with suppress(RuntimeError):  # the reader's loop is closed
                here.call_soon_threadsafe(queue.put_nowait, (is_last, value))

        async def pump() -> None:
            async with aclosing(make()) as items:
                async for item in items:
                    enqueue(item, is_last=False)

        work = self._submit(pump())
        work.add_done_callback(lambda done: enqueue(_error_of(done), is_last=True))
        try:
            while True:
                is_last, value = await queue.get()
                if not is_last:
                    yield value
                elif value is not None:
                    raise value
                else:
                    return
        finally:
            work.cancel()

    def close(self, farewell: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run `farewell` on the loop and end the loop; a task that does not end in time is abandoned with its thread."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        is_blocked = False
        try:
            asyncio.run_coroutine_threadsafe(farewell(), loop).result(_LAST_WORDS)
        except TimeoutError:
            is_blocked = True
        except Exception:  # noqa: BLE001, S110 - an agent that cannot be closed must not block the end
            pass
        self._ended.add(loop)
        loop.call_soon_threadsafe(loop.stop)
        if self._thread is not None and not is_blocked:
            self._thread.join(2 * _TIDY)

    def _submit(self, main: Coroutine[Any, Any, Answer]) -> Future[Answer]:
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._serve, args=(self._loop,), name="proctor-agents", daemon=True
                )
                self._thread.start()
        return asyncio.run_coroutine_threadsafe(_contain_exits(main), self._loop)

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        while loop not in self._ended:
            loop.run_forever()  # an agent that stops the loop must not stop the other agents
        _end(loop)


def _end(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel the running tasks; abandon those that do not end."""
    loop.set_exception_handler(lambda *_: None)  # the clients have disconnected
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    with suppress(BaseException):  # an agent may raise anything on cancellation
        loop.run_until_complete(asyncio.wait(tasks, timeout=_TIDY) if tasks else asyncio.sleep(0))
    stuck = [task for task in tasks if not task.done()]
    if not stuck:
        loop.close()
    leave_behind(stuck)


async def _contain_exits(main: Coroutine[Any, Any, Answer]) -> Answer:
    """Await `main`; turn an exit, which would end this loop and the server's, into an error of the agent."""
    with contained_exits():
        try:
            return await main
        except (SystemExit, KeyboardInterrupt) as error:
            raise AgentRaisedError(f"the agent raised {error!r}", type=type(error).__name__) from None


def _error_of(done: Future[None]) -> BaseException | None:
    return asyncio.CancelledError() if done.cancelled() else done.exception()


Answer = TypeVar("Answer")


class AdkState:
    """The apps of one server. An agent is loaded with the first request for it."""

    def __init__(self, context: ServerContext) -> None:
        """`context`: that of the server."""
        self.context = context
        self._loop = AgentLoop()
        self._hosts: dict[str, asyncio.Task[Host]] = {}

    def apps(self) -> dict[str, App]:
        """Return the present apps by name."""
        return apps_of(self.context.agents, self.context.root)

    def app(self, name: str) -> App:
        """Return an app. Raises SetupError: there is no app of that name."""
        return find_app(self.apps(), name)

    async def on_loop(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """Run a coroutine on the loop of the agents."""
        return await self._loop.run(work)

    async def host(self, name: str) -> Host:
        """Return the host of an app, on the loop of the agents; load the agent if necessary.

        Raises:
            SetupError: there is no such app, or its agent cannot be loaded.
        """
        app = self.app(name)
        if name not in self._hosts:
            self._hosts[name] = asyncio.ensure_future(_open_host(app))
        opening = self._hosts[name]
        try:
            return await asyncio.shield(opening)
        except BaseException:
            # the next request tries again; of several waiting requests the first removes the failed task
            if opening.done() and self._hosts.get(name) is opening:
                del self._hosts[name]
            raise

    async def ask(self, name: str, method: str, *args: Any) -> Any:
        """Call a method of an app's host."""

        async def call() -> Any:
            return await getattr(await self.host(name), method)(*args)

        return await self.on_loop(call())

    async def run(self, name: str, turn: TurnRequest) -> AsyncGenerator[Json, None]:
        """Yield the events of one turn."""

        async def events() -> AsyncGenerator[Json, None]:
            async with aclosing((await self.host(name)).run(turn)) as host_events:
                async for event in host_events:
                    yield event

        async with aclosing(self._loop.stream(events)) as stream:
            async for event in stream:
                yield event

    def close(self) -> None:
        """Close all agents."""
        self._loop.close(self._farewell)

    async def _farewell(self) -> None:
        for opening in self._hosts.values():
            with suppress(Exception):
                await (await opening).close()


async def _open_host(app: App) -> Host:
    with named_by_project():
        agent: Agent = load_agent(app.reference)
        if (open_ := getattr(agent, "open", None)) is not None:
            await settle(open_())
    serve = getattr(agent, "host", None)
    own: Host | None = None if serve is None else serve(app.name)
    return own or SessionHost(app.name, agent)


def _adk_state(connection: HTTPConnection) -> AdkState:
    adk: AdkState = connection.app.state.adk
    return adk


AdkDep = Annotated[AdkState, Depends(_adk_state)]
"""The type of the parameter through which a route receives its `AdkState`."""
