"""JSON in an answer: models put it between fences and sentences, and write what only looks like JSON."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from itertools import islice
from typing import Any

from proctor.metrics.reason_text import show_text

__all__ = ["json_in", "read_json", "why_not_json"]

FENCED = re.compile(r"```[\w+.-]*[ \t]*\r?\n(.*?)```", re.DOTALL)
ONLY_FENCED = re.compile(rf"\s*{FENCED.pattern}\s*", re.DOTALL)
NOT_NOUGHT = re.compile(r"[^eE]*[1-9]")
LONGEST = 4000
"""Digits of a number."""
MOST_STARTS = 1000
"""Brackets of a text that are tried as the start of JSON."""


def read_json(text: str, *, exact: bool = False) -> Any:
    """The value of a text that is JSON, or JSON within one pair of code fences (```json).

    `exact`: numbers with decimals are `Decimal`s, so that no digit is lost.

    Raises:
        ValueError: it is not, or it says what JSON leaves open: a key twice, NaN, a number beyond all floats.
    """
    text = text.removeprefix("\ufeff")
    fenced = ONLY_FENCED.fullmatch(text)
    return _decode(fenced[1] if fenced and "```" not in fenced[1] else text, exact=exact)


def json_in(text: str, *, exact: bool = False) -> list[Any]:
    """The value of `text`; where it is no JSON as a whole, the JSON in it: what stands between fences, objects, lists.

    Raises:
        ValueError: there is none.
    """
    try:
        return [read_json(text, exact=exact)]
    except ValueError:
        found = [*_fenced(text, exact=exact)] or [*_bracketed(text, exact=exact)]
    if not found:
        raise ValueError("no JSON object or list is in it")
    return found


def why_not_json(answer: str, error: ValueError) -> str:
    """Say why an answer is no JSON as a whole, and whether the option `anywhere` would find some in it."""
    reason = f"the answer is no JSON: {error}"
    try:
        json_in(answer)
    except ValueError:
        return reason
    return f"{reason}; there is JSON in it, which counts with `anywhere`"


def _fenced(text: str, *, exact: bool) -> Iterator[Any]:
    for fenced in FENCED.finditer(text):
        with suppress(ValueError):
            yield _decode(fenced[1], exact=exact)


def _bracketed(text: str, *, exact: bool) -> Iterator[Any]:
    """Objects and lists that stand in a text; those within others left out, be those whole or cut off."""
    end = 0
    starts = (found.start() for found in re.finditer(r"[{\[]", text))
    for start in islice(starts, MOST_STARTS):
        if start < end:
            continue
        reader = _Reader(exact=exact)
        try:
            value, end = reader.decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            end = error.pos
        except RecursionError:
            end = start + 1
        else:
            if not reader.problem:
                yield value


def _decode(text: str, *, exact: bool) -> Any:
    reader = _Reader(exact=exact)
    try:
        value = reader.decoder.decode(text.strip())
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if reader.problem:
        raise ValueError(reader.problem)
    return value


class _Reader:
    """Reads one text, and notes what Python would take for JSON and readers disagree about."""

    def __init__(self, *, exact: bool) -> None:
        self.problem = ""
        self._exact = exact
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_int=self._int,
            parse_float=self._float,
            parse_constant=self._constant,
        )

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name, times in Counter(names).items() if times > 1)
            self._note(f"the key {show_text(twice)} stands in one object twice")
        return found

    def _int(self, text: str) -> int:
        if len(text) > LONGEST:
            self._note(f"a number of {len(text)} digits is beyond all numbers that can be compared")
            return 0
        return int(text)

    def _float(self, text: str) -> float | Decimal:
        number = float(text)
        if len(text) > LONGEST:
            self._note(f"a number of {len(text)} digits is beyond all numbers that can be compared")
        elif math.isinf(number) or (number == 0 and NOT_NOUGHT.match(text)):
            self._note(f"{text} is beyond all numbers that can be compared")
        elif self._exact:
            return Decimal(text)
        return number

    def _constant(self, name: str) -> None:
        self._note(f"{name} is no JSON")

    def _note(self, problem: str) -> None:
        self.problem = self.problem or problem
