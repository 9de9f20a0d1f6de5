"""Patterns that cannot fail, or that look for a backslash by mistake: found by trying them on a few texts."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from proctor.errors import MetricError
from proctor.metrics.matchers.contrary_values import BLANKS, SINGLES, TEXTS
from proctor.metrics.text.regex.cost_bound import constants, parsed, parts
from proctor.metrics.text.regex.search import Search, find, find_safely, is_cheap

__all__ = ["cannot_fail", "doubled_escape"]

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
