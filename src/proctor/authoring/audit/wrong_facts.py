"""Mutation operators for facts in answers: a number, a date, an amount, a unit, a name or an id is another.

A value is left out where its change may be harmless: the user gave it, it is hedged (about 5) or an example, it numbers a
list item, or it is in a greeting, a question, a quotation, a link or code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from random import Random
from unicodedata import normalize

from proctor.authoring.audit.answer_spans import (
    LETTER,
    TextRange,
    occurs_in,
    protected_spans,
    replace_word,
    statement_spans,
)
from proctor.authoring.audit.mutant import (
    Events,
    Operator,
    PlantedFault,
    Recording,
    replace_before_answer,
    texts_before_answer,
    with_answer,
)

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
)
_DATE = re.compile(
    rf"(?<!{LETTER})(?:\d{{4}}-\d{{2}}-\d{{2}}|{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?(?!{LETTER})(?:,? \d{{4}})?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}(?!{LETTER})(?: \d{{4}})?|\d{{1,2}}/\d{{1,2}}/\d{{2,4}}"
    rf"|(?<![+:-])(?:[01]?\d|2[0-3]):[0-5]\d(?!:)|(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])\.(?:19|20)\d\d)(?!{LETTER})"
    r"|(?:\d{4}[年년] ?)?(?<!\d)\d{1,2}[月월] ?\d{1,2}[日일]"
)
_DECIMAL_COMMA = r"(?:\d{1,3}(?:\.\d{3})+|\d+),\d{1,2}(?![\d,])"
_SPACED = r"\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+(?!\d)(?:[.,]\d{1,2}(?![\d,]))?"
_POINTS = r"\d{1,3}(?:\.\d{3}){2,}(?![\d.]*\d)"
_COMMAS = r"\d{1,3}(?:,\d{2,3})*,\d{3}(?!\d)(?:\.\d+)?"
_FIGURE = rf"{_COMMAS}|{_SPACED}|{_DECIMAL_COMMA}|{_POINTS}|\d+(?:\.\d+)?"
_APART = rf"(?<!{LETTER})(?<![.,])"
_AMOUNT = re.compile(
    rf"[$€£¥₹]\s?(?:{_FIGURE})|{_APART}(?:{_FIGURE})\s?(?:USD|EUR|GBP|dollars|euros|pounds|€|£)(?!{LETTER})"
)
_UNITS = {
    "°C": "°F", "°F": "°C", "km": "miles", "miles": "km", "kg": "pounds", "lbs": "kg", "meters": "feet", "feet": "meters",
    "hours": "days", "minutes": "hours", "seconds": "minutes", "days": "weeks", "weeks": "months", "months": "years",
    "years": "months", "hour": "day", "minute": "hour", "day": "week", "week": "month", "month": "year", "GB": "MB",
    "MB": "GB", "grams": "ounces", "cups": "liters", "degrees Celsius": "degrees Fahrenheit", "km/h": "m/s",
    "AM": "PM", "PM": "AM", "am": "pm", "pm": "am", "a.m.": "p.m.", "p.m.": "a.m.",
}  # fmt: skip
_UNIT = re.compile(
    rf"{_APART}(?:{_FIGURE}|\d{{1,2}}:\d{{2}})[ -]?({'|'.join(sorted(map(re.escape, _UNITS), key=len, reverse=True))})(?!{LETTER})"
)
_ID = re.compile(
    rf"(?<!{LETTER})(?<!-)#?(?=(?:{LETTER}|-)*[A-Za-z#])(?=(?:{LETTER}|-)*\d)[A-Z0-9][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*"
    rf"(?!{LETTER}|[:-])|#\d{{3,}}"
)
_NOT_AN_ID = re.compile(r"\d+(?:[a-z]{1,4}|[A-Z]{1,2})|\d+-[a-z]+(?:-[a-z]+)*|[A-Za-z]{1,2}\d|v\d")
_NUMBER = re.compile(rf"{_APART}(?<![/:#+第-])(?:{_FIGURE})(?!{LETTER}|[/:-]|[.,]\d)")
_HEDGED = re.compile(
    r"(?:about|approximately|around|roughly|nearly|almost|over|up to|at least|at most|~|≈|circa)\s*\W{0,2}$",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(r"\b(?:for example|example|e\.g\.|such as|format|sample)\b[^.?!]{0,80}$", re.IGNORECASE)
_NEAR = 120
"""The characters before a value in which these words are searched."""
_ORDINAL = re.compile(r"(?:^|\n)[\s>*_-]*(?:step\s|option\s|day\s)?$", re.IGNORECASE)
_NAME = re.compile(r"(?<![\w'’-])[a-z][a-z'’-]* (?P<value>[A-Z][a-z]{2,}(?: [A-Z][a-z]+)*)(?![\w-]| [A-Z])")
_NO_NAMES = re.compile(
    rf"{_MONTH}|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Please|Step|Option|Section|Yes|Okay|Hello|Thank|English|Internet"
)
_GERMAN = re.compile(
    r"\b(?:der|dem|und|ist|sind|hat|haben|nicht|für|auf|mit|eine[nmrs]?|wir|wird|werden|ihre?[nmrs]?|zu[mr]|vo[mn]|im|kommt|kostet)\b"
)
"""Words of German, which capitalizes each noun."""
_NAMES = ("Quentin Marlowe", "Isolde Varga", "Bexley Harrow", "Tamsin Okoro", "Corvin Delacroix")

Values = Callable[[str], Iterable[tuple[TextRange, str]]]
"""Finds the values of one kind in a text."""


@lru_cache(64)  # each operator reads the same answers
def _plain_values(pattern: re.Pattern[str], text: str) -> Sequence[tuple[TextRange, str]]:
    return [(TextRange(*match.span()), match[0]) for match in pattern.finditer(text)]


def _numbers(text: str) -> Iterator[tuple[TextRange, str]]:
    """Yield numbers that are no part of a date, an amount or an id, and do not number a list item."""
    others = [span for find in (_dates, _amounts, _ids) for span, _ in find(text)]
    for span, value in _plain_values(_NUMBER, text):
        numbers_a_line = (
            _ORDINAL.search(text[: span.start]) and text[span.end : span.end + 1] in ".):、．：）"
        )
        if not span.meets(others) and not numbers_a_line:
            yield span, value


def _ids(text: str) -> Iterator[tuple[TextRange, str]]:
    dates = [span for span, _ in _dates(text)]
    for span, value in _plain_values(_ID, text):
        if len(value) > 2 and not _NOT_AN_ID.fullmatch(value) and not span.meets(dates):
            yield span, value


def _names(text: str) -> Iterator[tuple[TextRange, str]]:
    """Yield capitalized words within sentences; in a heading, or a line that may be one, every word is capitalized."""
    if _GERMAN.search(text):
        return
    whole = [span for span in statement_spans(text) if _is_prose(text[span.start : span.end])]
    for match in _NAME.finditer(text):
        span = TextRange(*match.span("value"))
        if not _NO_NAMES.match(match["value"]) and span.meets(whole):
            yield span, match["value"]


def _is_prose(sentence: str) -> bool:
    words = re.findall(r"[^\W\d_]+", sentence)
    capitalized = sum(word[0].isupper() for word in words)
    return sentence.rstrip("*_ ").endswith((".", "!")) and 3 * capitalized <= 2 * len(words)


_dates: Values = partial(_plain_values, _DATE)
_amounts: Values = partial(_plain_values, _AMOUNT)
_units: Values = partial(_plain_values, _UNIT)


# --- Another value of the same kind ----------------------------------------------------------------------------------


def _other_digit(value: str, at: int, random: Random) -> str:
    digit = random.choice([each for each in range(1, 10) if each != int(value[at])])
    return value[:at] + _digits(digit, value[at]) + value[at + 1 :]


def _digits(number: int, like: str) -> str:
    """Write a number with the digits of another one, such as full-width or Arabic digits."""
    zero = ord(like[0]) - int(like[0])
    return "".join(chr(zero + int(digit)) for digit in str(number))


def _first_digit(value: str, random: Random) -> str:
    """Change the first digit: the value differs by a tenth or more."""
    return _other_digit(value, next(index for index, sign in enumerate(value) if sign.isdecimal()), random)


def _other_date(value: str, random: Random) -> str:
    """Change the day of a date, or the hour of a time."""
    if ":" in value:
        hour, _, minutes = value.partition(":")
        return (
            f"{(int(hour) + random.randint(1, 4)) % 12 + 1 if int(hour) > 9 else int(hour) % 9 + 1}:{minutes}"
        )
    days = [*re.finditer(r"\d+", value)]
    is_day_last = value[-1] in "日일" or (len(days) == 3 and len(days[0][0]) == 4)
    is_month_first = "/" in value and int(days[0][0]) <= 12
    day = days[-1] if is_day_last else days[1 if is_month_first else 0]
    number = int(day[0])
    other = random.choice([each for each in range(10, 28) if each != number])
    return f"{value[: day.start()]}{_digits(other, day[0])}{_ending(value[day.end() :], other)}"


def _ending(rest: str, day: int) -> str:
    last = {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th") if day // 10 != 1 else "th"
    return re.sub(r"^(?:st|nd|rd|th)", last, rest)


def _last_digit(value: str, random: Random) -> str:
    return _other_digit(value, max(index for index, sign in enumerate(value) if sign.isdecimal()), random)


def _other_unit(value: str, _: Random) -> str:
    unit = next(match[1] for match in [_UNIT.fullmatch(value)] if match)
    return value[: -len(unit)] + _UNITS[unit]


def _other_name(value: str, random: Random) -> str:
    chosen = random.choice([name for name in _NAMES if name != value])
    return chosen if " " in value else chosen.split()[0]


# --- Operators -------------------------------------------------------------------------------------------------------


def _wrong(
    values: Values, other: Callable[[str, Random], str], recording: Recording, random: Random
) -> Iterator[PlantedFault]:
    for turn, answer in enumerate(recording.answers):
        known = recording.user_text(turn)
        for value in _new_values(values, answer, known):
            changed = other(value, random)
            text = replace_word(answer, value, changed)
            if text != answer:
                yield PlantedFault(
                    turn, f"'{value}' → '{changed}'", partial(with_answer, recording, turn, text)
                )
        events = recording.turns[turn]
        earlier = "\n".join(texts_before_answer(events))
        for value in _new_values(values, earlier, f"{known}\n{answer.lower()}") if earlier else ():
            changed = other(value, random)
            if replace_word(earlier, value, changed) != earlier:
                fault = f"'{value}' → '{changed}' before the final response"
                yield PlantedFault(turn, fault, partial(_changed_before, turn, events, value, changed))


def _new_values(values: Values, text: str, known: str) -> list[str]:
    """Return the values of a text whose change surely changes the meaning, without those of an earlier text in lower case."""
    known = normalize("NFKC", known)
    joined = _SEPARATOR.sub("", known)
    return [
        value
        for value in dict.fromkeys(_certain(values, text))
        if not (occurs_in(normalize("NFKC", value), known) or occurs_in(_plain(value), joined))
    ]


_SEPARATOR = re.compile(r",|(?<=\d)[ '’](?=\d{3}(?!\d))")


def _plain(value: str) -> str:
    """Return a number as a user may write it: without currency, thousands, cents and decimal comma."""
    amount = normalize("NFKC", value).strip("$€£¥₹ ")
    if re.fullmatch(rf"{_DECIMAL_COMMA}|{_POINTS}", amount):
        amount = amount.replace(".", "")
    return _SEPARATOR.sub("", re.sub(r"[.,]00$", "", amount))


def _certain(values: Values, answer: str) -> Iterator[str]:
    """Yield the values whose change surely changes the meaning."""
    statements, closed = statement_spans(answer), protected_spans(answer)
    for span, value in values(answer):
        before = answer[max(0, span.start - _NEAR) : span.start]
        if span.meets(closed) or _HEDGED.search(before) or _EXAMPLE.search(before):
            continue
        if span.meets(statements):
            yield value


def _changed_before(turn: int, events: Events, value: str, changed: str) -> dict[int, Events]:
    return {turn: replace_before_answer(events, lambda text: replace_word(text, value, changed))}


def facts_of(answer: str) -> list[str]:
    """Return the facts of an answer, each once: dates, amounts, ids, numbers and names."""
    facts = [value for find in (_dates, _amounts, _ids, _numbers, _names) for _, value in find(answer)]
    return list(dict.fromkeys(facts))


OPERATORS = (
    Operator("wrong-number", "wrong numbers", "answers", partial(_wrong, _numbers, _first_digit)),
    Operator("wrong-date", "wrong dates", "answers", partial(_wrong, _dates, _other_date)),
    Operator("wrong-amount", "wrong amounts", "answers", partial(_wrong, _amounts, _first_digit)),
    Operator("wrong-unit", "wrong units", "answers", partial(_wrong, _units, _other_unit)),
    Operator("wrong-name", "wrong names", "answers", partial(_wrong, _names, _other_name)),
    Operator("wrong-id", "wrong ids", "answers", partial(_wrong, _ids, _last_digit)),
)
