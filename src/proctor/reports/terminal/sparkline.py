"""Numbers over time as a line of signs."""

from __future__ import annotations

from collections.abc import Sequence

_SIGNS = "▁▂▃▄▅▆▇█"
_DIGITS = "0123456789"


def sparkline(values: Sequence[float | None], *, rich: bool, low: float = 0.0, high: float = 1.0) -> str:
    """Return a sign for each value, oldest first: blocks (`rich`), else digits from 0 to 9; a gap where there is none.

    `low` to `high` is the range at least; it is widened to hold every value.
    """
    known = [value for value in values if value is not None]
    low, high = min([low, *known]), max([high, *known])
    signs, gap = (_SIGNS, "·") if rich else (_DIGITS, ".")
    span = (high - low) or 1.0
    return "".join(
        gap if value is None else signs[min(int((value - low) / span * len(signs)), len(signs) - 1)]
        for value in values
    )
