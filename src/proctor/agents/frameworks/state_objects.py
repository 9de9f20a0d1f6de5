"""The state object of a framework's agent (deps, a context): created from a session, and read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.agents.base import Session
from proctor.agents.frameworks.framework_events import as_json
from proctor.common.async_tools import settle
from proctor.errors import AgentError

_ADAPTERS = {
    "langgraph": "proctor.agents.frameworks.langgraph.LangGraphAgent",
    "openai-agents": "proctor.agents.frameworks.openai_agents.OpenAiAgent",
    "pydantic-ai": "proctor.agents.frameworks.pydantic_ai.PydanticAiAgent",
}


async def state_object(source: Any, session: Session, *, framework: str, what: str) -> Any:
    """Return the object, which `framework` calls `what`.

    `source` selects it: for nothing or a kind of dict, the session's state itself, so that tools change the
    session's state. `Session`: the session. A pydantic model, a data class, a TypedDict: an instance created from the state.
    A function, plain or async: its result for the session.

    Raises:
        AgentError: it cannot be created from the state.
    """
    if _is_plain(source):
        return session.state
    if source is Session:
        return session
    if callable(source) and not isinstance(source, type) and not hasattr(source, "__origin__"):
        return await settle(source(session))
    return _build_state(source, session.state, framework, what)


def state_of(value: Any, state: dict[str, Any]) -> dict[str, Any]:
    """Return a session's state with the current content of such an object."""
    if value is None or value is state or isinstance(value, Session):
        return state
    plain = as_json(value)
    return {**state, **plain} if isinstance(plain, Mapping) else state


def _build_state(kind: Any, state: dict[str, Any], framework: str, what: str) -> Any:
    from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter, ValidationError

    name = getattr(kind, "__name__", str(kind))
    try:
        return TypeAdapter(kind).validate_python(state)
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise AgentError(_no_data(name, framework, what)) from error
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
        if not problem["loc"]:  # the type has no fields
            raise AgentError(_no_data(name, framework, what)) from error
        raise AgentError(
            f"{framework}: the agent's {what} ({name}) cannot be made of the session's state: "
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}; put it into the case's session_input.state"
        ) from error


def _no_data(name: str, framework: str, what: str) -> str:
    return (
        f"{framework}: Proctor cannot make the agent's {what} of type {name}; give a function that makes it of the "
        f"session: {_ADAPTERS[framework]}(agent, {what}=make)"
    )


def _is_plain(kind: Any) -> bool:
    if kind in (None, type(None), Any, object):
        return True
    origin = getattr(kind, "__origin__", kind)
    return origin is Mapping or (
        isinstance(origin, type) and issubclass(origin, dict) and not hasattr(origin, "__required_keys__")
    )
