"""The kinds of values in reasons that differ from case to case: amounts, times, paths, ids.

Each kind is a row of `VALUE_KINDS`: its name, and a pattern that matches a whole value, with its unit. A pattern never matches a
word alone: reasons that differ in words have different causes. It takes linear time: a lookbehind refuses a start inside of a value,
or the value has a maximum length.
"""

from __future__ import annotations

import re

BLANK = "…"
"""What a value is replaced by."""

_NUMBER = r"(?<![\w.])[-+]?\d++(?:[.,:/-]\d++){0,30}+(?:[eE][-+]?\d++)?+"
_SPACE = r"[ \u00a0\u202f]?"
_CURRENCY = r"(?:[A-Z]{0,2}[$£¥\u20a0-\u20bf]|(?:USD|EUR|GBP|CHF|JPY)(?!\w))"
_TIME_UNIT = r"(?:[nuµm]?s|m|h|d|(?:sec|min|hour|day|(?:milli|micro|nano)?second|minute)s?)(?![^\W\d])"
_FOLDER = r"[/\\][\w.@%+=~-]*[\w@%+=~-]"
_LINE = r"(?::\d++){0,2}+"

_NOUNS = ("Error: ", "name ", "attribute ", "argument ", "module ", "field ", "key ", "column ", "parameter ")
"""Words after which a quoted name is that of the part that failed."""
_AFTER_NOUN = f"(?:{'|'.join(f'(?<={noun})' for noun in _NOUNS)})"

KEPT_KINDS = (
    (
        "code",
        r"(?<!\w)(?:HTTP(?:/\d(?:\.\d)?)?|[Ss]tatus|[Ee]rrno|[Ss]ignal|(?:[Ee]rror |[Ee]xit |[Ss]tatus )?[Cc]ode)[ :=]{1,3}+-?\d++(?!\w|[.,]\d)",
    ),
    ("name of a part", rf"{_AFTER_NOUN}(?P<quote>['\"])[^\W\d](?:[^\W\d]|[.-]){{0,99}}(?P=quote)(?!\w)"),
)
"""Values that tell one cause from another, and stay: the code of an error, and the name of a part (`KeyError: 'city'`, `field "city"`)."""

VALUE_KINDS = (
    ("quoted text", r'"[^"]*"|(?<!\w)\'[^\']*\'(?!\w)'),
    ("URL", r"(?<!\w)[a-zA-Z][a-zA-Z0-9+.-]{0,15}+://[^\s\"'<>`]*(?<![.,:;!?)])"),
    ("e-mail address", r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++"),
    ("UUID", r"(?<![\w-])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\w-])"),
    ("path with a root", rf"(?<![\w.~/\\-])(?:(?:~|\.\.?)(?:{_FOLDER})++|(?:[A-Za-z]:)?(?:{_FOLDER}){{2,}}+){_LINE}"),
    ("path of a file", rf"(?<![\w./\\-])[\w.-]+(?:/[\w.-]+)*/[\w.-]*\.[A-Za-z]\w{{0,9}}(?!\w){_LINE}"),
    ("date and time", r"(?<![\w.])\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d++)?)?(?: ?(?:Z|UTC|[-+]\d\d:?\d\d))?(?!\w)"),
    ("amount of money", rf"[-+]?(?<!\w){_CURRENCY}{_SPACE}-?\d++(?:[.,]\d++){{0,30}}+(?!\w)|{_NUMBER}{_SPACE}{_CURRENCY}"),
    ("percentage", rf"{_NUMBER}{_SPACE}%"),
    ("duration", rf"{_NUMBER}{_SPACE}{_TIME_UNIT}(?: ?\d++{_SPACE}{_TIME_UNIT})*+(?!\w)"),
    ("size", rf"{_NUMBER}{_SPACE}(?:(?:[kKMGT]i?)?B|bytes?)(?!\w)"),
    ("number", rf"{_NUMBER}(?!\w)"),
    ("hexadecimal id", r"(?<!\w)0x[0-9a-fA-F]++(?!\w)|(?<![^\W_])(?=[a-fA-F]*+\d)[0-9a-fA-F]{7,}+(?!\w)"),
)  # fmt: skip
"""The earlier row wins where two match."""

_NO_START = r"(?![\s,;()]|(?<=[a-zA-Z])[a-zA-Z])"  # for speed: no value begins here
_KEPT, _REPLACED = ("|".join(pattern for _, pattern in kinds) for kinds in (KEPT_KINDS, VALUE_KINDS))
_VALUE = re.compile(f"{_NO_START}(?:(?P<kept>{_KEPT})|{_REPLACED})")


def mask_values(text: str) -> str:
    """Return a text with each value replaced by `…`, except those of `KEPT_KINDS`."""
    return _VALUE.sub(lambda match: match["kept"] or BLANK, text)
