"""Eval sets of the two old formats: a list of turns, or a list of cases with such lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic.alias_generators import to_snake

from proctor.files.eval_sets.documents import Document, DocumentKind, problems_at, set_id_of
from proctor.files.eval_sets.eval_set_file import DocumentCases, EvalSetFile
from proctor.files.eval_sets.variants import CALL_INPUTS
from proctor.files.keys.key_findings import LISTED, NOTHING_READS, unknown_in, without_value
from proctor.files.keys.unknown_key_meaning import FormatObject, meaning_of
from proctor.files.text.problems import Path_
from proctor.files.text.validation_messages import DocumentFinding, resolve
from proctor.schema.format.case import EvalCase, EvalSet, SessionInput
from proctor.schema.format.content import FunctionCall
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.legacy import (
    CALL_KEYS,
    SESSION_KEYS,
    TURN_KEYS,
    convert_cases,
    convert_turns,
    in_snake_case,
)
from proctor.schema.format.wire_model import PathError, to_camel

OLD_KINDS = frozenset({DocumentKind.OLD_TURNS, DocumentKind.OLD_CASES})


def open_old_set(document: Document, document_kind: DocumentKind, digest: Callable[[], str]) -> EvalSetFile:
    """Convert a document as ADK does; missing values are "not stated"."""
    name = set_id_of(document.name)
    converted: list[EvalCase] = []
    errors: list[DocumentFinding] = []
    adapted, warnings = adapt_document(document.value, document_kind)
    try:
        if document_kind is DocumentKind.OLD_TURNS:
            converted = convert_turns(adapted, eval_set_id=name, eval_id=name).eval_cases
        else:
            converted = convert_cases(adapted, eval_set_id=name).eval_cases
    except PathError as error:
        errors = path_findings(error, document.value)
    pieces = [case.model_dump_json(exclude_unset=True).encode() for case in converted]
    bases: list[Path_] = [
        () if document_kind is DocumentKind.OLD_TURNS else (index,) for index in range(len(pieces))
    ]
    cases = DocumentCases(
        document, pieces, bases, id_key="name" if document_kind is DocumentKind.OLD_CASES else ""
    )
    opened = EvalSetFile(
        document.name, EvalSet(eval_set_id=name, name=name, eval_cases=[]), cases, digest, document_kind
    )
    opened.case_ids += [case.eval_id for case in converted]
    opened.errors += problems_at(document, errors)
    resolved = [replace(each, path=resolve(each.path, document.value)[0]) for each in warnings]
    opened.other_warnings += problems_at(document, resolved, "warning")
    _add_key_problems(opened, document, document_kind)
    return opened


def _add_key_problems(opened: EvalSetFile, document: Document, document_kind: DocumentKind) -> None:
    """Add the unknown keys, up to a limit of each kind."""
    findings = list(old_key_findings(document.value, document_kind))
    for is_misread, problems in ((True, opened.misread), (False, opened.unknown_keys)):
        of_kind = [each for each in findings if each.is_misread is is_misread]
        problems.extend(problems_at(document, of_kind[:LISTED], "warning"))


def path_findings(error: PathError, document: object) -> list[DocumentFinding]:
    """Return all errors of a conversion, with keys in the spelling of `document`."""
    return [DocumentFinding(resolve(each.path, document)[0], each.message) for each in (error, *error.also)]


# --- other keys for the same values -----------------------------------------------------------------------------------


def adapt_document(document: Any, document_kind: DocumentKind) -> tuple[Any, list[DocumentFinding]]:
    """Convert turns with other keys, and return a warning for each change.

    Plain texts as intermediate responses (without an author), and inputs of a tool under another key.
    """
    findings: list[DocumentFinding] = []
    if document_kind is DocumentKind.OLD_TURNS:
        return _adapt_turns(document, (), findings), findings
    cases = [
        {**case, "data": _adapt_turns(case["data"], (index, "data"), findings)}
        if isinstance(case, dict) and "data" in case
        else case
        for index, case in enumerate(document)
    ]
    return cases, findings


def _adapt_turns(turns: object, base: Path_, findings: list[DocumentFinding]) -> Any:
    if not isinstance(turns, list):
        return turns
    return [_adapt_turn(turn, (*base, index), findings) for index, turn in enumerate(turns)]


def _adapt_turn(turn: object, path: Path_, findings: list[DocumentFinding]) -> object:
    if not isinstance(turn, dict):
        return turn
    turn = in_snake_case(turn, TURN_KEYS)
    for key, adapt in (
        ("expected_tool_use", _adapt_call),
        ("expected_intermediate_agent_responses", _adapt_text),
    ):
        if isinstance(items := turn.get(key), list):
            turn[key] = [adapt(item, (*path, key, index), findings) for index, item in enumerate(items)]
    return turn


def _adapt_call(call: object, path: Path_, findings: list[DocumentFinding]) -> object:
    if not isinstance(call, dict) or any(key in call for key in CALL_INPUTS[:3]):
        return call
    other = next((key for key in CALL_INPUTS[3:] if isinstance(call.get(key), dict)), None)
    if other is None:
        return call
    findings.append(
        DocumentFinding(
            (*path, other), f"`{other}` is read as `tool_input`", "ADK refuses this file", at_key=True
        )
    )
    return {("tool_input" if key == other else key): item for key, item in call.items()}


def _adapt_text(text: object, path: Path_, findings: list[DocumentFinding]) -> object:
    if not isinstance(text, str):
        return text
    findings.append(
        DocumentFinding(path, "an intermediate response without its author", "ADK refuses this file")
    )
    return {"author": "", "text": text}


# --- the objects of a document, and their keys ------------------------------------------------------------------------


class OldObject(NamedTuple):
    """An object of an old document, in which ADK drops all keys but those of its kind."""

    path: Path_
    value: dict[str, Any]
    place: FormatObject


def old_objects(document: Any, document_kind: DocumentKind) -> Iterator[OldObject]:
    """Return the cases, sessions, turns and calls of a document; other values are skipped, the conversion reports them."""
    if document_kind is DocumentKind.OLD_TURNS:
        yield from _turns_of(document, ())
        return
    for index, case in enumerate(document):
        if not isinstance(case, dict):
            continue
        yield OldObject((index,), case, FormatObject.OLD_CASE)
        for key in ("initial_session", "initialSession"):
            if isinstance(session := case.get(key), dict):
                yield OldObject((index, key), session, FormatObject.SESSION)
        yield from _turns_of(case.get("data"), (index, "data"))


def _turns_of(turns: object, base: Path_) -> Iterator[OldObject]:
    for index, turn in enumerate(turns if isinstance(turns, list) else ()):
        if not isinstance(turn, dict):
            continue
        path = (*base, index)
        yield OldObject(path, turn, FormatObject.OLD_TURN)
        for key in ("expected_tool_use", "expectedToolUse"):
            calls = turn.get(key)
            for number, call in enumerate(calls if isinstance(calls, list) else ()):
                if isinstance(call, dict):
                    yield OldObject((*path, key, number), call, FormatObject.CALL)


OLD_KEYS = {
    FormatObject.OLD_CASE: frozenset({"name", "data", "initial_session"}),
    FormatObject.SESSION: SESSION_KEYS,
    FormatObject.OLD_TURN: TURN_KEYS,
    FormatObject.CALL: frozenset({*CALL_KEYS, *CALL_INPUTS[3:]}),
}
"""The keys of each kind of object, with the alternative keys of a call's input."""
_OWNERS: dict[FormatObject, type[BaseModel]] = {
    FormatObject.OLD_CASE: EvalCase,
    FormatObject.SESSION: SessionInput,
    FormatObject.OLD_TURN: Invocation,
    FormatObject.CALL: FunctionCall,
}
_NEW_CALL_KEYS = frozenset({"args", "arguments", "name", "function", "id"})


def old_key_findings(document: Any, document_kind: DocumentKind) -> Iterator[DocumentFinding]:
    """Return the unknown keys of a document that have a meaning elsewhere."""
    for path, value, place in old_objects(document, document_kind):
        yield from _unknown_keys(path, value, place)
        if place is FormatObject.CALL and _has_unread_function(value):
            hint = meaning_of(place, FunctionCall, "function").hint
            yield DocumentFinding((*path, "function"), NOTHING_READS, hint, at_key=True, is_misread=True)
        for key, item in value.items() if place is FormatObject.OLD_TURN else ():
            if to_snake(key) in Invocation.model_fields and isinstance(item, dict):
                yield from _unknown_in_new_form(key, item, path)


def _unknown_keys(path: Path_, value: dict[str, Any], place: FormatObject) -> Iterator[DocumentFinding]:
    owner = _OWNERS[place]
    known = OLD_KEYS[place] | _NEW_CALL_KEYS if place is FormatObject.CALL else OLD_KEYS[place]
    for key, item in value.items():
        name = to_snake(key)
        is_known = name in known or (name in owner.model_fields and key in {name, to_camel(name)})
        if is_known or (place is not FormatObject.CALL and key.startswith("_")):
            continue
        meaning = without_value(meaning_of(place, owner, key), key, item)
        if meaning.hint:
            yield DocumentFinding(
                (*path, key), NOTHING_READS, meaning.hint, at_key=True, is_misread=meaning.is_misread
            )


def _has_unread_function(call: dict[str, object]) -> bool:
    """Whether the key `function` of a call is not read; false if the call is invalid, which the conversion reports."""
    try:
        return "function" in (FunctionCall.model_validate(call).model_extra or {})
    except ValueError:
        return False


def _unknown_in_new_form(key: str, item: object, path: Path_) -> Iterator[DocumentFinding]:
    """Return the unknown keys below a value of an old turn that has the present format."""
    try:
        turn = Invocation.model_validate({"user_content": {"parts": []}, key: item})
    except ValueError:  # the conversion reports it
        return
    for finding in unknown_in(turn, {key: item}):
        yield replace(finding, path=(*path, *finding.path))
