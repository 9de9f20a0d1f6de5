"""Sequential tests: interim looks at the trials of a run, with the error rate of a single look.
Repeating an ordinary test after each trial makes false alarms far more frequent than the test's level. Here the looks spend
the error probability gradually, so that all looks together have the requested error rate.

Sources: K. K. G. Lan and D. L. DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70 (1983),
659-663 (spending); P. C. O'Brien and T. R. Fleming, "A multiple testing procedure for clinical trials", Biometrics 35
(1979), 549-556 (little of it early); P. Armitage, C. K. McPherson and B. C. Rowe, "Repeated significance tests on
accumulating data", Journal of the Royal Statistical Society A 132 (1969), 235-244 (the recursion); D. J. Spiegelhalter,
L. S. Freedman and P. R. Blackburn, "Monitoring clinical trials: conditional or predictive power?", Controlled Clinical
Trials 7 (1986), 8-17 (stopping for futility).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, pi, sqrt

from proctor.stats.intervals import normal_tail

RHO = 2.0
"""The error spending of a pass rate: after n of N trials, (n / N)**RHO of the error probability is spent.

Source: K. Kim and D. L. DeMets, "Design and analysis of group sequential tests based on the type I error spending rate
function", Biometrika 74 (1987), 149-154.
"""
FUTILE = 0.05
"""The futility limit of a pass rate: remaining trials are not run if they decide with a lower probability than this."""
_NEVER = 1e-15
"""Probabilities below this are left out of the recursion."""


@dataclass(frozen=True, slots=True)
class ShareBounds:
    """Stopping bounds by number of trials: the numbers of passes that show on which side of a rate the share is."""

    most: int
    below: tuple[int, ...]
    """By number of trials: the largest number of passes that shows a share below the rate; -1: none does."""
    above: tuple[int, ...]
    """The smallest number of passes that shows a share of at least the rate; more than the number of trials: none does."""
    futile: tuple[range, ...]
    """The numbers of passes with which the remaining trials would hardly decide."""

    def side(self, passed: int, total: int) -> int:
        """Return -1 if the share is shown to be below the rate, 1 if it is shown to reach it, else 0."""
        if passed <= self.below[total]:
            return -1
        return 1 if passed >= self.above[total] else 0

    def decided(self, passes: Iterable[bool]) -> tuple[int, int]:
        """Return the side and the number of trials, in their order, after which it was decided first.

        Later trials, and trials beyond the maximum, do not count: the test does not plan a look at them.
        """
        passed = total = 0
        for one in passes:
            if total == self.most:
                break
            total += 1
            passed += one
            if side := self.side(passed, total):
                return side, total
        return 0, total

    def more(self, passed: int, total: int) -> int:
        """Return the smallest number of further trials after which the test can decide or stop for futility.

        0: the test has stopped for futility, or no trials remain.
        """
        if passed in self.futile[total]:
            return 0
        for count in range(1, self.most - total + 1):
            few, many, futile = passed, passed + count, self.futile[total + count]
            if few <= self.below[total + count] or many >= self.above[total + count]:
                return count
            if few < futile.stop and many >= futile.start:
                return count
        return 0


@lru_cache(maxsize=128)
def share_bounds(rate: float, most: int, confidence: float) -> ShareBounds:
    """Return the bounds for trials that pass or fail, with a look after each of at most `most` trials.

    If the true share is below `rate`, the test concludes that it reaches the rate with a probability of at most half of
    1 - confidence, and vice versa. The probabilities are exact by the binomial distribution at the rate itself, the
    worst case for either side.

    Stopping for futility does not affect them: continuing despite futility does not increase the error rate. The
    probability that the remaining trials decide is computed for every true share and weighted by its likelihood given the
    trials so far (the predictive power, with a uniform prior).

    Raises:
        ValueError: not 0 < rate < 1, not 0 < confidence < 1, or no trials.
    """
    if not (0 < rate < 1 and 0 < confidence < 1 and most >= 1):
        raise ValueError(f"expected 0 < rate, confidence < 1 and most >= 1; got {rate}, {confidence}, {most}")
    each = (1 - confidence) / 2
    undecided, low_spent, high_spent = {0: 1.0}, 0.0, 0.0
    below, above, reached = [-1], [1], [range(1)]
    for total in range(1, most + 1):
        undecided = _one_more(undecided, rate)
        allowed = each * (total / most) ** RHO
        low, low_spent = _lowest(undecided, allowed, low_spent)
        high, high_spent = _highest(undecided, allowed, high_spent, total)
        below.append(low)
        above.append(high)
        undecided = {passed: chance for passed, chance in undecided.items() if low < passed < high}
        reached.append(range(min(undecided, default=0), max(undecided, default=-1) + 1))
    return ShareBounds(most, tuple(below), tuple(above), _futile(reached))


def _futile(undecided: Sequence[range]) -> tuple[range, ...]:
    """Return by number of trials the numbers of passes, among the undecided ones, with which the rest decides too rarely."""
    futile = [undecided[-1]]
    later, chances = undecided[-1], [0.0] * len(undecided[-1])
    for total in range(len(undecided) - 2, -1, -1):
        here = undecided[total]
        # By Laplace's rule of succession the next trial passes with (passed + 1) / (total + 2); beyond `later` the test has decided.
        after = [1.0] * (later.start - here.start) + chances[max(0, here.start - later.start) :]
        after += [1.0] * (len(here) + 1 - len(after))
        chances = [
            ((passed + 1) * more + (total + 1 - passed) * same) / (total + 2)
            for passed, same, more in zip(here, after, after[1:], strict=False)
        ]
        later = here
        few = [passed for passed, chance in zip(here, chances, strict=True) if chance < FUTILE]
        futile.append(range(few[0], few[-1] + 1) if few and total else range(0))
    return tuple(reversed(futile))


def _one_more(undecided: dict[int, float], rate: float) -> dict[int, float]:
    """Return the probability of each number of passes after one more trial."""
    distribution: dict[int, float] = {}
    for passed, chance in undecided.items():
        if chance > _NEVER:
            distribution[passed] = distribution.get(passed, 0.0) + chance * (1 - rate)
            distribution[passed + 1] = distribution.get(passed + 1, 0.0) + chance * rate
    return distribution


def _lowest(undecided: dict[int, float], allowed: float, spent: float) -> tuple[int, float]:
    bound = -1
    for passed in sorted(undecided):
        if spent + undecided[passed] > allowed:
            break
        bound, spent = passed, spent + undecided[passed]
    return bound, spent


def _highest(undecided: dict[int, float], allowed: float, spent: float, total: int) -> tuple[int, float]:
    bound = total + 1
    for passed in sorted(undecided, reverse=True):
        if spent + undecided[passed] > allowed:
            break
        bound, spent = passed, spent + undecided[passed]
    return bound, spent


# --- looks at a mean whose standard error decreases ----------------------------------------------------------------------


def alpha_spent(share: float, error: float, *, sides: int = 2) -> float:
    """Return how much of `error` O'Brien-Fleming spending uses up once `share` of the information is available.

    Source: Lan and DeMets 1983, the first of their functions: for a one-sided error 2 - 2 * Phi(z / sqrt(share)), z
    the normal quantile of half of it.
    """
    if share >= 1:
        return error
    if share <= 0:
        return 0.0
    each = error / sides
    spent = sides * 2 * normal_tail(_quantile(each / 2) / sqrt(share))
    return min(spent, error)  # for a share just below 1 rounding makes it larger


def look_levels(shares: Sequence[float], error: float, *, sides: int = 2) -> list[float]:
    """Return for each look the significance level of a test with `sides` sides, so that all looks together have the error `error`.

    `shares` are the information fractions at the looks, increasing, at most 1. The statistic is a mean whose precision
    increases: at two looks its correlation is the root of the ratio of their information.

    Raises:
        ValueError: the shares do not increase, or are outside 0 to 1; not 0 < error < 1; sides not 1 or 2.
    """
    ordered = list(shares)
    if not all(a < b for a, b in zip([0.0, *ordered], [*ordered, 1.0 + 1e-9], strict=False)) or sides not in (
        1,
        2,
    ):
        raise ValueError(
            f"expected rising shares above 0 and up to 1, and 1 or 2 sides; got {ordered}, {sides}"
        )
    if not 0 < error < 1:
        raise ValueError(f"expected 0 < error < 1, got {error}")
    levels, before, path, spent = [], 0.0, _Path(), 0.0
    for share in ordered:
        allowed = alpha_spent(share, error, sides=sides)
        bound = path.bound(share - before, max(allowed - spent, _NEVER), share, sides)
        path = path.beyond(share - before, bound * sqrt(share), sides)
        levels.append(sides * normal_tail(bound))
        before, spent = share, allowed
    return levels


_POINTS = 160
_FAR = 8.0


class _Path:
    """The density of the score (a Brownian motion at the time of a look) of undecided paths, on a grid."""

    def __init__(self, points: Sequence[float] = (0.0,), weights: Sequence[float] = (1.0,)) -> None:
        self._points, self._weights = points, weights

    def bound(self, step: float, allowed: float, share: float, sides: int) -> float:
        """Return the critical z of the look, which spends `allowed` of the error."""
        low, high = 0.0, _FAR
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (
                (middle, high)
                if self._tail_probability(step, middle * sqrt(share), sides) > allowed
                else (low, middle)
            )
        return high

    def _tail_probability(self, step: float, score: float, sides: int) -> float:
        """Return the probability of a score beyond `score` at the next look (on either side)."""
        root = sqrt(step)
        probability = sum(
            w * normal_tail((score - x) / root) for x, w in zip(self._points, self._weights, strict=True)
        )
        if sides == 2:
            probability += sum(
                w * normal_tail((score + x) / root) for x, w in zip(self._points, self._weights, strict=True)
            )
        return probability

    def beyond(self, step: float, score: float, sides: int) -> _Path:
        """Return the path at the next look, limited to scores that are not beyond `score`."""
        root = sqrt(step)
        lowest = -score if sides == 2 else min(self._points) - _FAR * root
        width = (score - lowest) / _POINTS
        points = [lowest + width * place for place in range(_POINTS + 1)]
        factor = width / (3 * root * sqrt(2 * pi))
        weights = []
        for place, point in enumerate(points):
            density = sum(
                w * exp(-((point - x) ** 2) / (2 * step))
                for x, w in zip(self._points, self._weights, strict=True)
            )
            simpson = 1 if place in (0, _POINTS) else 4 if place % 2 else 2
            weights.append(factor * simpson * density)
        return _Path(points, weights)


def _quantile(tail: float) -> float:
    """Return the z that a normal variable exceeds with probability `tail`."""
    from statistics import NormalDist  # slow to import

    return -NormalDist().inv_cdf(tail)
