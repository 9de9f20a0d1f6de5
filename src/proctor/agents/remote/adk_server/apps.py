"""The app of an ADK server: its selection by an address, and its description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from proctor.agents.base import AgentInfo
from proctor.agents.remote.http.address import Address
from proctor.agents.remote.http.client import HttpClient
from proctor.errors import AgentLoadError, did_you_mean

_KIND = "adk+http"


@dataclass(frozen=True, slots=True)
class Place:
    """The address of a server, and an app of it."""

    server: Address
    app: str


async def find_app(given: Address) -> Place:
    """Request the apps of the server, and select one by an address.

    The last segment of the address's path is the name of an app if there is such an app; the path may also be that of
    the server if it has only one app. For a server that does not list its apps, the named one is assumed to exist.

    Raises:
        AgentLoadError: the server does not answer, or has no such app.
    """
    above, _, last = given.path.rpartition("/")
    named = Place(given.at(above), unquote(last))
    listed = await _apps(named.server)
    if listed is None and last and (listed := await _apps(given)) is not None:
        return Place(given, _only(given, listed))
    if not last:
        if listed is None:
            raise AgentLoadError(
                f"The agent {_KIND}:{given.shown} names no app, and {given.shown.rstrip('/')}/list-apps does not say which there "
                f"are. Is it an ADK server? Name the app: {_KIND}:{_app_url(given, 'APP')}"
            )
        return Place(given, _only(given, listed))
    if listed is not None and named.app not in listed:
        raise AgentLoadError(
            f"The agent {_KIND}:{given.shown}: its server has no app {named.app!r}."
            f"{did_you_mean(named.app, listed)} It has: {_names(listed)}."
        )
    return named


async def _apps(server: Address) -> list[str] | None:
    """Return the apps of a server; none of one that does not list them."""
    http = HttpClient(server)
    try:
        found = await http.glance("list-apps")
    finally:
        await http.close()
    if isinstance(found, Mapping):
        found = found.get("apps")
    if not isinstance(found, list):
        return None
    names = [one.get("name") if isinstance(one, Mapping) else one for one in found]
    return [name for name in names if isinstance(name, str)]


def _only(given: Address, apps: list[str]) -> str:
    if len(apps) == 1:
        return apps[0]
    if not apps:
        raise AgentLoadError(f"The agent {_KIND}:{given.shown}: its server has no app.")
    raise AgentLoadError(
        f"The agent {_KIND}:{given.shown} names no app, and its server has {len(apps)}: {_names(apps)}. "
        f"Name one: {_KIND}:{_app_url(given, apps[0])}"
    )


def _names(apps: list[str]) -> str:
    shown = ", ".join(apps[:20])
    return f"{shown} and {len(apps) - 20} more" if len(apps) > 20 else shown or "none"


def _app_url(given: Address, app: str) -> str:
    return f"{given.shown.rstrip('/')}/{app}"


def read_info(app: str, info: Any) -> AgentInfo:
    """Return the result of `app-info`: instructions and tools by agent, if the server supports it."""
    if not isinstance(info, Mapping):
        return AgentInfo(name=app)
    agents = info.get("agents")
    details = {name: _details(one) for name, one in agents.items()} if isinstance(agents, Mapping) else None
    return AgentInfo(
        name=str(info.get("rootAgentName") or app),
        description=str(info.get("description") or ""),
        app_details={"agent_details": details} if details else None,
        has_more_tools=True,  # toolsets, and agents that the server does not look into
    )


def _details(agent: Any) -> dict[str, Any]:
    told = agent if isinstance(agent, Mapping) else {}
    tools = told.get("tools")
    instruction = str(told.get("instruction") or "")
    return {
        "name": str(told.get("name") or ""),
        "instructions": ""
        if instruction.startswith("<InstructionProvider")
        else instruction,  # created in each turn
        "tool_declarations": tools if isinstance(tools, list) else [],
    }
