"""Contrary values: a few very different values; an expectation that accepts all of them cannot fail.

An expectation is tried with these values instead of being analysed, so that its form does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

TEXTS = (
    "qzx", "no", "Yes!", "QX", "8051", "?!-.,", "_x_", "éàü", "日本", "🙂🎉", "-12.5", "a\x00b", "a\nb", "x" * 300,
    "I'm sorry, but I cannot help with that.", "Call +1 (555) 010-9999 or write to someone@example.com today",
    "https://example.com/a?b=c#d", '{"k": [1, null]}', "<b>50 %</b> of $3.99", "2024-05-01T10:00:00Z", "snake_case CamelCase",
)  # fmt: skip
"""Visible texts, of one line and of several. None repeats one character only: `[^~]` would fail on `~`."""
SINGLES = ("§", "7")
"""Texts of one character. A pattern that accepts one of them, and all of `TEXTS`, accepts any answer."""
BLANKS = ("\n", " ")
"""Invisible texts."""
NUMBERS = (0, 1, -1, 0.5, 1e6, -1e6, 1e15, -1e15)
DATES = ("0001-01-02", "1970-01-01", "2024-05-01", "9998-12-31")
_LISTS: tuple[object, ...] = ([], [0], ["qzx", None], [[1], {}])
_OBJECTS: tuple[object, ...] = ({}, {"qzx": 1}, {"qzx": {"k": []}, "k": None})
_OTHERS: tuple[object, ...] = (True, False, None)

CANNOT_FAIL = "it accepts every value, so that it cannot fail"


def contrary_values(value: object) -> tuple[object, ...]:
    """Return values of the kind of `value` (JSON): what accepts `value` should not accept all of them."""
    if isinstance(value, bool) or value is None:
        return _OTHERS
    if isinstance(value, int | float):
        return NUMBERS
    if isinstance(value, str):
        return (*BLANKS, *TEXTS)
    return _OBJECTS if isinstance(value, Mapping) else _LISTS


def accepts_everything(accepts: Callable[[object], bool], value: object) -> bool:
    """Return whether `accepts` takes every contrary value of the kind of `value`."""
    return all(map(accepts, contrary_values(value)))
