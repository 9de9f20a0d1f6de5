"""Reads the numbers in a text; a number with several readings gets no value.

Supported are digits of all scripts; a sign before the number (or before its currency sign), unless it may subtract or
connect, and the word *minus*; groups of thousands (`1,234,567`, the Indian `12,34,567`, the Swiss `1'234`,
non-breaking and thin spaces, `1_000`), decimals, fractions of one character (`2½`), exponents (`6.02e23`,
`6.02 × 10²³`). Units and percent signs are ignored.

Not numbers: digits within a name (`GPT4`, `COVID-19`, `v1.2.3`), versions, dates, times, addresses, phone numbers.
Numbers without a value: those with several readings (`1,23`, `10 200`, `1/2`, `–5`), and those that a following word
changes (`3 million`, `2 and a half`). How runs of digits are read: `number_forms`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from unicodedata import category, decimal as digit_of, normalize, numeric

from proctor.metrics.text.numeric.number_forms import (
    CHAIN,
    FRACTION,
    GAPS,
    LETTERS,
    NAME,
    DecimalSign,
    NumberText,
    change_after,
    is_exponent,
    is_negative,
    is_unsure,
    read_run,
)

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
    """Return `text` with English number words as digits, and `3.5 million` written out."""
    parts, end, last = [], 0, ""
    for match in NUMBER.finditer(text):
        between = text[end : match.start()]
        if last.isalpha() and match[0][0].isalpha() and not between.strip(" -") and between:
            between = ROW
        parts += [between, _digits(match)]
        end, last = match.end(), match[0][-1]
    return "".join([*parts, text[end:]])


def _digits(match: re.Match[str]) -> str:
    whole = match["whole"].lower()
    if not _descends(whole):
        return ROW.join(f"{_value(part[0]):f}" for part in SCALED.finditer(whole))
    number = f"{_value(whole):f}"
    if match["decimals"]:
        number += "." + "".join(str(VALUES[word]) for word in match["decimals"].lower().split())
    return number


def _descends(words: str) -> bool:
    """Return whether each part is smaller than one of the part before: "two million three thousand", not "two, three million"."""
    parts = [(SCALES[part["scale"]], _value(part[0])) for part in SCALED.finditer(words)]
    return all(value < before for (before, _), (_, value) in pairwise(parts))


def _value(words: str) -> Decimal:
    """Return the value of whole-number words: each scale multiplies the words before it since the last scale."""
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


POWER = "a power"
IN_A_ROW = "a year, or several numbers in a row"
PAIRED = "one number, or several with blanks between them"

_TIMES = r"\s?(?:[\u00d7x*\u00b7\u22c5]|\\times|\\cdot|times)\s?"
PLACES = re.compile(
    rf"""
      (?P<link> \b(?:https?://|www\.)\S+ | (?<![\w:.])(?=[\da-fA-F]*::?[\da-fA-F]+:)(?:[\da-fA-F]{{0,4}}:){{2,7}}[\da-fA-F]{{1,4}} )
    | (?P<phone> \+(?=(?:[ ().-]{{0,2}}\d){{8}})\d{{1,3}}(?=[ (-])(?:[ .-]?\(?\d{{1,5}}\)?){{2,6}} | \(\d{{2,5}}\)[ -]?\d{{2,4}}[ -]\d{{3,}} )
    | \\[dt]?frac\{{ (?P<fraction> [^{{}}]{{1,20}}\}}\{{[^{{}}]{{1,20}} ) \}}
    | (?<![{LETTERS}\d_.,]) (?:
        (?P<mantissa> \d{{1,9}}(?:[.,]\d{{1,30}})? ) {_TIMES} 10 (?:\^|\*\*)[{{(]?(?P<exponent>[-+]?\d{{1,3}})[)}}]? (?![\d.,]*\d)
      | (?P<power> \d[\d.,]{{0,30}}\s?(?:\^|\*\*(?=[-\d(]))[{{(]?[-+]?\w+ )
      | (?P<mixed> \d{{1,9}}[ -]\d{{1,9}}[/\u2044]\d{{1,9}} )
      | (?P<blanks> [1-9]\d{{0,2}}(?:[ ]\d{{3}}(?!\d)){{1,30}} (?:[.,]\d{{1,30}}(?!\d))? ) (?![-/:.,'\u2019]\d)
    )
    | (?P<row> \d+(?:{ROW}\d+)+ )
    | (?<![{LETTERS}\d_]) (?P<run>
        [{LETTERS}\d_]+ (?: (?: (?<=\d)[.,:/{GAPS}](?=\d) | -(?=[{LETTERS}\d_]) | (?<=\d[eE])\+(?=\d) ) [{LETTERS}\d_]+ )* )
    """,
    re.VERBOSE,
)
"""Sequences with digits, the longer forms first."""


def numbers_in(text: str, decimal: DecimalSign = ".", *, words: bool = False) -> list[Decimal]:
    """Return the numbers of `text` in their order; with `words`, English number words are numbers, too."""
    return [each.value for each in read_numbers(text, decimal, words=words) if each.value is not None]


def read_numbers(text: str, decimal: DecimalSign = ".", *, words: bool = False) -> list[NumberText]:
    """Return all sequences with digits in `text`, in order: with their value, or with the reason why they have none."""
    text = _plain(text, decimal)
    if words:
        text = _swap_signs(with_digits(_swap_signs(text, decimal)), decimal)
    if not any(map(str.isdigit, text)):
        return []
    places = (place for place in PLACES.finditer(text) if not place[0].isalpha())  # most are words
    return [figure for place in places for figure in _figures_at(place, text, decimal)]


def _figures_at(place: re.Match[str], text: str, decimal: DecimalSign) -> Iterator[NumberText]:
    kind = place.lastgroup
    if kind == "run":
        yield from _read_run(place, text, decimal)
    elif kind in {"link", "phone"}:
        yield NumberText(place[0], None, NAME if kind == "link" else CHAIN, counts=False)
    elif kind == "blanks":
        yield _grouped_by_blanks(place, text, decimal)
    elif kind == "exponent":
        (mantissa,) = read_run(f"{place['mantissa']}e{place['exponent']}", decimal)
        yield _number_in_context(
            mantissa._replace(text=place[0]), text, place.start(), place.end(), first=True
        )
    elif kind == "power" and (ten := _POWER_OF_TEN.fullmatch(place[0])):
        yield NumberText(place[0], Decimal(f"1e{ten[1]}"))
    else:
        why = {"power": POWER, "mixed": FRACTION, "fraction": FRACTION, "row": IN_A_ROW}
        yield NumberText(place[0].replace(ROW, " "), None, why[str(kind)])


def _read_run(place: re.Match[str], text: str, decimal: DecimalSign) -> Iterator[NumberText]:
    run, start = place["run"], place.start()
    if not any(map(str.isdigit, run)):
        return
    if text[start - 1 : start] == "." and text[max(0, start - 2) : start - 1] not in _NO_DECIMALS:
        run, start = f"0.{run}", start - 1
    figures = [*read_run(run, decimal)]
    for index, figure in enumerate(figures):
        end = place.end() if index == len(figures) - 1 else None
        yield _number_in_context(figure, text, start, end, first=index == 0)


def _number_in_context(
    figure: NumberText, text: str, start: int, end: int | None, *, first: bool
) -> NumberText:
    """Return a number with its sign; without value if its context leaves that open."""
    if figure.value is None:
        return figure
    if first and is_exponent(text, start):
        return figure._replace(value=None, why=POWER, counts=False)
    if first and (why := is_unsure(text, start)):
        return figure._replace(value=None, why=why)
    why, more = change_after(text, end) if end is not None else ("", "")
    if why:
        return NumberText(figure.text + more, None, why)
    if first and is_negative(text, start):
        return NumberText(f"-{figure.text}", -figure.value)
    return figure


def _grouped_by_blanks(place: re.Match[str], text: str, decimal: DecimalSign) -> NumberText:
    """Read `10 000` as one number, since no number begins with 0; `10 200` may be two."""
    groups = re.findall("[0-9]+", place[0])
    if not any(group.startswith("0") and len(group) == 3 for group in groups[1:]):
        return NumberText(place[0], None, PAIRED)
    (figure,) = read_run(place[0].replace(" ", "_"), decimal)
    return _number_in_context(figure._replace(text=place[0]), text, place.start(), place.end(), first=True)


# --- normalisation of the text ---


def _plain(text: str, decimal: DecimalSign) -> str:
    """Return the text with ASCII digits, `-` for minus signs, decimals for fractions of one character, `^` for raised digits."""
    text = _STRUCK_OUT.sub(" ", text.replace("{,}", ",").replace("\\,", "\u2009"))
    if text.isascii():
        return text
    text = "".join(each for each in normalize("NFC", text) if category(each) != "Cf")
    text = _VULGAR.sub(lambda match: _fraction(match, decimal), text)
    text = _RAISED.sub(lambda match: f"^{match[0].translate(_LOWERED)}", text)
    text = _DIGITS.sub(_ascii_digits, text)
    text = _MINUS_AND_BLANK.sub("-", text)
    arabic = {0x066B: decimal, 0x066C: "," if decimal == "." else "."}
    return text.translate(_WIDE | arabic)


def _swap_signs(text: str, decimal: DecimalSign) -> str:
    return text.translate({ord("."): ",", ord(","): "."}) if decimal == "," else text


def _ascii_digits(match: re.Match[str]) -> str:
    """Convert digits of one script; a number with digits of several scripts is unchanged."""
    scripts = {ord(each) - digit_of(each) for each in match[0]}
    return "".join(str(digit_of(each)) for each in match[0]) if len(scripts) == 1 else match[0]


def _fraction(match: re.Match[str], decimal: DecimalSign) -> str:
    """Return `2½` with decimals."""
    value = str(Decimal(match[1] or 0) + Decimal(repr(numeric(match[2]))))
    return value.replace(".", decimal)


_STRUCK_OUT = re.compile(r"~~(?=\S)[^~\n]{1,200}(?<=\S)~~")
_POWER_OF_TEN = re.compile(r"10\s?(?:\^|\*\*)[{(]?([-+]?\d{1,3})")
_NO_DECIMALS = {*"0123456789.)]_", *"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"}
_DIGITS = re.compile(r"\d+")
_VULGAR = re.compile("(?:(?<!\\d)(\\d+)[ \u00a0\u202f\u2009]?)?([\u00bc-\u00be\u2150-\u215e\u2189])")
_RAISED = re.compile("(?<=[\\d)])[\u207a\u207b]?[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+")
_LOWERED = {**{ord(sign): str(index) for index, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}, 0x207A: "+", 0x207B: "-"}
_MINUS_AND_BLANK = re.compile("(?<![\\d)\\]%])(?<![\\d)\\]%] )\u2212 ?(?=\\W?\\d)")
_WIDE = {
    0x2212: "-",
    0xFF0D: "-",
    0xFE63: "-",
    0x2010: "-",
    0x2011: "-",
    0xFF0E: ".",
    0xFF0C: ",",
    0xFF1A: ":",
    0xFF0F: "/",
}
