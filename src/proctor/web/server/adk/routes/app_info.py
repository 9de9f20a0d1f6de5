"""The server's health and version, its apps and their agents."""

from __future__ import annotations

import platform
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query

from proctor.agents.base import AgentInfo
from proctor.agents.chat_host import Json
from proctor.common.version import __version__
from proctor.errors import SetupError
from proctor.web.server.adk.adk_route import AdkRoute
from proctor.web.server.adk.app_state import AdkDep, AdkState
from proctor.web.server.adk.apps import find_app

router = APIRouter(route_class=AdkRoute, tags=["ADK: apps"])


@router.get("/health")
def adk_health() -> dict[str, str]:
    """Respond if the server is running."""
    return {"status": "ok"}


@router.get("/version")
def adk_version() -> dict[str, str]:
    """Return Proctor's and Python's version."""
    return {"version": __version__, "language": "python", "language_version": platform.python_version()}


@router.get("/list-apps", response_model=None)
async def adk_list_apps(
    adk: AdkDep,
    *,
    detailed: Annotated[
        bool, Query(description="Include a description of each app; loads the agents.")
    ] = False,
) -> list[str] | Json:
    """List the names of the apps, sorted; with `detailed` also their descriptions."""
    apps = adk.apps()
    return {"apps": [await _row(adk, name) for name in apps]} if detailed else list(apps)


@router.get("/apps/{app_name}/app-info", response_model=None)
async def adk_app_info(adk: AdkDep, app_name: str) -> Json:
    """Return an app with its agents, their instructions and tools."""
    find_app(adk.apps(), app_name)
    info: AgentInfo = await adk.ask(app_name, "describe")
    tree = await adk.ask(app_name, "tree")
    return {**_info(app_name, info), "agents": {node["name"]: _agent(node) for node in _flat(tree)}}


async def _row(adk: AdkState, name: str) -> Json:
    """Return the row of an app in the list; the description of an app that cannot be loaded is the reason."""
    try:
        info: AgentInfo = await adk.ask(name, "describe")
    except SetupError as error:
        info = AgentInfo(name, description=f"This app cannot be loaded: {error}")
    except HTTPException:
        raise
    except Exception as error:  # noqa: BLE001 - one agent's fault does not hide the others
        info = AgentInfo(name, description=f"This app cannot be opened: {type(error).__name__}: {error}")
    return {**_info(name, info), "agents": None}


def _info(name: str, info: AgentInfo) -> Json:
    return {
        "name": name,
        "rootAgentName": info.name,
        "description": info.description,
        "language": "python",
        "isComputerUse": False,
    }


def _flat(node: Json) -> list[Json]:
    return [node, *(agent for child in node["sub_agents"] for agent in _flat(child))]


def _agent(node: Json) -> dict[str, Any]:
    return {
        "name": node["name"],
        "description": node["description"],
        "instruction": node["instruction"],
        "tools": [{"functionDeclarations": [tool]} for tool in node["tools"]],
        "sub_agents": [child["name"] for child in node["sub_agents"]],  # google-adk's spelling
    }
