"""The mean difference between two measurements of the same cases, with its bootstrap confidence interval.
As in `paired_tests`, each case contributes one number: the mean difference of its trials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import exp, fsum, log, sqrt

from proctor.stats.intervals import at_most, student_quantile
from proctor.stats.paired_tests import finite


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """The mean difference over cases, with its confidence interval."""

    value: float
    low: float
    high: float
    deviation: float
    """The standard deviation of the differences over cases; 0 for fewer than two cases."""
    cases: int


def mean_difference(
    differences: Iterable[float],
    *,
    confidence: float = 0.95,
    reach: float | None = None,
    more_lost: float = 0.0,
) -> MeanDifference:
    """Return the mean of the differences, one per case, with its bootstrap interval.
    The interval holds the middle `confidence` of the means of resampled cases. No random numbers are used: the saddlepoint
    approximation gives the bootstrap distribution, so the same runs always give the same interval. Three measures keep
    the coverage for few cases. First, the interval is widened by the ratio of Student's t to the normal quantile. Second,
    up to four pseudo-cases are added: half of them unchanged, the others better or worse by `reach`. All four are added if
    no case has changed, which does not prove that none can; none if half of the cases have changed. A tenth of such a set is
    always added with the largest observed difference in place of the reach, because equal differences are not certain. Third, cases are
    resampled, not trials, because the trials of one case are correlated.

    `reach` is the largest possible difference of a case: 1 for pass rates. It defaults to the largest observed difference, or 1.
    `more_lost` is the weight (0 to 1) of a further pseudo-case that is worse by `reach`, for a lower bound: resampled cases
    show a rare loss too rarely, above all if many trials make each case precise. If no case fell, the pseudo-cases above count as it.

    Sources: A. C. Davison and D. V. Hinkley, "Saddlepoint approximations in resampling methods", Biometrika 75 (1988),
    417-431 (here in the form of O. E. Barndorff-Nielsen's r*); T. C. Hesterberg, "What teachers should know about the
    bootstrap", The American Statistician 69 (2015), 371-386, section 4.3 (the expanded percentile interval); A. Agresti
    and Y. Min, "Simple improved confidence intervals for comparing matched proportions", Statistics in Medicine 24
    (2005), 729-740 (pseudo-cases; they add two. The coverage is
    simulated in benchmarks/false_alarms.py).

    Raises:
        ValueError: a difference is not a finite number, or not 0 < confidence < 1, or the reach is not positive.
    """
    if not 0 < confidence < 1 or (reach is not None and not reach > 0):
        raise ValueError(f"expected 0 < confidence < 1 and a positive reach; got {confidence}, {reach}")
    counts = Counter(finite(differences))
    cases = counts.total()
    farthest = max(map(abs, counts), default=0.0)
    most = max(farthest, reach if reach is not None else farthest or 1.0)
    if not cases:
        return MeanDifference(0.0, -most, most, 0.0, 0)
    scaled: Counter[float] = (
        Counter()
    )  # to at most 1: squares of very large or very small values overflow or vanish
    for each, count in counts.items():
        scaled[each / most] += count
    value = fsum(each * count for each, count in scaled.items()) / cases
    spread = fsum((each - value) ** 2 * count for each, count in scaled.items())
    deviation = sqrt(spread / (cases - 1)) if cases > 1 else 0.0
    low, high = _interval(scaled, cases, more_lost, confidence)
    return MeanDifference(
        value * most, min(low, value) * most, max(high, value) * most, deviation * most, cases
    )


def most_lost(lost: float, cases: int, *, error: float) -> float:
    """Return the upper limit of the share of cases that can be lost, if `lost` of `cases` were lost and none was gained.

    Each case is either lost or unchanged. A share above the limit gives so few losses with a probability of at most
    `error`, exactly by the binomial distribution. Between whole numbers of cases the limit is interpolated.

    Source: C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the
    binomial", Biometrika 26 (1934), 404-413.

    Raises:
        ValueError: not 0 <= lost <= cases, no cases, or not 0 < error < 1.
    """
    if not (0 <= lost <= cases and cases >= 1 and 0 < error < 1):
        raise ValueError(f"expected 0 <= lost <= cases, and 0 < error < 1; got {lost}, {cases}, {error}")
    whole = int(lost)
    least = _upper_share(whole, cases, error)
    if whole == lost:
        return least
    return least + (lost - whole) * (_upper_share(whole + 1, cases, error) - least)


def _upper_share(lost: int, cases: int, error: float) -> float:
    low, high = lost / cases, 1.0
    if lost == cases:
        return high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if at_most(lost, cases, middle) > error else (low, middle)
    return high


_TINY = 1e-9
"""The smallest part of the reach that pseudo-cases differ by: squares of smaller values would vanish."""
_LEAST = 0.1
"""The weight of the pseudo-cases at either end of the observed differences, however many cases have changed."""


def _weight_beside(counts: Counter[float], cases: int) -> float:
    """Return the weight of the pseudo-cases at either end of the reach: 1 if no case has changed, 0 if half of them have."""
    changed = cases - counts[0.0]
    return max(0.0, 1 - 2 * changed / cases)


def _interval(counts: Counter[float], cases: int, more_lost: float, confidence: float) -> tuple[float, float]:
    """Return the interval of differences that are 1 at most."""
    beside = _weight_beside(counts, cases)
    weights: dict[float, float] = {**counts}
    observed = max(map(abs, counts))
    for end, weight in ((1.0, beside), (max(observed, _TINY), _LEAST if observed else 0.0)):
        if weight:
            for value, share in ((-end, 1), (0.0, 2), (end, 1)):
                weights[value] = weights.get(value, 0.0) + share * weight
    more = more_lost if min(counts) < 0 else max(0.0, more_lost - beside)
    if more:
        weights[-1.0] = weights.get(-1.0, 0.0) + more
    sample_size = fsum(weights.values())
    far = sqrt(sample_size / (sample_size - 1)) * student_quantile(confidence, max(1, int(sample_size) - 1))
    means = _ResampledMean(weights, sample_size)
    return means.at(-far), means.at(far)


class _ResampledMean:
    """The distribution of the mean of values drawn from weighted ones, by its saddlepoint approximation."""

    def __init__(self, weights: dict[float, float], sample_size: float) -> None:
        whole = fsum(weights.values())
        self._values = [*weights]
        self._shares = [weight / whole for weight in weights.values()]
        self._sample_size = sample_size
        self._low, self._high = min(self._values), max(self._values)
        variance = self._tilted(0.0)[2]
        self._first = 1 / sqrt(variance * sample_size)

    def at(self, z: float) -> float:
        """Return the mean whose cumulative probability is that of the standard normal quantile `z`, which is not 0."""
        sign = 1.0 if z > 0 else -1.0

        def beyond(tilt: float) -> float:
            return self._rank(sign * tilt)[0] * sign - abs(z)

        near, far = 0.0, self._first * abs(z)
        while beyond(far) < 0:
            if far > 1e6 * self._first * abs(z) or self._is_at_end(sign * far):
                return self._high if z > 0 else self._low
            near, far = far, 2 * far
        return self._tilted(sign * _root(beyond, near, far))[1]

    def _is_at_end(self, tilt: float) -> bool:
        mean = self._tilted(tilt)[1]
        return min(self._high - mean, mean - self._low) <= 1e-9 * (self._high - self._low)

    def _rank(self, tilt: float) -> tuple[float, float]:
        """Return the normal quantile that corresponds to the mean of the tilted distribution, and that mean."""
        cumulant, mean, variance = self._tilted(tilt)
        gain = max(0.0, tilt * mean - cumulant)
        r = sqrt(2 * self._sample_size * gain) * (1 if tilt > 0 else -1)
        u = tilt * sqrt(self._sample_size * variance)
        if abs(r) < 1e-6 or u / r <= 0:
            return r, mean
        return r + log(u / r) / r, mean

    def _tilted(self, tilt: float) -> tuple[float, float, float]:
        """Return cumulant generating function, mean and variance if each value has the weight exp(tilt * value)."""
        top = self._high if tilt > 0 else self._low
        weights = [share * exp(tilt * (x - top)) for x, share in zip(self._values, self._shares, strict=True)]
        whole = fsum(weights)
        mean = fsum(w * x for w, x in zip(weights, self._values, strict=True)) / whole
        variance = fsum(w * (x - mean) ** 2 for w, x in zip(weights, self._values, strict=True)) / whole
        return log(whole) + tilt * top, mean, variance


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a rising function is 0 (to a billionth), between `low` and `high`.

    Source: M. Dowell and P. Jarratt, "A modified regula falsi method for computing the root of an equation", BIT 11 (1971),
    168-174 (the Illinois method).
    """
    below, above, place, was_below = function(low), function(high), high, None
    for _ in range(50):
        place = (low * above - high * below) / (above - below)
        value = function(place)
        if abs(value) < 1e-9 or high - low < 1e-9 * high:
            break
        is_below = value < 0
        halved = 0.5 if is_below is was_below else 1.0  # the other end stayed twice
        if is_below:
            low, below, above = place, value, above * halved
        else:
            high, above, below = place, value, below * halved
        was_below = is_below
    return place
