"""What all matchers share. Light: matchers themselves are loaded where one is used."""

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
"""The key of a matcher that stands in the place of a value."""
DEEPEST = 100
ARGUMENTS = {
    "arguments": 'matchers by tool ("*": every tool) and argument, as in {"book": {"date": {"match": "date"}}}',
}


class _Absent:
    """No value at all, which null is not."""

    def __repr__(self) -> str:
        return "absent"


ABSENT: Final[Any] = _Absent()


class Matcher(Protocol):
    """Says whether a value that came is one that was expected."""

    def fits(self, expected: Any, actual: Any) -> bool:
        """Compare; either may be `ABSENT`.

        Raises:
            MetricError: this cannot be told.
        """

    def tell(self, expected: Any) -> str:
        """What is expected, in words."""

    def unreadable(self, expected: Any) -> str:
        """Why nothing could be compared with this value ("no date or time"); empty for what is expected well."""


def ask(matcher: Matcher, expected: Any, actual: Any) -> bool:
    """Ask a matcher. Null is expected where it is expected, whatever the matcher compares.

    Raises:
        MetricError: the expected value is none of the kind that the matcher compares: not the agent's fault.
    """
    if expected is ABSENT or not (why := matcher.unreadable(expected)):
        return matcher.fits(expected, actual)
    if expected is None:
        return actual is None
    raise MetricError(
        f"the expected value {show_value(expected)} is {why}, so nothing can be compared with it"
    )


def holds_matcher(value: Any, depth: int = 0) -> bool:
    """Whether a matcher stands anywhere within a value."""
    if depth > DEEPEST:
        return False
    if isinstance(value, Mapping):
        return INLINE in value or any(holds_matcher(each, depth + 1) for each in value.values())
    return isinstance(value, list | tuple) and any(holds_matcher(each, depth + 1) for each in value)


def misspelled_matcher(value: Any, depth: int = 0) -> str:
    """Return a key within a value that can only be a slip of `$match`; empty when there is none."""
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
    """What a matching that was made of `arguments` has to say about its own names; empty for any other."""
    ask = getattr(matching, "doubt", None)
    return str(ask(case)) if ask else ""


def unreadable(metric: str, matching: object, case: EvalCase) -> Iterable[str]:
    """What a case expects that the matchers of `arguments` cannot compare; nothing for any other matching."""
    find = getattr(matching, "unreadable", None)
    return [f"{metric}: {problem}" for problem in find(case)] if find else ()


def survey_of(matching: object) -> Survey | None:
    """What a matching that was made of `arguments` wants to know of all cases; `None` for any other."""
    ask = getattr(matching, "survey", None)
    found: Survey | None = ask() if ask else None
    return found
