"""Detect the framework of an agent by the names of its classes, without importing any framework."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from proctor.agents.base import Agent
from proctor.common.registry import load_object
from proctor.errors import AgentLoadError


@dataclass(frozen=True, slots=True)
class Framework:
    """A library with agents that Proctor runs."""

    name: str
    package: str
    """The package that defines the classes."""
    classes: tuple[str, ...]
    adapter: str
    """`module:class`; the class takes the agent."""
    told_by: str = ""
    """The attribute that distinguishes the package from others of that name."""


FRAMEWORKS = (
    Framework("google-adk", "google.adk", ("BaseAgent", "BaseNode", "App"), "proctor.agents.adk:AdkAgent"),
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
        told_by="Runner",
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
    return next((one for one in FRAMEWORKS if _is_of(candidate, one)), None)


def adapt(candidate: object, *, label: str) -> Agent | None:
    """Return a framework's agent as an Agent; `None` for any other object.

    Raises:
        AgentLoadError: it is a graph that has not been compiled.
        MissingExtraError: something that its framework needs is not installed.
    """
    if any(name == "StateGraph" and module.startswith("langgraph.") for name, module in _classes(candidate)):
        raise AgentLoadError(
            f"The agent {label} is a StateGraph that is not compiled; expose what graph.compile() returns."
        )
    found = framework_of(candidate)
    if found is None:
        return None
    agent: Agent = load_object(found.adapter)(candidate)
    return agent


def _is_of(candidate: object, framework: Framework) -> bool:
    package = framework.package
    if framework.told_by and not hasattr(sys.modules.get(package), framework.told_by):
        return False
    return any(
        name in framework.classes and f"{module}.".startswith(f"{package}.")
        for name, module in _classes(candidate)
    )


def _classes(candidate: object) -> Iterator[tuple[str, str]]:
    for cls in type(candidate).__mro__:
        yield cls.__name__, cls.__module__
