"""English number words as digits: "forty-two", "a hundred and five thousand", "3.5 million", "twenty-five hundred".

Words in a row ("twenty twenty-four") may be a year or several numbers: their digits are joined by `ROW`.
"""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import pairwise

__all__ = ["ROW", "with_digits"]

ROW = "\ue000"

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
_BELOW_1000 = rf"(?:(?:{_BELOW_100}|a)\s+hundred\b(?:{_AND}{_BELOW_100})?|{_BELOW_100})"
_PART_OF = r"(?<!half )(?<!of )"
_SCALED = rf"(?:{_BELOW_1000}|{_PART_OF}a|(?<![\w.,])\d[\d,]*(?:\.\d+)?)\s+(?:{_SCALE})\b"
_POINT = rf"(?P<point>(?:\s+point(?P<decimals>(?:\s+(?:zero|{_UNIT})\b)+)))?"
NUMBER = re.compile(
    rf"(?<!\w)(?P<whole>{_SCALED}(?:,?{_AND}{_SCALED})*(?:{_AND}{_BELOW_1000})?|{_BELOW_1000}|zero\b){_POINT}",
    re.IGNORECASE,
)
SCALED = re.compile(_SCALED.replace(rf"\s+(?:{_SCALE})", rf"\s+(?P<scale>{_SCALE})"))
WORD = re.compile(r"[a-z]+|\d[\d,]*(?:\.\d+)?")


def with_digits(text: str) -> str:
    """`text` with English number words as digits, and `3.5 million` written out."""
    made, end, last = [], 0, ""
    for found in NUMBER.finditer(text):
        between = text[end : found.start()]
        if last.isalpha() and found[0][0].isalpha() and not between.strip(" -") and between:
            between = ROW
        made += [between, _digits(found)]
        end, last = found.end(), found[0][-1]
    return "".join([*made, text[end:]])


def _digits(found: re.Match[str]) -> str:
    whole = found["whole"].lower()
    if not _descends(whole):
        return ROW.join(f"{_value(part[0]):f}" for part in SCALED.finditer(whole))
    number = f"{_value(whole):f}"
    if found["decimals"]:
        number += "." + "".join(str(VALUES[word]) for word in found["decimals"].lower().split())
    return number


def _descends(words: str) -> bool:
    """Whether each part is smaller than one of the part before: "two million three thousand", not "two, three million"."""
    parts = [(SCALES[part["scale"]], _value(part[0])) for part in SCALED.finditer(words)]
    return all(value < before for (before, _), (_, value) in pairwise(parts))


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
