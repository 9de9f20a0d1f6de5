"""Numbers that a text has in other forms than digits: in words, in thousands, times of the clock, days counted from a date."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import date, timedelta

from proctor.simulation.faults.text_features import by_line

__all__ = ["is_clock_of", "is_day_near", "is_rounded", "numbers_in_words"]

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_VALUES = {word: value for value, word in enumerate(_ONES)}
_VALUES |= {word: 10 * value for value, word in enumerate(_TENS, 2)}
_VALUES |= {"dozen": 12, "noon": 12, "midnight": 0}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_NUMBER = "|".join([*_VALUES, *_SCALES])
_IN_WORDS = re.compile(rf"\b(?:{_NUMBER})(?:(?:[ -]|\s+and\s+)(?:{_NUMBER}))*\b", re.IGNORECASE)
_IN_THOUSANDS = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?(?:k\b|thousand\b)", re.IGNORECASE)
_CLOCK = re.compile(r"(\d{1,2})[:.](\d{2})(?:[:.]00)?(?:am|pm|h)?", re.IGNORECASE)
_PARTS_OF_HOUR = {15: "quarter", 30: "half", 45: "quarter"}
_RELATIVE = re.compile(
    r"\b(?:today|tomorrow|yesterday|tonight|ago|nights|days|weeks?|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b",
    re.IGNORECASE,
)
_NEAR = timedelta(days=14)
_SMALLEST_BROKEN = 10


@by_line
def numbers_in_words(line: str) -> frozenset[float]:
    """Return the numbers that a line has in words or in thousands: `two hundred and fifty`, `5k`."""
    found = {1000 * float(number) for number in _IN_THOUSANDS.findall(line)}
    return frozenset(found | {_value(one) for one in _IN_WORDS.findall(line.casefold())})


def _value(text: str) -> float:
    total = group = 0.0
    for word in re.findall(r"\w+", text):
        if (scale := _SCALES.get(word)) is None:
            group += _VALUES.get(word, 0)
        elif scale == 100:
            group = (group or 1) * 100
        else:
            total, group = total + (group or 1) * scale, 0.0
    return total + group


def is_clock_of(reference: str, numbers: Collection[float], said: Collection[str]) -> bool:
    """Tell whether a reference is a time of the clock whose hour was said, and its minutes, if it has any."""
    found = _CLOCK.fullmatch(reference)
    if found is None:
        return False
    hour, minute = int(found[1]), int(found[2])
    part = _PARTS_OF_HOUR.get(minute, "")
    if part and part in said and {(hour + 1) % 12, (hour + 1) % 12 + 12} & {*numbers}:
        return True  # a quarter to
    is_hour = any(one in numbers for one in (hour, hour + 12, hour - 12))
    return is_hour and (minute == 0 or part in said or minute in numbers)


def is_rounded(reference: str, numbers: Collection[float]) -> bool:
    """Tell whether a reference is an amount of which the broken one was said: 219.90 is about 220."""
    found = re.fullmatch(r"[$€£]?\s?(\d+)(?:\s?[^\W\d]+)?", reference)
    if found is None:
        return False
    broken = (one for one in numbers if one != int(one) and one >= _SMALLEST_BROKEN)
    return any(
        int(found[1]) in (int(one), int(one) + 1, 5 * round(one / 5), 10 * round(one / 10)) for one in broken
    )


def is_day_near(month: int, day: int, known: Collection[tuple[int, int]], told: Iterable[str]) -> bool:
    """Tell whether a date may be counted from a known one, in texts that speak of tomorrow, next Friday or three nights."""
    if not known or not any(map(_RELATIVE.search, told)):
        return False
    wanted = _date(month, day)
    return wanted is not None and any(
        other is not None
        and min(abs(wanted - other), abs(abs(wanted - other) - timedelta(days=366))) <= _NEAR
        for other in (_date(*one) for one in known)
    )


def _date(month: int, day: int) -> date | None:
    try:
        return date(2024, month, day)  # a year with all days
    except ValueError:
        return None
