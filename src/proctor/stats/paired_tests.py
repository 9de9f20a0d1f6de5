"""Two measurements of the same cases: tests of the mean difference, its bootstrap interval, and corrections for several tests.

Each case contributes one number: the mean of its trials in the candidate minus the mean in the baseline. Cases are the
independent units, so a case's difficulty and the correlation of its trials are accounted for.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import cosh, erfc, exp, fsum, isfinite, lcm, log, log1p, sqrt, tanh

from proctor.stats.intervals import student_quantile

RESAMPLES = 9_999
"""Random sign patterns to draw if there are too many to enumerate: the smallest p-value is one in ten thousand."""

_MOST_BITS = 4e9
"""The limit of bit operations for enumerating all sign patterns (about a tenth of a second); beyond it, patterns are drawn."""
_FEW = 28
"""Up to this number of changed cases all sign patterns are counted, whatever the differences are (about 20 ms)."""
_MANY = 1_000
"""The number of changed cases from which the saddlepoint approximation replaces random sign patterns."""
_FINEST = 10_000
"""The largest common denominator at which differences are treated as multiples of one step."""


def mcnemar(fixed: int, broken: int) -> float:
    """Return the exact two-sided p-value of McNemar's test.

    `fixed` cases failed before and pass now; `broken` cases passed before and fail now. Unchanged cases carry no information.
    Under the null hypothesis each changed case is equally likely to be fixed or broken.

    Source: Q. McNemar, "Note on the sampling error of the difference between correlated proportions or percentages",
    Psychometrika 12 (1947), 153-157; exact by the binomial distribution.

    Raises:
        ValueError: a count is negative.
    """
    if fixed < 0 or broken < 0:
        raise ValueError(f"expected counts of cases, got {fixed} and {broken}")
    if fixed == broken:
        return 1.0
    changed = fixed + broken
    ways = below = 1
    for k in range(min(fixed, broken)):
        ways = ways * (changed - k) // (k + 1)
        below += ways
    return min(1.0, float(2 * below / 2**changed))


def sign_flip_test(differences: Iterable[float], *, resamples: int = RESAMPLES, seed: int = 0) -> float:
    """Return the two-sided p-value of the paired permutation test: is the mean difference 0?

    Under the null hypothesis the difference of every case is equally likely to have the opposite sign. The p-value is the
    share of sign patterns whose mean is at least as far from 0 as the observed one. It is exact for up to 28 changed cases,
    and if the differences are multiples of one step (as pass rates are) and not too many. Otherwise random patterns are drawn; the observed pattern
    counts as one of them, which keeps the false-alarm rate. For more than a thousand cases the saddlepoint approximation
    gives the share. With one trial per case, pass or fail, it equals McNemar's exact test.

    Sources: R. A. Fisher, "The Design of Experiments" (1935), section 21; drawn patterns: B. Phipson and G. K. Smyth,
    "Permutation P-values should never be zero", Statistical Applications in Genetics and Molecular Biology 9 (2010);
    many cases: J. Robinson, "Saddlepoint approximations for permutation tests and confidence intervals", Journal of
    the Royal Statistical Society B 44 (1982), 91-101.

    Raises:
        ValueError: a difference is not a finite number.
    """
    changed = [value for value in _finite(differences) if value]
    if not changed:
        return 1.0
    if len({abs(value) for value in changed}) == 1:
        fixed = sum(value > 0 for value in changed)
        return mcnemar(fixed, len(changed) - fixed)
    steps = _as_steps(changed)
    if steps is not None and sum(map(abs, steps)) * len(steps) ** 2 <= _MOST_BITS:
        return _by_counting(steps)
    if len(changed) <= _FEW:
        return _by_halves(changed)
    if len(changed) > _MANY:
        return _by_saddlepoint(changed, step=0.0 if steps is None else abs(changed[0] / steps[0]))
    return _by_drawing(changed, resamples, seed)


def _finite(differences: Iterable[float]) -> list[float]:
    """Return differences as floats.

    Raises:
        ValueError: one is not a finite number.
    """
    values = [float(value) for value in differences]
    if (bad := next((value for value in values if not isfinite(value)), None)) is not None:
        raise ValueError(f"expected finite differences, got {bad}")
    return values


def _as_steps(values: Sequence[float]) -> list[int] | None:
    """Return the values as integer multiples of one step; `None` if there is no step of a reasonable size."""
    common = 1
    exact = {}
    for value in {*values}:
        fraction = Fraction(value).limit_denominator(_FINEST)
        common = lcm(common, fraction.denominator)
        if common > _FINEST or abs(float(fraction) - value) > 1e-12:
            return None
        exact[value] = fraction
    return [int(exact[value] * common) for value in values]


def _by_counting(steps: Sequence[int]) -> float:
    """Return the share of all sign patterns as far from 0: a polynomial with a term for each sum, packed into one integer."""
    width = len(steps) // 8 + 1  # bytes per coefficient: there are 2**len(steps) patterns
    patterns = 1
    for step in steps:
        patterns += patterns << (abs(step) * width * 8)
    whole, observed_sum = sum(map(abs, steps)), abs(sum(steps))
    tail = (whole - observed_sum) // 2  # sums of the positive steps that are as extreme on one side
    counted = (patterns & ((1 << ((tail + 1) * width * 8)) - 1)).to_bytes((tail + 1) * width, "little")
    below = sum(int.from_bytes(counted[at : at + width], "little") for at in range(0, len(counted), width))
    return 1.0 if observed_sum == 0 else min(1.0, 2 * below / 2 ** len(steps))


def _by_halves(values: Sequence[float]) -> float:
    """Return the share of all sign patterns as far from 0: pairs of a sum of one half of the values and one of the other.

    Source: E. Horowitz and S. Sahni, "Computing partitions with applications to the knapsack problem", Journal of the ACM 21
    (1974), 277-292.
    """
    # sorted, so that neither the order of the cases nor which run is the baseline matters
    sizes = sorted(map(abs, values))
    # values that are equal except for rounding count as equal
    observed_sum = abs(fsum(values)) - 1e-12 * sizes[-1]
    if observed_sum <= 0:
        return 1.0
    one, other = _signed_sums(sizes[::2]), sorted(_signed_sums(sizes[1::2]))
    beyond = sum(len(other) - bisect_left(other, observed_sum - each) for each in one)
    return min(1.0, 2 * beyond / (len(one) * len(other)))


def _by_drawing(values: Sequence[float], resamples: int, seed: int) -> float:
    from random import Random

    # sorted, so that neither the order of the cases nor which run is the baseline matters
    sizes = sorted(map(abs, values))
    observed_sum = abs(fsum(values)) * (1 - 1e-12)  # values that are equal except for rounding count as equal
    sizes += [0.0] * (-len(sizes) % 8)
    tables = [_signed_sums(sizes[at : at + 8]) for at in range(0, len(sizes), 8)]
    random = Random(seed)  # noqa: S311 - a test of significance needs no secrets
    signs = (map(table.__getitem__, random.randbytes(resamples)) for table in tables)  # a byte: eight signs
    sums = map(abs, map(sum, zip(*signs, strict=True)))
    return (1 + sum(map(observed_sum.__le__, sums))) / (1 + resamples)


def _by_saddlepoint(values: Sequence[float], *, step: float) -> float:
    """Return the share of sign patterns as far from 0, for many cases; adjacent sums differ by two steps."""
    counts = Counter(map(abs, values))
    whole = fsum(each * count for each, count in counts.items())
    observed_sum = abs(fsum(values)) - step  # half way to the next sum
    if observed_sum <= 0:
        return 1.0
    tilt, slope, spread = 0.0, 0.0, fsum(each * each * count for each, count in counts.items())
    for _ in range(
        50
    ):  # Newton's method: the slope is concave in the tilt: the iterates converge from one side
        tilt += (observed_sum - slope) / spread
        slope = fsum(each * tanh(tilt * each) * count for each, count in counts.items())
        spread = fsum((each / cosh(min(tilt * each, 300.0))) ** 2 * count for each, count in counts.items())
        if abs(observed_sum - slope) <= 1e-10 * whole or not spread:
            break
    cumulant = fsum(_log_cosh(tilt * each) * count for each, count in counts.items())
    r = sqrt(2 * max(0.0, tilt * observed_sum - cumulant))
    if r < 1e-6:
        return 1.0
    return min(1.0, erfc((r + log(tilt * sqrt(spread) / r) / r) / sqrt(2)))


def _log_cosh(x: float) -> float:
    return abs(x) + log1p(exp(-2 * abs(x))) - log(2)


def _signed_sums(values: Sequence[float]) -> list[float]:
    """Return the sum of the values for each of the patterns of their signs."""
    sums = [0.0]
    for value in values:
        sums = [*(each + value for each in sums), *(each - value for each in sums)]
    return sums


# --- The mean difference, with its bootstrap interval ------------------------------------------------------------------


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
    (2005), 729-740 (pseudo-cases; they add two. The coverage is simulated in benchmarks/false_alarms.py).

    Raises:
        ValueError: a difference is not a finite number, or not 0 < confidence < 1, or the reach is not positive.
    """
    if not 0 < confidence < 1 or (reach is not None and not reach > 0):
        raise ValueError(f"expected 0 < confidence < 1 and a positive reach; got {confidence}, {reach}")
    counts = Counter(_finite(differences))
    cases = counts.total()
    farthest = max(map(abs, counts), default=0.0)
    most = max(farthest, reach if reach is not None else farthest or 1.0)
    if not cases:
        return MeanDifference(0.0, -most, most, 0.0, 0)
    scaled: Counter[float] = (
        Counter()
    )  # to at most 1: squares of very large or small values overflow or vanish
    for each, count in counts.items():
        scaled[each / most] += count
    value = fsum(each * count for each, count in scaled.items()) / cases
    spread = fsum((each - value) ** 2 * count for each, count in scaled.items())
    deviation = sqrt(spread / (cases - 1)) if cases > 1 else 0.0
    low, high = _interval(scaled, cases, more_lost, confidence)
    return MeanDifference(
        value * most, min(low, value) * most, max(high, value) * most, deviation * most, cases
    )


_TINY = 1e-9
"""The smallest part of the reach that pseudo-cases differ by: squares of smaller values would vanish."""
_LEAST = 0.1
"""The weight of the pseudo-cases at either end of the observed differences, however many cases have changed."""


def _pseudo_case_weight(counts: Counter[float], cases: int) -> float:
    """Return the weight of the pseudo-cases at either end of the reach: 1 if no case has changed, 0 if half of them have."""
    changed = cases - counts[0.0]
    return max(0.0, 1 - 2 * changed / cases)


def _interval(counts: Counter[float], cases: int, more_lost: float, confidence: float) -> tuple[float, float]:
    """Return the interval of differences that are 1 at most."""
    pseudo_weight = _pseudo_case_weight(counts, cases)
    weights: dict[float, float] = {**counts}
    observed = max(map(abs, counts))
    for end, weight in ((1.0, pseudo_weight), (max(observed, _TINY), _LEAST if observed else 0.0)):
        if weight:
            for value, share in ((-end, 1), (0.0, 2), (end, 1)):
                weights[value] = weights.get(value, 0.0) + share * weight
    more = more_lost if min(counts) < 0 else max(0.0, more_lost - pseudo_weight)
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


# --- Several tests ---------------------------------------------------------------------------------------------------


def holm(p_values: Sequence[float], level: float) -> list[float]:
    """Return the level at which each of several tests is made, in their order: together they err with `level` at most.

    A test is significant exactly if its p-value is at most its level. The smallest p-value is tested at the level divided by
    the number of tests; each significant one leaves its share to the others.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
    (1979), 65-70.

    Raises:
        ValueError: not 0 < level < 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"expected 0 < level < 1, got {level}")
    levels, left = [level] * len(p_values), len(p_values)
    for place in sorted(range(len(p_values)), key=p_values.__getitem__):
        levels[place] = level / left
        left -= p_values[place] <= levels[place]
    return levels


def tarone_holm(p_values: Sequence[float], least: Sequence[float], level: float) -> list[float]:
    """Return p-values adjusted for multiple testing at `level`, in their order, if some tests cannot become significant.

    `least` is the smallest p-value that each (discrete) test can reach. A test whose smallest p-value exceeds its share of
    the level can cause no false alarm, so the level is divided by the number of the others only. An adjusted p-value is at
    most `level` exactly if the test is significant; it holds for this level only.

    Sources: R. E. Tarone, "A modified Bonferroni method for discrete data", Biometrics 46 (1990), 515-522; step by step
    as in G. Hommel and F. Krummenauer, "Improvements and modifications of Tarone's multiple test procedure for discrete
    data", Biometrics 54 (1998), 673-681.

    Raises:
        ValueError: the lengths differ, or not 0 < level < 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"expected 0 < level < 1, got {level}")
    reachable = sorted(each for _, each in zip(p_values, least, strict=True))
    order = sorted(range(len(p_values)), key=lambda place: (p_values[place], least[place]))
    adjusted, lowest = [1.0] * len(p_values), 0.0
    divisor = max(1, len(p_values))
    for place in order:
        divisor = _tarone_divisor(reachable, level, divisor)
        lowest = max(lowest, min(1.0, divisor * p_values[place]))
        adjusted[place] = lowest
        if lowest <= level:  # rejected: the others are tested without it
            reachable.pop(bisect_left(reachable, least[place]))
    return adjusted


def _tarone_divisor(least: Sequence[float], level: float, most: int) -> int:
    """Return the smallest number that is at least the number of tests whose smallest p-value is within `level` divided by it."""
    low, high = 1, max(1, most)
    while low < high:  # the number of reachable tests falls with the divisor
        middle = (low + high) // 2
        if bisect_right(least, level / middle * (1 + 1e-12)) <= middle:
            high = middle
        else:
            low = middle + 1
    return low
