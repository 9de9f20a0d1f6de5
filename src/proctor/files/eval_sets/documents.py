"""A document that was read whole: its value, the positions of its parts, and its kind, which its content decides."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from pydantic.alias_generators import to_camel, to_snake

from proctor.errors import EvalFileError
from proctor.files.text.json_decode import JsonText, parse
from proctor.files.text.json_tree import Places
from proctor.files.text.problems import (
    Path_,
    Place,
    Problem,
    Severity,
    SourceText,
    field_name,
    file_error,
    quote,
)
from proctor.files.text.validation_messages import DocumentFinding, describe_value, near_key

WHOLE_LIMIT = 32 << 20
"""The largest file, in bytes, that is read whole; a larger one is only read as a stream of cases."""

RESULT_LIMIT = 128 << 20
"""The same for results, which ADK writes twenty times larger than their cases."""

MOST_KEYS = 4_000_000
"""The most keys that are read whole: small objects take fifty times the memory of their text."""

YAML_SUFFIXES = (".yaml", ".yml")
LINES_SUFFIX = ".jsonl"


class ValuePositions(Protocol):
    """The positions of the values of a document."""

    def value(self, path: Path_) -> Place:
        """Return where the value of `path` starts; for a missing path, the nearest enclosing object."""
        ...

    def key(self, path: Path_) -> Place:
        """Return where the key of `path` starts."""
        ...


class Document(Protocol):
    """A file that was read whole. Readers of other notations (YAML) return the values as JSON has them."""

    name: str
    value: Any
    warnings: list[Problem]
    has_comments: bool

    def locate(self, paths: Iterable[Path_]) -> ValuePositions:
        """Return the positions of some paths."""
        ...


class JsonDocument:
    """A JSON file read whole."""

    def __init__(self, name: str, text: JsonText) -> None:
        self.name = name
        self.value = text.value
        self.warnings = list(text.warnings)
        self.has_comments = text.has_comments
        self.source = text.source
        self.double_encoded = False

    def locate(self, paths: Iterable[Path_]) -> ValuePositions:
        """Return the positions of some paths, found in one pass over the text."""
        return Places(self.source, paths)


class _InnerText(SourceText):
    """The text inside a JSON string, with positions in the file around it."""

    def __init__(self, outer: SourceText, text: str, offsets: list[int]) -> None:
        super().__init__(outer.name, text)
        self._outer, self._offsets = outer, offsets

    def place(self, offset: int) -> Place:
        return self._outer.place(self._offsets[min(offset, len(self._offsets) - 1)])


def read_json_document(data: bytes, name: str) -> JsonDocument:
    """Read a whole JSON document; a document inside a JSON string (as older results are written) is unwrapped.

    Raises:
        EvalFileError: it is not JSON, or has more than MOST_KEYS keys.
    """
    if data.count(b":") > MOST_KEYS:
        raise file_error([_problem(name, f"the file has more than {MOST_KEYS:,} keys; it is not read whole")])
    document = JsonDocument(name, parse(data, name))
    for _ in range(3):
        if not isinstance(document.value, str) or document.value.lstrip()[:1] not in {"{", "[", '"'}:
            break
        from proctor.files.text.json_scanner import string_offsets

        inner, offsets = string_offsets(document.source.text)
        text = parse(inner.encode(), name, source=_InnerText(document.source, inner, offsets))
        warnings = document.warnings + text.warnings
        document = JsonDocument(name, text)
        document.warnings, document.double_encoded = warnings, True
    return document


def read_document(path: Path, name: str = "", *, limit: int = WHOLE_LIMIT) -> Document:
    """Read a whole file, as JSON or YAML depending on its suffix.

    Raises:
        EvalFileError: it cannot be read, is larger than `limit` bytes, or does not have the form of its suffix.
    """
    name = name or str(path)
    data = read_bytes(path, name, limit=limit)
    if path.suffix.lower() in YAML_SUFFIXES:
        return read_yaml(data, name)
    return read_json_document(data, name)


def read_yaml(data: bytes, name: str) -> Document:
    """Read a YAML file. `proctor.files.yaml.cases` is loaded on first use."""
    import importlib

    document: Document = importlib.import_module("proctor.files.yaml.cases").read_document(data, name)
    return document


def read_bytes(path: Path, name: str, *, limit: int = WHOLE_LIMIT) -> bytes:
    """Return the bytes of a file.

    Raises:
        EvalFileError: the file does not exist, cannot be read, or is larger than `limit`.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:  # a pipe or a device has no size, and maybe no end
            data = file.read(limit + 1) if size <= limit else b""
    except OSError as error:
        raise unreadable(path, name, error) from None
    if size > limit or len(data) > limit:
        size_text = f"{size >> 20} MiB" if size > limit else "no end"
        raise file_error(
            [_problem(name, f"the file has {size_text}; at most {limit >> 20} MiB are read whole")]
        )
    return data


def unreadable(path: Path, name: str, error: OSError) -> EvalFileError:
    """Return the error for a file that the system refuses to open."""
    hint = ""
    if isinstance(error, FileNotFoundError):
        from proctor.files.eval_sets.selectors import near_files

        hint = near_files(path)
    return file_error([_problem(name, (error.strerror or str(error)).lower(), hint)])


def _problem(name: str, message: str, hint: str = "") -> Problem:
    return Problem("error", name, 1, 1, "", message, hint)


def problems_at(
    document: Document, findings: Iterable[DocumentFinding], severity: Severity = "error"
) -> list[Problem]:
    """Return the findings of a document with their positions."""
    findings = list(findings)
    if not findings:
        return []
    places = document.locate({finding.path for finding in findings})
    return [problem_of(document.name, places, finding.path, finding, severity) for finding in findings]


def problem_of(
    name: str, places: ValuePositions, path: Path_, finding: DocumentFinding, severity: Severity
) -> Problem:
    """Return the problem of a finding at its position."""
    position = places.key(path) if finding.at_key else places.value(path)
    return Problem(severity, name, *position, field_name(path), finding.message, finding.hint)


# --- kinds -------------------------------------------------------------------------------------------------------------


_SUFFIXES = (
    ".evalset.json", ".test.json", ".evalset.yaml", ".evalset.yml", ".test.yaml", ".test.yml", ".evalset.jsonl",
    ".test.jsonl", ".json", ".yaml", ".yml", ".jsonl",
)  # fmt: skip


class DocumentKind(StrEnum):
    """The documents of the format; the value is the name in messages."""

    EVAL_SET = "eval set"
    CASE_LINES = "eval set (a case a line)"
    EVAL_CASE = "eval case"
    CASE_LIST = "list of eval cases"
    OLD_TURNS = "old test file (a list of turns)"
    OLD_CASES = "old eval set (a list of cases)"
    CONFIG = "eval config"
    SCENARIOS = "conversation scenarios"
    SESSION_INPUT = "session input"
    RESULT = "eval set result"
    UNKNOWN = "unknown document"


SETS = (
    DocumentKind.EVAL_SET,
    DocumentKind.CASE_LINES,
    DocumentKind.EVAL_CASE,
    DocumentKind.CASE_LIST,
    DocumentKind.OLD_TURNS,
    DocumentKind.OLD_CASES,
)
"""Kinds that contain cases."""

CONFIG_KEYS = ("criteria", "custom_metrics", "user_simulator_config", "live_model_config")
_CASE_MARKS = frozenset({"conversation", "conversation_scenario", "prompt"})
_SESSION_MARKS = frozenset({"app_name", "user_id"})
_SESSION_KEYS = frozenset({"app_name", "user_id", "session_id", "state"})
_ID_MARKS = frozenset({"eval_id", "eval_case_id"})
_DISTINCTIVE = {
    spelling: name
    for name in (
        "eval_set_result_id eval_case_results eval_cases scenarios criteria custom_metrics user_simulator_config "
        "live_model_config conversation conversation_scenario prompt app_name user_id session_id state events eval_id "
        "eval_case_id data name initial_session query expected_tool_use starting_prompt conversation_plan"
    ).split()
    for spelling in (name, to_camel(name))
}
_CASE_LISTS = (
    "test_cases",
    "tests",
    "cases",
    "evals",
    "evaluations",
    "test_scenarios",
    "examples",
    "samples",
)


def kind(value: object, name: str = "") -> DocumentKind:
    """Return which document `value` is; UNKNOWN if no key decides.

    The file's `name` decides only for an empty list.
    """
    if isinstance(value, list):
        empty = DocumentKind.OLD_TURNS if name.lower().endswith(".test.json") else DocumentKind.OLD_CASES
        return _kind_of_list(value) if value else empty
    return _kind_of_object(value) if isinstance(value, dict) else DocumentKind.UNKNOWN


def _kind_of_object(value: dict[str, object]) -> DocumentKind:
    keys = _names(value)
    for marks, object_kind in _MARKS:
        if keys & marks:
            return object_kind
    if keys & _CASE_MARKS:
        return DocumentKind.EVAL_CASE
    is_small = len(value) == len(keys) and keys <= _SESSION_KEYS
    if keys & _SESSION_MARKS and (is_small or (keys >= _SESSION_MARKS and "events" not in keys)):
        return DocumentKind.SESSION_INPUT
    return DocumentKind.UNKNOWN


# The first match counts: a result also has an `eval_set_id`.
_MARKS: tuple[tuple[frozenset[str], DocumentKind], ...] = (
    (frozenset({"eval_set_result_id", "eval_case_results"}), DocumentKind.RESULT),
    (frozenset({"eval_cases"}), DocumentKind.EVAL_SET),
    (frozenset({"scenarios"}), DocumentKind.SCENARIOS),
    (frozenset(CONFIG_KEYS), DocumentKind.CONFIG),
)


def is_set_fields(value: object) -> bool:
    """Whether a line of JSON lines contains the header of the set and not a case.

    Without the id of the set this requires that it has only header keys: a case with misspelled keys is not a header.
    """
    if not isinstance(value, dict) or not value or is_case_like(value):
        return False
    return not _SET_MARKS.isdisjoint(value) or value.keys() <= _SET_FIELDS


def is_case_like(value: object) -> bool:
    """Whether a line of JSON lines is intended as a case, valid or not."""
    return isinstance(value, dict) and bool(_names(value) & (_CASE_MARKS | _ID_MARKS))


_SET_MARKS = frozenset({"eval_set_id", "evalSetId", "eval_cases", "evalCases"})
_SET_FIELDS = frozenset({"id", "name", "description", "creation_timestamp", "creationTimestamp"})


def _names(value: dict[str, object]) -> set[str]:
    """Return the distinctive keys of an object, as the format's names."""
    return {name for spelling, name in _DISTINCTIVE.items() if spelling in value}


def set_id_of(name: str) -> str:
    """Return the default id of a set: the file's name without its suffix."""
    stem = Path(name).name
    for suffix in _SUFFIXES:
        if stem.lower().endswith(suffix) and len(stem) > len(suffix):
            return stem[: -len(suffix)]
    return stem


def _kind_of_list(items: list[object]) -> DocumentKind:
    first = next((item for item in items if isinstance(item, dict)), None)
    if first is None:
        return DocumentKind.UNKNOWN
    keys = _names(first)
    if "data" in keys and keys & {"name", "initial_session"}:
        return DocumentKind.OLD_CASES
    if "query" in keys or "expected_tool_use" in keys:
        return DocumentKind.OLD_TURNS
    if keys & {"conversation", "conversation_scenario"} or keys & _ID_MARKS:
        return DocumentKind.CASE_LIST
    return DocumentKind.UNKNOWN


def describe_unknown_document(value: object) -> tuple[str, str]:
    """Describe a document of an unknown kind for a message, and return a hint."""
    if isinstance(value, list):
        return _describe_list(value)
    if not isinstance(value, dict):
        return (
            f"a document that is {describe_value(value)}",
            "an eval set is an object with `eval_set_id` and `eval_cases`",
        )
    if not value:
        return "an empty object", "an eval set has `eval_set_id` and `eval_cases`"
    if hint := _hint_for_other_format(value) or _hint_for_misspelling(value):
        return f"an object with {_key_list(value)}", hint
    for key in islice(value, 100):
        if isinstance(key, str) and to_snake(key) in _CASE_LISTS and isinstance(value[key], list):
            return f"an object with {_key_list(value)}", _hint_for_other_layout(key, value[key])
    return (
        f"an object with {_key_list(value)}",
        "an eval set has `eval_set_id` and `eval_cases`; a config has `criteria`",
    )


def _describe_list(items: list[object]) -> tuple[str, str]:
    first = next((item for item in items if isinstance(item, dict)), None)
    if first is None:
        return "an empty list" if not items else f"a list that starts with {describe_value(items[0])}", (
            "a list of turns has objects with `query`; an eval set is an object with `eval_cases`"
        )
    return f"a list of objects with {_key_list(first)}", (
        "these are neither turns of the old format (`query`) nor its cases (`name` and `data`), but another tool's layout"
    )


def _hint_for_misspelling(value: dict[str, object]) -> str:
    for key in islice(value, 100):
        near = near_key(key, ("eval_cases", "criteria", "scenarios", "conversation", "conversation_scenario"))
        if near:
            return f"is `{key}` meant to be `{near}`?"
    return ""


def _hint_for_other_layout(key: str, items: list[object]) -> str:
    first = next((item for item in items if isinstance(item, dict)), {})
    inside = f" (its `{key}` have {_key_list(first)})" if first else ""
    return f"this is another tool's layout{inside}; an eval set has `eval_cases`, each with `eval_id` and `conversation`"


def _hint_for_other_format(value: dict[str, object]) -> str:
    if "eval_results_by_eval_id" in value:
        return "this is a report of trpc-agent, not a set"
    if isinstance(value.get("metrics"), list):
        return "this lists `metrics`; a config has `criteria`, an object of metric name and threshold"
    if {"starting_prompt", "conversation_plan"} <= _names(value):
        return 'this is one scenario; a file of scenarios is `{"scenarios": [ … ]}`'
    if {"events", "id"} <= value.keys():
        return "this is a session, not an eval set"
    return ""


def _key_list(keys: Iterable[str], limit: int = 5) -> str:
    names = [quote(key, 30)[1:-1] for key in islice(keys, limit + 1)]
    return ", ".join(f"`{name}`" for name in names[:limit]) + (" …" if len(names) > limit else "")


def not_a(document: Document, expected: str, actual: DocumentKind) -> list[Problem]:
    """Return the problem of a document of another kind than `expected`."""
    if actual is not DocumentKind.UNKNOWN:
        article = "an" if str(actual)[0] in "aeio" else "a"
        message, hint = f"expected {expected}, but this is {article} {actual}", ""
    else:
        looks, hint = describe_unknown_document(document.value)
        message = f"expected {expected}, but this is {looks}"
    return problems_at(document, [DocumentFinding((), message, hint)])
