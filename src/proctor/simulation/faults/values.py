"""Values in texts: numbers, dates, addresses and references, and comparisons of different notations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import date, timedelta
from itertools import combinations

from proctor.simulation.faults.text_features import by_line

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
_ALL_DATES = frozenset((month, day) for month in range(1, 13) for day in range(32))
_DAYS = {"end": (28, 29, 30, 31), "beginning": (1,), "start": (1,), "middle": (15,), "mid": (15,)}
_NUMERIC = re.compile(r"\b(\d{1,4})[-/.](\d{1,2})[-/.](\d{1,4})\b")
_SHORT = re.compile(r"(?<![\w./-])(\d{1,2})(?:/(?=\d{1,2}(?!\d))|\.(?=\d{1,2}\.))(\d{1,2})\.?(?![\w/-])")
_MONEY = re.compile(r"[$€£]\s?\d+|\b\d+(?:\.\d+)?\s?(?:dollars?|euros?|pounds?|usd|eur|gbp)\b", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]\d|\d[^\W\d_]")
_MEASURE = re.compile(
    r"\d+(?:st|nd|rd|th|am|pm|h|k|km|kg|cm|mm|ml|gb|mb|s|x|g|m)|[1-9]\d{0,3}x\d+|\d{1,3}-[^\W\d_]{2,}.*",
    re.IGNORECASE,
)
_CURRENCY = re.compile(r"usd|eur|gbp|dollars?|euros?|pounds?", re.IGNORECASE)
_SHARES = range(2, 13)
_MOST = 60
"""The numbers of which sums and products are computed, at most."""
_MOST_FOR_TWO_STEPS = 24
"""The numbers of which sums of a product and a number are computed, at most."""


def addresses(text: str) -> list[str]:
    """Return e-mail and web addresses."""
    return [address.rstrip(".,") for address in _ADDRESS.findall(text)]


def references(text: str) -> Iterator[str]:
    """Yield values that texts do not share by chance: amounts of money, numbers and references of three digits or more.

    Years, percentages and the digits of addresses and dates are excluded.
    """
    rest = _ADDRESS.sub(" ", text)
    for pattern in (*_NAMED, _NUMERIC, _SHORT):
        rest = pattern.sub(" ", rest)
    money = {amount.strip() for amount in _MONEY.findall(rest)}
    yield from sorted(money)
    for value in _WITH_DIGIT.findall(rest):
        is_money = any(value in amount or amount in value for amount in money)
        if _is_reference(value) and not is_money:
            yield value


def _is_reference(value: str) -> bool:
    digits = sum(char.isdigit() for char in value)
    is_code = len(value) >= 5 - (digits > 1) and any(char.isalpha() for char in value)
    if not (digits >= 3 or is_code) or value.endswith("%"):
        return False
    return not (re.fullmatch(r"(?:19|20)\d\d", value) or _MEASURE.fullmatch(value))


def numbers_in(text: str) -> frozenset[float]:
    """Return the numbers in a text."""
    return frozenset().union(*map(_numbers_in, text.split("\n")))


@by_line
def _numbers_in(line: str) -> frozenset[float]:
    return frozenset(float(number.replace(",", "")) for number in _NUMBER.findall(line))


def dates_in(text: str) -> frozenset[tuple[int, int]]:
    """Return the dates in a text as (month, day); a numeric date has both readings."""
    return frozenset().union(*map(_dates_in, text.split("\n")))


@by_line
def _dates_in(text: str) -> frozenset[tuple[int, int]]:
    dates = {(_month(name), int(day)) for name, day in _NAMED[0].findall(text)}
    dates |= {(_month(name), int(day)) for day, name in _NAMED[1].findall(text)}
    dates |= {
        (_month(name), day) for part, name in _PART_OF_MONTH.findall(text) for day in _DAYS[part.casefold()]
    }
    pairs = [(int(first), int(second)) for first, second in _SHORT.findall(text)]
    for first, second, third in _NUMERIC.findall(text):
        if len(first) == 4:
            dates |= {(int(second), int(third))} & _ALL_DATES
        else:
            pairs.append((int(first), int(second)))
    # 3/5 may be the fifth of March or the third of May
    return frozenset(dates | {date for pair in pairs for date in (pair, pair[::-1])} & _ALL_DATES)


def _month(name: str) -> int:
    return _MONTHS.index(name.casefold()[:3]) + 1


def is_made_of(reference: str, numbers: Collection[float]) -> bool:
    """Return whether a reference is a number that can be computed from others: a sum, difference, product or share."""
    if _LETTERS.search(_CURRENCY.sub("", reference)):
        return False
    return all(_is_derived(number, numbers) for number in numbers_in(reference))


def _is_derived(number: float, known: Collection[float]) -> bool:
    return (
        number in known
        or _is_other_clock(number, known)
        or _is_share(number, known)
        or _is_sum(number, known)
    )


def _is_share(number: float, known: Collection[float]) -> bool:
    """Whether a number is a multiple of a known one, or a part."""
    return any(
        _is_close(number * times, one) or _is_close(number, one * times) for one in known for times in _SHARES
    )


def _is_sum(number: float, known: Collection[float]) -> bool:
    """Whether a number is the sum, the difference or the product of two known ones; an amount also in two steps."""
    some = sorted(known)[:_MOST]
    results = [
        each for one, other in combinations(some, 2) for each in (one + other, abs(one - other), one * other)
    ]
    if any(_is_close(number, each) for each in results):
        return True
    is_amount = number != int(number) and len(some) <= _MOST_FOR_TWO_STEPS
    return is_amount and any(_is_close(number - each, one) for each in results for one in some)


def _is_other_clock(number: float, known: Collection[float]) -> bool:
    """Whether an hour is known in the other notation: 3 for 15."""
    return (number - 12 in known and number <= 24) or (number + 12 in known and number < 12)


def _is_close(one: float, other: float) -> bool:
    return abs(one - other) < 0.005


# --- Numbers in other forms than digits: number words, thousands, times of day, relative dates ---


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
_SMALLEST_DECIMAL = 10


@by_line
def numbers_in_words(line: str) -> frozenset[float]:
    """Return the numbers of a line that are written in words or in thousands: `two hundred and fifty`, `5k`."""
    thousands = {1000 * float(number) for number in _IN_THOUSANDS.findall(line)}
    return frozenset(thousands | {_value(phrase) for phrase in _IN_WORDS.findall(line.casefold())})


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


def is_clock_of(reference: str, numbers: Collection[float], words: Collection[str]) -> bool:
    """Return whether a reference is a time of day with a known hour and, if it has minutes, known minutes."""
    match = _CLOCK.fullmatch(reference)
    if match is None:
        return False
    hour, minute = int(match[1]), int(match[2])
    part = _PARTS_OF_HOUR.get(minute, "")
    if part and part in words and {(hour + 1) % 12, (hour + 1) % 12 + 12} & {*numbers}:
        return True  # a quarter to
    is_hour = any(one in numbers for one in (hour, hour + 12, hour - 12))
    return is_hour and (minute == 0 or part in words or minute in numbers)


def is_rounded(reference: str, numbers: Collection[float]) -> bool:
    """Return whether a reference rounds a known decimal amount, as 220 for 219.90."""
    match = re.fullmatch(r"[$€£]?\s?(\d+)(?:\s?[^\W\d]+)?", reference)
    if match is None:
        return False
    decimals = (one for one in numbers if one != int(one) and one >= _SMALLEST_DECIMAL)
    return any(
        int(match[1]) in (int(one), int(one) + 1, 5 * round(one / 5), 10 * round(one / 10))
        for one in decimals
    )


def is_day_near(month: int, day: int, known: Collection[tuple[int, int]], texts: Iterable[str]) -> bool:
    """Return whether a date is near a known one and a text contains a relative date, as tomorrow or three nights."""
    if not known or not any(map(_RELATIVE.search, texts)):
        return False
    target = _date(month, day)
    return target is not None and any(
        other is not None
        and min(abs(target - other), abs(abs(target - other) - timedelta(days=366))) <= _NEAR
        for other in (_date(*one) for one in known)
    )


def _date(month: int, day: int) -> date | None:
    try:
        return date(2024, month, day)  # a leap year
    except ValueError:
        return None
