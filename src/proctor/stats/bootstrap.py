"""Two measurements of the same cases: by how much they differ, and the interval that the difference lies in.

As in `paired`, each case is one number: what its trials differ by, on the mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, fsum, lgamma, log, log1p, sqrt

from proctor.stats.intervals import student_quantile
from proctor.stats.paired_tests import finite


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """The mean difference over cases, and the interval it lies in."""

    value: float
    low: float
    high: float
    deviation: float
    """The standard deviation of the differences over cases; 0 for fewer than two cases."""
    cases: int


def mean_difference(
    differences: Iterable[float], *, confidence: float = 0.95, reach: float | None = None
) -> MeanDifference:
    """Return the mean of the differences, one a case, with its bootstrap interval.

    The interval holds the middle `confidence` of the means of cases drawn anew from these. Nothing is drawn: that
    distribution is worked out by its saddlepoint approximation, so that the same runs always give the same interval.
    Three things keep its promise for few cases: it is widened as Student's t is wider than the normal distribution; up
    to four cases stand beside those seen, half of them unchanged, the others better or worse by `reach` (all four where
    nothing has changed, which does not prove that nothing can; the less the more cases have); and it is of cases, not of
    trials, which resemble each other.

    `reach` is how far a case can differ at most: 1 for pass rates. By default the largest difference seen, or 1.

    Sources: A. C. Davison and D. V. Hinkley, "Saddlepoint approximations in resampling methods", Biometrika 75 (1988),
    417-431 (here in the form of O. E. Barndorff-Nielsen's r*); T. C. Hesterberg, "What teachers should know about the
    bootstrap", The American Statistician 69 (2015), 371-386, section 4.3 (the expanded percentile interval); A. Agresti
    and Y. Min, "Simple improved confidence intervals for comparing matched proportions", Statistics in Medicine 24
    (2005), 729-740 (cases beside those seen; they take two. How many hold the level is simulated in
    benchmarks/false_alarms.py).

    Raises:
        ValueError: a difference is no finite number, or not 0 < confidence < 1, or the reach is not positive.
    """
    if not 0 < confidence < 1 or (reach is not None and not reach > 0):
        raise ValueError(f"expected 0 < confidence < 1 and a positive reach; got {confidence}, {reach}")
    counts = Counter(finite(value) for value in differences)
    cases = counts.total()
    farthest = max(map(abs, counts), default=0.0)
    most = max(farthest, reach if reach is not None else farthest or 1.0)
    if not cases:
        return MeanDifference(0.0, -most, most, 0.0, 0)
    scaled: Counter[float] = (
        Counter()
    )  # to at most 1: squares of what is huge, or next to nothing, are no numbers
    for each, count in counts.items():
        scaled[each / most] += count
    value = fsum(each * count for each, count in scaled.items()) / cases
    spread = fsum((each - value) ** 2 * count for each, count in scaled.items())
    deviation = sqrt(spread / (cases - 1)) if cases > 1 else 0.0
    low, high = _interval(scaled, cases, 1.0, confidence)
    return MeanDifference(
        value * most, min(low, value) * most, max(high, value) * most, deviation * most, cases
    )


def most_lost(lost: float, cases: int, *, error: float) -> float:
    """Return the share of cases that may be lost where `lost` of `cases` were, and none was gained.

    Where each is lost or as it was, a larger share is no more probable than `error`: exactly, by the binomial distribution.
    Between whole numbers of cases it lies in proportion.

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
    ways = [lgamma(cases + 1) - lgamma(k + 1) - lgamma(cases - k + 1) for k in range(lost + 1)]
    low, high = lost / cases, 1.0
    if lost == cases:
        return high
    for _ in range(50):
        middle = (low + high) / 2
        one, other = log(middle), log1p(-middle)
        chance = fsum(exp(way + k * one + (cases - k) * other) for k, way in enumerate(ways))
        low, high = (middle, high) if chance > error else (low, middle)
    return high


_LEAST = 0.1
"""How much of a case stands at either end beside those seen, however many of these have changed."""


def _weight_beside(counts: Counter[float], cases: int) -> float:
    """How much of a case stands at either end: all of it where no case has changed, little where half of them have."""
    changed = cases - counts[0.0]
    return max(_LEAST, 1 - 2 * changed / cases)


def _interval(counts: Counter[float], cases: int, most: float, confidence: float) -> tuple[float, float]:
    beside = _weight_beside(counts, cases)
    weights: dict[float, float] = {**counts}
    for value, weight in ((-most, beside), (0.0, 2 * beside), (most, beside)):
        weights[value] = weights.get(value, 0.0) + weight
    drawn = cases + 4 * beside
    far = sqrt(drawn / (drawn - 1)) * student_quantile(confidence, max(1, int(drawn) - 1))
    means = _ResampledMean(weights, drawn)
    return means.at(-far), means.at(far)


class _ResampledMean:
    """The distribution of the mean of so many values drawn from weighted ones, by its saddlepoint approximation."""

    def __init__(self, weights: dict[float, float], drawn: float) -> None:
        whole = fsum(weights.values())
        self._values = [*weights]
        self._shares = [weight / whole for weight in weights.values()]
        self._drawn = drawn
        self._low, self._high = min(self._values), max(self._values)
        variance = self._tilted(0.0)[2]
        self._first = 1 / sqrt(variance * drawn)

    def at(self, z: float) -> float:
        """Return the mean that is as probable as a standard normal variable to lie below `z`, which is not 0."""
        sign = 1.0 if z > 0 else -1.0
        near, far = 0.0, self._first * abs(z)
        while self._rank(sign * far)[0] * sign < abs(z):
            if far > 1e6 * self._first * abs(z) or self._is_at_end(sign * far):
                return self._high if z > 0 else self._low
            near, far = far, 2 * far
        for _ in range(50):
            middle = (near + far) / 2
            if self._rank(sign * middle)[0] * sign < abs(z):
                near = middle
            else:
                far = middle
            if far - near < 1e-9 * far:
                break
        return self._rank(sign * far)[1]

    def _is_at_end(self, tilt: float) -> bool:
        mean = self._tilted(tilt)[1]
        return min(self._high - mean, mean - self._low) <= 1e-9 * (self._high - self._low)

    def _rank(self, tilt: float) -> tuple[float, float]:
        """The normal quantile that belongs to the mean of the tilted distribution, and that mean."""
        cumulant, mean, variance = self._tilted(tilt)
        gain = max(0.0, tilt * mean - cumulant)
        r = sqrt(2 * self._drawn * gain) * (1 if tilt > 0 else -1)
        u = tilt * sqrt(self._drawn * variance)
        if abs(r) < 1e-6 or u / r <= 0:
            return r, mean
        return r + log(u / r) / r, mean

    def _tilted(self, tilt: float) -> tuple[float, float, float]:
        """Cumulant generating function, mean and variance where each value weighs exp(tilt * value) times as much."""
        top = self._high if tilt > 0 else self._low
        weights = [share * exp(tilt * (x - top)) for x, share in zip(self._values, self._shares, strict=True)]
        whole = fsum(weights)
        mean = fsum(w * x for w, x in zip(weights, self._values, strict=True)) / whole
        variance = fsum(w * (x - mean) ** 2 for w, x in zip(weights, self._values, strict=True)) / whole
        return log(whole) + tilt * top, mean, variance
