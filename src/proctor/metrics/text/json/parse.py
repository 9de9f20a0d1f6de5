"""Reads JSON in an answer, which may be between code fences or within sentences, or only similar to JSON."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from itertools import islice

from proctor.metrics.reason_text import show_text

FENCED = re.compile(r"```[\w+.-]*[ \t]*\r?\n(.*?)```", re.DOTALL)
ONLY_FENCED = re.compile(rf"\s*{FENCED.pattern}\s*", re.DOTALL)
NOT_NOUGHT = re.compile(r"[^eE]*[1-9]")
LONGEST = 4000
"""The maximum number of digits of a number."""
MOST_STARTS = 1000
"""The number of brackets that are tried as the start of JSON."""


def read_json(text: str, *, exact: bool = False) -> object:
    """Return the value of a text that is JSON, or JSON within one pair of code fences (```json).

    `exact`: numbers with decimals are `Decimal`s, so that no digit is lost.

    Raises:
        ValueError: it is not, or it is ambiguous JSON: a repeated key, NaN, a number beyond all floats.
    """
    text = text.removeprefix("\ufeff")
    fenced = ONLY_FENCED.fullmatch(text)
    return _decode(fenced[1] if fenced and "```" not in fenced[1] else text, exact=exact)


def json_in(text: str, *, exact: bool = False) -> list[object]:
    """Return the value of `text`; if it is not JSON as a whole, the JSON in it: in code fences, or objects and lists.

    Raises:
        ValueError: there is none.
    """
    try:
        return [read_json(text, exact=exact)]
    except ValueError:
        values = [*_values_in_fences(text, exact=exact)] or [*_values_in_brackets(text, exact=exact)]
    if not values:
        raise ValueError("it contains no JSON object or list")
    return values


def not_json_reason(answer: str, error: ValueError) -> str:
    """Return why an answer is not JSON as a whole, and whether the option `anywhere` would find JSON in it."""
    reason = f"the answer is not JSON: {error}"
    try:
        json_in(answer)
    except ValueError:
        return reason
    return f"{reason}; it contains JSON, which counts with `anywhere`"


def _values_in_fences(text: str, *, exact: bool) -> Iterator[object]:
    for fenced in FENCED.finditer(text):
        with suppress(ValueError):
            yield _decode(fenced[1], exact=exact)


def _values_in_brackets(text: str, *, exact: bool) -> Iterator[object]:
    """Yield the objects and lists in a text, without those inside others, whether complete or cut off."""
    end = 0
    starts = (match.start() for match in re.finditer(r"[{\[]", text))
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


def _decode(text: str, *, exact: bool) -> object:
    reader = _Reader(exact=exact)
    try:
        value = reader.decoder.decode(text.strip())
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if reader.problem:
        raise ValueError(reader.problem)
    return value


class _Reader:
    """Reads one text, and records what Python accepts as JSON but other readers reject."""

    def __init__(self, *, exact: bool) -> None:
        self.problem = ""
        self._exact = exact
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_int=self._int,
            parse_float=self._float,
            parse_constant=self._constant,
        )

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        value = dict(pairs)
        if len(value) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name, times in Counter(names).items() if times > 1)
            self._note(f"an object has the key {show_text(twice)} twice")
        return value

    def _int(self, text: str) -> int:
        if len(text) > LONGEST:
            self._note(f"a number of {len(text)} digits is too large to be compared")
            return 0
        return int(text)

    def _float(self, text: str) -> float | Decimal:
        number = float(text)
        if len(text) > LONGEST:
            self._note(f"a number of {len(text)} digits is too large to be compared")
        elif math.isinf(number) or (number == 0 and NOT_NOUGHT.match(text)):
            self._note(f"{text} is outside the range that can be compared")
        elif self._exact:
            return Decimal(text)
        return number

    def _constant(self, name: str) -> None:
        self._note(f"{name} is not JSON")

    def _note(self, problem: str) -> None:
        self.problem = self.problem or problem
