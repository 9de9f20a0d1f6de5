"""Confidence intervals of proportions and means, pass^k and pass@k, and the distributions that they need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, comb, cos, erfc, exp, fsum, inf, isfinite, lgamma, log, log1p, pi, sin, sqrt, tan


def wilson(successes: int, total: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval (low, high) of a proportion, both within 0 and 1.

    It keeps its coverage for few trials and near 0 and 1, where the normal-approximation interval does not. Without trials it is
    (0, 1).

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
    low, high = score_interval(successes / total, total, normal_quantile(confidence))
    return 0.0 if successes == 0 else low, 1.0 if successes == total else high


def score_interval(rate: float, total: float, z: float) -> tuple[float, float]:
    """Return the score interval of `rate` over `total` trials (which may be fractional), `z` normal standard deviations wide."""
    centre = (rate + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * sqrt(rate * (1 - rate) / total + (z / (2 * total)) ** 2)
    return max(0.0, centre - half), min(1.0, centre + half)


def chi_square_tail(value: float, degrees: int) -> float:
    """Return the probability that a chi-square variable with so many degrees of freedom (at least 1) is above `value`.

    Source: M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions" (1964), formulas 26.4.4 and 26.4.5.
    """
    half = max(0.0, value) / 2
    first = 0.0 if degrees % 2 == 0 else 0.5
    terms = [exp(-half + power * log(half) - lgamma(power + 1)) for power in _powers(first, degrees) if half]
    whole = fsum(terms) + (erfc(sqrt(half)) if first else 0.0)
    return min(1.0, whole) if half else 1.0


def _powers(first: float, degrees: int) -> list[float]:
    return [first + step for step in range(degrees // 2)]


def normal_tail(z: float) -> float:
    """Return the probability that a standard normal variable is above `z`."""
    return erfc(z / sqrt(2)) / 2


@lru_cache(maxsize=64)  # a comparison asks for few levels, often
def normal_quantile(confidence: float) -> float:
    """Return the number of standard deviations that the middle `confidence` of a normal distribution extends to each side."""
    from statistics import NormalDist  # slow to import, and needed only where an interval is shown

    return NormalDist().inv_cdf((1 + confidence) / 2)


def more_trials(successes: int, total: int, rate: float, *, confidence: float = 0.95) -> int | None:
    """Forecast how many more trials are needed until the Wilson interval excludes `rate`, if the pass rate does not change.

    0: the interval excludes it already. `None`: never, because the pass rate equals `rate`, or there is no trial yet.
    A pass rate close to `rate` needs many trials; the forecast is wrong if the true rate differs from the observed one.

    Source: the Wilson interval is what the score test does not reject (Wilson 1927, see `wilson`), so it excludes
    `rate` once total >= z**2 * rate * (1 - rate) / (share - rate)**2.

    Raises:
        ValueError: as `wilson`, or not 0 <= rate <= 1.
    """
    low, high = wilson(successes, total, confidence=confidence)
    if not 0 <= rate <= 1:
        raise ValueError(f"expected 0 <= rate <= 1, got {rate}")
    if total and (low >= rate or high < rate):
        return 0
    share = successes / total if total else rate
    gap = (share - rate) ** 2
    if not gap:  # equal, or so close that the number overflows
        return None
    z = normal_quantile(confidence)
    needed = z * z * rate * (1 - rate) / gap
    return max(1, ceil(needed) - total)


def pass_hat(successes: int, total: int, k: int) -> float:
    """Return pass^k: the probability that `k` trials all pass, an unbiased estimate from `total` trials.

    It is the share of all choices of `k` of the trials in which every one passed: C(successes, k) / C(total, k).

    Source: "τ-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains" (2024), arXiv:2406.12045.

    Raises:
        ValueError: not 0 <= successes <= total, or not 1 <= k <= total.
    """
    _check_choice(successes, total, k)
    return comb(successes, k) / comb(total, k)


def pass_at(successes: int, total: int, k: int) -> float:
    """Return pass@k: the probability that at least one of `k` trials passes, an unbiased estimate from `total` trials.

    It is the share of all choices of `k` of the trials in which one passed: 1 - C(total - successes, k) / C(total, k).

    Source: "Evaluating Large Language Models Trained on Code" (2021), arXiv:2107.03374, section 2.1.

    Raises:
        ValueError: not 0 <= successes <= total, or not 1 <= k <= total.
    """
    _check_choice(successes, total, k)
    choices = comb(total, k)
    return (choices - comb(total - successes, k)) / choices


def _check_choice(successes: int, total: int, k: int) -> None:
    if not (0 <= successes <= total and 1 <= k <= total):
        raise ValueError(
            f"expected 0 <= successes <= total and 1 <= k <= total; got {successes}, {total}, k={k}"
        )


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with its standard error and confidence interval."""

    value: float
    standard_error: float | None
    """`None` if there is only one case, or if all cases are equal: the variation between cases is unknown."""
    low: float | None
    high: float | None
    """The interval at the requested confidence, by Student's t with one degree of freedom less than there are cases, cut to
    the range of the values where it is known."""
    cases: int
    """The number of clusters: the independent units."""
    values: int
    """The number of values in all clusters."""


class ClusteredMean:
    """The mean of clustered values (the trials of a case are a cluster), computed in one pass over the clusters.

    The trials of one case are correlated: ten trials of four cases carry little more information than four values. The
    standard error is that of the ratio of sums over clusters, robust to any correlation within a cluster:
    sqrt(G / (G - 1) * sum((total_g - count_g * mean)**2)) / sum(count_g), with G clusters. If all clusters have one size, it
    is the standard error of the clusters' means.

    Source: "Longitudinal data analysis using generalized linear models", Biometrika 73 (1986), 13-22, for an intercept-only
    model; its use for evaluations: "Adding Error Bars to Evals" (2024), arXiv:2411.00640, section 2.2.
    """

    __slots__ = ("_clusters", "_count", "_high", "_low", "_origin", "_sums", "_total")

    def __init__(self) -> None:
        self._clusters = self._count = 0
        self._total = 0.0
        self._origin: float | None = (
            None  # close to the values, so that equal values have an error of exactly 0
        )
        self._sums = (0.0, 0.0, 0)  # of total**2, total * count, count**2
        self._low = self._high = 0.0

    def add(self, mean: float, count: int, *, times: int = 1) -> None:
        """Add a cluster: the mean of its values and their number; a cluster without values is ignored. `times`: repeat it.

        Raises:
            ValueError: the mean is not a finite number.
        """
        if count < 1 or times < 1:
            return
        if not isfinite(mean):
            raise ValueError(f"expected a finite number, got {mean}")
        if self._origin is None:
            self._origin = self._low = self._high = mean
        total = (mean - self._origin) * count
        squares, products, counts = self._sums
        self._sums = (
            squares + times * total * total,
            products + times * total * count,
            counts + times * count * count,
        )
        self._clusters += times
        self._count += times * count
        self._total += times * total
        self._low, self._high = min(self._low, mean), max(self._high, mean)

    def result(self, *, confidence: float = 0.95, within: tuple[float, float] | None = None) -> Mean | None:
        """Return the mean so far; `None` before the first cluster. `within`: the lowest and the highest possible value; `None`: unknown.

        Values beyond `within` widen it: the interval always contains the mean.
        """
        if self._origin is None:
            return None
        apart = self._total / self._count
        value = min(max(self._origin + apart, self._low), self._high)
        squares, products, counts = self._sums
        spread = max(0.0, squares - 2 * apart * products + apart * apart * counts)
        if self._clusters < 2 or not spread:
            return Mean(value, None, None, None, self._clusters, self._count)
        error = sqrt(self._clusters / (self._clusters - 1) * spread) / self._count
        half = student_quantile(confidence, self._clusters - 1) * error
        least, most = within or (-inf, inf)
        low = max(value - half, min(least, self._low))
        high = min(value + half, max(most, self._high))
        return Mean(value, error, low, high, self._clusters, self._count)


_MANY = 100
"""The degrees of freedom from which the expansion around the normal quantile is exact to nine digits."""


@lru_cache(maxsize=1024)  # solved by bisection; a comparison of many cases asks for many degrees
def student_quantile(confidence: float, degrees: int) -> float:
    """Return the t for which a Student-distributed variable is between -t and t with probability `confidence`.

    Source: Handbook of Mathematical Functions (Abramowitz and Stegun, 1964), 26.7.3 and 26.7.4, solved by bisection;
    from 100 degrees of freedom on 26.7.5.

    Raises:
        ValueError: not 0 < confidence < 1, or fewer than one degree of freedom.
    """
    if not (0 < confidence < 1 and degrees >= 1):
        raise ValueError(f"expected 0 < confidence < 1 and degrees >= 1; got {confidence}, {degrees}")
    if degrees >= _MANY:
        return _student_by_series(normal_quantile(confidence), degrees)
    low, high = 0.0, pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_within(middle, degrees) < confidence else (low, middle)
    return sqrt(degrees) * tan((low + high) / 2)


def _student_within(angle: float, degrees: int) -> float:
    """Return the probability of |t| <= sqrt(degrees) * tan(angle)."""
    odd = degrees % 2
    term = cos(angle) if odd else 1.0
    series = 0.0
    for n in range(2 + odd, degrees + 1, 2):
        series += term
        term *= cos(angle) ** 2 * (n - 1) / n
    return 2 / pi * (angle + sin(angle) * series) if odd else sin(angle) * series


def _student_by_series(z: float, degrees: int) -> float:
    terms: tuple[float, ...] = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / float(degrees) ** n for n, term in enumerate(terms, 1))


# --- The binomial distribution: how many of independent trials pass ---------------------------------------------------


def binomial_probability(passed: int, trials: int, rate: float) -> float:
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
        ValueError: as `binomial_probability`.
    """
    if most >= trials:
        return 1.0
    return min(1.0, fsum(binomial_probability(passed, trials, rate) for passed in range(most + 1)))


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
