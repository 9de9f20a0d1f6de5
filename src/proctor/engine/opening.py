"""An agent is opened once for a run, tells what it is, and is closed again."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from proctor.agents.base import Agent, AgentInfo
from proctor.causes import safe_repr, safe_str
from proctor.engine.described import contradicted
from proctor.engine.plan import Plan
from proctor.errors import AgentLoadError, ProctorError, SetupProblems
from proctor.exits import contained_exits
from proctor.schema.invocation import AppDetails
from proctor.settling import settle

__all__ = ["close_agent", "open_agent"]


async def open_agent(agent: Agent | None, label: str, plan: Plan) -> AgentInfo | None:
    """Open the agent and hear what it says about itself; `None` where there is none, or it says nothing.

    Raises:
        AgentLoadError: it raised, or what it says about itself cannot be read.
        SetupProblems: what is stated about calls that it, by its own account, can never make; it is closed again.
    """
    if agent is None:
        return None
    info: AgentInfo | None = None
    try:
        with contained_exits():  # of tasks that it starts now and that live on
            if (opener := getattr(agent, "open", None)) is not None:
                await settle(opener())
            if (describe := getattr(agent, "describe", None)) is not None:
                info = _as_told(await settle(describe()), label)
    except ProctorError:
        raise
    except (Exception, SystemExit) as error:  # or it would end whoever evaluates, perhaps with success
        raise AgentLoadError(
            f"the agent {label} could not be opened: {type(error).__name__}: {safe_str(error)}"
        ) from error
    if problems := contradicted(plan, info):
        await close_agent(agent)
        raise SetupProblems(problems)
    return info


def _as_told(info: Any, label: str) -> AgentInfo | None:
    """Return what `describe()` gave, which goes into the store and to metrics, if it can be read there."""
    if info is None:
        return None
    if not isinstance(info, AgentInfo):
        raise AgentLoadError(
            f"the agent {label}: describe() returned {safe_repr(info)}; expected a proctor.AgentInfo, or None"
        )
    texts = {"name": info.name, "description": info.description, "version": info.version or ""}
    for field, value in texts.items():
        if not isinstance(value, str):
            raise AgentLoadError(
                f"the agent {label}: {field} of describe() is {safe_repr(value)}; expected a text"
            )
    if info.app_details is not None:
        _check_details(info.app_details, label)
    return info


def _check_details(details: Any, label: str) -> None:
    try:
        if not isinstance(details, dict):
            raise TypeError(safe_repr(details))
        json.dumps(details)
        AppDetails.model_validate(details)
    except (TypeError, ValueError) as error:
        why = _first_problem(error) if isinstance(error, ValidationError) else safe_str(error)
        raise AgentLoadError(
            f"the agent {label}: app_details of describe() cannot be read: {why}; expected JSON of the form "
            "{'agent_details': {NAME: {'name': NAME, 'instructions': …, 'tool_declarations': […]}}}"
        ) from error


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"


async def close_agent(agent: Agent | None) -> str:
    """Close the agent; returns what it raised, in words for the user (the verdicts stand), usually empty."""
    close = getattr(agent, "close", None)
    if close is None:
        return ""
    try:
        with contained_exits():
            await settle(close())
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the verdicts stand; the user is told
        return f"closing the agent raised {type(error).__name__}: {safe_str(error)}"
    return ""
