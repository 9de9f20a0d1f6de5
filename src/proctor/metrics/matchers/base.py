"""What all matchers share."""

from __future__ import annotations

from typing import Any, Final, Protocol

__all__ = ["ABSENT", "Matcher"]


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
