"""Explain pydantic's validation errors in the terms of the format: the key, the expected kind, the actual value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel, to_snake

from proctor.files.text.problems import Path_, quote

_EXPECTED = {
    "string_type": "text", "string_unicode": "text", "dict_type": "an object", "mapping_type": "an object",
    "model_type": "an object", "model_attributes_type": "an object", "list_type": "a list", "tuple_type": "a list",
    "float_type": "a number", "float_parsing": "a number", "int_type": "a whole number", "int_parsing": "a whole number",
    "int_from_float": "a whole number", "bool_type": "true or false", "bool_parsing": "true or false",
    "finite_number": "a finite number", "json_type": "JSON text", "json_invalid": "JSON text",
    "bytes_type": "base64 text",
}  # fmt: skip

# Keys of other tools or of the old list formats, by the corresponding key of the format.
_MEANT = {
    "user_content": (
        {"user", "query", "input", "prompt", "user_message", "userMessage", "message", "text"},
        'the user\'s turn is `"user_content": {"parts": [{"text": "…"}]}`',
    ),
    "eval_id": (
        {"eval_case_id", "evalCaseId", "name", "case_id", "test_id"},
        "the id of a case is `eval_id`",
    ),
    "eval_cases": (
        {"test_cases", "testCases", "tests", "cases", "evals", "evaluations", "test_scenarios"},
        "",
    ),
    "threshold": (
        {"min_score", "min", "value", "minimum", "target", "pass_threshold"},
        "the minimum score is `threshold`",
    ),
    "query": (
        {"user", "input", "prompt", "request", "question", "user_message"},
        "the user's turn is `query` in this format",
    ),
}


_MAX_COMPARED = 100
"""The most keys of one object that are compared with known ones: comparing is slow, and a file may be hostile."""


@dataclass(frozen=True, slots=True)
class DocumentFinding:
    """A problem at `path` of a document, without a position in a text. `at_key`: it concerns the key, not the value.

    `is_misread`: the value probably states an expectation, and nothing reads it.
    """

    path: Path_
    message: str
    hint: str = ""
    at_key: bool = False
    is_misread: bool = False

    @property
    def one_line(self) -> str:
        """The finding as one line, without a position in a text."""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{'.'.join(map(str, self.path)) or 'document'}: {self.message}{hint}"


def findings_of_error(error: ValidationError, value: object, base: Path_ = ()) -> list[DocumentFinding]:
    """Return the findings of one validation of `value`, which is at `base` of the document; one per path."""
    grouped: dict[Path_, list[Any]] = {}
    for detail in error.errors(include_url=False):
        path, missing = resolve(detail["loc"], value)
        if missing and detail["type"] == "missing":
            path = (*path, to_snake(missing))
        grouped.setdefault(path, []).append(detail)
    return [_finding(path, details, value, base) for path, details in grouped.items()]


def resolve(location: Iterable[str | int], value: Any) -> tuple[Path_, str]:
    """Return the path in the document of a pydantic location, and the last name in it that is missing.

    Locations contain aliases in either spelling and tags of unions; the document decides which steps are keys.
    """
    path: list[str | int] = []
    absent = ""
    for step in location:
        key = _key_in_document(step, value)
        if key is None:
            absent = step if isinstance(step, str) else f"element {step}"
            continue
        path.append(key)
        value = value[key]
        absent = ""
    return tuple(path), absent


def _key_in_document(step: str | int, value: object) -> str | int | None:
    if isinstance(value, list | tuple):
        return step if isinstance(step, int) and step < len(value) else None
    if isinstance(value, dict) and isinstance(step, str):
        for key in (step, to_snake(step), to_camel(step)):
            if key in value:
                return key
    return None


def _finding(path: Path_, details: list[Any], document: Any, base: Path_) -> DocumentFinding:
    first = details[0]
    if first["type"] == "missing" and path:
        return _finding_for_missing(path, document, base)
    value = _at(document, path)
    at = base + path
    if first["type"] == "conversation_or_scenario":
        return DocumentFinding(at, first["msg"], _hint_for_conversation(value))
    if first["type"] == "too_long" and isinstance(value, list):  # the only lists of a fixed length
        return DocumentFinding(at, f"expected a pair [author, parts], got {describe_value(value)}")
    if first["type"] == "extra_forbidden":
        return DocumentFinding(at, "unknown key", at_key=True)
    if expected := _expected_kinds(details):
        return DocumentFinding(at, f"expected {expected}, got {describe_value(value)}")
    return DocumentFinding(at, _message_with_kind(first["msg"], value))


def _message_with_kind(pydantic_message: str, value: object) -> str:
    """Return pydantic's message in the form "expected …, got …"."""
    message = re.sub(r"^(Value error, |Input should be )", "", pydantic_message)
    message = message if message.startswith(("expected", "there is no")) else f"expected {message}"
    is_complete = ", got " in message or "there is no" in message
    return message if is_complete else f"{message}, got {describe_value(value)}"


def _finding_for_missing(path: Path_, document: object, base: Path_) -> DocumentFinding:
    name, parent = str(path[-1]), _at(document, path[:-1])
    if name.startswith("element "):
        return DocumentFinding(
            base + path[:-1], f"expected a pair [author, parts], got {describe_value(parent)}"
        )
    key = to_camel(name) if _is_camel_case(document, path[:-1]) else name
    return DocumentFinding(base + path[:-1], f"`{key}` is missing", _hint_for_missing(name, parent))


def _is_camel_case(document: object, path: Path_) -> bool:
    """Whether the file writes keys in camelCase: decided by the nearest keys of several words."""
    for end in range(len(path), -1, -1):
        parent = _at(document, path[:end])
        keys = list(map(str, islice(parent, _MAX_COMPARED))) if isinstance(parent, dict) else []
        if any("_" in key for key in keys):
            return False
        if any(key == to_camel(to_snake(key)) != to_snake(key) for key in keys):
            return True
    return False


def _expected_kinds(details: list[Any]) -> str:
    """Return the expected kinds over all branches of a union; empty if pydantic's own message is needed."""
    kinds = [_EXPECTED.get(detail["type"], "") for detail in details]
    return " or ".join(dict.fromkeys(kinds)) if all(kinds) else ""


def _at(document: Any, path: Path_) -> object:
    for step in path:
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            return None
    return document


def _hint_for_missing(name: str, parent: object) -> str:
    if not isinstance(parent, dict):
        return ""
    keys = list(islice(parent, _MAX_COMPARED))
    close = get_close_matches(to_camel(name), [to_camel(key) for key in keys], n=1, cutoff=0.8)
    if close:
        return f"is `{next(key for key in keys if to_camel(key) == close[0])}` a misspelling of it?"
    names, hint = _MEANT.get(name, (set(), ""))
    other = next((key for key in keys if key in names), None)
    return f"there is `{other}`, which this format does not know; {hint}" if other and hint else ""


def _hint_for_conversation(case: Any) -> str:
    keys = list(islice(case, _MAX_COMPARED)) if isinstance(case, dict) else []
    for key in keys:
        near = near_key(key, ("conversation", "conversation_scenario"))
        if near and case.get(to_camel(near), case.get(near)) is None and to_snake(key) != near:
            return f"is `{key}` meant to be `{near}`?"
    other = next(
        (key for key in keys if key in {"data", "turns", "messages", "steps", "dialog", "invocations"}), None
    )
    return f"there is `{other}`, which a case of this format does not know" if other else ""


def describe_value(value: object) -> str:
    """Describe a value for a message: `an object`, `the text “abc”`, `the number 3` …"""
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if isinstance(value, str):
        return f"the text {quote(value, 40)}" if value else "an empty text"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"the number {quote(str(value), 24)[1:-1]}"


def near_key(key: str, known: Iterable[str]) -> str:
    """Return the known key of which `key` is probably a misspelling, or an empty string."""
    return _near_key(key, tuple(known)) if len(key) < 100 else ""


@lru_cache(maxsize=1000)
def _near_key(key: str, known: tuple[str, ...]) -> str:
    by_camel = {to_camel(name): name for name in known}
    swapped = next((name for name in known if sorted(name) == sorted(key.lower())), "")
    if swapped:
        return swapped
    close = get_close_matches(to_camel(key.lower() if key.isupper() else key), by_camel, n=1, cutoff=0.75)
    return by_camel[close[0]] if close else ""


# --- messages that begin with a path, such as `expectations[0].calls[1]: …` -------------------------------------------


_INDEX = re.compile(r"\[(\d+)\]")


def locate_message(message: str, value: object, base: Path_ = ()) -> DocumentFinding:
    """Return the finding of a message that begins with a path in `value`; `base` is the path of `value` in the document.

    Steps of the path that `value` does not contain remain in the message. Keys may contain any character and have either
    spelling; the document decides where each key ends.
    """
    end, path = _follow_path(message, 0, value)
    rest = message[end:]
    text = rest.removeprefix(": ") if rest.startswith(": ") else rest.removeprefix(".")
    return DocumentFinding((*base, *path), text.rstrip("."))


def _follow_path(message: str, at: int, value: Any) -> tuple[int, Path_]:
    """Return the end of the longest path in `value` that the message contains from `at` on, and its steps."""
    candidates: list[tuple[int, Path_]] = [(at, ())]
    for key, end in _steps(message, at, value):
        reached, rest = _follow_path(message, end, value[key])
        candidates.append((reached, (key, *rest)))
    return max(candidates, key=lambda candidate: candidate[0])


def _steps(message: str, at: int, value: object) -> Iterator[tuple[str | int, int]]:
    """Return the keys or the index of `value` that the message contains at `at`, each with its end."""
    if isinstance(value, list):
        index = _INDEX.match(message, at)
        if index and int(index[1]) < len(value):
            yield int(index[1]), index.end()
    elif isinstance(value, dict):
        start = at + 1 if at and message[at : at + 1] == "." else at
        for key in value:
            yield from ((key, end) for end in _ends_of_key(message, start, key))


def _ends_of_key(message: str, start: int, key: str) -> Iterator[int]:
    """Return the ends of a key, in either spelling, that the message contains at `start`."""
    for form in {key, to_snake(key)} - {""}:
        end = start + len(form)
        if message.startswith(form, start) and message[end : end + 1] in (".", "[", ":"):
            yield end
