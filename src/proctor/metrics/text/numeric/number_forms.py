"""The value of one written number, if it has only one reading.

`decimal` is the sign before decimals; the other one separates thousands. A number with only one possible reading
(`1.234,5`, `1 234,5`) is read so with either `decimal`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Literal, NamedTuple

from proctor.metrics.text.numeric.number_context import multiplies

__all__ = ["GAPS", "LETTERS", "DecimalSign", "Figure", "read_run"]

DecimalSign = Literal[".", ","]

LETTERS = (
    "A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u03ff\u0400-\u058f\u1e00-\u1fff"
)
"""Letters of alphabets with spaces; an ideograph or a Thai letter may directly precede a number."""
GAPS = "'\u2019\u00a0\u2009\u202f_"
"""Separators of thousands besides commas and points."""
LONGEST = 400
"""The maximum number of digits of a number; a longer one is not a quantity."""

NAME = "a name or a code"
CHAIN = "a date, a phone number or a code"
DOTTED = "a version, an address or a date"
TIME = "a time or a ratio"
FRACTION = "a fraction, a date or a rating"
LARGE = "too large to be compared"
CODE = "it begins with 0, as codes do"
SCALE = "its unit may be a thousand, a million or the like"
SCRIPTS = "its digits are of several scripts"
THOUSANDS = "thousands or decimals: the option `decimal` may say which"
UNCLEAR = "it can be read in several ways"


class Figure(NamedTuple):
    """A sequence with digits in a text."""

    text: str
    value: Decimal | None
    """Its value; `None` if it is uncertain."""
    why: str = ""
    """Why its value is uncertain, or what it is instead of a number."""
    counts: bool = True
    """Whether it is a quantity; dates, versions, times and names are not."""


_MANTISSA = re.compile(rf"(?P<digits>[0-9][0-9.,{GAPS}]*)(?:[eE](?P<exponent>[-+]?[0-9]+))?")
_WITH_UNIT = re.compile(rf"(?P<number>{_MANTISSA.pattern})(?P<unit>-?[{LETTERS}]+(?:-[{LETTERS}]+)*)?")
_CURRENCY = re.compile(r"(?:EUR|USD|GBP|CHF|JPY|CNY|RMB|INR|AUD|CAD|Rs)(?=[0-9])")
_SCALES = {"k", "tn", "cr"}
_SCALES_IN_CAPITALS = {"M", "MM", "B", "T"}  # fmt: skip

_PLAIN = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_GROUPED = re.compile(
    rf"(?:[1-9][0-9]{{0,2}}(?:,[0-9]{{3}})+|[1-9][0-9]?(?:,[0-9]{{2}})+,[0-9]{{3}}"  # 1,234,567 and 12,34,567
    rf"|[1-9][0-9]{{0,2}}(?P<gap>[{GAPS}])[0-9]{{3}}(?:(?P=gap)[0-9]{{3}})*)(?:\.[0-9]+)?"  # 1'234'567
)
_THE_OTHER_WAY = re.compile(
    rf"[1-9][0-9]{{0,2}}(?:(?:\.[0-9]{{3}})+|(?:[{GAPS}][0-9]{{3}})+),(?![0-9]{{3}}\Z)[0-9]+"  # 1.234,5 and 1 234,5
)
_LIST = re.compile(r"[0-9]{1,2}(?:,[0-9]{1,2}){2,}|[0-9]{4,}(?:,[0-9]{4,}){2,}")
_DROPPED = str.maketrans("", "", f",{GAPS}")
_EXCHANGED = {ord("."): ",", ord(","): "."}


def read_run(run: str, decimal: DecimalSign) -> Iterator[Figure]:
    """Yield the figures in a run of digits, letters and signs between them: one number, a range, or a list."""
    money = _CURRENCY.match(run)
    bare = run[money.end() :] if money else run
    if not bare[0].isdigit():
        yield Figure(run, None, NAME, counts=False)
        return
    whole = _WITH_UNIT.fullmatch(bare)
    if whole:
        yield from _with_unit(run, whole, decimal)
        return
    parts = [_WITH_UNIT.fullmatch(part) for part in bare.split("-")]
    if len(parts) == 2 and parts[0] and parts[1] and _is_range(parts[0]["number"], parts[1]["number"]):
        for part in parts:
            yield from _with_unit(part[0], part, decimal) if part else ()
        return
    yield _not_a_number(run)


def _with_unit(run: str, found: re.Match[str], decimal: DecimalSign) -> Iterator[Figure]:
    unit = (found["unit"] or "").lstrip("-")
    if unit and found["exponent"]:
        yield Figure(run, None, NAME, counts=False)
        return
    if unit.lower() in _SCALES or unit in _SCALES_IN_CAPITALS or (unit and multiplies(unit)):
        yield Figure(run, None, SCALE)
        return
    digits = found["digits"].translate(_EXCHANGED) if decimal == "," else found["digits"]
    exponent = found["exponent"] or "0"
    if _LIST.fullmatch(digits) and not _GROUPED.fullmatch(digits) and not found["exponent"]:
        yield from (_figure(piece, piece, "0") for piece in digits.split(","))
        return
    if _PLAIN.fullmatch(digits) or _GROUPED.fullmatch(digits):
        yield _figure(run, digits.translate(_DROPPED), exponent)
    elif _THE_OTHER_WAY.fullmatch(digits):
        plain = digits.translate(_EXCHANGED).translate(_DROPPED)
        yield _figure(run, plain, exponent)
    else:
        yield _not_a_number(run)


def _figure(run: str, digits: str, exponent: str) -> Figure:
    """Return the value of digits with `.` before decimals and no thousands separators."""
    if len(digits) > LONGEST or len(exponent.lstrip("+-").lstrip("0")) > 3:
        return Figure(run, None, LARGE)
    if re.match("0[0-9]", digits):
        return Figure(run, None, CODE)
    return Figure(run, Decimal(f"{digits}e{exponent}"))


def _is_range(first: str, last: str) -> bool:
    """Return whether two numbers with a hyphen in between are a range: not a month or a phone number."""
    if (len(first), len(last)) in {(4, 2), (3, 4)} and (first + last).isdigit():
        return False
    return not any(re.match("0[0-9]", each) for each in (first, last))


def _not_a_number(run: str) -> Figure:
    """Return what a run is instead of a number, or a number with several readings."""
    if not run.isascii() and re.search("[^\\W\\d_]", run) is None and re.search("[^0-9\\W]", run):
        return Figure(run, None, SCRIPTS)
    if ":" in run:
        return Figure(run, None, TIME, counts=False)
    if re.fullmatch(r"[0-9]+(?:\.[0-9]+){2,}", run):
        return Figure(
            run,
            None,
            *((THOUSANDS, True) if re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]{3})+", run) else (DOTTED, False)),
        )
    if "/" in run:
        return Figure(run, None, FRACTION, counts=run.count("/") == 1)
    if "-" in run:
        return Figure(run, None, CHAIN, counts=False)
    if re.search(f"[{LETTERS}_]", run):
        return Figure(run, None, NAME, counts=False)
    return Figure(run, None, THOUSANDS if re.fullmatch("[0-9]+[.,][0-9]+", run) else UNCLEAR)
