"""Messages that are spelled by an attribute for each part, as OpenInference and OpenLLMetry have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from proctor.files.traces.messages import Message, listed, read_message


def unflattened(attributes: Mapping[str, Any], prefix: str) -> list[Any] | None:
    """Return the list that `prefix.0.x`, `prefix.1.y` … spell; `None` where there is none of these."""
    tree: dict[str, Any] = {}
    for name, value in attributes.items():
        if name.startswith(f"{prefix}."):
            _plant(tree, name[len(prefix) + 1 :].split(".")[:_DEEPEST], value)
    return _as_lists(tree, 0) if tree and _is_list(tree) else None


_DEEPEST = 12


def _plant(tree: dict[str, Any], steps: list[str], value: Any) -> None:
    for step in steps[:-1]:
        below = tree.setdefault(step, {})
        if not isinstance(below, dict):
            return  # two attributes that contradict each other
        tree = below
    tree.setdefault(steps[-1], value)


def _is_list(tree: dict[str, Any]) -> bool:
    return all(key.isascii() and key.isdigit() and len(key) < _DEEPEST for key in tree)


def _as_lists(tree: Any, depth: int) -> Any:
    if not isinstance(tree, dict) or depth > _DEEPEST or not tree:
        return tree
    if _is_list(tree):
        return list(_items(tree, depth))
    return {key: _as_lists(value, depth + 1) for key, value in tree.items()}


def _items(tree: dict[str, Any], depth: int) -> Iterator[Any]:
    """The items of a list, in order, and one `None` for those that are missing before an item."""
    before = -1
    for key in sorted(tree, key=int):
        if int(key) > before + 1:
            yield None
        before = int(key)
        yield _as_lists(tree[key], depth + 1)


def has_gaps(unflat: Any) -> bool:
    """Whether an item is missing in a list that was spelled by attributes, however deep."""
    inner = unflat.values() if isinstance(unflat, dict) else unflat if isinstance(unflat, list) else ()
    return any(one is None or has_gaps(one) for one in inner)


def of_openinference(given: Iterable[Any]) -> list[Message]:
    """Read OpenInference's messages: `message.content`, `message.tool_calls.0.tool_call.function.name` …"""
    found = []
    for one in given:
        inner = one.get("message") if isinstance(one, dict) else None
        stated: dict[str, Any] = dict(inner) if isinstance(inner, dict) else {}
        contents = stated.pop("contents", None)
        if contents and not stated.get("content"):
            parts = [part.get("message_content") for part in listed(contents) if isinstance(part, dict)]
            stated["content"] = [{**part, "type": _kind(part)} for part in parts if isinstance(part, dict)]
        found.append(read_message(stated))
    return found


def _kind(part: Mapping[str, Any]) -> str:
    return "text" if "text" in part else "image_url"
