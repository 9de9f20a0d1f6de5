"""Paired significance tests for two measurements of the same cases.
Every test works on one number per case: the mean of its trials in the candidate minus the mean in the baseline. Cases are the
independent units, so a case's difficulty and the correlation of its trials are accounted for.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import cosh, erfc, exp, fsum, isfinite, lcm, log, log1p, sqrt, tanh

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
    changed = [value for value in finite(differences) if value]
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


def finite(differences: Iterable[float]) -> list[float]:
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
    signs = (
        map(table.__getitem__, random.randbytes(resamples)) for table in tables
    )  # a byte: the signs of eight values
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
    ):  # Newton's method: the slope is concave in the tilt, so the iterates converge from one side
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
