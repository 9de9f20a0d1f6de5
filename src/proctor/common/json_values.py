"""JSON values: their types, their comparison, and strict parsing of the answers of models."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sized
from typing import TypeAlias

from proctor.common.error_text import safe_repr

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A value as `json.loads` returns it. Narrow it with `isinstance` before use."""

JsonObject: TypeAlias = "dict[str, Json]"


_encode = json.JSONEncoder(ensure_ascii=False).encode


def json_line(value: object) -> str:
    """Return a value as JSON on one line, as all messages, reports and pages show it; its `repr` if it is not JSON."""
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError):
        return safe_repr(value, limit=10**6)


sorted_json = json.JSONEncoder(sort_keys=True, default=str).encode
"""Return a value as JSON with sorted keys: equal texts are equal JSON. Raises ValueError for a cyclic value."""


def equal_json(expected: object, actual: object) -> bool:
    """Compare two JSON values: 1 equals 1.0, booleans are not numbers, the order of keys does not count, tuples are lists.

    The function does not recurse, so that the depth of the values is not limited.
    """
    pending: list[tuple[object, object]] = [(expected, actual)]
    compared: set[tuple[int, int]] = set()
    while pending:
        one, other = pending.pop()
        if isinstance(one, bool) or isinstance(other, bool):
            if one is not other:
                return False
            continue
        members = _members(one, other)
        if members is None:
            if not one == other:  # noqa: SIM201 - a custom type may define only `==`
                return False
        elif len(members) != max(_length(one), _length(other)):
            return False
        elif (id(one), id(other)) not in compared:  # a cyclic value is compared once
            compared.add((id(one), id(other)))
            pending += members
    return True


def _length(value: object) -> int:
    return len(value) if isinstance(value, Sized) else 0


def _members(one: object, other: object) -> list[tuple[object, object]] | None:
    """Return the pairs of members of two objects or two lists; `None` if they are not of the same kind."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return [(value, other[key]) for key, value in one.items() if key in other]
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return list(zip(one, other, strict=False))
    return None


# --- Strict parsing: the whole text, no duplicate fields, no NaN -------------------------------------------------------


_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)


def parse_whole_json(text: str) -> Json:
    """Parse a text that is JSON as a whole, possibly within one code fence; raises as `strict_json`.

    It never searches for JSON within a text: the model may quote its material.
    """
    match = _FENCED.fullmatch(text.strip())
    return strict_json(match[1] if match else text)


def strict_json(text: str) -> Json:
    """Parse a JSON text.

    Raises:
        ValueError: the text is not JSON, or it has a duplicate field or a number such as NaN.
        RecursionError: the nesting is too deep.
    """
    value: Json = json.loads(text, object_pairs_hook=_unique_fields, parse_constant=_reject_constant)
    return value


def _unique_fields(pairs: list[tuple[str, Json]]) -> JsonObject:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("duplicate field")
    return fields


def _reject_constant(_: str) -> None:
    raise ValueError("not a JSON number")
