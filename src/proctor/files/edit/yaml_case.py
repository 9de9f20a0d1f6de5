"""Change a case of a YAML file: to another case, or to what an agent did as its new expectation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from proctor.errors import EvalFileError
from proctor.files.edit.bless import (
    key_of_turns,
    new_final_state,
    same_calls,
    same_responses,
    same_text,
    turns_to_bless,
)
from proctor.files.edit.yaml_edit import YamlEdit, entry_keys
from proctor.files.yaml.object_reader import CASE_KEYS, ONE_TURN_KEYS
from proctor.files.yaml.writer import emit, write_case, write_turn
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import FunctionCall, FunctionResponse, text_content, text_of
from proctor.schema.format.invocation import IntermediateData, Invocation

Object = dict[str, Any]

_BEFORE = {
    "tools": ("ask",),
    "tool_responses": ("tools", "ask"),
    "expect": ("tool_responses", "tools", "ask"),
}
"""The keys of a turn that may change, each with the keys after which a new one is inserted."""


def bless_yaml_case(
    edit: YamlEdit,
    node: yaml.Node,
    case: EvalCase,
    actual: Sequence[Invocation],
    final_state: Mapping[str, object] | None = None,
) -> None:
    """Edit the case at `node` so that it expects the `actual` turns. See `bless_case`.

    Raises:
        EvalFileError: the case has other turns, or its form cannot be edited in place.
    """
    turns = edit.at(node, "turns") or edit.at(node, key_of_turns(case))
    turn_nodes = turns.value if isinstance(turns, yaml.SequenceNode) else [node]
    for index, expected, turn in turns_to_bless(case, actual):
        before, after = write_turn(expected), write_turn(_bless_turn(expected, turn))
        _write(edit, turn_nodes[index], before, after, case.eval_id)
    _write_state(edit, node, case, final_state)


def _write(edit: YamlEdit, node: yaml.Node, before: Object, after: Object, eval_id: str) -> None:
    for key, predecessors in _BEFORE.items():
        if key not in after or (key in before and emit(before[key]) == emit(after[key])):
            continue
        last = next((other for other in predecessors if edit.at(node, other) is not None), None)
        if last is None or (key in before and edit.at(node, key) is None):
            raise EvalFileError(
                f"{eval_id}: a turn in the long form cannot be edited in place: edit it by hand, or as JSON"
            )
        edit.put(node, key, after[key], after=last, before=before.get(key))


def _bless_turn(expected: Invocation, actual: Invocation) -> Invocation:
    """Return the expected turn with everything that differs taken from the actual one."""
    changed: Object = {}
    if not same_text(expected, actual):
        role = (expected.final_response and expected.final_response.role) or "model"
        text = text_of(actual.final_response, thoughts=False)
        changed["final_response"] = text_content(text, role)
    if not (same_calls(expected, actual) and same_responses(expected, actual)):
        changed["intermediate_data"] = IntermediateData(
            tool_uses=[FunctionCall(name=call.name, args=call.args or {}) for call in actual.tool_calls],
            tool_responses=_responses(actual) if expected.tool_responses else [],
            intermediate_responses=getattr(expected.intermediate_data, "intermediate_responses", []),
        )
    return expected.model_copy(update=changed)


def _responses(actual: Invocation) -> list[FunctionResponse]:
    return [FunctionResponse(name=each.name, response=each.response) for each in actual.tool_responses]


def _write_state(
    edit: YamlEdit, node: yaml.Node, case: EvalCase, final_state: Mapping[str, object] | None
) -> None:
    if not case.final_session_state or final_state is None:
        return
    state = new_final_state(case, final_state)
    if state != case.final_session_state:
        after = write_case(case.model_copy(update={"final_session_state": state}))["final_state"]
        edit.put(node, "final_state", after, after="final_state", before=write_case(case)["final_state"])


# --- another case ------------------------------------------------------------------------------------------------------


def change_yaml_case(edit: YamlEdit, index: int, before: EvalCase, after: EvalCase) -> None:
    """Change the case at `index` to `after`; equal entries keep their bytes, comments and layout.

    Raises:
        EvalFileError: the case shares an anchor or a line with something else.
    """
    cases = edit.cases
    node = cases[index] if cases else edit.root
    present = entry_keys(node)
    old, new = _with_keys_of(present, write_case(before)), _with_keys_of(present, write_case(after))
    has_derived_id = "case" in old and "case" not in present
    if has_derived_id and before.eval_id == after.eval_id:
        del old["case"], new["case"]
    remaining = [key for key in present if key in new]
    if set(present) != set(old) or not remaining:
        edit.replace_value(node, new)
        return
    _change_entries(edit, node, old, new, remaining[0])
    edit.keep_entries(node, remaining)


def _change_entries(edit: YamlEdit, node: yaml.Node, old: Object, new: Object, first: str) -> None:
    """Write the new and the changed entries of a case; new ones follow the entry before them, or `first`."""
    last = first
    for key, value in new.items():
        if key not in old:
            edit.put(node, key, value, after=last)
            continue
        last = key
        if emit({key: old[key]}) != emit({key: value}):
            edit.put(node, key, value, after=key, before=old[key])


_ALIASED_FIELDS = ("eval_id", "final_session_state", "trajectory_rules")
"""Fields that have several names, with the same value under each."""


def _with_keys_of(present: Sequence[str], entries: Object) -> Object:
    """Return the entries of a case under the names that the file uses: `rules` for `trajectory_rules`."""
    names = {CASE_KEYS[key]: key for key in present if CASE_KEYS.get(key) in _ALIASED_FIELDS}
    entries = {names.get(CASE_KEYS.get(key, key), key): value for key, value in entries.items()}
    return _as_turns(entries) if "turns" in present else entries


def _as_turns(entries: Object) -> Object:
    """Return a case of one turn with a list of turns."""
    turn = {key: value for key, value in entries.items() if key in ONE_TURN_KEYS}
    if not turn:
        return entries
    folded: Object = {}
    for key, value in entries.items():
        if key not in turn:
            folded[key] = value
        elif "turns" not in folded:
            folded["turns"] = [turn]
    return folded
