"""The spans of a session, and the graph of an app."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Response

from proctor.agents.chat_host import Json
from proctor.web.server.adk.adk_route import AdkRoute
from proctor.web.server.adk.app_state import AdkDep
from proctor.web.server.adk.apps import App
from proctor.web.server.adk.evaluations import find_session, kept_session
from proctor.web.server.adk.session_spans import attributes_of, spans_of
from proctor.web.server.adk.wire import answer, parts_of, require_found

router = APIRouter(route_class=AdkRoute, tags=["ADK: traces"])
_OF_APP = "/dev/apps/{app_name}"


@router.get(f"{_OF_APP}/debug/trace/session/{{session_id}}", response_model=None)
async def adk_session_trace(adk: AdkDep, app_name: str, session_id: str) -> Response:
    """Return the spans of a session: google-adk's own, else derived from its events; an unknown session has none."""
    app = adk.app(app_name)
    for user_id, known in await adk.ask(app_name, "keys"):
        if known == session_id and (session := await adk.ask(app_name, "get", user_id, known)) is not None:
            return answer(spans_of(session, await adk.ask(app_name, "spans", user_id, known)))
    session = kept_session(app, None, session_id)
    return answer([] if session is None else spans_of(session))


@router.get(f"{_OF_APP}/debug/trace/{{event_id}}", response_model=None)
async def adk_event_trace(adk: AdkDep, app_name: str, event_id: str) -> Response:
    """Return the attributes of the model call or tool call that caused an event."""
    app = adk.app(app_name)
    for user_id, session_id in await adk.ask(app_name, "keys"):
        session = await adk.ask(app_name, "get", user_id, session_id)
        if session is None or all(event.get("id") != event_id for event in session["events"]):
            continue
        traced = await adk.ask(app_name, "spans", user_id, session_id)
        if (attributes := attributes_of(session, event_id, traced)) is not None:
            return answer(attributes)
    # an event of an evaluation: its session's id, and its number
    session = kept_session(app, None, event_id.rpartition("-")[0])
    if session is None or (attributes := attributes_of(session, event_id)) is None:
        raise HTTPException(404, "Trace not found")
    return answer(attributes)


@router.get(f"{_OF_APP}/build_graph", response_model=None)
async def adk_build_graph(adk: AdkDep, app_name: str) -> Response:
    """Return an app's agents from the root down, with instructions and tools; and its README, if it has one."""
    app = adk.app(app_name)
    graph = {"name": app_name, "root_agent": await adk.ask(app_name, "tree")}
    return answer({**graph, "readme": readme} if (readme := _readme(app)) else graph)


@router.get(f"{_OF_APP}/build_graph_image", response_model=None)
async def adk_build_graph_image(
    adk: AdkDep, app_name: str, *, dark_mode: bool = False, node: Annotated[str, Query()] = ""
) -> Response:
    """Return the graph as a picture (DOT), from the agent `node` down."""
    agent = require_found(node_at(await adk.ask(app_name, "tree"), node), f"Node not found: {node}")
    return answer({node: {"dotSrc": dot_of(agent, dark=dark_mode)}})


@router.get(f"{_OF_APP}/graph", response_model=None)
async def adk_graph(adk: AdkDep, app_name: str, *, dark_mode: bool = False) -> Response:
    """Return the graph as a picture (DOT), from the root down."""
    return answer({"dotSrc": dot_of(await adk.ask(app_name, "tree"), dark=dark_mode)})


@router.get(
    f"{_OF_APP}/users/{{user_id}}/sessions/{{session_id}}/events/{{event_id}}/graph", response_model=None
)
async def adk_event_graph(
    adk: AdkDep, app_name: str, user_id: str, session_id: str, event_id: str, *, dark_mode: bool = False
) -> Response:
    """Return an app's graph with the agent and the tools of one event highlighted; `{}` for an unknown event."""
    session = await find_session(adk, app_name, user_id, session_id)
    event = next((one for one in session["events"] if one.get("id") == event_id), None)
    if event is None:
        return answer({})
    parts = parts_of(event)
    calls = (part.get("functionCall") or part.get("functionResponse") for part in parts)
    lit = {event.get("author"), *(call.get("name") for call in calls if call)}
    tree = await adk.ask(app_name, "tree")
    return answer({"dotSrc": dot_of(tree, lit={str(name) for name in lit}, dark=dark_mode)})


def _readme(app: App) -> str:
    try:
        return (app.folder / "README.md").read_text(encoding="utf-8", errors="replace")[:100_000]
    except OSError:
        return ""


# --- the graph in Graphviz' language (DOT), which google-adk's page draws ---------------------------------------------


_LIGHT = {"line": "#5f6368", "text": "#202124", "lit": "#0f5223", "lit_text": "#ffffff"}
_DARK = {"line": "#9aa0a6", "text": "#e8eaed", "lit": "#81c995", "lit_text": "#202124"}


def dot_of(tree: Json, *, lit: Collection[str] = (), dark: bool = False) -> str:
    """Return the graph of the agent `tree`; the names in `lit` are highlighted."""
    colors = _DARK if dark else _LIGHT
    head = (
        f'  bgcolor="transparent" rankdir=LR\n  node [color="{colors["line"]}" fontcolor="{colors["text"]}"]'
    )
    edge = f'  edge [color="{colors["line"]}" arrowhead=none]'
    return "\n".join(["digraph agents {", head, edge, *_lines(tree, lit, colors), "}"])


def node_at(tree: Json, path: str) -> Json | None:
    """Return an agent by its path (`root/planner`); empty: the root; `None`: there is no such agent."""
    agent = tree
    for step in [step for step in path.split("/") if step and step != tree["name"]]:
        below = next((one for one in agent["sub_agents"] if one["name"] == step), None)
        if below is None:
            return None
        agent = below
    return agent


def _lines(node: Json, lit: Collection[str], colors: dict[str, str]) -> Iterator[str]:
    yield _box(node["name"], "ellipse", lit, colors)
    for tool in node["tools"]:
        yield _box(str(tool["name"]), "box", lit, colors)
        yield f"  {_quote(node['name'])} -> {_quote(str(tool['name']))}"
    for below in node["sub_agents"]:
        yield from _lines(below, lit, colors)
        yield f"  {_quote(node['name'])} -> {_quote(below['name'])}"


def _box(name: str, shape: str, lit: Collection[str], colors: dict[str, str]) -> str:
    on = f' style="rounded,filled" fillcolor="{colors["lit"]}" fontcolor="{colors["lit_text"]}"'
    off = ' style="rounded"' if shape == "box" else ""
    return f"  {_quote(name)} [shape={shape}{on if name in lit else off}]"


def _quote(name: str) -> str:
    """Quote a name for DOT, in which only quotes and backslashes are special."""
    return json.dumps(name, ensure_ascii=False)
