"""The numbers that a text states, as a careful reader reads them.

Read are digits of all scripts; a sign right before the number (or its currency sign) that nothing stands before from
which it could subtract or to which it could connect; groups of thousands (`1,234,567`, the Indian `12,34,567`, the
Swiss `1'234`, non-breaking and thin spaces, `1_000`), decimals, fractions of one character (`2½`), exponents (`6.02e23`). A plain blank separates
numbers. Digits within a name (`GPT4`) are none; of `1.2.3` each is one; units and percent signs are not read. Whether
`1,234` is larger than `1.234` depends on who writes it: `decimal` says which sign stands before decimals.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal
from unicodedata import decimal as digit_of
from unicodedata import numeric

from proctor.metrics.text.number_words import with_digits

__all__ = ["DecimalSign", "numbers_in"]

DecimalSign = Literal[".", ","]

# Letters of alphabets that set numbers apart; an ideograph or a Thai letter may stand right before a number.
LETTER = "A-Za-z_\u00aa-\u024f\u0370-\u058f"
CURRENCY = "$\u00a2-\u00a5\u20a0-\u20cf"

# Groups are as many as numbers have: without a limit, a long list of figures would be gone through again and again.
NUMBER = re.compile(
    rf"""
    (?<![{LETTER}\d])
    (?: (?P<chain> \d+ (?:\.\d+){{2,}} )
    | (?: \d{{1,3}}(?:,\d{{3}}){{1,30}} (?!,?\d)                                     # 1,234,567
        | \d{{1,2}}(?:,\d{{2}}){{1,30}},\d{{3}} (?!,?\d)                           # 12,34,567
        | \d{{1,3}}(?P<gap>['\u2019\u00a0\u2009\u202f_])\d{{3}}(?:(?P=gap)\d{{3}}){{0,30}} (?!\d)   # 1'234'567
        | \d+ )
      (?: \.\d+ )? (?: [eE][-+]?\d{{1,3}} (?!\w) )?
    | (?<![\w)\]]) \.\d+                                                        # .5
    )
    """,
    re.VERBOSE,
)
SIGN = re.compile(rf"(?:^|[^\w.)\]%{CURRENCY}-])(-[{CURRENCY}]?|[{CURRENCY}]-)\Z")
"""A minus sign at the end of what stands before a number."""
BEFORE = 3
"""Characters before a number that tell its sign."""


def numbers_in(text: str, decimal: DecimalSign = ".", *, words: bool = False) -> list[Decimal]:
    """The numbers of `text` in their order; with `words`, English number words are numbers, too."""
    text = _plain(text, decimal)
    if words:
        text = with_digits(text)
    found: list[Decimal] = []
    for match in NUMBER.finditer(text):
        if match["chain"]:
            found += map(Decimal, match["chain"].split("."))
            continue
        sign = "-" if SIGN.search(text[max(0, match.start() - BEFORE) : match.start()]) else ""
        found.append(Decimal(sign + GROUPING.sub("", match[0])))
    return found


GROUPING = re.compile("[,'\u2019\u00a0\u2009\u202f_]")


def _plain(text: str, decimal: DecimalSign) -> str:
    """ASCII digits, `-` for minus signs, `.` before decimals and `,` between groups."""
    if not text.isascii():
        text = FRACTION.sub(_fraction, text)
        text = "".join(_WIDE.get(each) or str(digit_of(each, each)) for each in text)
    if decimal == ",":
        text = text.translate(_EXCHANGED)
    return text.translate(_ARABIC)


FRACTION = re.compile("(?:(\\d+)[ \u202f\u2009]?)?([\u00bc-\u00be\u2150-\u215e])")


def _fraction(found: re.Match[str]) -> str:
    """`2½` with its decimals."""
    return str(Decimal(found[1] or 0) + Decimal(repr(numeric(found[2]))))


_WIDE = {"\u2212": "-", "\uff0d": "-", "\uff0e": ".", "\uff0c": ","}
_EXCHANGED = {ord("."): ",", ord(","): "."}
_ARABIC = {0x066B: ".", 0x066C: ","}
