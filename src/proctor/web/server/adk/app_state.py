"""The state of the ADK-compatible API: the apps and the open agents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing, suppress
from typing import Annotated, Any, TypeVar

from fastapi import Depends
from starlette.requests import HTTPConnection

from proctor.agents.base import Agent
from proctor.agents.chat_host import Host, Json, TurnRequest
from proctor.agents.remote.http.allowed_addresses import named_by_project
from proctor.common.async_tools import settle
from proctor.runs.load import load_agent
from proctor.web.server.adk.apps import App, apps_of, find_app
from proctor.web.server.adk.session_host import SessionHost
from proctor.web.server.agent_loop import AgentLoop
from proctor.web.server.context import ServerContext

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

    async def on_loop(self, work: Coroutine[object, object, Answer]) -> Answer:
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
        self._loop.close(self._close_hosts)

    async def _close_hosts(self) -> None:
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
