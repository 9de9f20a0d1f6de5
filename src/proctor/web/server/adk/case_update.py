"""Merge a case that a client sends with the case in the file.

google-adk's page sends only four fields of a case, and its server then loses the others. Here a field that a request does
not mention is kept. The rules:

* a field of the request replaces that of the file; `null` removes it;
* a field that is not mentioned stays: `rubrics`, `finalSessionState`, `conversationScenario`, custom keys;
* a conversation replaces a scenario and vice versa; but an empty `conversation` does not replace a scenario, because the
  page sends nothing else for one;
* an existing turn (by its `invocationId`) keeps the fields that are not mentioned, except the answer and the tool calls: a
  turn without these expects none;
* an empty list of calls is not written if the turn had none, because the server sends an absent list as an empty one;
* the page's own marks in events (`invocationIndex`, `toolUseIndex`) are removed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from proctor.agents.chat_host import Json
from proctor.errors import SetupError
from proctor.files.eval_sets.case_reader import read_case
from proctor.schema.format.case import EvalCase
from proctor.schema.format.wire_model import to_camel
from proctor.schema.serialize import to_adk_json

_CONVERSATION, _SCENARIO, _OPENING = "conversation", "conversation_scenario", "opening"
_KNOWN = {spelling: name for name in EvalCase.model_fields for spelling in (name, to_camel(name))}
_STATED_BY_ABSENCE = frozenset(("final_response", "finalResponse", "intermediate_data", "intermediateData"))
_MARKS_OF_THE_PAGE = ("invocationIndex", "toolUseIndex")


def merged_case(before: Mapping[str, Any], sent: Json) -> Json:
    """Return the new content of a case with `before`, in the file's spelling of each key.

    Raises:
        pydantic.ValidationError: the result is not a valid case.
        SetupError: a field is sent in both spellings.
    """
    _require_each_once(sent)
    stated = {_KNOWN.get(key, key): value for key, value in sent.items()}
    had = {_KNOWN.get(key, key): key for key in before}
    _choose_form(stated, had)
    whole = {_KNOWN.get(key, key): value for key, value in before.items()} | stated
    if stated.get(_CONVERSATION):
        whole[_CONVERSATION] = _turns(stated[_CONVERSATION], before.get(had.get(_CONVERSATION, ""), None))
    written = _to_json(EvalCase.model_validate(whole))
    was, merged = _to_json(read_case(before)[0]), dict(before)
    for name in stated:
        key = had.get(name, name)
        if written.get(name) == was.get(name):
            continue  # equal, perhaps in another spelling
        if name in written:
            merged[key] = written[name]
        else:
            merged.pop(key, None)
    return merged


def _require_each_once(sent: Json) -> None:
    for name in EvalCase.model_fields:
        if name != to_camel(name) and name in sent and to_camel(name) in sent:
            raise SetupError(f"expected {name} once, got it in both spellings ({name} and {to_camel(name)})")


def _to_json(case: EvalCase) -> Json:
    document: Json = json.loads(to_adk_json(case, keep_written=True))
    return document


def _choose_form(stated: Json, had: Mapping[str, str]) -> None:
    """Keep either the conversation or the scenario."""
    if stated.get(_CONVERSATION) and not stated.get(_SCENARIO):
        for name in (_SCENARIO, _OPENING):
            if name in had:
                stated.setdefault(name, None)
    elif stated.get(_SCENARIO) and _CONVERSATION in had:
        stated.setdefault(_CONVERSATION, None)
    elif _SCENARIO in had and _CONVERSATION in stated and _SCENARIO not in stated:
        del stated[_CONVERSATION]  # it is empty


def _turns(sent: object, before: Any) -> object:
    """Return the turns of the request, each with the fields of the file that it does not mention."""
    if not isinstance(sent, list):
        return sent
    old = {_id(turn): turn for turn in before or () if isinstance(turn, Mapping) and _id(turn)}
    return [_turn(turn, old.get(_id(turn), {})) if isinstance(turn, Mapping) else turn for turn in sent]


def _turn(sent: Mapping[str, Any], before: Mapping[str, Any]) -> Json:
    mentioned = {spelling for key in sent for spelling in (key, to_camel(key))}
    kept = {
        key: value
        for key, value in before.items()
        if key not in _STATED_BY_ABSENCE and to_camel(key) not in mentioned
    }
    sent = {key: _without_marks(value) for key, value in sent.items()}
    return {**kept, **{key: _without_unstated_calls(key, value, before) for key, value in sent.items()}}


def _without_unstated_calls(key: str, value: object, before: Mapping[str, object]) -> object:
    """Remove an empty list of calls from the data of a turn if the file states none."""
    had = before.get("intermediate_data", before.get("intermediateData"))
    if key not in {"intermediate_data", "intermediateData"} or not isinstance(value, dict):
        return value
    if not isinstance(had, dict) or any(had.get(name) is not None for name in _CALLS):
        return value
    return {name: item for name, item in value.items() if name not in _CALLS or item}


_CALLS = frozenset(("toolUses", "tool_uses"))


def _without_marks(value: object) -> object:
    """Remove the page's own marks from the expectations of a turn."""
    if isinstance(value, dict):
        return {
            key: [_without_mark(item) for item in items]
            if key in _LISTS and isinstance(items, list)
            else items
            for key, items in value.items()
        }
    return value


_LISTS = frozenset(("invocationEvents", "invocation_events", "toolUses", "tool_uses"))


def _without_mark(one: object) -> object:
    if not isinstance(one, dict):
        return one
    return {key: value for key, value in one.items() if key not in _MARKS_OF_THE_PAGE}


def _id(turn: Mapping[str, Any]) -> str:
    return str(turn.get("invocation_id") or turn.get("invocationId") or "")
