"""The binomial distribution: how many of independent trials pass."""

from __future__ import annotations

from math import exp, fsum, lgamma, log, log1p

__all__ = ["at_most", "exactly"]


def exactly(passed: int, trials: int, rate: float) -> float:
    """Return the probability that exactly `passed` of the trials pass, each with the probability `rate` (0 to 1).

    It is 0 for a number of passes that `trials` (at least 0) do not admit, such as -1. The logarithms of the factorials keep
    it accurate for many trials.

    Raises:
        ValueError: not 0 <= rate <= 1, or a negative number of trials.
    """
    if not (0 <= rate <= 1 and trials >= 0):
        raise ValueError(f"expected trials >= 0 and 0 <= rate <= 1; got {trials}, {rate}")
    if not 0 <= passed <= trials:
        return 0.0
    if rate in (0, 1):
        return float(passed == rate * trials)
    ways = lgamma(trials + 1) - lgamma(passed + 1) - lgamma(trials - passed + 1)
    return exp(ways + passed * log(rate) + (trials - passed) * log1p(-rate))


def at_most(most: int, trials: int, rate: float) -> float:
    """Return the probability that at most `most` of the trials pass: 0 for -1, and 1 for all of them or more.

    Raises:
        ValueError: as `exactly`.
    """
    if most >= trials:
        return 1.0
    return min(1.0, fsum(exactly(passed, trials, rate) for passed in range(most + 1)))
