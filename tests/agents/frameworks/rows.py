"""The rows of the one table: each kind of agent that plays the toy. A new kind is a module in `toys/`, and a line here.

The module has `root_agent`, which is the agent, or `serve()`, a context manager that gives the AGENT string (or object) of
a server or process that it starts.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.agents.frameworks.environments import FRAMEWORKS


@dataclass(frozen=True, kw_only=True)
class Row:
    """One kind of agent."""

    kind: str
    """As docs/reference/agents.md calls it."""
    toy: str
    """The module in `toys/`."""
    environment: str = ""
    """A separate environment (environments.py); none: the main one."""
    needs: str = ""
    """A module without which it is skipped, where the main environment may lack it, and what installs that."""
    install: str = ""
    program: str = ""
    """A program without which it is skipped."""
    has_state: bool = True
    """Whether its final state comes back."""
    has_authors: bool = True
    """Whether a sub-agent's name comes back."""
    has_usage: bool = True
    """Whether tokens come back."""


ROWS = [
    Row(kind="Python function", toy="function"),
    Row(kind="google-adk", toy="google_adk", needs="google.adk", install="make adk"),
    Row(kind="pydantic-ai", toy="with_pydantic_ai", has_authors=False),
    Row(kind="OpenAI Agents SDK", toy="openai_agents", environment=FRAMEWORKS),
    Row(kind="LangGraph", toy="with_langgraph", environment=FRAMEWORKS),
    Row(kind="`adk+http:` (google-adk's server)", toy="adk_http", needs="google.adk", install="make adk"),
    Row(kind="`a2a+http:` (google-adk's server)", toy="a2a_http", environment=FRAMEWORKS),
    Row(kind="`http+sse:`", toy="http_sse", needs="httpx", install="pip install '.[http]'"),
    Row(kind="`cmd:` (Python)", toy="cmd_python"),
    Row(kind="`cmd:` (JavaScript, node)", toy="cmd_node", program="node", install="the package of node"),
    Row(kind="Python function, `--isolate`", toy="isolated"),
    Row(kind="`openai+http:`", toy="openai_http", needs="httpx", install="pip install '.[http]'"),
]
