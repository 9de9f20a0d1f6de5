"""Values in texts: numbers, dates, addresses, references; and whether a text has one, however it is written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import date, timedelta
from itertools import combinations

from proctor.simulation.faults.text_features import by_line

__all__ = [
    "addresses",
    "dates_in",
    "is_clock_of",
    "is_day_near",
    "is_made_of",
    "is_rounded",
    "numbers_in",
    "numbers_in_words",
    "references",
]

_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://[^\s<>\"')]+|\bwww\.[^\s<>\"')]+")
_WITH_DIGIT = re.compile(r"[$€£#]?[^\W_]*(?:[-_/.:,][^\W_]+|[^\W_])*\d(?:[-_/.:,]?[^\W_]+)*%?")
_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
_NAMED = (
    re.compile(rf"\b{_MONTH}\s+(?:the\s+)?(\d{{1,2}})(?:st|nd|rd|th)?\b", re.IGNORECASE),
    re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\b", re.IGNORECASE),
)
_PART_OF_MONTH = re.compile(
    rf"\b(end|beginning|start|middle|mid)[ -](?:of )?(?:the )?{_MONTH}(?![\w])", re.IGNORECASE
)
_DAYS = {"end": (28, 29, 30, 31), "beginning": (1,), "start": (1,), "middle": (15,), "mid": (15,)}
_NUMERIC = re.compile(r"\b(\d{1,4})[-/.](\d{1,2})[-/.](\d{1,4})\b")
_SHORT = re.compile(r"(?<![\w./-])(\d{1,2})(?:/(?=\d{1,2}(?!\d))|\.(?=\d{1,2}\.))(\d{1,2})\.?(?![\w/-])")
_MONEY = re.compile(r"[$€£]\s?\d+|\b\d+(?:\.\d+)?\s?(?:dollars?|euros?|pounds?|usd|eur|gbp)\b", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]\d|\d[^\W\d_]")
_CURRENCY = re.compile(r"usd|eur|gbp|dollars?|euros?|pounds?", re.IGNORECASE)
_SHARES = range(2, 13)
_MOST = 60
"""Numbers of which sums and products are tried."""
_FEW = 24
"""Numbers of which more is tried: a sum of a product, as of goods and their delivery."""


def addresses(text: str) -> list[str]:
    """Return e-mail and web addresses."""
    return [found.rstrip(".,") for found in _ADDRESS.findall(text)]


def references(text: str) -> Iterator[str]:
    """Return what nobody says by chance: numbers and references of three digits or more, amounts of money.

    Years, shares in per cent and what stands in an address or a date are none.
    """
    rest = _ADDRESS.sub(" ", text)
    for pattern in (*_NAMED, _NUMERIC, _SHORT):
        rest = pattern.sub(" ", rest)
    money = {found.strip() for found in _MONEY.findall(rest)}
    yield from sorted(money)
    for found in _WITH_DIGIT.findall(rest):
        digits = sum(char.isdigit() for char in found)
        is_year = re.fullmatch(r"(?:19|20)\d\d", found) is not None
        is_code = len(found) >= 5 - (digits > 1) and any(char.isalpha() for char in found)
        is_order = re.fullmatch(
            r"\d+(?:st|nd|rd|th|am|pm|h|k|km|kg|cm|mm|ml|gb|mb|s|x|g|m)|[1-9]\d{0,3}x\d+|\d{1,3}-[^\W\d_]{2,}.*",
            found,
            re.IGNORECASE,
        )
        if (digits >= 3 or is_code) and not (is_year or is_order or found.endswith("%") or _in(found, money)):
            yield found


def _in(found: str, money: set[str]) -> bool:
    return any(found in one or one in found for one in money)


def numbers_in(text: str) -> frozenset[float]:
    """Return the numbers in a text."""
    return frozenset().union(*map(_numbers_in, text.split("\n")))


@by_line
def _numbers_in(line: str) -> frozenset[float]:
    return frozenset(float(found.replace(",", "")) for found in _NUMBER.findall(line))


def dates_in(text: str) -> frozenset[tuple[int, int]]:
    """Return the dates in a text, as (month, day); of one in numbers both readings."""
    return frozenset().union(*map(_dates_in, text.split("\n")))


@by_line
def _dates_in(text: str) -> frozenset[tuple[int, int]]:
    found = {(_month(name), int(day)) for name, day in _NAMED[0].findall(text)}
    found |= {(_month(name), int(day)) for day, name in _NAMED[1].findall(text)}
    found |= {
        (_month(name), day) for part, name in _PART_OF_MONTH.findall(text) for day in _DAYS[part.casefold()]
    }
    for first, second, third in _NUMERIC.findall(text):
        pairs = [(second, third)] if len(first) == 4 else [(first, second), (second, first)]
        found |= {(int(month), int(day)) for month, day in pairs if 1 <= int(month) <= 12 and int(day) <= 31}
    short = [(int(one), int(other)) for one, other in _SHORT.findall(text)]
    found |= {
        (month, day) for pair in short for month, day in (pair, pair[::-1]) if 1 <= month <= 12 and day <= 31
    }
    return frozenset(found)


def _month(name: str) -> int:
    return _MONTHS.index(name.casefold()[:3]) + 1


def is_made_of(reference: str, numbers: Collection[float]) -> bool:
    """Tell whether a reference is a number that can be worked out of others: a sum, a difference, a product, a share."""
    if _LETTERS.search(_CURRENCY.sub("", reference)):
        return False
    return all(_is_derived(number, numbers) for number in numbers_in(reference))


def _is_derived(number: float, there: Collection[float]) -> bool:
    if number in there or (number - 12 in there and number <= 24) or (number + 12 in there and number < 12):
        return True
    if any(
        abs(number * times - one) < 0.005 or abs(number - one * times) < 0.005
        for one in there
        for times in _SHARES
    ):
        return True
    some = sorted(there)[:_MOST]
    made = [
        each for one, other in combinations(some, 2) for each in (one + other, abs(one - other), one * other)
    ]
    if any(abs(number - each) < 0.005 for each in made):
        return True
    is_amount = number != int(number) and len(some) <= _FEW
    return is_amount and any(abs(number - each - one) < 0.005 for each in made for one in some)


# --- Numbers that a text has in other forms than digits: in words, in thousands, times of the clock, days counted from a date ---


_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_VALUES = {word: value for value, word in enumerate(_ONES)}
_VALUES |= {word: 10 * value for value, word in enumerate(_TENS, 2)}
_VALUES |= {"dozen": 12, "noon": 12, "midnight": 0}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_QUANTITY = "|".join([*_VALUES, *_SCALES])
_IN_WORDS = re.compile(rf"\b(?:{_QUANTITY})(?:(?:[ -]|\s+and\s+)(?:{_QUANTITY}))*\b", re.IGNORECASE)
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
