"""Values in texts: numbers, dates, addresses, references; and whether a text has one, however it is written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import combinations

from proctor.simulation.faults.text_features import by_line

__all__ = ["addresses", "dates_in", "is_made_of", "numbers_in", "references"]

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
