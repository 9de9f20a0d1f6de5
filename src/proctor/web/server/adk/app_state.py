"""What the ADK-compatible routes work with: the apps, the agents that are open, and the loop they live on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI
from starlette.requests import HTTPConnection

from proctor.agents.base import Agent
from proctor.agents.chat_host import Host, Json, TurnRequest
from proctor.agents.remote.http.allowed_addresses import named_by_project
from proctor.common.async_tools import settle
from proctor.runs.load import load_agent
from proctor.web.server.adk.apps import App, apps_of, find_app
from proctor.web.server.adk.loop import AgentLoop
from proctor.web.server.adk.session_host import SessionHost
from proctor.web.server.context import ServerContext

Answer = TypeVar("Answer")


class AdkState:
    """One server's apps. Agents are loaded when somebody first talks to them."""

    def __init__(self, context: ServerContext) -> None:
        """Take what the server works with."""
        self.context = context
        self._loop = AgentLoop()
        self._hosts: dict[str, asyncio.Task[Host]] = {}

    def apps(self) -> dict[str, App]:
        """Return the apps that there are now, by name."""
        return apps_of(self.context.agents, self.context.root)

    def app(self, name: str) -> App:
        """Return an app. Raises SetupError: there is none of that name."""
        return find_app(self.apps(), name)

    async def on_loop(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """Run something on the loop of the agents."""
        return await self._loop.run(work)

    async def host(self, name: str) -> Host:
        """Return what serves an app, on the loop of the agents; loads the agent where that is still to be done.

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
            # the next who asks finds it mended, perhaps; of several who waited, the first takes it out
            if opening.done() and self._hosts.get(name) is opening:
                del self._hosts[name]
            raise

    async def ask(self, name: str, method: str, *args: Any) -> Any:
        """Call a method of what serves an app."""

        async def call() -> Any:
            return await getattr(await self.host(name), method)(*args)

        return await self.on_loop(call())

    async def run(self, name: str, turn: TurnRequest) -> AsyncGenerator[Json, None]:
        """Yield the events of one turn."""

        async def events() -> AsyncGenerator[Json, None]:
            async with aclosing((await self.host(name)).run(turn)) as found:
                async for event in found:
                    yield event

        async with aclosing(self._loop.stream(events)) as found:
            async for event in found:
                yield event

    def close(self) -> None:
        """Let all agents go."""
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


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Let the agents go when the server ends."""
    yield
    adk: AdkState | None = getattr(app.state, "adk", None)
    if adk is not None:
        await asyncio.to_thread(adk.close)


def _adk_state(connection: HTTPConnection) -> AdkState:
    state = connection.app.state
    if getattr(state, "adk", None) is None:
        state.adk = AdkState(state.context)
    adk: AdkState = state.adk
    return adk


AdkDep = Annotated[AdkState, Depends(_adk_state)]
"""The parameter by which a route gets its `AdkWorld`."""
