"""What a regular expression can find at all, told from its structure: some find something in every text, some in none.

Neither says anything about an answer: a pattern that matches the empty text anywhere (`^`, `a*`, `()`) cannot fail, one
that asks for what cannot be (`a^`, `(?!)`) cannot pass. Both are slips, and found before anything runs. Only what is sure
is said: of a pattern that this module does not see through it says nothing.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from typing import Any

from proctor.errors import MetricError
from proctor.metrics.matchers.contrary_values import BLANKS, SINGLES, TEXTS
from proctor.metrics.text.regex.cost_bound import constants, named, parsed, parts
from proctor.metrics.text.regex.search import Search, find, find_safely, is_cheap

__all__ = ["cannot_fail", "doubled_escape", "finds_always", "finds_nothing", "slip_in"]

START, END, ANYWHERE = "start", "end", "anywhere"

ALWAYS = "is found in every text, the empty one included; say what must be there at least"
WHOLE = "matches any text as a whole, the empty one included; say what must be there at least"
NEVER = "can match no text at all (`\\$` and `\\^` are the signs themselves)"
EVERY = "matches any text that is not empty; say what must be there at least"


@lru_cache(maxsize=1024)
def slip_in(pattern: re.Pattern[str], *, full: bool = False, is_trimmed: bool = True) -> str:
    """What is wrong with a pattern that cannot tell one text from another; empty for all others.

    `full`: the whole text must match. `.*` then takes the empty text and any line, so it is said of it, too.
    `is_trimmed`: the texts have no white space at their ends, as answers; `.` and `\\S` then take any that is not empty.
    """
    items = parsed(pattern)
    if items is None:
        return ""
    if not full and finds_always(pattern):
        return ALWAYS
    if _takes_all(items):
        return WHOLE
    if finds_nothing(pattern):
        return NEVER
    if meant := doubled_escape(pattern):
        return f"looks for a backslash or a control character; write `{meant}` (in JSON `{json.dumps(meant)[1:-1]}`)"
    return EVERY if cannot_fail(pattern, full=full, is_trimmed=is_trimmed) else ""


def finds_always(pattern: re.Pattern[str]) -> bool:
    """Whether searching any text for `pattern` must succeed: it can be empty at its start, at its end, or anywhere."""
    items = parsed(pattern)
    return items is not None and any(_empty(items, at) for at in (START, END, ANYWHERE))


def finds_nothing(pattern: re.Pattern[str]) -> bool:
    """Whether no text at all can match: the pattern asks for something before the start, after the end, or impossible."""
    items = parsed(pattern)
    return items is not None and _never(items, bool(pattern.flags & re.MULTILINE))


# --- found in every text ----------------------------------------------------------------------------------------------


def _empty(items: Iterable[Any], at: str) -> bool:
    """Whether one thing after the other can match nothing at a place that every text has."""
    for op, argument in items:
        if not _can_be_empty(op, argument, at):
            return False
        if op in _GREEDY_FOR_EVER and at == START:
            at = ANYWHERE  # it gives nothing back: what follows may stand elsewhere
    return True


def _can_be_empty(op: Any, argument: Any, at: str) -> bool:
    if op is constants.AT:
        return (at == START and argument in _BEGINNINGS) or (at == END and argument in _ENDS)
    if op in _REPEATS and argument[0] == 0:
        return True
    if op is constants.BRANCH:
        return any(_empty(part, at) for part in parts(op, argument))
    if op is constants.ASSERT_NOT:
        place = END if argument[0] > 0 else START
        return at == place and argument[1].getwidth()[0] > 0
    if op is constants.GROUPREF_EXISTS and argument[2] is None:
        return False
    inside = parts(op, argument)
    return bool(inside) and all(_empty(part, at) for part in inside)


# --- takes every text -------------------------------------------------------------------------------------------------


def _takes_all(items: Iterable[Any], least: int = 0) -> bool:
    """Whether something in it takes whatever there is (`least` 1: but nothing), and all beside that can be empty."""
    every = list(items)
    for index, (op, argument) in enumerate(every):
        if _takes_any(op, argument, least) and _empty(every[:index], START):
            return _empty(every[index + 1 :], END)
    return False


def _takes_any(op: Any, argument: Any, least: int) -> bool:
    if op in _REPEATS and argument[0] <= least and argument[1] is constants.MAXREPEAT:
        return _takes_one(argument[2]) or _takes_all(argument[2], least)
    if op in _REPEATS and argument[0] <= 1:
        return _takes_all(argument[2], max(least, 1 - argument[0]))
    if op is constants.BRANCH or op in _GROUPS:
        return any(_takes_all(part, least) for part in parts(op, argument))
    return False


def _takes_one(items: Any) -> bool:
    """Whether it takes any one character: `.`, `[\\s\\S]`, `(.|\\n)`."""
    if len(items) != 1:
        return False
    op, argument = items[0]
    if op is constants.IN:
        return argument[0][0] is not constants.NEGATE and _is_every_kind(argument)
    if op is constants.NOT_LITERAL:
        return chr(argument) == "\n"
    if op is constants.BRANCH or op in _GROUPS:
        return any(_takes_one(part) for part in parts(op, argument))
    return op is constants.ANY


def _is_every_kind(members: Any) -> bool:
    """Whether a set has a kind of characters and all others: `\\s\\S`."""
    kinds = {str(value) for kind, value in members if kind is constants.CATEGORY}
    return any(kind.replace("CATEGORY_", "CATEGORY_NOT_") in kinds for kind in kinds)


# --- found in none ----------------------------------------------------------------------------------------------------


def _never(items: Iterable[Any], many_lines: bool) -> bool:  # noqa: FBT001 - only within this module
    """Whether something in it cannot be: something before the start of a text, or after its end."""
    before, ended, end_of_line = 0, False, False
    for op, argument in items:
        least = _width(op, argument)
        if (
            _impossible(op, argument, many_lines)
            or (ended and least)
            or (end_of_line and _is_no_line_break(op, argument))
            or (before and _is_start(op, argument, many_lines))
        ):
            return True
        before += least
        ended = ended or (op is constants.AT and argument is constants.AT_END_STRING)
        end_of_line = op is constants.AT and argument is constants.AT_END
    return False


def _impossible(op: Any, argument: Any, many_lines: bool) -> bool:  # noqa: FBT001 - only within this module
    if op is constants.FAILURE:
        return True
    if op is constants.IN:
        return argument[0][0] is constants.NEGATE and _is_every_kind(argument)
    if op is constants.BRANCH:
        return all(_never(part, many_lines) for part in parts(op, argument))
    if op is constants.ASSERT_NOT:
        return _empty(argument[1], ANYWHERE)
    if op is constants.SUBPATTERN:
        many_lines = many_lines or bool(argument[1] & re.MULTILINE)
    if op is constants.GROUPREF_EXISTS or (op in _REPEATS and argument[0] == 0):
        return False
    return any(_never(part, many_lines) for part in parts(op, argument))


def _is_start(op: Any, argument: Any, many_lines: bool) -> bool:  # noqa: FBT001 - only within this module
    return op is constants.AT and (
        argument is constants.AT_BEGINNING_STRING or (argument is constants.AT_BEGINNING and not many_lines)
    )


def _is_no_line_break(op: Any, argument: Any) -> bool:
    """Whether it begins with a character that surely is none: what cannot follow `$`."""
    if op in _REPEATS and argument[0] > 0 and len(argument[2]):
        return _is_no_line_break(*argument[2][0])
    return (op is constants.LITERAL and chr(argument) != "\n") or (
        op is constants.IN and argument in _NO_LINE_BREAKS
    )


def _width(op: Any, argument: Any) -> int:
    """The fewest characters that it takes."""
    if op in _SINGLE:
        return 1
    if op in _REPEATS:
        return int(argument[0]) * int(argument[2].getwidth()[0])
    if op in _GROUPS or op is constants.BRANCH:
        return min(int(part.getwidth()[0]) for part in parts(op, argument))
    return 0


_REPEATS = (*named("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"),)
_GREEDY_FOR_EVER = (*named("POSSESSIVE_REPEAT", "ATOMIC_GROUP"),)
_GROUPS = (*named("SUBPATTERN", "ATOMIC_GROUP"),)
_SINGLE = (*named("LITERAL", "NOT_LITERAL", "ANY", "IN"),)
_BEGINNINGS = (*named("AT_BEGINNING", "AT_BEGINNING_STRING"),)
_ENDS = (*named("AT_END", "AT_END_STRING"),)
_NO_LINE_BREAKS = (
    [[(constants.CATEGORY, each)] for each in named("CATEGORY_DIGIT", "CATEGORY_WORD")] if constants else []
)


# --- Patterns that cannot fail, or that look for a backslash by mistake: found by trying them on a few texts ----------


_LONG = ("x" * 999 + "\n") * 100
"""Longer than any answer that a pattern is meant to limit."""
_SECONDS = 2.0
_LOOKS_FOR_ABSENCE = ("(?!", "(?<!")
_DOUBLED = re.compile(r"\\\\([bBdDsSwW])(?!\w)")
_ESCAPES = re.compile(r"\\[a-zA-Z]|[\\^$]")
_CONTROLS = {"\b": "\\b", "\f": "\\f", "\a": "\\a", "\v": "\\v"}
"""What a JSON or YAML string makes of an escape that was meant for the pattern."""


def cannot_fail(pattern: re.Pattern[str], *, full: bool, is_trimmed: bool) -> bool:
    """Tell whether a pattern accepts every contrary text.

    Texts with the pattern's own characters are among them: what it excludes (`^[^€]*$`) is written in it. Other characters
    surround each: `[^€]` accepts all texts but those of that character only. `is_trimmed`: the pattern meets only texts
    without white space at their ends, so no blank text is tried. A pattern that looks for the absence of something is not
    tried: no handful of texts has what it excludes.
    """
    source = pattern.pattern
    if any(mark in source for mark in _LOOKS_FOR_ABSENCE):
        return False
    own = sorted({*source, *_characters(parsed(pattern) or ())})
    texts = (*TEXTS, *(() if is_trimmed else BLANKS), source or "x", *(f"qz{each}xq" for each in own))
    accepts = partial(_accepts, pattern, full=full)
    if not all(map(accepts, texts)) or not any(map(accepts, SINGLES)):
        return False
    try:
        return find_safely([Search(pattern, full, _LONG)], _SECONDS)[0] is not None
    except MetricError:  # it takes too long to tell
        return False


def _characters(items: Iterable[Any]) -> Iterator[str]:
    """The characters that a pattern names, also those written as an escape (`\\u20ac`)."""
    for op, argument in items:
        if op in (constants.LITERAL, constants.NOT_LITERAL):
            yield chr(argument)
        elif op is constants.RANGE:
            yield from map(chr, argument)
        elif op is constants.IN:
            yield from _characters(argument)
        for part in parts(op, argument):
            yield from _characters(part)


def _accepts(pattern: re.Pattern[str], text: str, *, full: bool) -> bool:
    search = [Search(pattern, full, text)]
    return is_cheap(search) and find(search)[0] is not None


def doubled_escape(pattern: re.Pattern[str]) -> str:
    """Return what was probably meant by a pattern that looks for a backslash or a control character; else nothing.

    Without the escapes, the text of the pattern is one that is meant: if the pattern does not find it, and finds it once
    `\\\\b` is `\\b`, the escape was written twice.
    """
    meant = _DOUBLED.sub(r"\\\1", pattern.pattern)
    for control, escape in _CONTROLS.items():
        meant = meant.replace(control, escape)
    if meant == pattern.pattern:
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = re.compile(meant, pattern.flags & ~re.UNICODE)
    except (re.error, ValueError, OverflowError, RecursionError):
        return ""
    plain = _ESCAPES.sub("", meant)
    texts = [text for text in (plain, f"7 {plain} 7", plain.strip(), *TEXTS) if text]
    differs = any(
        _accepts(other, text, full=False) and not _accepts(pattern, text, full=False) for text in texts
    )
    return meant if differs else ""
