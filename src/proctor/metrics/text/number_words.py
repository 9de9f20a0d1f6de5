"""English number words as digits: "forty-two", "a hundred and five thousand", "3.5 million", "minus two point five"."""

from __future__ import annotations

import re
from decimal import Decimal

__all__ = ["with_digits"]

UNITS = {word: value for value, word in enumerate("one two three four five six seven eight nine".split(), 1)}
TEENS = {
    word: value
    for value, word in enumerate(
        "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(), 10
    )
}
TENS = {
    word: value
    for value, word in zip(
        range(20, 100, 10), "twenty thirty forty fifty sixty seventy eighty ninety".split(), strict=True
    )
}
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
VALUES = {"zero": 0, "a": 1, **UNITS, **TEENS, **TENS}

_UNIT, _TEEN, _TEN, _SCALE = ("|".join(words) for words in (UNITS, TEENS, TENS, SCALES))
_BELOW_100 = rf"(?:(?:{_TEN})(?:(?:\s*-\s*|\s+)(?:{_UNIT})\b)?|{_TEEN}|{_UNIT})\b"
_AND = r"(?:\s+and)?\s+"
_BELOW_1000 = rf"(?:(?:{_UNIT}|a)\s+hundred\b(?:{_AND}{_BELOW_100})?|{_BELOW_100})"
_SCALED = rf"(?:{_BELOW_1000}|a|(?<![\w.,])\d[\d,]*(?:\.\d+)?)\s+(?:{_SCALE})\b"
_POINT = rf"(?P<point>(?:\s+point(?P<decimals>(?:\s+(?:zero|{_UNIT})\b)+)))?"
NUMBER = re.compile(
    rf"(?P<sign>\b(?:minus|negative)\s+)?(?<!\w)"
    rf"(?P<whole>{_SCALED}(?:,?{_AND}{_SCALED})*(?:{_AND}{_BELOW_1000})?|{_BELOW_1000}|zero\b){_POINT}",
    re.IGNORECASE,
)
WORD = re.compile(r"[a-z]+|\d[\d,]*(?:\.\d+)?")


def with_digits(text: str) -> str:
    """`text` with English number words as digits, and `3.5 million` written out."""
    return NUMBER.sub(_digits, text)


def _digits(found: re.Match[str]) -> str:
    number = f"{_value(found['whole'].lower()):f}"
    if found["decimals"]:
        number += "." + "".join(str(VALUES[word]) for word in found["decimals"].lower().split())
    return f"-{number}" if found["sign"] else number


def _value(words: str) -> Decimal:
    """The value of whole-number words: each scale multiplies what stands before it since the last one."""
    total = part = Decimal(0)
    for word in WORD.findall(words):
        if word in SCALES:
            total, part = total + part * SCALES[word], Decimal(0)
        elif word == "hundred":
            part *= 100
        elif word in VALUES:
            part += VALUES[word]
        elif word != "and":
            part += Decimal(word.replace(",", ""))
    return total + part
