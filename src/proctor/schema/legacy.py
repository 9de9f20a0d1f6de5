"""The two old list formats, converted to eval sets as ADK converts them.

Old `.test.json`: a list of turns, all of one conversation. Old `.evalset.json`: a list of cases with `name` and `data`
(turns). Only `query` is required in a turn; what else is missing is "not stated" in the result.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from proctor.schema.base import Path, PathError
from proctor.schema.case import EvalCase
from proctor.schema.content import text_content
from proctor.schema.eval_set import EvalSet
from proctor.schema.invocation import IntermediateData, Invocation

__all__ = ["PathError", "convert_cases", "convert_turns"]

_TURN_KEYS = frozenset({"query", "reference", "expected_tool_use", "expected_intermediate_agent_responses"})
_CASE_KEYS = frozenset({"name", "data", "initial_session"})
_CALL_KEYS = frozenset({"tool_name", "tool_input"})


def convert_turns(
    document: Any,
    *,
    eval_set_id: str,
    eval_id: str,
    initial_session: Mapping[str, Any] | None = None,
    created: float = 0.0,
    compat_adk: bool = False,
) -> EvalSet:
    """An old `.test.json` (a list of turns) as a set of one case.

    `initial_session`: `{app_name, user_id, state}`, each optional. `created`: seconds, for every creation timestamp.
    `compat_adk`: exactly as ADK, which drops unknown keys and writes empty texts and lists for what is not stated.
    Raises PathError at the first mistake.
    """
    case = {"eval_id": eval_id, "conversation": _conversation(document, (), eval_id, created, compat_adk)}
    return _eval_set(eval_set_id, [_finished_case(case, initial_session, (), created)], created)


def convert_cases(
    document: Any, *, eval_set_id: str, created: float = 0.0, compat_adk: bool = False
) -> EvalSet:
    """An old `.evalset.json` (a list of `{name, data, initial_session}`). Arguments and errors as `convert_turns`."""
    cases = [
        _case(case, (index,), created, compat_adk) for index, case in enumerate(_list(document, (), "cases"))
    ]
    return _eval_set(eval_set_id, cases, created)


def _eval_set(eval_set_id: str, cases: list[EvalCase], created: float) -> EvalSet:
    return EvalSet(
        eval_set_id=eval_set_id, name=eval_set_id, eval_cases=cases, creation_timestamp=created
    )


def _case(value: Any, path: Path, created: float, compat_adk: bool) -> EvalCase:
    old = _object(value, path, "a case")
    for key in ("name", "data"):
        if key not in old:
            raise PathError(f"expected a case with `name` and `data`, but `{key}` is missing", path)
    eval_id = _text(old["name"], (*path, "name"))
    case = {"eval_id": eval_id, "conversation": _conversation(old["data"], (*path, "data"), eval_id, created, compat_adk)}
    if not compat_adk:
        case.update(_unknown(old, _CASE_KEYS))
    return _finished_case(case, old.get("initial_session"), (*path, "initial_session"), created)


def _finished_case(case: dict[str, Any], session: Any, path: Path, created: float) -> EvalCase:
    if session:
        case["session_input"] = {"app_name": "", "user_id": "", **_object(session, path, "an initial session")}
    case["creation_timestamp"] = created
    return _validated(EvalCase, case, path)


def _conversation(value: Any, path: Path, eval_id: str, created: float, compat_adk: bool) -> list[Invocation]:
    turns = _list(value, path, "turns")
    return [_invocation(turn, (*path, i), eval_id, created, compat_adk) for i, turn in enumerate(turns)]


def _invocation(value: Any, path: Path, eval_id: str, created: float, compat_adk: bool) -> Invocation:
    turn = _object(value, path, "a turn")
    if "query" not in turn:
        raise PathError("expected `query` in every turn (what the user says)", path)
    query = _text(turn["query"], (*path, "query"))
    fields: dict[str, Any] = {
        # from its place and text, not random: converting the same file twice gives the same set
        "invocation_id": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{eval_id}\n{path}\n{query}")),
        "user_content": text_content(query, "user"),
        "creation_timestamp": created,
    }
    reference = turn.get("reference")
    if reference is not None or compat_adk:
        fields["final_response"] = text_content(_text(reference or "", (*path, "reference")), "model")
    if data := _intermediate_data(turn, path, compat_adk):
        fields["intermediate_data"] = data
    if not compat_adk:
        fields.update(_unknown(turn, _TURN_KEYS))
    return _validated(Invocation, fields, path)


def _intermediate_data(turn: Mapping[str, Any], path: Path, compat_adk: bool) -> IntermediateData | None:
    calls, texts = turn.get("expected_tool_use"), turn.get("expected_intermediate_agent_responses")
    if calls is None and texts is None and not compat_adk:
        return None
    calls_path, texts_path = (*path, "expected_tool_use"), (*path, "expected_intermediate_agent_responses")
    return IntermediateData(
        tool_uses=[
            _call(call, (*calls_path, i), compat_adk)
            for i, call in enumerate(_list(calls or [], calls_path, "tool calls"))
        ],
        tool_responses=[],
        intermediate_responses=[
            _response(text, (*texts_path, i))
            for i, text in enumerate(_list(texts or [], texts_path, "agent responses"))
        ],
    )


def _call(value: Any, path: Path, compat_adk: bool) -> Any:
    call = _object(value, path, "a tool call")
    fields = {key: call[key] for key in call if not compat_adk or key in _CALL_KEYS}
    return fields


def _response(value: Any, path: Path) -> Any:
    response = _object(value, path, "an agent response")
    text = _text(response.get("text", ""), (*path, "text"))
    return _text(response.get("author", ""), (*path, "author")), [{"text": text}]


def _unknown(old: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in old.items() if key not in known}


def _validated(model: type[Any], fields: dict[str, Any], path: Path) -> Any:
    try:
        return model(**fields)
    except ValidationError as error:
        first = error.errors()[0]
        raise PathError(first["msg"], (*path, *first["loc"])) from None


def _list(value: Any, path: Path, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise PathError(f"expected a list of {what}, got {_kind(value)}", path)
    return value


def _object(value: Any, path: Path, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise PathError(f"expected {what} (an object), got {_kind(value)}", path)
    return value


def _text(value: Any, path: Path) -> str:
    if not isinstance(value, str):
        raise PathError(f"expected a text, got {_kind(value)}", path)
    return value


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)
