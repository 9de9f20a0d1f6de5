"""Report unknown keys: probable misspellings, and keys that have a meaning only in another object."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_snake

from proctor.files.eval_sets.detect_format import Kind
from proctor.files.eval_sets.variants import row_path
from proctor.files.keys.unknown_key_meaning import KeyMeaning, Place, is_silent_in_case, meaning_of, place_of
from proctor.files.text.problems import Path_, Problem, Severity
from proctor.files.text.validation_messages import Finding, resolve
from proctor.schema.format.case import EvalCase, EvalSet, SessionDetails, SessionInput
from proctor.schema.format.content import Content, FunctionCall, Part
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation, InvocationEvent
from proctor.schema.format.persona import UserBehavior, UserPersona
from proctor.schema.format.wire_model import to_camel, unknown_keys

__all__ = [
    "LISTED",
    "OPEN_IN_ADK",
    "UNKNOWN_KEY",
    "KeyProblems",
    "NoticedKeys",
    "have_meaning",
    "key_findings",
    "old_key_findings",
    "set_key_findings",
    "silent_references",
    "unknown_in",
]

# Models in which ADK keeps or ignores unknown keys. Such a key in any other model makes ADK refuse the file.
OPEN_IN_ADK = (
    EvalCase, SessionInput, SessionDetails, BaseCriterion, InvocationEvent, UserPersona, UserBehavior,
)  # fmt: skip

NOTHING_READS = "unknown key; nothing reads it"
_ADK_REFUSES = "unknown key; ADK refuses this file"
UNKNOWN_KEY = (NOTHING_READS, _ADK_REFUSES)
"""Messages about unknown keys."""


def unknown_in(model: BaseModel, value: object, *, is_row: bool = False) -> Iterator[Finding]:
    """Return the unknown keys below `model`, which was read from `value`; `None` if it was made in Python.

    `is_row`: the value is a row of a data set, from which the case was read.
    """
    for path, owner in unknown_keys(model):
        position = _position(path, value, is_row=is_row)
        if position is None:
            continue
        key = str(path[-1])
        meaning = _meaning_in(owner, key, is_row=is_row)
        is_open = isinstance(owner, OPEN_IN_ADK)
        is_unread = isinstance(owner, EvalCase) and not is_row and not is_silent_in_case(key)
        if not is_open or is_unread or meaning.hint:
            message = NOTHING_READS if is_open or "opening" in path else _ADK_REFUSES
            yield Finding(position, message, meaning.hint, at_key=True, is_misread=meaning.is_misread)


def _position(path: Path_, value: object, *, is_row: bool) -> Path_ | None:
    """Return the path of a key in `value`; `None` if it is not there, since another key was read for it."""
    if value is None:
        return path
    position, absent = resolve(row_path(path, value) if is_row else path, value)
    return None if absent else position


def _meaning_in(owner: BaseModel, key: str, *, is_row: bool) -> KeyMeaning:
    """Return the meaning of an unknown key with its value."""
    place = Place.ROW if is_row and isinstance(owner, EvalCase) else place_of(owner)
    meaning = _without_value(meaning_of(place, type(owner), key), key, (owner.model_extra or {}).get(key))
    if isinstance(owner, Part) and not meaning.is_misread and _is_blank(owner):
        hint = meaning.hint or "this part has no key that is read; a text is `text`"
        return KeyMeaning(hint, is_misread=True)
    return meaning


def _without_value(meaning: KeyMeaning, key: str, value: object) -> KeyMeaning:
    """Return the meaning of a key with its value: null, an empty initial state and a flag state no expectation."""
    name = to_snake(key)
    is_flag = name == "golden" and isinstance(value, bool)
    is_blank = value is None or is_flag or (name in _START_STATES and _is_empty(value))
    return KeyMeaning(meaning.hint) if is_blank else meaning


_START_STATES = frozenset({"state", "initial_state", "session_state", "initial_session"})


def _is_empty(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_empty, value.values()))


def _is_blank(part: Part) -> bool:
    return all(getattr(part, name) is None for name in Part.model_fields)


def have_meaning(keys: Collection[tuple[type[BaseModel], str]], *, misread_only: bool) -> bool:
    """Whether the unknown keys of a case, as (model, key) pairs, must be examined one by one."""
    for owner, key in keys:
        place = place_of(owner)
        meaning = meaning_of(place, owner, key)
        if meaning.is_misread or owner is Part:
            return True
        is_silent = issubclass(owner, OPEN_IN_ADK) and (owner is not EvalCase or is_silent_in_case(key))
        if not misread_only and (meaning.hint or not is_silent):
            return True
    return False


def key_findings(case: EvalCase, value: object, *, is_row: bool = False) -> list[Finding]:
    """Return the findings about a case: its unknown keys, and references without text."""
    silent = silent_references(case)
    if is_row:
        silent = (replace(each, path=row_path(each.path, value)) for each in silent)
    return [*unknown_in(case, value, is_row=is_row), *silent]


# --- references ------------------------------------------------------------------------------------------------------

_NO_TEXT = "a reference without text: nothing compares it with the answer"
_STATE_TEXT = "give the expected text; calls are expected in `intermediate_data.tool_uses`"


def silent_references(case: EvalCase) -> Iterator[Finding]:
    """Report references that consist only of an image, a call or the like: no metric reads them."""
    for key, turns in (("conversation", case.conversation), ("opening", case.opening)):
        for index, turn in enumerate(turns or ()):
            if turn.final_response is not None and _is_silent(turn.final_response):
                yield Finding((key, index, "final_response"), _NO_TEXT, _STATE_TEXT, is_misread=True)


def _is_silent(answer: Content) -> bool:
    """Whether a content has parts with a value, and none is text; an empty text expects an empty answer."""
    parts = answer.parts or []
    return any(_has_value(part) for part in parts) and all(part.text is None for part in parts)


_CARRIERS = (
    "inline_data", "file_data", "function_call", "function_response", "executable_code", "code_execution_result", "tool_call",
    "tool_response",
)  # fmt: skip


def _has_value(part: Part) -> bool:
    return any(getattr(part, name) is not None for name in _CARRIERS)


# --- sets ------------------------------------------------------------------------------------------------------------

SET_KEYS = tuple(EvalSet.model_fields)


def set_key_findings(value: Mapping[str, object]) -> Iterator[Finding]:
    """Return the unknown keys of a set's header."""
    for key, item in value.items():
        if to_snake(key) in SET_KEYS or key == "id":
            continue
        meaning = _without_value(meaning_of(Place.SET, EvalSet, key), key, item)
        hint = meaning.hint or "ADK drops it when it writes the file"
        yield Finding((key,), NOTHING_READS, hint, at_key=True, is_misread=meaning.is_misread)


# --- the old formats -------------------------------------------------------------------------------------------------


def old_key_findings(document: Any, kind: Kind) -> Iterator[Finding]:
    """Return the unknown keys of a list of turns, or of a list of cases with such lists."""
    from proctor.schema.format.legacy import SESSION_KEYS  # only old files need it

    if kind is Kind.OLD_TURNS:
        yield from _old_turns(document, ())
        return
    for index, case in enumerate(document):
        if not isinstance(case, dict):
            continue
        yield from _old_keys(case, (index,), Place.OLD_CASE, EvalCase, _CASE_KEYS)
        session = next((case[key] for key in ("initial_session", "initialSession") if key in case), None)
        if isinstance(session, dict):
            path = (index, next(key for key in ("initial_session", "initialSession") if key in case))
            yield from _old_keys(session, path, Place.SESSION, SessionInput, SESSION_KEYS)
        yield from _old_turns(case.get("data"), (index, "data"))


_CASE_KEYS = frozenset({"name", "data", "initial_session"})
_RESPONSES = "expected_intermediate_agent_responses"


def _old_turns(turns: object, base: Path_) -> Iterator[Finding]:
    from proctor.schema.format.legacy import TURN_KEYS

    for index, turn in enumerate(turns if isinstance(turns, list) else ()):
        if not isinstance(turn, dict):
            continue
        path = (*base, index)
        yield from _old_keys(turn, path, Place.OLD_TURN, Invocation, TURN_KEYS)
        for key, item in turn.items():
            if to_snake(key) == "expected_tool_use" and isinstance(item, list):
                yield from _old_calls(item, (*path, key))
            elif to_snake(key) in Invocation.model_fields and isinstance(item, BaseModel | dict):
                yield from _unknown_in_new_form(key, item, path)


def _unknown_in_new_form(key: str, item: object, path: Path_) -> Iterator[Finding]:
    """Return the unknown keys below a value of an old turn that has the present format."""
    try:
        turn = Invocation.model_validate({"user_content": {"parts": []}, key: item})
    except ValueError:  # the conversion reports it
        return
    for finding in unknown_in(turn, {key: item}):
        yield replace(finding, path=(*path, *finding.path))


def _old_calls(calls: Iterable[object], base: Path_) -> Iterator[Finding]:
    from proctor.schema.format.legacy import CALL_KEYS

    for index, call in enumerate(calls):
        if isinstance(call, dict):
            yield from _old_keys(call, (*base, index), Place.CALL, FunctionCall, CALL_KEYS | _NEW_CALL_KEYS)
            if _has_unread_function(call):
                hint = meaning_of(Place.CALL, FunctionCall, "function").hint
                yield Finding((*base, index, "function"), NOTHING_READS, hint, at_key=True, is_misread=True)


def _has_unread_function(call: dict[str, object]) -> bool:
    """Whether the key `function` of a call is not read; false if the call is invalid, which the conversion reports."""
    try:
        return "function" in (FunctionCall.model_validate(call).model_extra or {})
    except ValueError:
        return False


_NEW_CALL_KEYS = frozenset({"args", "arguments", "name", "function", "id", "tool_parameters", "parameters"})


def _old_keys(
    value: Mapping[str, object], base: Path_, place: Place, owner: type[BaseModel], known: Collection[str]
) -> Iterator[Finding]:
    for key, item in value.items():
        name = to_snake(key)
        is_known = name in known or (name in owner.model_fields and key in {name, to_camel(name)})
        if is_known or (place is not Place.CALL and key.startswith("_")):
            continue
        meaning = _without_value(meaning_of(place, owner, key), key, item)
        if meaning.hint:
            yield Finding(
                (*base, key), NOTHING_READS, meaning.hint, at_key=True, is_misread=meaning.is_misread
            )


# --- the unknown keys of all cases of a set ---------------------------------------------------------------------------


LISTED = 100
"""Problems of one kind that get a position: each costs a look at its case."""

NoticedKeys = set[tuple[type[BaseModel], str]]
"""(model, key) of the unknown keys that validation found."""

Locate = Callable[[Sequence[tuple[int, Sequence[Finding]]], Severity], list[Problem]]
"""Adds positions in the file to findings about cases."""

_MORE = "further problems of this kind in this case and later ones are not listed"


class KeyProblems:
    """Collects findings about the keys of cases.

    `has_free_keys`: unknown keys of cases and turns were entries of `extra` (the short YAML form), where any key is allowed.
    """

    def __init__(self, *, has_free_keys: bool = False) -> None:
        self._has_free_keys = has_free_keys
        self._findings: dict[bool, list[tuple[int, list[Finding]]]] = {True: [], False: []}
        self._left = {True: LISTED, False: LISTED}

    def look(
        self, index: int, case: EvalCase, value: object, noticed: NoticedKeys, *, is_row: bool = False
    ) -> None:
        """Add the next case, which was read from `value`; single keys are examined only if necessary."""
        if not self._has_suspect_keys(noticed, is_row=is_row) and not any(silent_references(case)):
            return
        findings = [each for each in key_findings(case, value, is_row=is_row) if not self._is_free(each)]
        for is_misread in (True, False):
            self._add(index, findings, is_misread=is_misread)

    def _has_suspect_keys(self, noticed: NoticedKeys, *, is_row: bool) -> bool:
        """Whether unknown keys must be examined one by one."""
        if self._has_free_keys:
            noticed = {pair for pair in noticed if pair[0] not in (EvalCase, Invocation)}
        is_full = self._left[False] <= 0
        return bool(noticed) and (is_row or have_meaning(noticed, misread_only=is_full))

    def _add(self, index: int, findings: list[Finding], *, is_misread: bool) -> None:
        findings = [finding for finding in findings if finding.is_misread is is_misread]
        left = self._left[is_misread]
        if not findings or left <= 0:
            return
        self._left[is_misread] = left - len(findings)
        if len(findings) > left:
            findings = [*findings[:left], Finding((), _MORE, is_misread=is_misread)]
        self._findings[is_misread].append((index, findings))

    def _is_free(self, finding: Finding) -> bool:
        """Whether a key was an entry of `extra` of a case or of a turn."""
        path = finding.path
        is_of_turn = len(path) == 3 and path[0] in ("conversation", "opening")
        return self._has_free_keys and finding.at_key and (len(path) == 1 or is_of_turn)

    def misread(self, locate: Locate) -> list[Problem]:
        """Return, as warnings, unknown keys that probably state an expectation; they rule out a verdict."""
        return locate(self._findings[True], "warning")

    def doubtful(self, locate: Locate) -> list[Problem]:
        """Return the other unknown keys, as warnings."""
        return locate(self._findings[False], "warning")
