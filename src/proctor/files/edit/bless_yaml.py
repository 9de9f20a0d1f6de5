"""What an agent did, written into a case of a YAML file as what is expected of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from proctor.errors import EvalFileError
from proctor.files.edit.bless import (
    key_of_turns,
    same_answers,
    same_calls,
    same_text,
    state_that_came,
    stated_turns,
)
from proctor.files.edit.yaml_edit import YamlEdit
from proctor.files.yaml.emitter import emit
from proctor.files.yaml.writer import write_case, write_turn
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content, FunctionCall, FunctionResponse, text_content, text_of
from proctor.schema.format.invocation import IntermediateData, Invocation

_BEFORE = {
    "tools": ("ask",),
    "tool_responses": ("tools", "ask"),
    "expect": ("tool_responses", "tools", "ask"),
}
"""The keys of a turn that may change, each with those that it stands behind when it is new."""


def bless_yaml_case(
    edit: YamlEdit,
    node: yaml.Node,
    case: EvalCase,
    actual: Sequence[Invocation],
    final_state: Mapping[str, Any] | None = None,
) -> None:
    """Change the case at `node` so that it expects the `actual` turns. As `bless_case`.

    Raises:
        EvalFileError: the case has other turns, or is written in a form that cannot be changed in place.
    """
    listed = edit.at(node, "turns") or edit.at(node, key_of_turns(case))
    places = listed.value if isinstance(listed, yaml.SequenceNode) else [node]
    for place, expected, made in stated_turns(case, actual):
        _write(edit, places[place], write_turn(expected), write_turn(_blessed(expected, made)), case.eval_id)
    _write_state(edit, node, case, final_state)


def _write(
    edit: YamlEdit, place: yaml.Node, before: dict[str, Any], after: dict[str, Any], eval_id: str
) -> None:
    for key, behind in _BEFORE.items():
        if key not in after or (key in before and emit(before[key]) == emit(after[key])):
            continue
        last = next((other for other in behind if edit.at(place, other) is not None), None)
        if last is None or (key in before and edit.at(place, key) is None):
            raise EvalFileError(f"{eval_id}: a turn in the format's own words is changed by hand, or as JSON")
        edit.put(place, key, after[key], after=last, before=before.get(key))


def _blessed(expected: Invocation, actual: Invocation) -> Invocation:
    """The turn with what the agent did in the place of what was expected, where it differs."""
    changed: dict[str, Any] = {}
    if not same_text(expected, actual):
        old = expected.final_response
        changed["final_response"] = _said(actual, (old and old.role) or "model")
    if not (same_calls(expected, actual) and same_answers(expected, actual)):
        changed["intermediate_data"] = IntermediateData(
            tool_uses=[FunctionCall(name=call.name, args=call.args or {}) for call in actual.tool_calls],
            tool_responses=_answers(actual) if expected.tool_responses else [],
            intermediate_responses=getattr(expected.intermediate_data, "intermediate_responses", []),
        )
    return expected.model_copy(update=changed)


def _said(actual: Invocation, role: str) -> Content:
    return text_content(text_of(actual.final_response, thoughts=False), role)


def _answers(actual: Invocation) -> list[FunctionResponse]:
    return [FunctionResponse(name=one.name, response=one.response) for one in actual.tool_responses]


def _write_state(
    edit: YamlEdit, node: yaml.Node, case: EvalCase, final_state: Mapping[str, Any] | None
) -> None:
    if not case.final_session_state or final_state is None:
        return
    came = state_that_came(case, final_state)
    if came != case.final_session_state:
        written = write_case(case.model_copy(update={"final_session_state": came}))["final_state"]
        edit.put(node, "final_state", written, after="final_state", before=write_case(case)["final_state"])
