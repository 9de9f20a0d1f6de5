"""The head of a YAML set becomes another one, entry by entry: what says the same keeps its bytes, comments and layout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from proctor.errors import EvalFileError
from proctor.files.edit.yaml_edit import YamlEdit
from proctor.files.yaml.emitter import emit
from proctor.files.yaml.keys import EXTRA, SET_KEYS, known_key
from proctor.schema.format.eval_set import EvalSet

Object = dict[str, Any]

_CASES = "eval_cases"


def change_yaml_head(edit: YamlEdit, before: Object, after: Object, *, is_nested: bool) -> None:
    """Make the head of a set say `after`; both are in the words of the format.

    `is_nested`: keys of one's own stand under `extra`, as in the form for people, and not among those of the format.

    Raises:
        EvalFileError: the document is no set, or an entry shares its place with something else (an anchor, a line).
    """
    root = edit.root
    if not isinstance(root, yaml.MappingNode) or edit.case_list is root:
        raise EvalFileError(
            f"{edit.name}: these are cases without a set around them: it has no keys of its own. `proctor convert` makes "
            "it a set"
        )
    if not is_nested:
        _change_entries(edit, root, _spelled(root, before), _spelled(root, after))
        return
    old, own_old = _parted(before)
    new, own_new = _parted(after)
    _change_entries(edit, root, _spelled(root, old), _spelled(root, new))
    held = edit.at(root, EXTRA)
    if own_old and own_new and isinstance(held, yaml.MappingNode) and not held.flow_style:
        _change_entries(edit, held, own_old, own_new)
    elif own_old != own_new:
        both = [{EXTRA: own} if own else {} for own in (own_old, own_new)]
        _change_entries(edit, root, *both)


def _change_entries(edit: YamlEdit, node: yaml.MappingNode, old: Object, new: Object) -> None:
    """Change the entries of an object; `old` has those that are looked at, and all others stay."""
    there = [key.value for key, _ in node.value]
    stays = [key for key in there if key in new or key not in old]
    if not stays:
        raise EvalFileError(
            f"{edit.name}:{node.start_mark.line + 1}: no key of this object would stay as it is; change it by hand"
        )
    behind = _before_cases(stays)
    for key, value in new.items():
        if key in there and SET_KEYS.get(key) != _CASES:
            behind = key
        if key not in old or emit({key: old[key]}) != emit({key: value}):
            edit.put(node, key, value, after=behind, before=old.get(key))
    for key in there:
        if key in old and key not in new:
            edit.remove_entry(node, key)


def _before_cases(keys: list[str]) -> str:
    """The last entry ahead of the cases: a new one is better seen there than behind them."""
    places = (place for place, key in enumerate(keys) if SET_KEYS.get(key) == _CASES)
    return keys[max(0, next(places, len(keys)) - 1)]


def _parted(head: Mapping[str, Any]) -> tuple[Object, Object]:
    """The keys of the format, and those of one's own."""
    fields = dict.fromkeys(EvalSet.model_fields, "")
    known = {key: value for key, value in head.items() if known_key(key, fields)}
    return known, {key: value for key, value in head.items() if key not in known}


def _spelled(root: yaml.MappingNode, head: Object) -> Object:
    """A head under the keys by which the file has its entries, or would."""
    there = {SET_KEYS[known]: key.value for key, _ in root.value if (known := known_key(key.value, SET_KEYS))}
    taken = {key.value for key, _ in root.value}
    return {key if key in taken else there.get(key, key): value for key, value in head.items()}
