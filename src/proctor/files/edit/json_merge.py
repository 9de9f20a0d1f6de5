"""Change a value of a JSON text to another value; equal parts keep their bytes, comments and layout."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from proctor.files.edit.json_edit import JsonEdit, same_json
from proctor.files.text.json_tree import JsonNode


def change_value(edit: JsonEdit, node: JsonNode, value: Any) -> None:
    """Change the value at `node` to `value`; equal parts are unchanged, and keys keep their order."""
    if same_json(edit.value(node), value):
        return
    if node.members and isinstance(value, dict) and not node.members.keys().isdisjoint(value):
        _change_object(edit, node, value)
    elif node.items and isinstance(value, list) and value:
        _change_list(edit, node, value)
    else:
        edit.replace(node, value)


def _json_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


# --- objects -----------------------------------------------------------------------------------------------------------


def _change_object(edit: JsonEdit, node: JsonNode, value: dict[str, Any]) -> None:
    members = node.members or {}
    for key, member in members.items():
        if key in value:
            change_value(edit, member, value[key])
    after = [key for key in members if key in value][-1]
    for key, new in value.items():
        if key in members:
            after = key
        else:
            edit.put(node, key, new, after=after)
    for start, end in _removed_ranges(node, value):
        edit.remove_text(start, end)


def _removed_ranges(node: JsonNode, value: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """Return the ranges of the removed members, each with the comma before it, or with the next one at the beginning."""
    members = list((node.members or {}).items())
    first = next(index for index, (key, _) in enumerate(members) if key in value)
    for index, (key, member) in enumerate(members):
        if key in value:
            continue
        if index < first:
            yield node.keys[key], node.keys[members[index + 1][0]]
        else:
            yield members[index - 1][1].end, member.end


# --- lists -------------------------------------------------------------------------------------------------------------


def _change_list(edit: JsonEdit, node: JsonNode, value: list[Any]) -> None:
    items = node.items or []
    old, new = [_json_text(edit.value(item)) for item in items], [_json_text(item) for item in value]
    removed = _removed_items(old, new)
    if removed and len(removed) < len(old):
        edit.remove_items(node, removed)
    elif len(new) >= len(old) and _keep_positions(old, new):
        for item, changed in zip(items, value, strict=False):
            change_value(edit, item, changed)
        edit.append(node, value[len(items) :])
    else:
        edit.replace_items(node, list(_texts(edit, node, value)))


def _keep_positions(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether common items have the same positions in both lists: nothing was moved or inserted."""
    same = sum(before == after for before, after in zip(old, new, strict=False))
    return same == (Counter(old) & Counter(new)).total()


def _removed_items(old: Sequence[str], new: Sequence[str]) -> set[int] | None:
    """Return the indexes of the removed items if `new` is `old` without some items, else `None`."""
    removed, matched = set[int](), 0
    for index, text in enumerate(old):
        if matched < len(new) and text == new[matched]:
            matched += 1
        else:
            removed.add(index)
    return removed if matched == len(new) else None


def _texts(edit: JsonEdit, node: JsonNode, value: Sequence[Any]) -> Iterator[str]:
    """Return the text of every item of a list; an item that was there before keeps its text."""
    unused: dict[str, list[JsonNode]] = {}
    for item in node.items or ():
        unused.setdefault(_json_text(edit.value(item)), []).append(item)
    indent = edit.indent_at((node.items or [node])[0].start)
    one_line = "\n" not in edit.raw(node)
    for item in value:
        known = unused.get(_json_text(item))
        yield edit.raw(known.pop(0)) if known else edit.render(item, indent, one_line=one_line)
