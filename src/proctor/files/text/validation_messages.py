"""What pydantic found wrong, said in the words of the format: which key, what was expected, what came instead."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel, to_snake

from proctor.files.text.problems import Path_, shown

_EXPECTED = {
    "string_type": "text", "string_unicode": "text", "dict_type": "an object", "mapping_type": "an object",
    "model_type": "an object", "model_attributes_type": "an object", "list_type": "a list", "tuple_type": "a list",
    "float_type": "a number", "float_parsing": "a number", "int_type": "a whole number", "int_parsing": "a whole number",
    "int_from_float": "a whole number", "bool_type": "true or false", "bool_parsing": "true or false",
    "finite_number": "a finite number", "json_type": "JSON text", "json_invalid": "JSON text",
    "bytes_type": "base64 text",
}  # fmt: skip

# Keys that people write, from other tools or from the old list formats, where the format has another.
_MEANT = {
    "user_content": (
        {"user", "query", "input", "prompt", "user_message", "userMessage", "message", "text"},
        'the user\'s turn is `"user_content": {"parts": [{"text": "…"}]}`',
    ),
    "eval_id": ({"eval_case_id", "evalCaseId", "name", "case_id", "test_id"}, "a case is named by `eval_id`"),
    "eval_cases": (
        {"test_cases", "testCases", "tests", "cases", "evals", "evaluations", "test_scenarios"},
        "",
    ),
    "threshold": (
        {"min_score", "min", "value", "minimum", "target", "pass_threshold"},
        "the value to reach is `threshold`",
    ),
    "query": (
        {"user", "input", "prompt", "request", "question", "user_message"},
        "the user's turn is `query` in this format",
    ),
}


_LOOKED_AT = (
    100  # keys of one object among which a slip is looked for: comparing is slow, and files may be hostile
)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong at `path` of a document, not yet at a place of a text. `at_key`: the key is meant, not the value.

    `is_misread`: something is stated there that a verdict should rest on, and nothing reads it.
    """

    path: Path_
    message: str
    hint: str = ""
    at_key: bool = False
    is_misread: bool = False

    @property
    def said(self) -> str:
        """In one line, where there is no place in a text."""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{'.'.join(map(str, self.path)) or 'document'}: {self.message}{hint}"


def explain(error: ValidationError, value: Any, base: Path_ = ()) -> list[Finding]:
    """All findings of one validation of `value`, which stands at `base` of the document; one per place."""
    grouped: dict[Path_, list[Any]] = {}
    for detail in error.errors(include_url=False):
        path, missing = resolve(detail["loc"], value)
        if missing and detail["type"] == "missing":
            path = (*path, to_snake(missing))
        grouped.setdefault(path, []).append(detail)
    return [_finding(path, details, value, base) for path, details in grouped.items()]


def resolve(location: Iterable[str | int], value: Any) -> tuple[Path_, str]:
    """The path in the document that a pydantic location means, and the last name in it that is not there.

    Locations have names by alias, in either spelling, and tags of unions; the document decides what they are.
    """
    path: list[str | int] = []
    absent = ""
    for step in location:
        key = _own_spelling(step, value)
        if key is None:
            absent = step if isinstance(step, str) else f"element {step}"
            continue
        path.append(key)
        value = value[key]
        absent = ""
    return tuple(path), absent


def _own_spelling(step: str | int, value: Any) -> str | int | None:
    if isinstance(value, list | tuple):
        return step if isinstance(step, int) and step < len(value) else None
    if isinstance(value, dict) and isinstance(step, str):
        for key in (step, to_snake(step), to_camel(step)):
            if key in value:
                return key
    return None


def _finding(path: Path_, details: list[Any], document: Any, base: Path_) -> Finding:
    first = details[0]
    if first["type"] == "missing" and path:
        parent = _at(document, path[:-1])
        hint = _hint_for_missing(str(path[-1]), parent)
        if isinstance(path[-1], str) and path[-1].startswith("element "):
            return Finding(base + path[:-1], f"expected a pair [author, parts], got {kind_of(parent)}")
        name = str(path[-1])
        spelled = to_camel(name) if _is_camel_case(document, path[:-1]) else name
        return Finding(base + path[:-1], f"`{spelled}` is missing", hint)
    if first["type"] == "conversation_or_scenario":
        return Finding(base + path, first["msg"], _hint_for_conversation(_at(document, path)))
    if first["type"] == "too_long" and isinstance(
        _at(document, path), list
    ):  # the only lists of a fixed length
        return Finding(base + path, f"expected a pair [author, parts], got {kind_of(_at(document, path))}")
    if first["type"] == "extra_forbidden":
        return Finding(base + path, "unknown key", at_key=True)
    expected = _expected(details)
    got = kind_of(_at(document, path))
    if expected:
        return Finding(base + path, f"expected {expected}, got {got}")
    message = re.sub(r"^(Value error, |Input should be )", "", first["msg"])
    message = message if message.startswith(("expected", "there is no")) else f"expected {message}"
    return Finding(
        base + path, message if ", got " in message or "there is no" in message else f"{message}, got {got}"
    )


def _is_camel_case(document: Any, path: Path_) -> bool:
    """Whether the file spells its keys so, as the nearest ones of several words show."""
    for end in range(len(path), -1, -1):
        there = _at(document, path[:end])
        keys = list(map(str, islice(there, _LOOKED_AT))) if isinstance(there, dict) else []
        if any("_" in key for key in keys):
            return False
        if any(key == to_camel(to_snake(key)) != to_snake(key) for key in keys):
            return True
    return False


def _expected(details: list[Any]) -> str:
    """What would have been right, over all branches of a union; empty when pydantic's own words are needed."""
    known = [_EXPECTED[detail["type"]] for detail in details if detail["type"] in _EXPECTED]
    own_words = [detail for detail in details if detail["type"] not in _EXPECTED]
    return " or ".join(dict.fromkeys(known)) if known and not own_words else ""


def _at(document: Any, path: Path_) -> Any:
    for step in path:
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            return None
    return document


def _hint_for_missing(name: str, parent: Any) -> str:
    if not isinstance(parent, dict):
        return ""
    keys = list(islice(parent, _LOOKED_AT))
    close = get_close_matches(to_camel(name), [to_camel(key) for key in keys], n=1, cutoff=0.8)
    if close:
        return f"is `{next(key for key in keys if to_camel(key) == close[0])}` a slip of it?"
    names, hint = _MEANT.get(name, (set(), ""))
    used = next((key for key in keys if key in names), None)
    return f"there is `{used}`, which this format does not know; {hint}" if used and hint else ""


def _hint_for_conversation(case: Any) -> str:
    keys = list(islice(case, _LOOKED_AT)) if isinstance(case, dict) else []
    for key in keys:
        near = near_key(key, ("conversation", "conversation_scenario"))
        if near and case.get(to_camel(near), case.get(near)) is None and to_snake(key) != near:
            return f"is `{key}` meant to be `{near}`?"
    used = next(
        (key for key in keys if key in {"data", "turns", "messages", "steps", "dialog", "invocations"}), None
    )
    return f"there is `{used}`, which a case of this format does not know" if used else ""


def kind_of(value: Any) -> str:
    """A value as a message names it: `an object`, `the text “abc”`, `the number 3` …"""
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if isinstance(value, str):
        return f"the text {shown(value, 40)}" if value else "an empty text"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"the number {shown(str(value), 24)[1:-1]}"


def near_key(key: str, known: Iterable[str]) -> str:
    """The known key that `key` is probably a slip of, or an empty string."""
    return _near_key(key, tuple(known)) if len(key) < 100 else ""


@lru_cache(maxsize=1000)
def _near_key(key: str, known: tuple[str, ...]) -> str:
    by_camel = {to_camel(name): name for name in known}
    close = get_close_matches(to_camel(key.lower() if key.isupper() else key), by_camel, n=1, cutoff=0.75)
    return by_camel[close[0]] if close else ""
