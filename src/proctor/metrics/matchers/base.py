"""The contract of matchers, and what is needed before any matcher is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Final, Protocol

from proctor.errors import MetricError
from proctor.metrics.reason_text import show_value

INLINE = "$match"
"""The key of a matcher that replaces a value."""
DEEPEST = 100
ARGUMENTS = {
    "arguments": 'matchers by tool ("*": every tool) and argument, as in {"book": {"date": {"match": "date"}}}',
}


class _Absent:
    """No value at all, which differs from null."""

    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = _Absent()


class Matcher(Protocol):
    """A matcher: decides whether an actual value is the expected one."""

    def fits(self, expected: object, actual: object) -> bool:
        """Compare two values; either may be `ABSENT`.

        Raises:
            MetricError: they cannot be compared.
        """

    def describe(self, expected: object) -> str:
        """Return what is expected, in words."""

    def unreadable(self, expected: object) -> str:
        """Return why the matcher cannot compare with this value ("not a number"); empty if it can."""
        return ""


def fits_value(matcher: Matcher, expected: object, actual: object) -> bool:
    """Compare with a matcher; an expected null is compared with null by every matcher.

    Raises:
        MetricError: the expected value is not of the kind that the matcher compares, which is not the agent's fault.
    """
    if expected is ABSENT or not (why := matcher.unreadable(expected)):
        return matcher.fits(expected, actual)
    if expected is None:
        return actual is None
    raise MetricError(f"the expected value {show_value(expected)} is {why}, so it cannot be compared")


def _objects_in(value: object, depth: int = 0) -> Iterator[Mapping[object, object]]:
    """Yield every object inside a value, and the value itself if it is one."""
    if depth > DEEPEST or not isinstance(value, Mapping | list | tuple):
        return
    if isinstance(value, Mapping):
        yield value
    for each in value.values() if isinstance(value, Mapping) else value:
        yield from _objects_in(each, depth + 1)


def holds_matcher(value: object) -> bool:
    """Return whether there is a matcher anywhere inside a value."""
    return any(INLINE in each for each in _objects_in(value))


def misspelled_matcher(value: object) -> str:
    """Return a key inside a value that is certainly a misspelled `$match`; empty if there is none."""
    keys = (key for each in _objects_in(value) for key in each if isinstance(key, str) and key != INLINE)
    candidates = (key for key in keys if key.startswith("$"))
    return next((key for key in candidates if get_close_matches(key.lower(), [INLINE], cutoff=0.7)), "")
