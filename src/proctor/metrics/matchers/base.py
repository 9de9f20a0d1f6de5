"""What all matchers share. Light: matchers themselves are loaded where one is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from proctor.metrics.base import CaseView

__all__ = ["ABSENT", "ARGUMENTS", "INLINE", "Matcher", "doubt", "holds_matcher"]

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


def holds_matcher(value: Any, depth: int = 0) -> bool:
    """Whether a matcher stands anywhere within a value."""
    if depth > DEEPEST:
        return False
    if isinstance(value, Mapping):
        return INLINE in value or any(holds_matcher(each, depth + 1) for each in value.values())
    return isinstance(value, list | tuple) and any(holds_matcher(each, depth + 1) for each in value)


def doubt(matching: object, case: CaseView) -> str:
    """What a matching that was made of `arguments` has to say about its own names; empty for any other."""
    ask = getattr(matching, "doubt", None)
    return str(ask(case)) if ask else ""
