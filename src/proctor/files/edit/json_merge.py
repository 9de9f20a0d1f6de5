"""A value of a JSON text becomes another one, piece by piece: what is the same in both keeps its bytes, comments and layout."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from proctor.files.edit.json_edit import JsonEdit, JsonNode


def change_value(edit: JsonEdit, node: JsonNode, value: Any) -> None:
    """Make the value at `node` say `value`; what is equal is not touched, and the order of keys stays."""
    if same_json(edit.value(node), value):
        return
    if node.members and isinstance(value, dict) and not node.members.keys().isdisjoint(value):
        _change_object(edit, node, value)
    elif node.items and isinstance(value, list) and value:
        _change_list(edit, node, value)
    else:
        edit.replace(node, value)


def same_json(one: Any, other: Any) -> bool:
    """Whether two values are the same in JSON, whatever the order of keys: `true` is not 1, and 1 is not 1.0."""
    return _told(one) == _told(other)


def _told(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


# --- objects -----------------------------------------------------------------------------------------------------------


def _change_object(edit: JsonEdit, node: JsonNode, value: dict[str, Any]) -> None:
    members = node.members or {}
    for key, member in members.items():
        if key in value:
            change_value(edit, member, value[key])
    stays = [key for key in members if key in value]
    after = stays[-1]
    for key, new in value.items():
        if key in members:
            after = key
        else:
            edit.put(node, key, new, after=after)
    for start, end in _gone(node, value):
        edit.remove_text(start, end)


def _gone(node: JsonNode, value: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """Where the members stand that go: with the comma before them, or, ahead of all that stay, with the one behind."""
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
    old, new = [_told(edit.value(item)) for item in items], [_told(item) for item in value]
    left = _left_out(old, new)
    if left and len(left) < len(old):
        edit.remove_items(node, left)
    elif len(new) >= len(old) and _stay_in_place(old, new):
        for item, changed in zip(items, value, strict=False):
            change_value(edit, item, changed)
        edit.append(node, value[len(items) :])
    else:
        edit.replace_items(node, list(_texts(edit, node, value)))


def _stay_in_place(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether what is in both lists has the same places in both: nothing was moved, or put between."""
    same = sum(one == other for one, other in zip(old, new, strict=False))
    return same == (Counter(old) & Counter(new)).total()


def _left_out(old: Sequence[str], new: Sequence[str]) -> set[int] | None:
    """The items that `new` leaves out of `old`; `None` where it is not what remains of it."""
    left, wanted = set[int](), 0
    for index, told in enumerate(old):
        if wanted < len(new) and told == new[wanted]:
            wanted += 1
        else:
            left.add(index)
    return left if wanted == len(new) else None


def _texts(edit: JsonEdit, node: JsonNode, value: Sequence[Any]) -> Iterator[str]:
    """The text of every item of a list: its own where it was there before."""
    left: dict[str, list[JsonNode]] = {}
    for item in node.items or ():
        left.setdefault(_told(edit.value(item)), []).append(item)
    indent = edit.indent_at((node.items or [node])[0].start)
    one_line = "\n" not in edit.raw(node)
    for item in value:
        known = left.get(_told(item))
        yield edit.raw(known.pop(0)) if known else edit.render(item, indent, one_line=one_line)
