"""Values and calls in the text of reasons: short, on one line, without control characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from proctor.common.json_values import json_line
from proctor.common.safe_text import cut_text, is_joiner
from proctor.metrics.trajectory.call_matching import Call

TYPE_WORDS = {
    "string": "text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}
"""The types of JSON Schema in words."""


LONGEST_VALUE = 60
LONGEST_CALL = 100
MOST_SENTENCES = 4


def show_value(value: object) -> str:
    """Return `value` as JSON (its `repr` if it has none), shortened if it is long."""
    return _shorten(json_line(value), LONGEST_VALUE)


def show_pair(expected: object, actual: object) -> tuple[str, str]:
    """Return two different values, shortened so that the first difference is visible."""
    left, right = json_line(expected), json_line(actual)
    if left == right:
        text = _shorten(left, LONGEST_VALUE)
        return f"{text} ({type(expected).__name__})", f"{text} ({type(actual).__name__})"
    if not left.isascii() and unicodedata.normalize("NFC", left) == unicodedata.normalize("NFC", right):
        left, right = _escape(left), _escape(right)  # they look identical
    if len(left) <= LONGEST_VALUE and len(right) <= LONGEST_VALUE:
        return _shorten(left, LONGEST_VALUE), _shorten(right, LONGEST_VALUE)
    shorter = min(len(left), len(right))
    common = next((at for at in range(shorter) if left[at] != right[at]), shorter)
    skipped = _word_start(left, max(0, common - LONGEST_VALUE // 3))
    gap = "…" if skipped else ""
    return _shorten(gap + left[skipped:], LONGEST_VALUE), _shorten(gap + right[skipped:], LONGEST_VALUE)


def _word_start(text: str, at: int) -> int:
    """Return where the word at `at` begins; `at` itself in a word that is too long for the line."""
    space = text.rfind(" ", max(0, at - LONGEST_VALUE // 3), at)
    return space + 1 if space >= 0 else at


def show_text(text: str, longest: int = LONGEST_VALUE) -> str:
    """Return a text in quotes, shortened if it is long."""
    return _shorten(json_line(text), longest)


def show_name(name: str | None) -> str:
    """Return the name of a tool, an argument or a key; `(no name)` for an empty one."""
    return _shorten(_plain(name), LONGEST_VALUE) if name else "(no name)"


def show_call(call: Call) -> str:
    """Return `get_weather(city="Paris")`; null arguments become `get_weather(null)`."""
    if call.args is None:
        return f"{show_name(call.name)}(null)"
    arguments = ", ".join(f"{show_name(name)}={show_value(value)}" for name, value in call.args.items())
    return f"{show_name(call.name)}({_shorten(arguments, LONGEST_CALL)})"


def and_more(sentences: Sequence[str], most: int = MOST_SENTENCES) -> list[str]:
    """Return the first of `sentences`, and the number of further ones."""
    if len(sentences) <= most:
        return [*sentences]
    return [*sentences[:most], f"and {len(sentences) - most} more"]


def shown_texts(texts: Iterable[str]) -> str:
    """Return the first of some texts as they are shown in a sentence, and the number of further ones."""
    return ", ".join(and_more([show_text(text) for text in texts]))


def _shorten(text: str, longest: int) -> str:
    return cut_text(_plain(text), longest)


def _plain(text: str) -> str:
    """Escape unprintable characters except joiners inside words and emoji; JSON escapes only some control characters."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or is_joiner(text, at) else c.encode("unicode_escape", "surrogatepass").decode()
        for at, c in enumerate(text)
    )


def _escape(text: str) -> str:
    return "".join(letter if letter.isascii() else f"\\u{ord(letter):04x}" for letter in text)
