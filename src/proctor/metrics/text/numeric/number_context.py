"""The context of a number that changes it: a sign before it, or a word after it."""

from __future__ import annotations

import re

__all__ = ["CURRENCY", "change_after", "is_exponent", "is_negative", "is_unsure", "multiplies"]

CURRENCY = "$\u00a2-\u00a5\u20a0-\u20cf"
BEFORE, AFTER = 40, 40
"""The number of characters that are examined."""

SIGN = re.compile(rf"(?:^|[^\w.)\]%{CURRENCY}-])(-[{CURRENCY}]?|[{CURRENCY}]-)\Z")
"""A minus sign at the end of the text before a number."""
_SYMBOLS = "$€£¥₹₩"
MINUS = re.compile(
    rf"""(?P<before>\S*)(?:(?<!\w)(?:minus|negative|минус|мінус|mínusz?|miinus|eksi|μείον|âm|ناقص|سالب|منفی|माइनस|ऋण|마이너스|영하)\s+
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
    return word is not None and not SUBTRACTS.search(before[: word.start()] + word["before"])


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
