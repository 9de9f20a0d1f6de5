"""JSON as a model's answer must be: all of a text, no field twice, no NaN."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["strict_json"]


def strict_json(text: str) -> Any:
    """Return what a text says.

    Raises:
        ValueError: it is no JSON, or has a field twice, or a number that JSON does not have.
        RecursionError: it is nested too deep.
    """
    return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field stands twice")
    return found


def _no_number(_: str) -> Any:
    raise ValueError("no number of JSON")
