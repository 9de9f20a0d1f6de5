"""Regular expressions that match every text, or none: both are mistakes, and reported before the first call.

A pattern that matches every text (`a*`, `^`, `.`) cannot fail, and one that matches none (`a^`, `(?!)`) cannot pass. Patterns
of the first kind are tried on a few texts. Patterns of the second kind are recognised from the parsed pattern.
A pattern is only reported if the problem is certain.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from typing import Any

from proctor.errors import MetricError
from proctor.metrics.matchers.contrary_values import BLANKS, SINGLES, TEXTS
from proctor.metrics.text.regex.search import Search, compile_pattern, search_texts

ALWAYS = "is found in every text, the empty one included; require at least one character or word"
WHOLE = "matches any text as a whole, the empty one included; require at least one character or word"
NEVER = "can match no text at all (to match the characters `$` and `^` themselves, write `\\$` and `\\^`)"
EVERY = "matches any text that is not empty; require a specific character or word"


@lru_cache(maxsize=1024)
def trivial_pattern_problem(pattern: re.Pattern[str], *, full: bool = False, is_trimmed: bool = True) -> str:
    """Return why a pattern cannot distinguish one text from another; empty for all others.

    `full`: the whole text must match. `is_trimmed`: the texts have no white space at their ends, as answers have none, so
    `.` and `\\S` match each of them that is not empty.
    """
    if not full and finds_always(pattern):
        return ALWAYS
    if matches_whole_lines(pattern, full=full):
        return WHOLE
    if finds_nothing(pattern):
        return NEVER
    if intended := doubled_escape(pattern):
        return f"looks for a backslash or a control character; write `{intended}` (in JSON `{json.dumps(intended)[1:-1]}`)"
    return EVERY if matches_nonempty_texts(pattern, full=full, is_trimmed=is_trimmed) else ""


# --- Patterns that match every text ---


_NOT_ANCHORS = re.compile(r"\\[^AbBZ]|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
"""Escaped characters and character sets: the `^` and `$` in them are no anchors."""
_LOOKS_BACK = re.compile(r"\^|\\[AbB]|\(\?<[=!]")
_LOOKS_AHEAD = re.compile(r"\$|\\[ZbB]|\(\?[=!]")
_NO_BACKTRACKING = re.compile(r"[*+?}]\+|\(\?>")
_LOOKS_FOR_ABSENCE = re.compile(r"\(\?<?!")
_LINE = "x" * 100_000
_LINES = ("x" * 999 + "\n") * 100
"""Longer than any answer that a pattern may be meant to limit."""
_SECONDS = 2.0


def finds_always(pattern: re.Pattern[str]) -> bool:
    """Return whether searching any text for `pattern` succeeds.

    A pattern that matches the empty text and does not look back matches at the end of every text. One that does not look
    ahead matches at the start of every text, unless a repeat consumes text and does not give it back.
    """
    if not _accepts_all(pattern, [""], full=False):
        return False
    anchors = _NOT_ANCHORS.sub("", pattern.pattern)
    needs_start = _LOOKS_BACK.search(anchors)
    needs_end = _LOOKS_AHEAD.search(anchors) or _NO_BACKTRACKING.search(anchors)
    return not (needs_start and needs_end)


def matches_whole_lines(pattern: re.Pattern[str], *, full: bool) -> bool:
    """Return whether a pattern matches every text of one line, the empty one included (`^.*$`)."""
    lines = [text for text in _trial_texts(pattern) if "\n" not in text]
    return _is_tried(pattern) and _accepts_all(pattern, ["", *lines], [_LINE], full=full)


def matches_nonempty_texts(pattern: re.Pattern[str], *, full: bool, is_trimmed: bool) -> bool:
    """Return whether a pattern matches every text that is not empty.

    It must match all of very different texts, a very long one, and one of a single character: `[^€]` does not match
    "€", but no other answer fails it. `is_trimmed`: no blank text is tried.
    """
    texts = [*_trial_texts(pattern), *(() if is_trimmed else BLANKS)]
    return (
        _is_tried(pattern)
        and _accepts_all(pattern, texts, [_LINES], full=full)
        and any(_accepts_all(pattern, [single], full=full) for single in SINGLES)
    )


def _is_tried(pattern: re.Pattern[str]) -> bool:
    """Return whether trials are conclusive: no small number of texts contains what a negative look-around excludes."""
    return not _LOOKS_FOR_ABSENCE.search(pattern.pattern)


def _trial_texts(pattern: re.Pattern[str]) -> list[str]:
    """Return very different texts, among them one with each character of the pattern: `^[^€]*$` excludes one of these."""
    source = pattern.pattern
    characters = sorted({*source, *_literals(_parsed(pattern) or ())})
    return [*TEXTS, source or "x", *(f"qz{each}xq" for each in characters)]


def _literals(items: Iterable[Any]) -> Iterator[str]:
    """Yield the characters that a pattern names, also those written as an escape (`\\u20ac`)."""
    for op, argument in items:
        if op in (constants.LITERAL, constants.NOT_LITERAL):
            yield chr(argument)
        elif op is constants.RANGE:
            yield from map(chr, argument)
        elif op is constants.IN:
            yield from _literals(argument)
        for part in _parts(op, argument):
            yield from _literals(part)


def _accepts_all(pattern: re.Pattern[str], *batches: Sequence[str], full: bool) -> bool:
    """Return whether the pattern matches all texts; later batches are tried only if it matches the former ones."""
    try:
        return all(
            None not in search_texts([Search(pattern, full, text) for text in texts], _SECONDS)
            for texts in batches
        )
    except MetricError:  # it takes too long to find out
        return False


# --- Escapes that were written twice, or not escaped in JSON ---


_DOUBLED = re.compile(r"\\\\([bBdDsSwW])(?!\w)")
_ESCAPES = re.compile(r"\\[a-zA-Z]|[\\^$]")
_CONTROLS = {"\b": "\\b", "\f": "\\f", "\a": "\\a", "\v": "\\v"}
"""The characters that a JSON or YAML string makes of an escape that was meant for the pattern."""


def doubled_escape(pattern: re.Pattern[str]) -> str:
    """Return the pattern that was probably intended by one that looks for a backslash or a control character.

    The escape was probably written twice if a text with the other characters of the pattern matches only with `\\b`
    in the place of `\\\\b`. Empty if there is no such escape.
    """
    intended = _DOUBLED.sub(r"\\\1", pattern.pattern)
    for control, escape in _CONTROLS.items():
        intended = intended.replace(control, escape)
    if intended == pattern.pattern:
        return ""
    try:
        corrected = compile_pattern(intended, pattern.flags & ~re.UNICODE)
    except (re.error, ValueError, OverflowError, RecursionError):
        return ""
    plain = _ESCAPES.sub("", intended)
    texts = [text for text in (plain, f"7 {plain} 7", plain.strip(), *TEXTS) if text]
    differs = any(
        _accepts_all(corrected, [text], full=False) and not _accepts_all(pattern, [text], full=False)
        for text in texts
    )
    return intended if differs else ""


# --- Patterns that match no text, recognised from the parsed pattern ---


constants: Any = None
parser: Any = None
with suppress(
    ImportError
):  # private modules, the only parser of the syntax; without them no pattern is reported
    constants, parser = import_module("re._constants"), import_module("re._parser")


def finds_nothing(pattern: re.Pattern[str]) -> bool:
    """Return whether no text can match: the pattern needs text before the start, after the end, or something impossible."""
    items = _parsed(pattern)
    return items is not None and _never(items, is_multiline=bool(pattern.flags & re.MULTILINE))


def _parsed(pattern: re.Pattern[str]) -> Any:
    """Return the pattern as the items of Python's own parser; `None` without it."""
    return None if parser is None else parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)


def _never(items: Iterable[Any], *, is_multiline: bool) -> bool:
    """Return whether a sequence contains a part that cannot match there."""
    width_before, is_after_end, is_after_line_end = 0, False, False
    for op, argument in items:
        width = _min_width(op, argument)
        if (
            _is_impossible(op, argument, is_multiline=is_multiline)
            or (is_after_end and width)
            or (is_after_line_end and _excludes_line_break(op, argument))
            or (width_before and _is_start(op, argument, is_multiline=is_multiline))
        ):
            return True
        width_before += width
        is_after_end = is_after_end or _is_at(constants.AT_END_STRING, op, argument)
        is_after_line_end = _is_at(constants.AT_END, op, argument)
    return False


def _is_impossible(op: object, argument: Any, *, is_multiline: bool) -> bool:
    if _accepts_no_character(op, argument):
        return True
    if op is constants.ASSERT_NOT:
        return all(_is_optional(*item) for item in argument[1])
    if op is constants.GROUPREF_EXISTS or _is_optional(op, argument):
        return False
    if op is constants.SUBPATTERN:
        is_multiline = is_multiline or bool(argument[1] & re.MULTILINE)
    quantifier = all if op is constants.BRANCH else any
    return quantifier(_never(part, is_multiline=is_multiline) for part in _parts(op, argument))


def _accepts_no_character(op: object, argument: Any) -> bool:
    """Return whether an item is one that always fails, or a set without characters: `[^\\s\\S]`."""
    return op is constants.FAILURE or (
        op is constants.IN and argument[0][0] is constants.NEGATE and _is_every_kind(argument)
    )


def _is_optional(op: object, argument: Any) -> bool:
    """Return whether an item is a repetition that may match nothing: `a*`."""
    return op in _REPEATS and argument[0] == 0


def _is_every_kind(members: Any) -> bool:
    """Return whether a set has a category of characters and all others: `\\s\\S`."""
    categories = {str(value) for kind, value in members if kind is constants.CATEGORY}
    return any(each.replace("CATEGORY_", "CATEGORY_NOT_") in categories for each in categories)


def _is_start(op: object, argument: Any, *, is_multiline: bool) -> bool:
    return _is_at(constants.AT_BEGINNING_STRING, op, argument) or (
        not is_multiline and _is_at(constants.AT_BEGINNING, op, argument)
    )


def _is_at(position: object, op: object, argument: Any) -> bool:
    """Return whether an item matches a position of the text instead of a character."""
    return op is constants.AT and argument is position


def _excludes_line_break(op: object, argument: Any) -> bool:
    """Return whether an item certainly begins with another character than the line break that may follow `$`."""
    if op in _REPEATS and argument[0] > 0 and len(argument[2]):
        return _excludes_line_break(*argument[2][0])
    return (op is constants.LITERAL and chr(argument) != "\n") or (
        op is constants.IN and argument in _NO_LINE_BREAKS
    )


def _min_width(op: object, argument: Any) -> int:
    """Return the smallest number of characters that an item matches."""
    if op in _SINGLE:
        return 1
    if op in _REPEATS:
        return int(argument[0]) * int(argument[2].getwidth()[0])
    if op in _GROUPS or op is constants.BRANCH:
        return min(int(part.getwidth()[0]) for part in _parts(op, argument))
    return 0


def _parts(op: object, argument: Any) -> list[Any]:
    """Return the patterns inside one item."""
    if op in _REPEATS:
        return [argument[2]]
    if op is constants.SUBPATTERN:
        return [argument[3]]
    if op is constants.BRANCH:
        return [*argument[1]]
    if op in (constants.ASSERT, constants.ASSERT_NOT):
        return [argument[1]]
    if op is constants.ATOMIC_GROUP:
        return [argument]
    if op is constants.GROUPREF_EXISTS:
        return [part for part in argument[1:] if part is not None]
    return []


def _constants(*names: str) -> tuple[Any, ...]:
    """Return the parser's constants of these names that this Python has."""
    return tuple(getattr(constants, name) for name in names if hasattr(constants, name))


_REPEATS = _constants("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_GROUPS = _constants("SUBPATTERN", "ATOMIC_GROUP")
_SINGLE = _constants("LITERAL", "NOT_LITERAL", "ANY", "IN")
_NO_LINE_BREAKS = [[(constants.CATEGORY, each)] for each in _constants("CATEGORY_DIGIT", "CATEGORY_WORD")]
