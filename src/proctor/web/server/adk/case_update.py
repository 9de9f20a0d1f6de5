"""A case that a client sends back: what it says, and of what it cannot know what was there.

google-adk's page sends four fields of a case and no others, and its server then forgets the others. Here a field that
a request does not mention is kept. The rule:

* a field of the case that is mentioned is as it is sent; `null` takes it out;
* one that is not mentioned stays: `rubrics`, `finalSessionState`, `conversationScenario`, keys of one's own;
* of the two forms of a case, the one that is sent takes the place of the other; a `conversation` that is empty does
  not take the place of a scenario, for the page has nothing else to send for one;
* a turn that was there before (by its `invocationId`) keeps what is not mentioned of it, but for the answer and the
  tool calls: a turn that is sent without these is one that expects none;
* an empty list of calls is not written where the turn had none: it is how the server sends an absent one;
* the page's own marks in events (`invocationIndex`, `toolUseIndex`) are left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from proctor.agents.chat_host import Json
from proctor.errors import SetupError
from proctor.files.eval_sets.case_reader import read_case
from proctor.schema.format.adk_json import to_adk_json
from proctor.schema.format.case import EvalCase
from proctor.schema.format.wire_model import to_camel

_CONVERSATION, _SCENARIO, _OPENING = "conversation", "conversation_scenario", "opening"
_KNOWN = {spelling: name for name in EvalCase.model_fields for spelling in (name, to_camel(name))}
_STATED_BY_ABSENCE = frozenset(("final_response", "finalResponse", "intermediate_data", "intermediateData"))
_MARKS_OF_THE_PAGE = ("invocationIndex", "toolUseIndex")


def merged_case(before: Mapping[str, Any], sent: Json) -> Json:
    """Return the case that a file with `before` is to have, in the file's spelling of each key.

    Raises:
        pydantic.ValidationError: it would be no case.
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
            continue  # it says the same, perhaps in other words
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
    """Of a conversation and a scenario one stands."""
    if stated.get(_CONVERSATION) and not stated.get(_SCENARIO):
        for name in (_SCENARIO, _OPENING):
            if name in had:
                stated.setdefault(name, None)
    elif stated.get(_SCENARIO) and _CONVERSATION in had:
        stated.setdefault(_CONVERSATION, None)
    elif _SCENARIO in had and _CONVERSATION in stated and _SCENARIO not in stated:
        del stated[_CONVERSATION]  # an empty one


def _turns(sent: Any, before: Any) -> Any:
    """The turns that are sent, each with what was there of it and is not mentioned."""
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


def _without_unstated_calls(key: str, value: Any, before: Mapping[str, Any]) -> Any:
    """Return the data of a turn without the empty list of calls that the server sends where the file states none."""
    had = before.get("intermediate_data", before.get("intermediateData"))
    is_data = key in {"intermediate_data", "intermediateData"} and isinstance(value, dict)
    if not is_data or not isinstance(had, dict) or any(had.get(name) is not None for name in _CALLS):
        return value
    return {name: item for name, item in value.items() if name not in _CALLS or item}


_CALLS = frozenset(("toolUses", "tool_uses"))


def _without_marks(value: Any) -> Any:
    """What is expected in a turn, without what the page notes in it for itself."""
    if isinstance(value, dict):
        return {
            key: [_without_mark(one) for one in found] if key in _LISTS and isinstance(found, list) else found
            for key, found in value.items()
        }
    return value


_LISTS = frozenset(("invocationEvents", "invocation_events", "toolUses", "tool_uses"))


def _without_mark(one: Any) -> Any:
    if not isinstance(one, dict):
        return one
    return {key: value for key, value in one.items() if key not in _MARKS_OF_THE_PAGE}


def _id(turn: Mapping[str, Any]) -> str:
    return str(turn.get("invocation_id") or turn.get("invocationId") or "")
