"""The value of an unquoted word of YAML: null, true, false or a number if all readers agree, else text.

The rule is that of YAML 1.2 (its core schema), so `no`, `on`, `2024-05-01` and `19:00` are text. Words that other versions
read as another number (`007`, `0x1F`) and numbers that JSON does not have (`.inf`) are refused.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from proctor.files.text.json_scanner import MAX_DIGITS
from proctor.files.text.problems import quote

Scalar = str | int | float | bool | None

_LITERALS: dict[str, Scalar] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_AMBIGUOUS = re.compile(r"[-+]?0[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|[-+]?0[xX][0-9a-fA-F]+|[-+]?0o[0-7]+")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MAY_BE_SPECIAL = frozenset("+-.0123456789~nNtTfF")


class Fault(NamedTuple):
    """The reason why a word is refused, and a hint."""

    message: str
    hint: str


def resolve(word: str) -> Scalar | Fault:
    """Return the value of an unquoted word, or the reason why it has none."""
    if word and word[0] not in _MAY_BE_SPECIAL:
        return word
    if word in _LITERALS:
        return _LITERALS[word]
    if _INTEGER.fullmatch(word):
        return _integer(word)
    if _FLOAT.fullmatch(word):
        number = float(word)
        if math.isinf(number):
            return Fault(f"the number {quote(word, 20)} is too large", "the largest is about 1.8e308")
        return number
    if _AMBIGUOUS.fullmatch(word):
        message = f"YAML readers disagree about the value of {quote(word, 20)}"
        return Fault(
            message, f'write "{word[:20]}" in quotes for a text, or the number without leading zeros'
        )
    if _NOT_FINITE.fullmatch(word):
        return Fault(f"JSON has no number {quote(word)}", "write a finite number, or null")
    return word


def is_text(word: str) -> bool:
    """Whether an unquoted `word` is text, and neither another value nor refused."""
    return isinstance(resolve(word), str)


def _integer(word: str) -> int | Fault:
    if len(word.lstrip("+-")) > MAX_DIGITS:
        return Fault(f"a number with {len(word)} digits", f"the limit is {MAX_DIGITS} digits")
    return int(word)
