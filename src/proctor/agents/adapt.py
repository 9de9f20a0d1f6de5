"""Make an Agent of an object: an agent of a framework, a function, or a factory that creates an agent when the run opens."""

from __future__ import annotations

import inspect
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import (
    _AsyncGeneratorContextManager,  # the result of `@asynccontextmanager`, which is callable too
    _GeneratorContextManager,
)
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from proctor.agents.base import Agent, AgentInfo, Session
from proctor.common.async_tools import settle
from proctor.common.error_text import safe_repr
from proctor.common.registry import load_object
from proctor.errors import AgentError, AgentLoadError, did_you_mean

if TYPE_CHECKING:
    from proctor.schema.evidence.event import Event
    from proctor.schema.format.case import EvalCase
    from proctor.schema.format.content import Content

T = TypeVar("T")

ACCEPTED = (
    "an AGENT string, an object with `answer(message, session)`, a function (plain or async, generator or not), "
    "an object that can be called, or an agent of google-adk, openai-agents, pydantic-ai, LangGraph or LangChain"
)


def as_agent(candidate: object, *, label: str, agent_name: str | None = None) -> Agent:
    """Make an Agent of an object of any recognised kind.

    Raises:
        AgentLoadError: it is of no recognised kind, or has no sub-agent called `agent_name`.
    """
    if inspect.isclass(candidate):
        name = candidate.__name__
        raise AgentLoadError(
            f"The agent {label} is the class {name}; expected an instance of it: {name}(...)"
        )
    if getattr(candidate, "__name__", None) == "get_agent_async" and callable(candidate):
        return FactoryAgent(candidate, label=label, agent_name=agent_name)
    if agent_name is not None:
        candidate = _sub_agent(candidate, agent_name, label)
    if (agent := _framework_agent(candidate, label)) is not None:
        return agent
    if callable(getattr(candidate, "answer", None)):
        return cast("Agent", candidate)
    if callable(candidate) and not isinstance(candidate, _NOT_ENTERED):
        from proctor.agents.function import FunctionAgent

        return FunctionAgent(candidate, name=label.rpartition(":")[2])
    raise AgentLoadError(
        f"The agent {label} is {safe_repr(candidate)}; expected {ACCEPTED}.{_hint_for(candidate)}"
    )


_NOT_ENTERED = (_AsyncGeneratorContextManager, _GeneratorContextManager)


def _hint_for(candidate: object) -> str:
    if isinstance(candidate, _NOT_ENTERED):
        return (
            " This context manager was not entered: let get_agent_async enter it into an AsyncExitStack, and return "
            "(agent, stack)."
        )
    library = type(candidate).__module__.partition(".")[0]
    if library in {"builtins", "__main__"}:
        return ""
    return f" Agents of {library} are called from a function: def agent(text): ..."


def using(agent: Agent, services: Mapping[str, object] | None, *, label: str) -> Agent:
    """Return the agent with services of google-adk (see `AdkAgent.using`); unchanged without services.

    Raises:
        AgentLoadError: it is not an agent of google-adk.
    """
    if not services:
        return agent
    take = getattr(agent, "using", None)
    if take is None:
        raise AgentLoadError(
            f"The agent {label} is not an agent of google-adk, so it cannot use {', '.join(services)}."
        )
    equipped: Agent = take(services)
    return equipped


# --- Agents of frameworks: recognised by the names of their classes, without importing any framework ------------------


@dataclass(frozen=True, slots=True)
class Framework:
    """A library with agents that Proctor runs."""

    name: str
    package: str
    """The package that defines the classes."""
    classes: tuple[str, ...]
    adapter: str
    """`module:class`; the class takes the agent."""
    required_attribute: str = ""
    """An attribute that distinguishes the package from others of that name."""


_ADK = Framework("google-adk", "google.adk", ("BaseAgent", "BaseNode", "App"), "proctor.agents.adk:AdkAgent")
FRAMEWORKS = (
    _ADK,
    Framework(
        "pydantic-ai",
        "pydantic_ai",
        ("AbstractAgent",),
        "proctor.agents.frameworks.pydantic_ai:PydanticAiAgent",
    ),
    Framework(
        "openai-agents",
        "agents",
        ("AgentBase",),
        "proctor.agents.frameworks.openai_agents:OpenAiAgent",
        required_attribute="Runner",
    ),
    Framework(
        "langgraph",
        "langgraph",
        ("PregelProtocol", "Pregel"),
        "proctor.agents.frameworks.langgraph:LangGraphAgent",
    ),
    Framework(
        "langchain", "langchain_core", ("Runnable",), "proctor.agents.frameworks.langgraph:RunnableAgent"
    ),
)


def framework_of(candidate: object) -> Framework | None:
    """Return the framework that an object is an agent of."""
    return next((framework for framework in FRAMEWORKS if _is_agent_of(framework, candidate)), None)


def is_adk_app(candidate: object) -> bool:
    """Return whether an object is an App of google-adk: an agent with plug-ins and settings."""
    return _is_instance(candidate, _ADK.package, ("App",))


def _framework_agent(candidate: object, label: str) -> Agent | None:
    """Return a framework's agent as an Agent; `None` for any other object.

    Raises:
        AgentLoadError: it is a graph that has not been compiled.
        MissingExtraError: something that its framework needs is not installed.
    """
    if _is_instance(candidate, "langgraph", ("StateGraph",)):
        raise AgentLoadError(
            f"The agent {label} is a StateGraph that is not compiled; expose what graph.compile() returns."
        )
    framework = framework_of(candidate)
    if framework is None:
        return None
    agent: Agent = load_object(framework.adapter)(candidate)
    return agent


def _is_agent_of(framework: Framework, candidate: object) -> bool:
    attribute = framework.required_attribute
    if attribute and not hasattr(sys.modules.get(framework.package), attribute):
        return False
    return _is_instance(candidate, framework.package, framework.classes)


def _is_instance(candidate: object, package: str, classes: tuple[str, ...]) -> bool:
    """Return whether a class of the object, or one of its bases, is one of these of a package."""
    return any(
        cls.__name__ in classes and f"{cls.__module__}.".startswith(f"{package}.")
        for cls in type(candidate).__mro__
    )


class _NamedAgent(Protocol):
    name: str


def _sub_agent(candidate: object, agent_name: str, label: str) -> object:
    """Return the sub-agent of that name; of an app: the app with it in the root's place."""
    is_app = is_adk_app(candidate)  # an agent has a `root_agent`, too
    tree = list(_tree(getattr(candidate, "root_agent", None) if is_app else candidate))
    for agent in tree:
        if agent.name == agent_name:
            return candidate.model_copy(update={"root_agent": agent}) if is_app else agent  # type: ignore[attr-defined]  # pydantic's
    names = [agent.name for agent in tree]
    known = f"It has: {', '.join(names)}." if names else "It has no named agents."
    raise AgentLoadError(
        f"The agent {label} has no sub-agent {agent_name!r}.{did_you_mean(agent_name, names)} {known}"
    )


def _tree(agent: object, above: tuple[object, ...] = ()) -> Iterator[_NamedAgent]:
    """Yield an agent, its sub-agents and the agents that it hands over to, which may form a cycle."""
    if any(agent is ancestor for ancestor in above):
        return
    if isinstance(getattr(agent, "name", None), str):
        yield cast("_NamedAgent", agent)
    for below in (*(getattr(agent, "sub_agents", None) or ()), *(getattr(agent, "handoffs", None) or ())):
        yield from _tree(below, (*above, agent))


# --- Factories: `get_agent_async`, or a URL ---------------------------------------------------------------------------


class FactoryAgent:
    """Delegates to the agent that a factory creates in the run's own event loop.

    The factory is plain or async and returns the agent, or a tuple of the agent and an object to close at the end of the run.
    """

    def __init__(
        self,
        factory: Callable[[], object],
        *,
        label: str,
        agent_name: str | None = None,
        services: Mapping[str, object] | None = None,
    ) -> None:
        """Take the factory, the agent's name in messages, the sub-agent to pick, and services of google-adk."""
        self._factory = factory
        self._label = label
        self._agent_name = agent_name
        self._services = services
        self._agent_or_none: Agent | None = None
        self._stack: object = None

    def using(self, services: Mapping[str, object]) -> FactoryAgent:
        """Return the same agent with these services of google-adk."""
        return FactoryAgent(self._factory, label=self._label, agent_name=self._agent_name, services=services)

    async def open(self) -> None:
        """Create the agent.

        Raises:
            AgentLoadError: the factory returned no agent.
        """
        result = await settle(self._factory())
        if isinstance(result, tuple) and len(result) == 2:
            result, self._stack = result
        try:
            agent = as_agent(result, label=self._label, agent_name=self._agent_name)
            self._agent_or_none = using(agent, self._services, label=self._label)
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
        if self._agent_or_none is None:
            raise AgentError(f"the agent {self._label} is not open: await open() first")
        return self._agent_or_none.answer(message, session)

    async def begin(self, session: Session, case: EvalCase) -> None:
        """Delegate."""
        await self._call("begin", None, session, case)

    async def end(self, session: Session) -> None:
        """Delegate."""
        await self._call("end", None, session)

    async def describe(self) -> AgentInfo:
        """Delegate; the label is the default."""
        return await self._call("describe", AgentInfo(name=self._label))

    async def final_state(self, session: Session) -> dict[str, object]:
        """Delegate."""
        return await self._call("final_state", session.state, session)

    def host(self, app_name: str) -> object:
        """Return the agent's own host for many users; `None` if it has none."""
        serve = getattr(self._agent_or_none, "host", None)
        return None if serve is None else serve(app_name)

    async def _call(self, name: str, default: T, *args: object) -> T:
        method = getattr(self._agent_or_none, name, None)
        if method is None:
            return default
        result: T = await settle(method(*args))
        return result

    async def _close_stack(self) -> None:
        stack, self._stack = self._stack, None
        close = getattr(stack, "aclose", None) or getattr(stack, "close", None)
        if close is not None:
            await settle(close())
