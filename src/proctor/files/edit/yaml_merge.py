"""A case of a YAML file becomes another one: entry by entry where the file has it in the short form, else as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from proctor.files.edit.yaml_edit import YamlEdit
from proctor.files.yaml.emitter import emit
from proctor.files.yaml.keys import CASE_KEYS, ONE_TURN_KEYS
from proctor.files.yaml.writer import write_case
from proctor.schema.format.case import EvalCase

Object = dict[str, Any]


def change_yaml_case(edit: YamlEdit, index: int, before: EvalCase, after: EvalCase) -> None:
    """Make the case at `index` say `after`; entries that say the same keep their bytes, comments and layout.

    Raises:
        EvalFileError: it shares its place with something else (an anchor, a line).
    """
    listed = edit.cases
    node = listed[index] if listed else edit.root
    old, new = write_case(before), write_case(after)
    there = [key.value for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
    old, new = _named_as(there, old), _named_as(there, new)
    if "turns" in there:
        old, new = _in_turns(old), _in_turns(new)
    if (
        "case" in old and "case" not in there and before.eval_id == after.eval_id
    ):  # named by its place, or by what is asked
        del old["case"], new["case"]
    stays = [key for key in there if key in new]
    if set(there) != set(old) or not stays:
        edit.replace_value(node, new)
        return
    behind = stays[0]
    for key, value in new.items():
        if key not in old:
            edit.put(node, key, value, after=behind)
            continue
        behind = key
        if emit({key: old[key]}) != emit({key: value}):
            edit.put(node, key, value, after=key, before=old[key])
    for key in there:
        if key not in new:
            edit.remove_entry(node, key)


_OTHERWISE = ("eval_id", "final_session_state", "trajectory_rules")
"""Fields that a case may have under several names, with the same value under each."""


def _named_as(there: Sequence[str], written: Object) -> Object:
    """What is written, under the names that the file has for it: `rules` for `trajectory_rules`."""
    names = {CASE_KEYS[key]: key for key in there if CASE_KEYS.get(key) in _OTHERWISE}
    return {names.get(CASE_KEYS.get(key, key), key): value for key, value in written.items()}


def _in_turns(written: Object) -> Object:
    """A case of one turn as a list of turns, as its file has it."""
    own = {key: value for key, value in written.items() if key in ONE_TURN_KEYS}
    if not own:
        return written
    folded: Object = {}
    for key, value in written.items():
        if key not in own:
            folded[key] = value
        elif "turns" not in folded:
            folded["turns"] = [own]
    return folded
