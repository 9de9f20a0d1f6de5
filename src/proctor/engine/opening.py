"""An agent is opened once for a run, tells what it is, and is closed again."""

from __future__ import annotations

from proctor.agents.base import Agent, AgentInfo
from proctor.causes import safe_str
from proctor.engine.described import contradicted
from proctor.engine.inference import settle
from proctor.engine.plan import Plan
from proctor.errors import AgentLoadError, ProctorError, SetupProblems
from proctor.exits import contained_exits

__all__ = ["close_agent", "open_agent"]


async def open_agent(agent: Agent | None, label: str, plan: Plan) -> AgentInfo | None:
    """Open the agent and hear what it says about itself; `None` where there is none, or it says nothing.

    Raises:
        AgentLoadError: it raised.
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
                info = await settle(describe())
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
