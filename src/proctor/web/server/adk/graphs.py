"""An app's agents and tools as a graph, in the language of Graphviz (DOT), which google-adk's page draws."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

from proctor.agents.chat_host import Json

_LIGHT = {"line": "#5f6368", "text": "#202124", "lit": "#0f5223", "lit_text": "#ffffff"}
_DARK = {"line": "#9aa0a6", "text": "#e8eaed", "lit": "#81c995", "lit_text": "#202124"}


def dot_of(tree: Json, *, lit: Collection[str] = (), dark: bool = False) -> str:
    """Return the graph of the agent `tree`; the names in `lit` stand out."""
    colors = _DARK if dark else _LIGHT
    head = (
        f'  bgcolor="transparent" rankdir=LR\n  node [color="{colors["line"]}" fontcolor="{colors["text"]}"]'
    )
    edge = f'  edge [color="{colors["line"]}" arrowhead=none]'
    return "\n".join(["digraph agents {", head, edge, *_lines(tree, lit, colors), "}"])


def node_at(tree: Json, path: str) -> Json | None:
    """Return an agent by the names on the way to it (`root/planner`); empty: the root. `None`: there is none."""
    found = tree
    for step in [step for step in path.split("/") if step and step != tree["name"]]:
        below = next((one for one in found["sub_agents"] if one["name"] == step), None)
        if below is None:
            return None
        found = below
    return found


def _lines(node: Json, lit: Collection[str], colors: dict[str, str]) -> Iterator[str]:
    yield _box(node["name"], "ellipse", lit, colors)
    for tool in node["tools"]:
        yield _box(str(tool["name"]), "box", lit, colors)
        yield f"  {_quoted(node['name'])} -> {_quoted(str(tool['name']))}"
    for below in node["sub_agents"]:
        yield from _lines(below, lit, colors)
        yield f"  {_quoted(node['name'])} -> {_quoted(below['name'])}"


def _box(name: str, shape: str, lit: Collection[str], colors: dict[str, str]) -> str:
    on = f' style="rounded,filled" fillcolor="{colors["lit"]}" fontcolor="{colors["lit_text"]}"'
    off = ' style="rounded"' if shape == "box" else ""
    return f"  {_quoted(name)} [shape={shape}{on if name in lit else off}]"


def _quoted(name: str) -> str:
    """A name as DOT has it: only quotes and backslashes mean something in it."""
    return json.dumps(name, ensure_ascii=False)
