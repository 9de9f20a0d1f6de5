"""The number of cases and trials that a comparison needs to detect a difference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, fsum, log2, sqrt

from proctor.stats.intervals import normal_quantile

__all__ = ["cases_needed", "expected_deviation", "variance_within"]


def cases_needed(detect: float, deviation: float, *, power: float = 0.8, confidence: float = 0.95) -> int:
    """Return the number of cases needed to detect a mean difference of `detect` with probability `power`.

    `deviation` is the standard deviation of the differences over cases (see `expected_deviation`). At least 6: fewer
    cases cannot differ significantly at 95 %, whatever their results are.

    Source: W. C. Guenther, "Sample size formulas for normal theory t tests", The American Statistician 35 (1981),
    243-244.

    Raises:
        ValueError: `detect` is not positive, the deviation negative, or a probability not between 0 and 1.
    """
    if not (detect > 0 and deviation >= 0 and 0 < power < 1 and 0 < confidence < 1):
        raise ValueError(
            f"expected detect > 0, deviation >= 0, 0 < power, confidence < 1; got {detect}, {deviation}, {power}, {confidence}"
        )
    two_sided = normal_quantile(confidence)
    one_sided = normal_quantile(abs(2 * power - 1)) * (1 if power >= 0.5 else -1)
    needed = ((two_sided + one_sided) * deviation / detect) ** 2 + two_sided**2 / 2
    fewest = ceil(1 - log2(1 - confidence))  # the p-value if every case changes in one direction
    return max(fewest, ceil(needed))


def expected_deviation(detect: float, within: float, trials: int, *, reach: float = 1.0) -> float:
    """Return the expected standard deviation of differences over cases, if a change of `detect` affects few cases completely.

    `within` is the variance of the trials of a case (for pass or fail p * (1 - p), averaged over cases); `trials` is the number
    of trials per case in either run. The variance that the change itself causes is added. It is largest if the change
    breaks a few cases completely (by `reach`) and does not affect the others; this is the assumption.

    Raises:
        ValueError: not 0 < detect <= reach, a variance below 0, or no trials.
    """
    if not (0 < detect <= reach and within >= 0 and trials >= 1):
        raise ValueError(
            f"expected 0 < detect <= {reach}, within >= 0, trials >= 1; got {detect}, {within}, {trials}"
        )
    return sqrt(2 * within / trials + detect * (reach - detect))


def variance_within(cases: Iterable[Sequence[float]]) -> float | None:
    """Return the mean variance of the trials of a case, pooled over cases; `None` if no case has two trials."""
    squares, degrees = 0.0, 0
    for values in cases:
        if len(values) > 1:
            mean = fsum(values) / len(values)
            squares += fsum((value - mean) ** 2 for value in values)
            degrees += len(values) - 1
    return squares / degrees if degrees else None
