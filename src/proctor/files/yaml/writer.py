"""Write eval sets as YAML: in the short form where it loses nothing, in the long form elsewhere.

`emit` writes plain data.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import yaml

from proctor.files.yaml.call_syntax import write_call
from proctor.files.yaml.nodes import is_text
from proctor.files.yaml.object_reader import (
    CALL_KEYS,
    EXPECTATION_KEYS,
    EXTRA,
    RUBRIC_TYPE,
    SCENARIO_KEYS,
    SESSION_KEYS,
    known_key,
)
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.invocation import Invocation, InvocationEvents
from proctor.schema.format.persona import find_persona, persona_ids
from proctor.schema.format.rubric import stable_rubric_id
from proctor.schema.format.wire_model import WireModel
from proctor.schema.serialize import to_adk_json

Object = dict[str, Any]

_SHORT_FLOW = 88  # the most characters of an object of plain values that is written on one line


def write_yaml(eval_set: EvalSet) -> str:
    """Return the text of a YAML file that reads as the same set."""
    document: Object = json.loads(to_adk_json(eval_set, keep_written=True))
    _restore_what_json_omits(eval_set.eval_cases, document["eval_cases"])
    written: Object = {"eval_set": document.pop("eval_set_id")}
    cases = document.pop("eval_cases")
    _write_rest(written, document, EvalSet)
    extra = written.pop(EXTRA, None)
    written["cases"] = [_case(case) for case in cases]
    if extra is not None:
        written[EXTRA] = extra
    return emit(written)


def write_case(case: EvalCase) -> Object:
    """Return one case, to be emitted as an item of `cases`."""
    document: Object = json.loads(to_adk_json(case, keep_written=True))
    _restore_what_json_omits([case], [document])
    return _case(document)


def _restore_what_json_omits(cases: list[EvalCase], documents: list[Object]) -> None:
    """Restore values that ADK's JSON omits: empty intermediate data of either form, and a final state of null."""
    for case, written in zip(cases, documents, strict=True):
        if case.final_session_state is None:
            written["final_session_state"] = None
        for name, turns in (("conversation", case.conversation), ("opening", case.opening)):
            for index, turn in enumerate(turns or ()):
                if isinstance(turn.intermediate_data, InvocationEvents):
                    written[name][index]["intermediate_data"].setdefault("invocation_events", [])


def _write_rest(written: Object, rest: Object, model: type[WireModel], also: tuple[str, ...] = ()) -> None:
    """Write values without a short form: fields of the format under their names, custom keys under `extra`."""
    fields = dict.fromkeys((*model.model_fields, *also), "")
    custom = {key: value for key, value in rest.items() if known_key(key, fields) is None}
    written.update({key: value for key, value in rest.items() if key not in custom})
    if custom:
        written[EXTRA] = custom


# --- cases -------------------------------------------------------------------------------------------------------------


def _case(case: Object) -> Object:
    rest = dict(case)
    written: Object = {"case": rest.pop("eval_id")}
    if _is_text_list(rest.get("tags")):
        written["tags"] = Flow(rest.pop("tags"))
    if (session := _session(rest.get("session_input"))) is not None:
        del rest["session_input"]
        written.update(session)
    if rest.get("opening"):
        written["opening"] = [_opening_turn(_turn(turn)) for turn in rest.pop("opening")]
    _write_conversation(written, rest)
    if "rubrics" in rest:
        written["rubrics"] = _rubrics(rest.pop("rubrics"))
    if rest.get("final_session_state") is not None:
        written["final_state"] = _on_one_line(rest.pop("final_session_state"))
    _write_expectations(written, rest)
    _write_rest(written, rest, EvalCase)
    return written


def _opening_turn(turn: Object) -> Object | str:
    """Return a turn of an opening as a text if it contains only a user message of one text."""
    ask = turn.get("ask")
    return ask if isinstance(ask, str) and len(turn) == 1 else turn


def _write_expectations(written: Object, rest: Object) -> None:
    for name in EXPECTATION_KEYS:
        has_calls = name != "response_schema"  # a text with a parenthesis would be read as a call
        if rest.get(name) and not (has_calls and "(" in json.dumps(rest[name])):
            written[name] = rest.pop(name)


def _is_text_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _session(session: object) -> Object | None:
    if not isinstance(session, dict) or not session.keys() <= {*SESSION_KEYS.values()}:
        return None
    short = {key: session[name] for key, name in SESSION_KEYS.items() if name in session}
    for key in ("app", "user"):
        if short.get(key) == "":
            del short[key]
    if "state" in short:
        short["state"] = _on_one_line(short["state"])
    return short or {"state": Flow({})}


def _write_conversation(written: Object, rest: Object) -> None:
    turns, scenario = rest.get("conversation"), rest.get("conversation_scenario")
    if isinstance(scenario, dict) and scenario.keys() <= {*SCENARIO_KEYS.values()}:
        del rest["conversation_scenario"]
        written.update(_scenario(scenario))
    elif isinstance(turns, list):
        del rest["conversation"]
        only = _turn(turns[0]) if len(turns) == 1 else {}
        if only and only.keys().isdisjoint({"rubrics", "creation_timestamp", EXTRA}):
            written.update(only)
        else:
            written["turns"] = [_turn(turn) for turn in turns]


def _scenario(scenario: Object) -> Object:
    written = {key: scenario[name] for key, name in SCENARIO_KEYS.items() if name in scenario}
    if "persona" in written:
        written["persona"] = _persona(written["persona"])
    return written


def _persona(persona: Object) -> Any:
    known = persona.get("id")
    if known in persona_ids() and find_persona(known).model_dump(mode="json", exclude_none=True) == persona:
        return known
    return persona


# --- turns -------------------------------------------------------------------------------------------------------------


def _turn(turn: Object) -> Object:
    rest = dict(turn)
    written: Object = {}
    if "invocation_id" in rest:
        written["invocation_id"] = rest.pop("invocation_id")
    _write_message(written, "ask", "user_content", rest, "user")
    data = rest.get("intermediate_data")
    if isinstance(data, dict) and (short := _intermediate(data)) is not None:
        del rest["intermediate_data"]
        written.update(short)
    _write_message(written, "expect", "final_response", rest, "model")
    if "rubrics" in rest:
        written["rubrics"] = _rubrics(rest.pop("rubrics"))
    _write_rest(written, rest, Invocation)
    return written


def _write_message(written: Object, key: str, name: str, rest: Object, role: str) -> None:
    """Write a message of one text as that text, and any other message in the long form."""
    content = rest.get(name)
    if not isinstance(content, dict) or "parts" not in content:
        return
    del rest[name]
    parts = content["parts"]
    text = parts[0].get("text") if len(parts) == 1 else None
    is_short = text is not None and content == {"parts": [{"text": text}], "role": role}
    written[key] = text if is_short else content


def _intermediate(data: Object) -> Object | None:
    """Return the calls, responses and intermediate texts; `None` if only the long form can represent them."""
    known = ("tool_uses", "tool_responses", "intermediate_responses")
    calls = data.get("tool_uses", [])
    if not data or not data.keys() <= {*known} or any(not _has_short_call(call) for call in calls):
        return None
    short: Object = {}
    if "tool_uses" in data:
        short["tools"] = _calls(calls)
    if "tool_responses" in data:
        short["tool_responses"] = data["tool_responses"]
    if "intermediate_responses" in data:
        short["intermediate_responses"] = list(map(_intermediate_response, data["intermediate_responses"]))
    return short


def _has_short_call(call: Object) -> bool:
    """Whether the short form can represent a call: it has a name and only known keys."""
    return isinstance(call.get("name"), str) and call.keys() <= {*CALL_KEYS.values()} - {"function"}


def _calls(calls: list[Object]) -> list[Any] | Flow:
    written = [_call(call) for call in calls]
    on_one_line = len(written) < 2 and all(
        isinstance(call, str) and _plain_in_brackets(call) for call in written
    )
    return Flow(written) if on_one_line else written


def _call(call: Object) -> Any:
    if call.keys() == {"name", "args"}:
        text = write_call(call["name"], call["args"])
        if text is not None:
            return text
    return call


def _plain_in_brackets(call: str) -> bool:
    return len(call) <= _SHORT_FLOW and not any(sign in call for sign in ",[]{}\"'#")


def _intermediate_response(pair: Any) -> Any:
    """Return `["", [{"text": "…"}]]` as its text, and with an author as an object; else return the pair."""
    author, parts = pair
    if len(parts) != 1 or parts[0].keys() != {"text"}:
        return pair
    return {"author": author, "text": parts[0]["text"]} if author else parts[0]["text"]


# --- rubrics and states ------------------------------------------------------------------------------------------------


def _rubrics(rubrics: list[Object]) -> list[Any]:
    return [_rubric(rubric) for rubric in rubrics]


def _rubric(rubric: Object) -> Any:
    text = rubric["rubric_content"].get("text_property")
    if text is None or rubric["rubric_content"].keys() != {"text_property"}:
        return rubric
    if not rubric.keys() <= {"rubric_id", "rubric_content", "description", "type"} or "type" not in rubric:
        return rubric  # the short form has a type
    rest = {key: rubric[key] for key in ("description", "type") if key in rubric}
    if rest["type"] == RUBRIC_TYPE:
        del rest["type"]
    if not rest and rubric["rubric_id"] == stable_rubric_id(text):
        return text
    return {"id": rubric["rubric_id"], "text": text, **rest}


def _on_one_line(value: object) -> Any:
    """Return an object of a few plain values in a form that is written on one line."""
    if not isinstance(value, dict) or any(isinstance(item, dict | list) for item in value.values()):
        return value
    length = sum(len(key) + len(str(item)) + 4 for key, item in value.items())
    has_breaks = any(isinstance(item, str) and "\n" in item for item in value.values())
    return Flow(value) if length <= _SHORT_FLOW and not has_breaks else value


# --- plain data as YAML text that every version of YAML reads the same ------------------------------------------------


_WIDTH = 110
_OTHER_BREAKS = re.compile("[\r\x85\u2028\u2029\ufeff\t]")


class Flow:
    """A list or an object that is written on one line."""

    def __init__(self, value: Any) -> None:
        self.value = value


def emit(value: object) -> str:
    """Return the text of a document."""
    return _dump(value, _WIDTH, in_brackets=False)


def emit_on_one_line(value: object) -> str:
    """Return the text of a list or an object with all its parts in brackets."""
    return _dump(value, math.inf, in_brackets=True).rstrip()


def _dump(value: object, width: float, *, in_brackets: bool) -> str:
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=width,
        default_flow_style=in_brackets,
    )
    return text


def emit_alike(one: object, other: object) -> bool:
    """Whether `emit` returns the same text for two values; much faster than to write them."""
    return _outline(one) == _outline(other)


def _json_of(flow: Flow) -> Any:
    return {"\0flow": flow.value} if flow.value else flow.value  # an empty value is always on one line


_outline = json.JSONEncoder(default=_json_of).encode


class _Dumper(yaml.SafeDumper):
    """PyYAML's dumper, which quotes words that YAML 1.1 does not read as text; this one also quotes those of YAML 1.2."""

    def ignore_aliases(self, data: object) -> bool:
        """Write no aliases."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: FBT001, FBT002  (PyYAML calls it so)
        """Indent lists below their key."""
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style: str | None = None
    if _OTHER_BREAKS.search(text):
        style = '"'
    elif not is_text(text):
        style = "'"
    elif "\n" in text:
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _flow(dumper: yaml.SafeDumper, flow: Flow) -> yaml.Node:
    if isinstance(flow.value, dict):
        return dumper.represent_mapping("tag:yaml.org,2002:map", flow.value, flow_style=True)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", flow.value, flow_style=True)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(Flow, _flow)
