"""The value of one written number, if it has only one reading.

`decimal` is the sign before decimals; the other one separates thousands. A number with only one possible reading
(`1.234,5`, `1 234,5`) is read so with either `decimal`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Literal, NamedTuple

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
THOUSANDS = "thousands or decimals: set the option `decimal`"
UNCLEAR = "it can be read in several ways"


class NumberText(NamedTuple):
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


def read_run(run: str, decimal: DecimalSign) -> Iterator[NumberText]:
    """Yield the figures in a run of digits, letters and signs between them: one number, a range, or a list."""
    money = _CURRENCY.match(run)
    bare = run[money.end() :] if money else run
    if not bare[0].isdigit():
        yield NumberText(run, None, NAME, counts=False)
        return
    if whole := _WITH_UNIT.fullmatch(bare):
        yield from _with_unit(run, whole, decimal)
    elif ends := _range_ends(bare):
        for end in ends:
            yield from _with_unit(end[0], end, decimal)
    else:
        yield _not_a_number(run)


def _with_unit(run: str, match: re.Match[str], decimal: DecimalSign) -> Iterator[NumberText]:
    unit = (match["unit"] or "").lstrip("-")
    if unit and match["exponent"]:
        yield NumberText(run, None, NAME, counts=False)
    elif _may_multiply(unit):
        yield NumberText(run, None, SCALE)
    else:
        digits = match["digits"].translate(_EXCHANGED) if decimal == "," else match["digits"]
        yield from _without_unit(run, digits, match["exponent"] or "")


def _may_multiply(unit: str) -> bool:
    """Return whether a unit is a thousand, a million or the like, or may be one: `k`."""
    if not unit:
        return False
    return unit.lower() in _SCALES or unit in _SCALES_IN_CAPITALS or multiplies(unit)


def _without_unit(run: str, digits: str, exponent: str) -> Iterator[NumberText]:
    """Yield the figures in digits with `.` before decimals: one number, or a list."""
    if _PLAIN.fullmatch(digits):
        yield _figure(run, digits, exponent or "0")
    elif _GROUPED.fullmatch(digits):
        yield _figure(run, digits.translate(_DROPPED), exponent or "0")
    elif _LIST.fullmatch(digits) and not exponent:
        yield from (_figure(piece, piece, "0") for piece in digits.split(","))
    elif _THE_OTHER_WAY.fullmatch(digits):
        plain = digits.translate(_EXCHANGED).translate(_DROPPED)
        yield _figure(run, plain, exponent or "0")
    else:
        yield _not_a_number(run)


def _figure(run: str, digits: str, exponent: str) -> NumberText:
    """Return the value of digits with `.` before decimals and no thousands separators."""
    if len(digits) > LONGEST or len(exponent.lstrip("+-").lstrip("0")) > 3:
        return NumberText(run, None, LARGE)
    if re.match("0[0-9]", digits):
        return NumberText(run, None, CODE)
    return NumberText(run, Decimal(f"{digits}e{exponent}"))


def _range_ends(run: str) -> list[re.Match[str]]:
    """Return the two numbers of a range; empty if the run is not a range."""
    ends = [match for part in run.split("-") if (match := _WITH_UNIT.fullmatch(part))]
    is_range = run.count("-") == 1 and len(ends) == 2 and _is_range(*(end["number"] for end in ends))
    return ends if is_range else []


def _is_range(first: str, last: str) -> bool:
    """Return whether two numbers with a hyphen in between are a range: not a month or a phone number."""
    if (len(first), len(last)) in {(4, 2), (3, 4)} and (first + last).isdigit():
        return False
    return not any(re.match("0[0-9]", each) for each in (first, last))


def _not_a_number(run: str) -> NumberText:
    """Return what a run is instead of a number, or a number with several readings."""
    if not run.isascii() and re.search("[^\\W\\d_]", run) is None and re.search("[^0-9\\W]", run):
        return NumberText(run, None, SCRIPTS)
    why, counts = next((why, counts) for pattern, why, counts in _OTHER_FORMS if pattern.search(run))
    return NumberText(run, None, why, counts=counts)


_OTHER_FORMS = [
    (re.compile(pattern), why, counts)
    for pattern, why, counts in (
        (":", TIME, False),
        (r"\A[0-9]{1,3}(?:\.[0-9]{3}){2,}\Z", THOUSANDS, True),
        (r"\A[0-9]+(?:\.[0-9]+){2,}\Z", DOTTED, False),
        (r"\A[^/]*/[^/]*\Z", FRACTION, True),
        ("/", FRACTION, False),
        ("-", CHAIN, False),
        (f"[{LETTERS}_]", NAME, False),
        (r"\A[0-9]+[.,][0-9]+\Z", THOUSANDS, True),
        ("", UNCLEAR, True),
    )
]
"""What a run may be instead of a number, whether it counts as one with several readings; the first that fits."""


# --- The context of a number that changes it: a sign before it, or a word after it ------------------------------------


CURRENCY = "$\u00a2-\u00a5\u20a0-\u20cf"
BEFORE, AFTER = 40, 40
"""The number of characters that are examined."""

SIGN = re.compile(rf"(?:^|[^\w.)\]%{CURRENCY}-])(-[{CURRENCY}]?|[{CURRENCY}]-)\Z")
"""A minus sign at the end of the text before a number."""
_SYMBOLS = "$€£¥₹₩"
MINUS = re.compile(
    rf"""(?:(?<!\w)(?:minus|negative|минус|мінус|mínusz?|miinus|eksi|μείον|âm|ناقص|سالب|منفی|माइनस|ऋण|마이너스|영하)\s+
    |(?:負|负|零下|マイナス|ลบ|ติดลบ)\s*)[{CURRENCY}]?\Z""",
    re.IGNORECASE | re.VERBOSE,
)
"""The word *minus* in languages in which it has no other meaning before a number."""
LESS = re.compile(
    r"(?<!\w)(?<!\bal )(?<!\bau )(?<!\bpelo )(?<!\blo )(?:moins|menos|meno)\s+\Z", re.IGNORECASE
)
"""Words that may also mean *less*; after *al*, *au*, *pelo* they mean *at least*."""
SUBTRACTS = re.compile(r"\d\s*(?:[^\W\d]{1,20}|%|°\w?)?\s*\Z")

DASH = re.compile(rf"(?:^|[\s([{{:=])[\u2012-\u2015][{CURRENCY}]?\Z")
OPEN_SIGNS = re.compile(r"(?:[±√∛∜]|\+/-|\+-)\s?\Z")
RAISED = re.compile(r"[\w)\]](?:\^[{(]?|\*\*)-?\Z")
ONE_OF_A_GROUP = re.compile(r"[ ]\d{3}(?!\d)")
SHORT = re.compile(r"(?<!\d)\d{1,3}\Z")

SCALED = re.compile(
    r"""[\s-]{0,3}(?:
      (?:hundred|thousand|million|billion|trillion|dozen|grand|lakh|crore|hundert|tausend|tsd|mille|mila|mil|mio|mrd|mld|mln|mn|bn|tys|tis[ií]c
        |tusen|duizend|tuhat\w*|ezer|bin|ribu|juta|nghìn|ngàn|triệu|tỷ|tỉ|тыс|тис|млн|млрд|χιλιάδες|אלף|אלפים|מיליון|মিলিয়ন|লাখ|কোটি)\b
    | (?:mill?i[oóõa]n\w*|millón|milhões|milhão|mili[oó]n\w*|milliard\w*|bilh\w+|billi?[oó]n\w*|dutzend|douzaine|docena|tysi\w+|тысяч\w*
        |миллион\w*|миллиард\w*|мільйон\w*|милион\w*
        |mil[jy]o\w*|miljard\w*|milyar\w*|millió\w*|εκατομμύρι\w*)
    | [万萬億亿兆百만억천백조] | 千(?![克米瓦卡焦帕伏赫])
    | ร้อย|พัน|หมื่น|แสน|ล้าน | (?:ألف|آلاف|مليون|مليار|هزار|میلیون)\b | हज़ार|हजार|लाख|करोड़
    )""",
    re.IGNORECASE | re.VERBOSE,
)
BROKEN = re.compile(
    r"""[\s-]+(?:(?:and|und|y|et|e)\s+(?:a\s+|one\s+|ein\s+)?(?:half|quarter|third|halb|medio|media|demie?|mezz[oa]|three[\s-]quarters|two[\s-]thirds)
    |(?:half|halves|thirds?|quarters?|fourths?|fifths?|sixths?|eighths?|tenths?|hundredths?|thousandths?)(?!\w))""",
    re.IGNORECASE | re.VERBOSE,
)
BELOW = re.compile(
    r"\s*(?:°\s?[CF]?|degrees?(?:\s\w+)?|Grad|K)?\s*(?:below\s+(?:zero|freezing)|unter\s+null)\b",
    re.IGNORECASE,
)


def multiplies(unit: str) -> bool:
    """Return whether the unit after a number is a thousand, a million or similar."""
    return SCALED.match(unit) is not None


def is_negative(text: str, start: int) -> bool:
    """Return whether a minus (sign or word) precedes the number at `start`, without a number to subtract from."""
    before = text[max(0, start - BEFORE) : start]
    if SIGN.search(before[-3:] if start > 2 else before):
        return True
    word = MINUS.search(before) if _may_be_word(before) else None
    return word is not None and not SUBTRACTS.search(before[: word.start()])


def is_unsure(text: str, start: int) -> str:
    """Return why the sign of a number is uncertain; empty if it is certain."""
    before = text[max(0, start - BEFORE) : start]
    if DASH.search(before):
        return "a dash or a minus precedes it"
    if OPEN_SIGNS.search(before):
        return "the sign before it leaves its value open"
    if _may_be_word(before) and LESS.search(before):
        return "minus or less"
    return ""


def _may_be_word(before: str) -> bool:
    """Return by a quick check whether a word may precede the number: a blank, or a letter of a script without blanks."""
    last = before.rstrip(_SYMBOLS)[-1:]
    return last.isspace() or (not last.isascii() and last.isalpha())


def is_exponent(text: str, start: int) -> bool:
    """Return whether the number is an exponent, as in `m^2`."""
    return RAISED.search(text[max(0, start - 4) : start]) is not None


def change_after(text: str, end: int) -> tuple[str, str]:
    """Return why the text after a number changes it, and that text; empty if nothing does."""
    after = text[end : end + AFTER]
    if match := SCALED.match(after):
        return "the word after it multiplies it (for English there is the option `words`)", match[0]
    if match := BROKEN.match(after):
        return "a fraction follows it", match[0]
    if (match := ONE_OF_A_GROUP.match(after)) and SHORT.search(text[max(0, end - 4) : end]):
        return "a blank may separate its thousands", match[0]
    match = BELOW.match(after)
    return ("it may be negative", match[0]) if match else ("", "")
