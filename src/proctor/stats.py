"""Small statistics, without a library."""

from __future__ import annotations

from math import sqrt


def wilson(successes: int, total: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval (low, high) of a proportion, both within 0 and 1.

    It holds its level for few trials and near 0 and 1, where the textbook interval does not. With no trials nothing
    is known: (0, 1).

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22 (1927), 209-212; without continuity correction.

    Raises:
        ValueError: not 0 <= successes <= total, or not 0 < confidence < 1.
    """
    if not (0 <= successes <= total and 0 < confidence < 1):
        raise ValueError(
            f"expected 0 <= successes <= total, 0 < confidence < 1; got {successes}, {total}, {confidence}"
        )
    if total == 0:
        return 0.0, 1.0
    from statistics import NormalDist  # slow to import, and needed only where an interval is shown

    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate = successes / total
    centre = (rate + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * sqrt(rate * (1 - rate) / total + (z / (2 * total)) ** 2)
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == total else min(1.0, centre + half)
    return low, high
