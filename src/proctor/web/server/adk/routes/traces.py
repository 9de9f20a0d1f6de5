"""What happened in a session over time, and the graph of an app."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Response

from proctor.agents.chat_host import Json
from proctor.web.server.adk.app_state import AdkWorld, World
from proctor.web.server.adk.apps import App
from proctor.web.server.adk.graphs import dot_of, node_at
from proctor.web.server.adk.guard import AdkRoute
from proctor.web.server.adk.results import kept_session
from proctor.web.server.adk.spans import attributes_of, spans_of
from proctor.web.server.adk.wire import answer, parts_of

router = APIRouter(route_class=AdkRoute, tags=["ADK: traces"])
_OF_APP = "/dev/apps/{app_name}"


@router.get(f"{_OF_APP}/debug/trace/session/{{session_id}}", response_model=None)
async def adk_session_trace(world: World, app_name: str, session_id: str) -> Response:
    """The spans of a session: google-adk's own, else made of its events; of one that is not there, none."""
    app = world.app(app_name)
    for user_id, known in await world.ask(app_name, "keys"):
        if known == session_id and (session := await world.ask(app_name, "get", user_id, known)) is not None:
            return answer(spans_of(session, await world.ask(app_name, "spans", user_id, known)))
    session = kept_session(app, None, session_id)
    return answer([] if session is None else spans_of(session))


@router.get(f"{_OF_APP}/debug/trace/{{event_id}}", response_model=None)
async def adk_event_trace(world: World, app_name: str, event_id: str) -> Response:
    """What is known of the model call, or the tool call, that an event came of."""
    app = world.app(app_name)
    for user_id, session_id in await world.ask(app_name, "keys"):
        session = await world.ask(app_name, "get", user_id, session_id)
        if session is None or all(event.get("id") != event_id for event in session["events"]):
            continue
        traced = await world.ask(app_name, "spans", user_id, session_id)
        if (found := attributes_of(session, event_id, traced)) is not None:
            return answer(found)
    # an event of an evaluation: its session's id, and its number
    session = kept_session(app, None, event_id.rpartition("-")[0])
    if session is None or (found := attributes_of(session, event_id)) is None:
        raise HTTPException(404, "Trace not found")
    return answer(found)


@router.get(f"{_OF_APP}/build_graph", response_model=None)
async def adk_build_graph(world: World, app_name: str) -> Response:
    """An app's agents, from its root down, with their instructions and tools; and its README, where it has one."""
    app = world.app(app_name)
    told = {"name": app_name, "root_agent": await world.ask(app_name, "tree")}
    return answer({**told, "readme": readme} if (readme := _readme(app)) else told)


@router.get(f"{_OF_APP}/build_graph_image", response_model=None)
async def adk_build_graph_image(
    world: World, app_name: str, *, dark_mode: bool = False, node: Annotated[str, Query()] = ""
) -> Response:
    """The same as a picture (DOT), from the agent `node` down."""
    found = node_at(await world.ask(app_name, "tree"), node)
    if found is None:
        raise HTTPException(404, f"Node not found: {node}")
    return answer({node: {"dotSrc": dot_of(found, dark=dark_mode)}})


@router.get(f"{_OF_APP}/graph", response_model=None)
async def adk_graph(world: World, app_name: str, *, dark_mode: bool = False) -> Response:
    """The same, from the root down."""
    return answer({"dotSrc": dot_of(await world.ask(app_name, "tree"), dark=dark_mode)})


@router.get(
    f"{_OF_APP}/users/{{user_id}}/sessions/{{session_id}}/events/{{event_id}}/graph", response_model=None
)
async def adk_event_graph(
    world: World, app_name: str, user_id: str, session_id: str, event_id: str, *, dark_mode: bool = False
) -> Response:
    """An app's graph, with the agent and the tools of one event standing out; `{}` for an event that is not there."""
    session = await _session(world, app_name, user_id, session_id)
    event = next((one for one in session["events"] if one.get("id") == event_id), None)
    if event is None:
        return answer({})
    parts = parts_of(event)
    calls = (part.get("functionCall") or part.get("functionResponse") for part in parts)
    lit = {event.get("author"), *(call.get("name") for call in calls if call)}
    tree = await world.ask(app_name, "tree")
    return answer({"dotSrc": dot_of(tree, lit={str(name) for name in lit}, dark=dark_mode)})


async def _session(world: AdkWorld, app_name: str, user_id: str, session_id: str) -> Json:
    found: Json | None = await world.ask(app_name, "get", user_id, session_id)
    found = found or kept_session(world.app(app_name), user_id, session_id)
    if found is None:
        raise HTTPException(404, "Session not found")
    return found


def _readme(app: App) -> str:
    try:
        return (app.folder / "README.md").read_text(encoding="utf-8", errors="replace")[:100_000]
    except OSError:
        return ""
