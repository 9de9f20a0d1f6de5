"""JSON as a model's answer must be: all of a text, no field twice, no NaN."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["strict_json", "whole_json"]

_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)


def whole_json(text: str) -> Any:
    """Return what a text says that is JSON as a whole, but for one code fence around all; raises as `strict_json`.

    Never searches a text for JSON: what stands beside it may be a quotation of what the model was shown.
    """
    found = _FENCED.fullmatch(text.strip())
    return strict_json(found[1] if found else text)


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
