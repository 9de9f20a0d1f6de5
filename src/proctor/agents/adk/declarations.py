"""What an agent of google-adk declares: the agents in its tree, their instructions and tools."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from proctor.common.optional_packages import import_extra

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.adk.agents import BaseAgent
    from google.adk.tools import BaseTool

    from proctor.common.json_values import Json, JsonObject

_MEMORY = "adk"
_FEATURE = "An agent of google-adk"


def tree_of(agent: BaseAgent) -> Iterator[BaseAgent]:
    """Yield an agent and all agents below it: sub-agents, and the agents among the nodes of a workflow."""
    yield agent
    for below in sub_agents_of(agent):
        yield from tree_of(below)


def sub_agents_of(agent: BaseAgent) -> list[BaseAgent]:
    """Return the direct sub-agents of an agent."""
    nodes = getattr(getattr(agent, "graph", None), "nodes", None) or ()
    agents = [node for node in nodes if hasattr(node, "sub_agents") or hasattr(node, "graph")]
    return [*(getattr(agent, "sub_agents", None) or ()), *agents]


def tool_details(agent: BaseAgent) -> JsonObject:
    """Return instructions and tools of one agent, in the shape of AppDetails."""
    instruction = getattr(agent, "instruction", "")
    return {
        "name": agent.name,
        "instructions": instruction if isinstance(instruction, str) else "",
        "tool_declarations": [_declaration(tool) for tool in getattr(agent, "tools", ()) if _has_name(tool)],
    }


def declares_everything(agent: BaseAgent) -> bool:
    """Whether all its tools are declared: it has no toolset, and its class is one of google-adk, which hides no agents."""
    agents = import_extra("google.adk.agents", extra="adk", feature=_FEATURE)
    known = (agents.LlmAgent, agents.SequentialAgent, agents.LoopAgent, agents.ParallelAgent)
    return isinstance(agent, known) and all(map(_has_name, getattr(agent, "tools", ())))


def _has_name(tool: object) -> bool:
    return isinstance(getattr(tool, "name", None) or getattr(tool, "__name__", None), str)


def _declaration(tool: BaseTool | Callable[..., object]) -> JsonObject:
    """Return the declaration of a tool; only its name if it has none or cannot create one."""
    name = getattr(tool, "name", None) or tool.__name__
    description = getattr(tool, "description", None) or (tool.__doc__ or "").strip()
    try:
        declared = _request_tools(tool)
    except Exception as error:  # noqa: BLE001 - a tool that google-adk cannot declare fails where it is asked for
        logging.getLogger(__name__).debug("google-adk cannot declare the tool %s: %s", name, error)
        declared = []
    return {"function_declarations": declared or [{"name": name, "description": description}]}


def _request_tools(tool: BaseTool | Callable[..., object]) -> list[Json]:
    """What google-adk puts into a request for this tool; nothing for tools of the model's own (a search)."""
    tools = import_extra("google.adk.tools", extra="adk", feature=_FEATURE)
    models = import_extra("google.adk.models", extra="adk", feature=_FEATURE)
    request = models.LlmRequest()
    request.append_tools([tool if isinstance(tool, tools.BaseTool) else tools.FunctionTool(tool)])
    return [
        one.model_dump(mode="json", exclude_none=True)
        for each in request.config.tools or ()
        for one in each.function_declarations or ()
    ]
