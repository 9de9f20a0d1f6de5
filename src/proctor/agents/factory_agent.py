"""An agent that is made when the run opens: `get_agent_async`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from proctor.agents.base import Agent, AgentInfo, Session
from proctor.common.async_tools import settle
from proctor.errors import AgentError
from proctor.schema.evidence.event import Event
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content


class LateAgent:
    """Stands for the agent that a factory makes, in the run's own event loop, when the run opens.

    The factory is plain or async and returns the agent, or the agent and what is to be closed when the run ends.
    """

    def __init__(self, factory: Callable[[], Any], *, label: str, agent_name: str | None = None) -> None:
        """Take the factory, what to call the agent in messages, and the sub-agent to pick."""
        self._factory = factory
        self._label = label
        self._agent_name = agent_name
        self._services: Mapping[str, Any] | None = None
        self._made: Agent | None = None
        self._stack: Any = None

    def using(self, services: Mapping[str, Any]) -> LateAgent:
        """Return the same, which will be given these services of google-adk."""
        late = LateAgent(self._factory, label=self._label, agent_name=self._agent_name)
        late._services = services
        return late

    async def open(self) -> None:
        """Make the agent.

        Raises:
            AgentLoadError: the factory returned no agent.
        """
        from proctor.agents.load import as_agent, using

        made = await settle(self._factory())
        if isinstance(made, tuple) and len(made) == 2:
            made, self._stack = made
        try:
            agent = as_agent(made, label=self._label, agent_name=self._agent_name)
            self._made = using(agent, self._services, label=self._label)
            await self._ask("open", None)
        except BaseException:
            await self._close_stack()
            raise

    async def close(self) -> None:
        """Close the agent, then what came with it."""
        try:
            await self._ask("close", None)
        finally:
            self._made = None
            await self._close_stack()

    def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Let the agent answer."""
        return self._agent.answer(message, session)

    async def begin(self, session: Session, case: EvalCase) -> None:
        """Pass on."""
        await self._ask("begin", None, session, case)

    async def end(self, session: Session) -> None:
        """Pass on."""
        await self._ask("end", None, session)

    async def describe(self) -> AgentInfo:
        """Pass on; by its label when the agent says nothing about itself."""
        info: AgentInfo = await self._ask("describe", AgentInfo(name=self._label))
        return info

    async def final_state(self, session: Session) -> dict[str, Any]:
        """Pass on."""
        state: dict[str, Any] = await self._ask("final_state", session.state, session)
        return state

    def host(self, app_name: str) -> Any:
        """Return what serves the agent to many users, where it brings that itself; `None` where it does not."""
        serve = getattr(self._made, "host", None)
        return None if serve is None else serve(app_name)

    @property
    def _agent(self) -> Agent:
        if self._made is None:
            raise AgentError(f"the agent {self._label} is not open: await open() first")
        return self._made

    async def _ask(self, name: str, otherwise: Any, *args: Any) -> Any:
        method = getattr(self._made, name, None)
        return otherwise if method is None else await settle(method(*args))

    async def _close_stack(self) -> None:
        stack, self._stack = self._stack, None
        close = getattr(stack, "aclose", None) or getattr(stack, "close", None)
        if close is not None:
            await settle(close())
