"""JSON in an answer: models put it between fences and sentences, and write what only looks like JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

__all__ = ["json_in", "read_json"]

FENCED = re.compile(r"```[\w+.-]*[ \t]*\r?\n(.*?)```", re.DOTALL)
ONLY_FENCED = re.compile(rf"\s*{FENCED.pattern}\s*", re.DOTALL)
MOST_STARTS = 1000
"""Brackets of a text that are tried as the start of JSON."""


def read_json(text: str) -> Any:
    """The value of a text that is JSON, or JSON within one pair of code fences (```json).

    Raises:
        ValueError: it is not, or it says what JSON leaves open: a key twice, NaN, a number beyond all floats.
    """
    text = text.removeprefix("\ufeff")
    fenced = ONLY_FENCED.fullmatch(text)
    return _decode(fenced[1] if fenced and "```" not in fenced[1] else text)


def json_in(text: str) -> list[Any]:
    """The value of `text`; where it is no JSON as a whole, the JSON in it: what stands between fences, objects, lists.

    Raises:
        ValueError: there is none.
    """
    try:
        return [read_json(text)]
    except ValueError:
        found = [*_fenced(text)] or [*_bracketed(text)]
    if not found:
        raise ValueError("no JSON object or list is in it")
    return found


def _fenced(text: str) -> Iterator[Any]:
    for fenced in FENCED.finditer(text):
        with suppress(ValueError):
            yield _decode(fenced[1])


def _bracketed(text: str) -> Iterator[Any]:
    """Objects and lists that stand in a text, those within others left out."""
    end = 0
    starts = (found.start() for found in re.finditer(r"[{\[]", text))
    for start in islice(starts, MOST_STARTS):
        if start < end:
            continue
        with suppress(ValueError, RecursionError):
            value, end = _DECODER.raw_decode(text, start)
            yield value


def _decode(text: str) -> Any:
    try:
        return _DECODER.decode(text.strip())
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {json.dumps(twice, ensure_ascii=False)} stands in one object twice")
    return found


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is beyond all numbers that can be compared")
    return number


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)
