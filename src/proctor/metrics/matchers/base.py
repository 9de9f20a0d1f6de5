"""The contract of matchers, and what is needed before any matcher is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Final, Protocol

from proctor.errors import MetricError
from proctor.metrics.base import CaseView, Survey
from proctor.metrics.reason_text import show_value
from proctor.schema.format.case import EvalCase

__all__ = [
    "ABSENT",
    "ARGUMENTS",
    "INLINE",
    "Matcher",
    "ask",
    "doubt",
    "holds_matcher",
    "misspelled_matcher",
    "survey_of",
    "unreadable",
]

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


ABSENT: Final[Any] = _Absent()


class Matcher(Protocol):
    """A matcher: decides whether an actual value is the expected one."""

    def fits(self, expected: Any, actual: Any) -> bool:
        """Compare two values; either may be `ABSENT`.

        Raises:
            MetricError: they cannot be compared.
        """

    def tell(self, expected: Any) -> str:
        """Return what is expected, in words."""

    def unreadable(self, expected: Any) -> str:
        """Return why the matcher cannot compare with this value ("not a number"); empty if it can."""


def ask(matcher: Matcher, expected: Any, actual: Any) -> bool:
    """Compare with a matcher; an expected null is compared with null by every matcher.

    Raises:
        MetricError: the expected value is not of the kind that the matcher compares, which is not the agent's fault.
    """
    if expected is ABSENT or not (why := matcher.unreadable(expected)):
        return matcher.fits(expected, actual)
    if expected is None:
        return actual is None
    raise MetricError(f"the expected value {show_value(expected)} is {why}, so it cannot be compared")


def holds_matcher(value: Any, depth: int = 0) -> bool:
    """Return whether there is a matcher anywhere inside a value."""
    if depth > DEEPEST:
        return False
    if isinstance(value, Mapping):
        return INLINE in value or any(holds_matcher(each, depth + 1) for each in value.values())
    return isinstance(value, list | tuple) and any(holds_matcher(each, depth + 1) for each in value)


def misspelled_matcher(value: Any, depth: int = 0) -> str:
    """Return a key inside a value that is certainly a misspelled `$match`; empty if there is none."""
    if depth > DEEPEST or not isinstance(value, Mapping | list | tuple):
        return ""
    if isinstance(value, Mapping):
        for key in value:
            if isinstance(key, str) and key.startswith("$") and key != INLINE and _is_close(key):
                return key
    inside = value.values() if isinstance(value, Mapping) else value
    return next((slip for each in inside if (slip := misspelled_matcher(each, depth + 1))), "")


def _is_close(key: str) -> bool:
    return bool(get_close_matches(key.lower(), [INLINE], cutoff=0.7))


def doubt(matching: object, case: CaseView) -> str:
    """Return the warning of a matching with the option `arguments` about its own names; empty for any other."""
    ask = getattr(matching, "doubt", None)
    return str(ask(case)) if ask else ""


def unreadable(metric: str, matching: object, case: EvalCase) -> Iterable[str]:
    """Return the expected values that the matchers of `arguments` cannot compare; nothing for any other matching."""
    find = getattr(matching, "unreadable", None)
    return [f"{metric}: {problem}" for problem in find(case)] if find else ()


def survey_of(matching: object) -> Survey | None:
    """Return the survey of a matching with the option `arguments`; `None` for any other."""
    ask = getattr(matching, "survey", None)
    survey: Survey | None = ask() if ask else None
    return survey
