"""Strict JSON for the answers of models: the whole text, no duplicate fields, no NaN."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["strict_json", "whole_json"]

_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)


def whole_json(text: str) -> Any:
    """Parse a text that is JSON as a whole, possibly within one code fence; raises as `strict_json`.

    It never searches for JSON within a text: the model may quote its material.
    """
    match = _FENCED.fullmatch(text.strip())
    return strict_json(match[1] if match else text)


def strict_json(text: str) -> Any:
    """Parse a JSON text.

    Raises:
        ValueError: the text is not JSON, or it has a duplicate field or a number such as NaN.
        RecursionError: the nesting is too deep.
    """
    return json.loads(text, object_pairs_hook=_unique_fields, parse_constant=_reject_constant)


def _unique_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("duplicate field")
    return fields


def _reject_constant(_: str) -> None:
    raise ValueError("not a JSON number")
