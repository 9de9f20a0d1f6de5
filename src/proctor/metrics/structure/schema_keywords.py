"""Keywords of JSON Schema that the package jsonschema checks in another way than a person would, or without end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import isfinite
from typing import Any

from proctor.metrics.text.regex.search import Search, find, find_safely, is_cheap

__all__ = ["keywords_for"]

SECONDS = 5.0
"""How long a pattern of a schema may look at one text."""


def keywords_for(known: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Those keywords of a draft (`known`) that are checked here."""
    ours: dict[str, Callable[..., Any]] = {
        "pattern": _pattern,
        "multipleOf": _multiple_of,
        "divisibleBy": _multiple_of,
    }
    guarded = {name: _guarded(known[name]) for name in OF_KEYS if name in known}
    return {name: check for name, check in ours.items() if name in known} | guarded


def _multiple_of(_validator: Any, step: float, value: Any, _schema: Any) -> Iterator[Any]:
    """`multipleOf`, of decimals as they are written: 0.3 is three times 0.1, which it is not in binary."""
    from jsonschema import ValidationError

    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return
    if Fraction(repr(value)) % Fraction(repr(step)):
        yield ValidationError(f"{value!r} is not a multiple of {step!r}")


def _pattern(_validator: Any, pattern: str, value: Any, _schema: Any) -> Iterator[Any]:
    """`pattern`, as jsonschema has it, but for patterns that would never come to an end."""
    if not isinstance(value, str):
        return
    from jsonschema import ValidationError

    if not _is_found(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _is_found(pattern: str, text: str) -> bool:
    """Search, elsewhere where it may take long.

    Raises:
        MetricError: it takes too long.
    """
    search = Search(re.compile(pattern), full=False, text=text)
    found = find([search]) if is_cheap([search]) else find_safely([search], SECONDS)
    return found[0] is not None


OF_KEYS = ("patternProperties", "additionalProperties", "unevaluatedProperties")
"""Keywords that search keys for the patterns of `patternProperties`."""


def _guarded(keyword: Callable[..., Any]) -> Callable[..., Any]:
    """A keyword of jsonschema that searches only where it comes to an end: each search is tried where it can be stopped."""

    def checked(validator: Any, given: Any, value: Any, schema: Any) -> Iterator[Any]:
        patterns = schema.get("patternProperties", {}) if isinstance(schema, Mapping) else {}
        for name in value if isinstance(value, Mapping) else ():
            for pattern in patterns:
                _is_found(pattern, name)
        yield from keyword(validator, given, value, schema) or ()

    return checked
