"""What the server is, and which apps it has."""

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
    """Whether the server is there."""
    return {"status": "ok"}


@router.get("/version")
def adk_version() -> dict[str, str]:
    """Proctor's version, and Python's."""
    return {"version": __version__, "language": "python", "language_version": platform.python_version()}


@router.get("/list-apps", response_model=None)
async def adk_list_apps(
    adk: AdkDep,
    *,
    detailed: Annotated[bool, Query(description="What each app is, too; loads the agents.")] = False,
) -> list[str] | Json:
    """The names of the apps, sorted; with `detailed` what each of them is."""
    apps = adk.apps()
    return {"apps": [await _row(adk, name) for name in apps]} if detailed else list(apps)


@router.get("/apps/{app_name}/app-info", response_model=None)
async def adk_app_info(adk: AdkDep, app_name: str) -> Json:
    """What an app is, with its agents: instructions and tools."""
    find_app(adk.apps(), app_name)
    info: AgentInfo = await adk.ask(app_name, "describe")
    tree = await adk.ask(app_name, "tree")
    return {**_info(app_name, info), "agents": {node["name"]: _agent(node) for node in _flat(tree)}}


async def _row(adk: AdkState, name: str) -> Json:
    """An app in the list; of one that cannot be loaded what is known of it, and why it cannot."""
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
    return [node, *(one for below in node["sub_agents"] for one in _flat(below))]


def _agent(node: Json) -> dict[str, Any]:
    return {
        "name": node["name"],
        "description": node["description"],
        "instruction": node["instruction"],
        "tools": [{"functionDeclarations": [tool]} for tool in node["tools"]],
        "sub_agents": [below["name"] for below in node["sub_agents"]],  # spelled so by google-adk, too
    }
