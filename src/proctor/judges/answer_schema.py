"""Whether an answer is of the form that was asked for; what is said of it repeats nothing that is in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any

from proctor.judges.base import UnusableAnswerError
from proctor.models.strict_json import whole_json

__all__ = ["check_shape", "read_text"]


def read_text(text: str) -> Any:
    """Return the JSON object that a text is: the whole of it, but for one code fence around all.

    Raises:
        UnusableAnswerError: it is none.
    """
    try:
        return whole_json(text)
    except (ValueError, RecursionError):
        raise UnusableAnswerError("it must be one JSON object and nothing else") from None


def check_shape(schema: Mapping[str, Any], answer: Any) -> None:
    """Compare an answer with the JSON Schema of its form: objects, arrays, texts, numbers, enumerations.

    Raises:
        UnusableAnswerError: it does not fit.
    """
    problem = next(_problems(schema, answer, ""), None)
    if problem is not None:
        raise UnusableAnswerError(problem)


def _problems(schema: Mapping[str, Any], value: Any, at: str) -> Iterator[str]:
    where = at or "the answer"
    if "anyOf" in schema:
        if not any(next(_problems(one, value, at), None) is None for one in schema["anyOf"]):
            yield f"{where} is of none of the forms that it may have"
        return
    if "enum" in schema and not any(type(value) is type(one) and value == one for one in schema["enum"]):
        yield f"{where} must be one of {', '.join(json.dumps(one) for one in schema['enum'])}"
        return
    kinds = schema.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_IS[kind](value) for kind in kinds):
        yield f"{where} must be {' or '.join(_NAMED[kind] for kind in kinds)}"
        return
    yield from _more(schema, value, at, where)


def _more(schema: Mapping[str, Any], value: Any, at: str, where: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _fields(schema, value, at, where)
    elif isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{where} has the wrong number of items"
        for index, item in enumerate(value):
            yield from _problems(schema.get("items", {}), item, f"{where}[{index}]")
    elif _is_number(value) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"{where} is out of its range"


def _fields(schema: Mapping[str, Any], value: dict[str, Any], at: str, where: str) -> Iterator[str]:
    known: Mapping[str, Any] = schema.get("properties", {})
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        yield f"{where} lacks {', '.join(missing)}"
    if schema.get("additionalProperties") is False and value.keys() - known.keys():
        yield f"{where} has a field that was not asked for; its fields are {', '.join(known)}"
    for name in (name for name in known if name in value):
        yield from _problems(known[name], value[name], f"{at}.{name}" if at else name)


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)  # of any length: a float may not hold it


_IS: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "number": _is_number,
    "integer": lambda value: _is_number(value) and value == int(value),
    "null": lambda value: value is None,
}
_NAMED = {
    "object": "an object",
    "array": "an array",
    "string": "a text",
    "boolean": "true or false",
    "number": "a number",
    "integer": "a whole number",
    "null": "null",
}
