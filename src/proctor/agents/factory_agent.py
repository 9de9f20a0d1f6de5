"""An agent that a factory creates when the run opens: `get_agent_async`, or a URL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from proctor.agents.base import Agent, AgentInfo, Session
from proctor.common.async_tools import settle
from proctor.errors import AgentError
from proctor.schema.evidence.event import Event
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content

Convert = Callable[[object, Mapping[str, object] | None], Agent]
"""Converts the result of a factory to an agent with services of google-adk; raises `AgentLoadError`."""


class FactoryAgent:
    """Delegates to the agent that a factory creates in the run's own event loop.

    The factory is plain or async and returns the agent, or a tuple of the agent and an object to close at the end of the run.
    """

    def __init__(self, factory: Callable[[], Any], *, label: str, convert: Convert) -> None:
        """Take the factory, the agent's name in messages, and the function that converts the factory's result."""
        self._factory = factory
        self._label = label
        self._convert = convert
        self._services: Mapping[str, object] | None = None
        self._agent_or_none: Agent | None = None
        self._stack: Any = None

    def using(self, services: Mapping[str, object]) -> FactoryAgent:
        """Return the same agent with these services of google-adk."""
        agent = FactoryAgent(self._factory, label=self._label, convert=self._convert)
        agent._services = services
        return agent

    async def open(self) -> None:
        """Create the agent.

        Raises:
            AgentLoadError: the factory returned no agent.
        """
        made = await settle(self._factory())
        if isinstance(made, tuple) and len(made) == 2:
            made, self._stack = made
        try:
            self._agent_or_none = self._convert(made, self._services)
            await self._call("open", None)
        except BaseException:
            await self._close_stack()
            raise

    async def close(self) -> None:
        """Close the agent, then the object that the factory returned with it."""
        try:
            await self._call("close", None)
        finally:
            self._agent_or_none = None
            await self._close_stack()

    def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Delegate."""
        return self._agent.answer(message, session)

    async def begin(self, session: Session, case: EvalCase) -> None:
        """Delegate."""
        await self._call("begin", None, session, case)

    async def end(self, session: Session) -> None:
        """Delegate."""
        await self._call("end", None, session)

    async def describe(self) -> AgentInfo:
        """Delegate; the label is the default."""
        info: AgentInfo = await self._call("describe", AgentInfo(name=self._label))
        return info

    async def final_state(self, session: Session) -> dict[str, Any]:
        """Delegate."""
        state: dict[str, Any] = await self._call("final_state", session.state, session)
        return state

    def host(self, app_name: str) -> Any:
        """Return the agent's own host for many users; `None` if it has none."""
        serve = getattr(self._agent_or_none, "host", None)
        return None if serve is None else serve(app_name)

    @property
    def _agent(self) -> Agent:
        if self._agent_or_none is None:
            raise AgentError(f"the agent {self._label} is not open: await open() first")
        return self._agent_or_none

    async def _call(self, name: str, default: Any, *args: object) -> Any:
        method = getattr(self._agent_or_none, name, None)
        return default if method is None else await settle(method(*args))

    async def _close_stack(self) -> None:
        stack, self._stack = self._stack, None
        close = getattr(stack, "aclose", None) or getattr(stack, "close", None)
        if close is not None:
            await settle(close())
