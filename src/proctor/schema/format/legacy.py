"""The two old list formats, converted to eval sets as ADK converts them.

Old `.test.json`: a list of turns, all of one conversation. Old `.evalset.json`: a list of cases with `name` and `data`
(turns). Only `query` is required in a turn; what else is missing is "not stated" in the result.
"""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import ValidationError

from proctor.schema.format.case import EvalCase, EvalSet, SessionInput
from proctor.schema.format.content import Content, FunctionCall, Part, text_content
from proctor.schema.format.invocation import IntermediateData, Invocation
from proctor.schema.format.wire_model import Path, PathError, WireModel, to_camel

TURN_KEYS = frozenset({"query", "reference", "expected_tool_use", "expected_intermediate_agent_responses"})
_CASE_KEYS = frozenset({"name", "data", "initial_session"})
CALL_KEYS = frozenset({"tool_name", "tool_input"})
SESSION_KEYS = frozenset({"app_name", "user_id", "state"})

_Model = TypeVar("_Model", bound=WireModel)


def convert_turns(
    document: Any,
    *,
    eval_set_id: str,
    eval_id: str,
    initial_session: Mapping[str, Any] | None = None,
    created: float = 0.0,
    compat_adk: bool = False,
) -> EvalSet:
    """Return an old `.test.json` (a list of turns) as a set with one case.

    `initial_session`: `{app_name, user_id, state}`, each optional. `created`: seconds, for every creation timestamp.
    `compat_adk`: exactly as ADK, which drops unknown keys and writes empty texts and lists for what is not stated.
    Raises PathError for the first mistake; the others are in its `also`.
    """
    conversion = _Conversion(created, compat_adk)
    turns = conversion.turns(document, (), eval_id)
    if document == []:
        conversion.problems.append(PathError("expected at least one turn, got an empty list", ()))
    case = conversion.finished_case({"eval_id": eval_id, "conversation": turns}, initial_session, ())
    return conversion.finished_set(eval_set_id, [case])


def convert_cases(
    document: Any, *, eval_set_id: str, created: float = 0.0, compat_adk: bool = False
) -> EvalSet:
    """Return an old `.evalset.json` (a list of `{name, data, initial_session}`) as a set. Arguments and errors as `convert_turns`."""
    conversion = _Conversion(created, compat_adk)
    return conversion.finished_set(eval_set_id, conversion.cases(document))


@dataclass
class _Conversion:
    """One conversion: its options, and the errors found so far (at most one per turn or case, all of them reported)."""

    created: float
    compat_adk: bool
    problems: list[PathError] = field(default_factory=list)

    def finished_set(self, eval_set_id: str, cases: list[EvalCase | None]) -> EvalSet:
        if self.problems:
            first, *others = self.problems
            raise PathError(first.message, first.path, also=tuple(others))
        eval_cases = [case for case in cases if case is not None]
        return EvalSet(
            eval_set_id=eval_set_id, name=eval_set_id, eval_cases=eval_cases, creation_timestamp=self.created
        )

    def cases(self, document: Any) -> list[EvalCase | None]:
        try:
            return [self._case(case, (index,)) for index, case in enumerate(_list(document, (), "cases"))]
        except PathError as problem:
            self.problems.append(problem)
            return []

    def _case(self, value: Any, path: Path) -> EvalCase | None:
        try:
            old = _object(value, path, "a case", _CASE_KEYS)
            for key in ("name", "data"):
                if key not in old:
                    raise PathError(f"expected a case with `name` and `data`, but `{key}` is missing", path)
            eval_id = _text(old["name"], (*path, "name"))
        except PathError as problem:
            self.problems.append(problem)
            return None
        turns = self.turns(old["data"], (*path, "data"), eval_id)
        fields = {**self._unknown(old, _CASE_KEYS), "eval_id": eval_id, "conversation": turns}
        return self.finished_case(fields, old.get("initial_session"), (*path, "initial_session"))

    def finished_case(self, fields: dict[str, Any], session: Any, path: Path) -> EvalCase | None:
        fields["creation_timestamp"] = self.created
        try:
            if session:
                data = _object(session, path, "an initial session", SESSION_KEYS)
                session_fields = {
                    key: data[key] for key in data if not self.compat_adk or key in SESSION_KEYS
                }
                fields["session_input"] = _validate(
                    SessionInput, {"app_name": "", "user_id": "", **session_fields}, path
                )
            return _validate(EvalCase, fields, path)
        except PathError as problem:
            self.problems.append(problem)
            return None

    def turns(self, value: Any, path: Path, eval_id: str) -> list[Invocation]:
        invocations: list[Invocation] = []
        try:
            turns = _list(value, path, "turns")
        except PathError as problem:
            self.problems.append(problem)
            return invocations
        for index, turn in enumerate(turns):
            try:
                invocations.append(self._invocation(turn, (*path, index), eval_id))
            except PathError as problem:
                self.problems.append(problem)
        return invocations

    def _invocation(self, value: Any, path: Path, eval_id: str) -> Invocation:
        turn = _object(value, path, "a turn", TURN_KEYS)
        if "query" not in turn:
            raise PathError("expected `query` in every turn (the user's message), but it is missing", path)
        query = _text(turn["query"], (*path, "query"))
        fields = self._unknown(turn, TURN_KEYS)
        # derived from its position and text, not random: converting the same file twice gives the same set
        fields["invocation_id"] = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{eval_id}\n{path}\n{query}"))
        fields["user_content"] = text_content(query, "user")
        fields["creation_timestamp"] = self.created
        if (answer := self._final_response(turn, path)) is not None:
            fields["final_response"] = answer
        if (data := self._intermediate_data(turn, path)) is not None:
            fields["intermediate_data"] = data
        return _validate(Invocation, fields, path)

    def _final_response(self, turn: Mapping[str, Any], path: Path) -> Content | None:
        reference = turn.get("reference")
        if reference is None and not self.compat_adk:
            return None
        return text_content("" if reference is None else _text(reference, (*path, "reference")), "model")

    def _intermediate_data(self, turn: Mapping[str, Any], path: Path) -> IntermediateData | None:
        calls, texts = turn.get("expected_tool_use"), turn.get("expected_intermediate_agent_responses")
        if calls is None and texts is None and not self.compat_adk:
            return None
        at_calls, at_texts = (*path, "expected_tool_use"), (*path, "expected_intermediate_agent_responses")
        items = _list(calls or [], at_calls, "tool calls")
        responses = _list(texts or [], at_texts, "agent responses")
        data = IntermediateData(
            tool_uses=[self._call(item, (*at_calls, i)) for i, item in enumerate(items)],
            tool_responses=[],
            intermediate_responses=[_response(item, (*at_texts, i)) for i, item in enumerate(responses)],
        )
        if calls is None:  # no list is written, so none asserts anything
            data.model_fields_set.discard("tool_uses")
        return data

    def _call(self, value: Any, path: Path) -> FunctionCall:
        item = _object(value, path, "a tool call", CALL_KEYS)
        fields = item if not self.compat_adk else {key: item[key] for key in item if key in CALL_KEYS}
        call = _validate(FunctionCall, dict(fields), path)
        if call.name is None:
            raise PathError("expected `tool_name` (which tool is called), but it is missing", path)
        return call

    def _unknown(self, old: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
        return {} if self.compat_adk else {key: value for key, value in old.items() if key not in known}


def _response(value: Any, path: Path) -> tuple[str, list[Part]]:
    response = _object(value, path, "an agent response")
    text = _text(response.get("text", ""), (*path, "text"))
    return _text(response.get("author", ""), (*path, "author")), [Part(text=text)]


def in_snake_case(value: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """Return `value` with the keys of `known` in snake_case; a key that occurs in both spellings keeps both."""
    camel = {to_camel(name): name for name in known if name not in value}
    return {camel.get(key, key): item for key, item in value.items()}


def _validate(model: type[_Model], fields: dict[str, Any], path: Path) -> _Model:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = first["loc"][:1] if first["loc"] and first["loc"][0] in fields else ()
        expected = _EXPECTED.get(first["type"])
        message = f"expected {expected}, got {_kind(first['input'])}" if expected else first["msg"]
        raise PathError(message, (*path, *key)) from None


_EXPECTED = {"string_type": "a text", "dict_type": "an object", "list_type": "a list"}


def _list(value: Any, path: Path, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise PathError(f"expected a list of {what}, got {_kind(value)}", path)
    return value


def _object(value: Any, path: Path, what: str, known: Iterable[str] = ()) -> Mapping[str, Any]:
    """Return the object, with the keys of `known` in snake_case."""
    if not isinstance(value, Mapping):
        raise PathError(f"expected {what} (an object), got {_kind(value)}", path)
    fields = in_snake_case(value, known)
    for name in known:
        if (camel := to_camel(name)) != name and camel in fields:
            message = f"expected {name} once, got it in both spellings ({name} and {camel})"
            raise PathError(message, (*path, camel))
    return fields


def _text(value: Any, path: Path) -> str:
    if not isinstance(value, str):
        raise PathError(f"expected a text, got {_kind(value)}", path)
    return value


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)
