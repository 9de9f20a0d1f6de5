"""The keys of cases and headers that nothing reads, and keys that one object has twice.

`Collector` examines the cases of a set during a pass over it; `unknown_key_meaning` decides what an unknown key probably means.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_snake

from proctor.errors import SetupError, SetupProblems
from proctor.files.eval_sets.documents import Document, DocumentKind, JsonDocument
from proctor.files.eval_sets.eval_set_file import Cases, EvalSetFile, read_case, read_header
from proctor.files.eval_sets.variants import row_path
from proctor.files.keys.unknown_key_meaning import (
    FormatObject,
    KeyMeaning,
    format_object_of,
    is_silent_in_case,
    meaning_of,
)
from proctor.files.text.json_stream import FileBytes
from proctor.files.text.problems import Path_, Problem, SourceText, field_name
from proctor.files.text.validation_messages import DocumentFinding, findings_of_error, resolve
from proctor.schema.format.case import EvalCase, EvalSet, SessionDetails, SessionInput
from proctor.schema.format.content import Content, Part
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation, InvocationEvent
from proctor.schema.format.persona import UserBehavior, UserPersona
from proctor.schema.format.wire_model import UnknownKeys, unknown_keys

# Models in which ADK keeps or ignores unknown keys. Such a key in any other model makes ADK refuse the file.
OPEN_IN_ADK = (
    EvalCase, SessionInput, SessionDetails, BaseCriterion, InvocationEvent, UserPersona, UserBehavior,
)  # fmt: skip

NOTHING_READS = "unknown key; nothing reads it"
_ADK_REFUSES = "unknown key; ADK refuses this file"
UNKNOWN_KEY = (NOTHING_READS, _ADK_REFUSES)
"""Messages about unknown keys."""


def unknown_in(model: BaseModel, value: object, *, is_row: bool = False) -> Iterator[DocumentFinding]:
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
            yield DocumentFinding(position, message, meaning.hint, at_key=True, is_misread=meaning.is_misread)


def _position(path: Path_, value: object, *, is_row: bool) -> Path_ | None:
    """Return the path of a key in `value`; `None` if it is not there, since another key was read for it."""
    if value is None:
        return path
    position, absent = resolve(row_path(path, value) if is_row else path, value)
    return None if absent else position


def _meaning_in(owner: BaseModel, key: str, *, is_row: bool) -> KeyMeaning:
    """Return the meaning of an unknown key with its value."""
    place = FormatObject.ROW if is_row and isinstance(owner, EvalCase) else format_object_of(owner)
    meaning = without_value(meaning_of(place, type(owner), key), key, (owner.model_extra or {}).get(key))
    if isinstance(owner, Part) and not meaning.is_misread and _is_blank(owner):
        hint = meaning.hint or "this part has no key that is read; a text is `text`"
        return KeyMeaning(hint, is_misread=True)
    return meaning


def without_value(meaning: KeyMeaning, key: str, value: object) -> KeyMeaning:
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


def key_findings(case: EvalCase, value: object, *, is_row: bool = False) -> list[DocumentFinding]:
    """Return the findings about a case: its unknown keys, and references without text."""
    silent = silent_references(case)
    if is_row:
        silent = (replace(each, path=row_path(each.path, value)) for each in silent)
    return [*unknown_in(case, value, is_row=is_row), *silent]


# --- references ------------------------------------------------------------------------------------------------------

_NO_TEXT = "a reference without text: nothing compares it with the answer"
_STATE_TEXT = "give the expected text; calls are expected in `intermediate_data.tool_uses`"


def silent_references(case: EvalCase) -> Iterator[DocumentFinding]:
    """Report references that consist only of an image, a call or the like: no metric reads them."""
    for key, turns in (("conversation", case.conversation), ("opening", case.opening)):
        for index, turn in enumerate(turns or ()):
            if turn.final_response is not None and _is_silent(turn.final_response):
                yield DocumentFinding((key, index, "final_response"), _NO_TEXT, _STATE_TEXT, is_misread=True)


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


def set_key_findings(value: Mapping[str, object]) -> Iterator[DocumentFinding]:
    """Return the unknown keys of a set's header."""
    for key, item in value.items():
        if to_snake(key) in SET_KEYS or key == "id":
            continue
        meaning = without_value(meaning_of(FormatObject.SET, EvalSet, key), key, item)
        hint = meaning.hint or "ADK drops it when it writes the file"
        yield DocumentFinding((key,), NOTHING_READS, hint, at_key=True, is_misread=meaning.is_misread)


# --- all cases of a set -----------------------------------------------------------------------------------------------


LISTED = 100
"""Problems of one kind that get a position: each costs a look at its case."""
_MAX_BROKEN = 200  # the same for cases that cannot be read

_MORE = "further problems of this kind in this case and later ones are not listed"


class Collector:
    """Collects the ids and the findings of the cases of a set during a pass over it.

    `has_free_keys`: unknown keys of cases and turns were entries of `extra` (the short YAML form), where any key is allowed.
    Without `validate` only the id of a case is read, if it has one.
    """

    def __init__(self, *, has_free_keys: bool = False, validate: bool = True) -> None:
        self._has_free_keys, self._validates = has_free_keys, validate
        self._ids: list[str | None] = []  # None: the case cannot be read
        self._errors: list[tuple[int, list[DocumentFinding]]] = []
        self._warnings: list[tuple[int, list[DocumentFinding]]] = []
        self._keys: dict[bool, list[tuple[int, list[DocumentFinding]]]] = {
            True: [],
            False: [],
        }  # by `is_misread`
        self._left = {True: LISTED, False: LISTED}
        self._has_rows = False

    def take(self, index: int, value: object) -> None:
        """Add the next case."""
        if not self._validates and (name := _id_of(value)) is not None:
            self._ids.append(name)
            return
        noticed = UnknownKeys()
        try:
            case, note = read_case(value, noticed)
        except ValidationError as error:
            self._ids.append(None)
            self._errors.append((index, findings_of_error(error, value)))
            return
        self._ids.append(case.eval_id)
        if note and not self._has_rows:
            self._has_rows = True
            self._warnings.append((index, [DocumentFinding((), note, "ADK refuses this file")]))
        self._add_keys(index, case, value, noticed, is_row=bool(note))
        self._add_repeated_ids(index, case)

    def _add_repeated_ids(self, index: int, case: EvalCase) -> None:
        ids = [turn.invocation_id for turn in case.conversation or () if turn.invocation_id]
        if len(set(ids)) < len(ids):
            duplicate = next(name for name in ids if ids.count(name) > 1)
            message = f"the invocation id {duplicate!r} appears twice"
            finding = DocumentFinding(("conversation",), message, "give each turn a different id")
            self._warnings.append((index, [finding]))

    def _add_keys(
        self, index: int, case: EvalCase, value: object, noticed: NoticedKeys, *, is_row: bool
    ) -> None:
        """Add the findings about keys; single keys are examined only if necessary."""
        if not self._has_suspects(noticed, is_row=is_row) and not any(silent_references(case)):
            return
        findings = [each for each in key_findings(case, value, is_row=is_row) if not self._is_free(each)]
        for is_misread in (True, False):
            self._add_findings(
                index, [each for each in findings if each.is_misread is is_misread], is_misread=is_misread
            )

    def _has_suspects(self, noticed: NoticedKeys, *, is_row: bool) -> bool:
        """Whether unknown keys must be examined one by one."""
        if self._has_free_keys:
            noticed = {pair for pair in noticed if pair[0] not in (EvalCase, Invocation)}
        misread_only = self._left[False] <= 0
        return any(is_row or _has_meaning(*pair, misread_only=misread_only) for pair in noticed)

    def _add_findings(self, index: int, findings: list[DocumentFinding], *, is_misread: bool) -> None:
        """Add findings of one kind, up to the limit."""
        left = self._left[is_misread]
        if not findings or left <= 0:
            return
        self._left[is_misread] = left - len(findings)
        if len(findings) > left:
            findings = [*findings[:left], DocumentFinding((), _MORE, is_misread=is_misread)]
        self._keys[is_misread].append((index, findings))

    def _is_free(self, finding: DocumentFinding) -> bool:
        """Whether a key was an entry of `extra` of a case or of a turn."""
        path = finding.path
        is_of_turn = len(path) == 3 and path[0] in ("conversation", "opening")
        return self._has_free_keys and finding.at_key and (len(path) == 1 or is_of_turn)

    def to_set(
        self,
        label: str,
        fields: dict[str, Any],
        cases: Cases,
        content_hash: Callable[[], str],
        kind: DocumentKind,
    ) -> EvalSetFile:
        """Return the set whose header is `fields`, with the problems of header and cases at their positions."""
        header_keys = [] if self._has_free_keys else list(set_key_findings(fields))
        header, errors, warnings = read_header(fields, label, needs_id=kind is DocumentKind.EVAL_SET)
        opened = EvalSetFile(label, header, cases, content_hash, kind)
        opened.case_ids = self._ids
        broken: list[tuple[int, Sequence[DocumentFinding]]] = [*self._errors[:_MAX_BROKEN]]
        if (more := len(self._errors) - _MAX_BROKEN) > 0:
            message = f"this and {more - 1} more cases have problems, too"
            broken.append((self._errors[_MAX_BROKEN][0], [DocumentFinding((), message)]))
        opened.errors += cases.problems(broken, "error", errors)
        opened.other_warnings += cases.problems(self._warnings[:_MAX_BROKEN], "warning", warnings)
        for is_misread, problems in ((True, opened.misread), (False, opened.unknown_keys)):
            of_header = [each for each in header_keys if each.is_misread is is_misread]
            problems.extend(cases.problems(self._keys[is_misread], "warning", of_header))
        return opened


def _id_of(value: object) -> str | None:
    """Return the id of a case that is not validated; `None` if only validation finds it."""
    ids = [value[key] for key in ("eval_id", "evalId") if key in value] if isinstance(value, dict) else []
    return ids[0] if len(ids) == 1 and isinstance(ids[0], str) else None


NoticedKeys = Collection[tuple[type[BaseModel], str]]
"""(model, key) of the unknown keys that validation found."""


@lru_cache(maxsize=4096)
def _has_meaning(owner: type[BaseModel], key: str, *, misread_only: bool) -> bool:
    """Whether a case with this unknown key must be examined key by key."""
    meaning = meaning_of(format_object_of(owner), owner, key)
    if meaning.is_misread or owner is Part:
        return True
    is_silent = issubclass(owner, OPEN_IN_ADK) and (owner is not EvalCase or is_silent_in_case(key))
    return not misread_only and (bool(meaning.hint) or not is_silent)


# --- duplicate keys: JSON readers silently use the last one -----------------------------------------------------------


QUICK = 4 << 20
"""The largest file, in bytes, that is searched as one text; a larger one is searched case by case."""


class DuplicateKeys(NamedTuple):
    """Warnings about duplicate keys."""

    of_format: list[Problem]
    """In an object of the format. The intended value is unknown, so no verdict may rest on it."""
    of_free_maps: list[Problem]
    """In a map with arbitrary keys: state, arguments, responses, keys that nothing reads."""

    def __add__(self, other: tuple[Any, ...]) -> DuplicateKeys:
        """Concatenate both lists."""
        of_format, of_free_maps = other
        return DuplicateKeys([*self.of_format, *of_format], [*self.of_free_maps, *of_free_maps])


_NONE = DuplicateKeys([], [])


def duplicate_keys_in(source: SourceText, *, is_config: bool = False) -> DuplicateKeys:
    """Return the duplicate keys of a text."""
    if not _has_duplicate_keys(source.text):
        return _NONE
    from proctor.files.text.json_scanner import scan

    duplicates = DuplicateKeys([], [])
    for path, problem in scan(source).duplicate_keys:
        is_of_format = is_config or _is_of_format(path)
        (duplicates.of_format if is_of_format else duplicates.of_free_maps).append(problem)
    return duplicates


def duplicate_keys_in_document(document: Document, *, is_config: bool = False) -> DuplicateKeys:
    """Return the duplicate keys of a document that was read whole. The YAML reader refuses duplicate keys itself."""
    return (
        duplicate_keys_in(document.source, is_config=is_config)
        if isinstance(document, JsonDocument)
        else _NONE
    )


def duplicate_keys_in_cases(source: FileBytes, cases: Cases) -> DuplicateKeys:
    """Return the duplicate keys of a set whose cases stay in the file."""
    if source.size <= QUICK:
        return duplicate_keys_in(
            SourceText(source.name, source.read(0, source.size).decode("utf-8-sig", "replace"))
        )
    duplicates = _NONE
    for index in range(len(cases)):
        piece = cases.piece(index)
        if _has_duplicate_keys(piece):
            duplicates += duplicate_keys_in(SourceText(source.name, piece.decode(), cases.start(index)))
    return duplicates


def _has_duplicate_keys(text: str | bytes) -> bool:
    has_duplicates = False

    def compare_counts(pairs: list[tuple[str, object]]) -> None:
        nonlocal has_duplicates
        has_duplicates = has_duplicates or len(dict(pairs)) < len(pairs)

    try:
        json.loads(text, object_pairs_hook=compare_counts)
    except ValueError:  # JSON with comments: only the scanner reads it
        return True
    return has_duplicates


# --- objects of the format -------------------------------------------------------------------------------------------

_FREE = frozenset(
    "state args arguments tool_input tool_parameters parameters response extra metadata meta".split()
)
_OWN_FORMS = frozenset({"expectations", "trajectory_rules", "response_schema", "final_session_state"})
"""Keys below these belong to metrics or to the expected state: each of them states an expectation."""
_FORMAT = frozenset(
    "eval_cases conversation conversation_scenario session_input rubrics opening user_content final_response "
    "intermediate_data app_details parts function_call function_response inline_data file_data tool_uses tool_responses "
    "intermediate_responses invocation_events content rubric_content user_persona behaviors scenarios data initial_session "
    "expected_tool_use expected_intermediate_agent_responses prompt reference reference_trajectory expected_tools function "
    "agent_details".split()
)


def _is_of_format(path: Iterable[str | int]) -> bool:
    """Whether the object at `path` of an eval set is an object of the format."""
    parent, is_expectation = "", False
    for step in path:
        if isinstance(step, int):
            continue
        name = to_snake(step)
        if name in _FREE and (parent, name) != ("reference", "response") and parent != "final_session_state":
            return False
        is_expectation = is_expectation or name in _OWN_FORMS
        if not is_expectation and name not in _FORMAT and name != "response":
            return False
        parent = name
    return True


def add_duplicate_keys(
    opened: EvalSetFile, duplicates: DuplicateKeys, text_warnings: Sequence[Problem] = ()
) -> None:
    """Add duplicate keys to the opened set; `text_warnings` are warnings about its text, which may contain them, too."""
    known = {*duplicates.of_format, *duplicates.of_free_maps}
    others = [each for each in text_warnings if each not in known]
    opened.duplicate_keys += duplicates.of_format
    opened.other_warnings = [*others, *duplicates.of_free_maps, *opened.other_warnings]


# --- sets in memory ----------------------------------------------------------------------------------------------------

UNKNOWN_KEYS_ALLOWED = "`--allow-unknown-keys` (allow_unknown_keys) accepts such keys"


def keys_of_models(cases: Iterable[EvalCase], label: str = "") -> tuple[list[str], list[str]]:
    """Return the errors and the warnings about unknown keys of cases that were made in Python."""
    messages: dict[bool, list[str]] = {True: [], False: []}
    for index, case in enumerate(cases):
        for finding in key_findings(case, None):
            if len(messages[finding.is_misread]) < LISTED:
                field = field_name(("eval_cases", index, *finding.path))
                hint = f" ({finding.hint})" if finding.hint else ""
                messages[finding.is_misread].append(f"{label}{field}: {finding.message}{hint}")
    return messages[True], messages[False]


def keys_of_set(eval_set: EvalSet) -> tuple[list[str], list[str]]:
    """Return the same for a set with its cases."""
    label = f"eval set {eval_set.eval_set_id!r}: "
    misread, unknown_keys = keys_of_models(eval_set.eval_cases, label)
    for finding in set_key_findings(eval_set.model_extra or {}):
        (misread if finding.is_misread else unknown_keys).append(f"{label}{finding.one_line}")
    return misread, unknown_keys


def refuse_keys(misread: Sequence[str]) -> None:
    """Refuse unknown keys of a set in memory that state an expectation.

    Raises:
        SetupProblems: one error per key.
    """
    if misread:
        raise SetupProblems([SetupError(f"{message}; {UNKNOWN_KEYS_ALLOWED}") for message in misread])
