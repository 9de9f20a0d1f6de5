"""Validation of a judge's answer. The messages go back to the model, so they never quote the answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from math import isfinite

from proctor.common.json_values import parse_whole_json
from proctor.judges.base import UnusableAnswerError
from proctor.models.base import JsonSchema


def parse_json(text: str) -> object:
    """Parse a text that is one JSON object, possibly within one code fence.

    Raises:
        UnusableAnswerError: the text is anything else.
    """
    try:
        return parse_whole_json(text)
    except (ValueError, RecursionError):
        raise UnusableAnswerError("it must be one JSON object and nothing else") from None


def check_schema(schema: JsonSchema, answer: object) -> None:
    """Validate an answer by its JSON Schema: objects, arrays, texts, numbers, enumerations.

    Raises:
        UnusableAnswerError: the answer is not valid.
    """
    problem = next(_problems(schema, answer, ""), None)
    if problem is not None:
        raise UnusableAnswerError(problem)


def _problems(schema: JsonSchema, value: object, at: str) -> Iterator[str]:
    where = at or "the answer"
    if "anyOf" in schema:
        if all(any(_problems(option, value, at)) for option in schema["anyOf"]):
            yield f"{where} has none of the allowed forms"
    elif expectation := _unmet_expectation(schema, value):
        yield f"{where} must be {expectation}"
    else:
        yield from _content_problems(schema, value, at, where)


def _unmet_expectation(schema: JsonSchema, value: object) -> str | None:
    """Return the allowed values or types, if `value` is none of them."""
    if "enum" in schema and not any(type(value) is type(each) and value == each for each in schema["enum"]):
        return f"one of {', '.join(json.dumps(each) for each in schema['enum'])}"
    types = schema.get("type", ())
    kinds = [types] if isinstance(types, str) else types
    if kinds and not any(_TYPES[kind][1](value) for kind in kinds):
        return " or ".join(_TYPES[kind][0] for kind in kinds)
    return None


def _content_problems(schema: JsonSchema, value: object, at: str, where: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _field_problems(schema, value, at, where)
    elif isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{where} has the wrong number of items"
        for index, item in enumerate(value):
            yield from _problems(schema.get("items", {}), item, f"{where}[{index}]")
    elif (
        isinstance(value, int | float)
        and _is_number(value)
        and not schema.get("minimum", value) <= value <= schema.get("maximum", value)
    ):
        yield f"{where} is out of range"


def _field_problems(schema: JsonSchema, value: dict[str, object], at: str, where: str) -> Iterator[str]:
    known: JsonSchema = schema.get("properties", {})
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        yield f"{where} lacks {', '.join(missing)}"
    if schema.get("additionalProperties") is False and value.keys() - known.keys():
        yield f"{where} has an unexpected field; its fields are {', '.join(known)}"
    for name in (name for name in known if name in value):
        yield from _problems(known[name], value[name], f"{at}.{name}" if at else name)


def _is_number(value: object) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, int) and not isinstance(
        value, bool
    )  # isfinite fails for integers beyond a float


def _is_integer(value: object) -> bool:
    return isinstance(value, int | float) and _is_number(value) and value == int(value)


_TYPES: dict[str, tuple[str, Callable[[object], bool]]] = {
    "object": ("an object", lambda value: isinstance(value, dict)),
    "array": ("an array", lambda value: isinstance(value, list)),
    "string": ("a text", lambda value: isinstance(value, str)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "number": ("a number", _is_number),
    "integer": ("a whole number", _is_integer),
    "null": ("null", lambda value: value is None),
}
