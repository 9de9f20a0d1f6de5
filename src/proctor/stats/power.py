"""The number of cases and trials that a comparison needs to detect a difference."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, fsum, log2, sqrt
from typing import Protocol

from proctor.stats.intervals import at_most, normal_quantile, student_quantile


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


# --- How many cases and trials notice a drop: of the pass rate over these cases, or of a metric -----------------------

MOST_TRIALS = 50
"""Trials of a case beyond which more of them are not proposed."""
_FEWEST = 3
"""Cases from which Student's t is used, and of which trials can show whether they resemble each other."""
_FEW = 50
"""Cases up to which it differs from the normal quantile."""
_SMALL_SHARE = 1e-6
"""The probability below which the binomial distribution is that of Poisson, and numbers become too large to compute exactly."""


class Size(Protocol):
    """What the size of a run for one measure is computed from."""

    @property
    def reach(self) -> float:
        """Return how far the values of two trials can differ."""
        ...

    def cases(self, detect: float, trials: int) -> int:
        """Return how many cases notice a drop with so many trials of each."""
        ...


def smallest_drop(size: Size, cases: int, trials: int) -> float | None:
    """Return the smallest drop that so many cases notice; `None` if they do not notice the largest one."""
    low, high = 0.0, size.reach
    if size.cases(high, trials) > cases:
        return None
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if size.cases(middle, trials) <= cases else (middle, high)
        if high - low < 1e-4 * size.reach:
            break
    return high


def trials_for(size: Size, detect: float, cases: int) -> Iterator[int]:
    """Yield the numbers of trials of each of so many cases that notice a drop, from the fewest on."""
    return (count for count in range(1, MOST_TRIALS + 1) if size.cases(detect, count) <= cases)


@dataclass(frozen=True, slots=True)
class PassRateSize:
    """A drop of the pass rate on these cases: every trial fails additionally with the same probability.

    The test is that of the gate (`on_these_cases`). Two conditions hold. The trials that fail additionally are enough to be
    significant at all, by the binomial distribution. The mean difference is found by its normal approximation, with the
    variance of the trials within cases in both builds, with that of the drop over cases (a case that fails anyway cannot
    fall), and with the continuity correction of an exact test. If cases are flaky and few, the interval is wider if these seem
    to vary more than independent trials, and signs must agree. Student's t in place of the normal quantile allows for both
    (checked by simulation: `benchmarks.planned_power`).

    Sources: W. C. Guenther, "Sample size formulas for normal theory t tests", The American Statistician 35 (1981), 243-244;
    the correction: J. T. Casagrande, M. C. Pike and P. G. Smith, "An improved approximate formula for calculating sample
    sizes for comparing two binomial distributions", Biometrics 34 (1978), 483-486.
    """

    within: float
    """The variance of the trials of a case."""
    unevenness: float
    """The variance of the cases' pass rates over the square of their mean."""
    level: float
    """Two-sided."""
    power: float
    is_flaky: bool
    """Whether trials of a case ended differently."""
    reach: float = 1.0

    def cases(self, detect: float, trials: int) -> int:
        """Return how many cases notice a drop with so many trials of each."""
        cases = self._by_spread(detect, trials, normal_quantile(1 - self.level))
        while (
            self.is_flaky
            and _FEWEST <= cases <= _FEW
            and self._by_spread(detect, trials, student_quantile(1 - self.level, cases - 1)) > cases
        ):
            cases += 1
        return max(cases, self._enough_failures(detect, trials), _FEWEST if trials > 1 else 1)

    def _by_spread(self, detect: float, trials: int, two_sided: float) -> int:
        one_sided = _power_quantile(self.power)
        of_trials = (2 * self.within + detect * (1 - detect)) / trials
        variance = of_trials + self.unevenness * detect**2
        needed = ((two_sided + one_sided) / detect) ** 2 * variance
        corrected = needed / 4 * (1 + sqrt(1 + 4 / max(1e-9, needed * trials * detect))) ** 2
        return ceil(corrected + two_sided**2 / 2 / trials)

    def _enough_failures(self, detect: float, trials: int) -> int:
        """Return how many cases have enough trials that fail additionally to be significant by themselves."""
        fewest = ceil(1 - log2(self.level) - 1e-9)
        return _fewest_with(fewest, detect, self.power, trials)


def pass_rate_size(cases: Sequence[Sequence[float]], *, level: float, power: float) -> PassRateSize:
    """Return it by the trials of cases (1.0 passed, 0.0 failed), of one run or of two."""
    within, means = variance_of_passes(cases), [fsum(case) / len(case) for case in cases]
    mean = fsum(means) / len(means)
    spread = fsum((each - mean) ** 2 for each in means) / max(1, len(means) - 1)
    between = max(0.0, spread - within * len(cases) / sum(map(len, cases)))
    is_flaky = any(0 < mean < 1 for mean in means)
    return PassRateSize(within, between / mean**2 if mean else 0.0, level, power, is_flaky)


def variance_of_passes(cases: Sequence[Sequence[float]]) -> float:
    """Return the variance of the trials of a case, as if one more pair of trials had differed: equal ones may still differ.

    If every case has a single trial, all cases are taken for alike, which is the most that there can be.
    """
    values = [value for case in cases for value in case]
    rate = (fsum(values) + 1) / (len(values) + 2)
    most, within = rate * (1 - rate), variance_within(cases)
    degrees = len(values) - len(cases)
    return most if within is None else min((within * degrees + 0.5) / (degrees + 1), most)


def _power_quantile(power: float) -> float:
    return normal_quantile(abs(2 * power - 1)) * (1 if power >= 0.5 else -1)


def _fewest_with(fewest: int, share: float, power: float, each: int = 1) -> int:
    """Return how many cases of so many trials (`each`) have at least `fewest` that fail, each with the probability `share`."""
    if share < _SMALL_SHARE:  # the number is inversely proportional to it, by Poisson's distribution
        return ceil(_fewest_with(fewest, _SMALL_SHARE, power, each) * (_SMALL_SHARE / share))

    def are_enough(cases: int) -> bool:
        return 1 - at_most(fewest - 1, cases * each, share) >= power

    low, high = 1, max(1, ceil(fewest / each))
    while not are_enough(high):
        low, high = high, 2 * high
    return low + bisect_left(range(low, high), True, key=are_enough)


@dataclass(frozen=True, slots=True)
class ScoreSize:
    """A drop of a metric in cases like these: it hits a few cases completely, and the others not at all."""

    within: float
    """The variance of the trials of a case."""
    reach: float
    level: float
    """Two-sided."""
    power: float

    def cases(self, detect: float, trials: int) -> int:
        """Return how many cases notice a drop with so many trials of each."""
        deviation = expected_deviation(detect, self.within, trials, reach=self.reach)
        by_spread = cases_needed(detect, deviation, power=self.power, confidence=1 - self.level)
        return max(by_spread, self._enough_to_break(detect / self.reach))

    def _enough_to_break(self, share: float) -> int:
        """Return how many cases it takes so that enough of them break to be significant by themselves."""
        fewest = ceil(1 - log2(self.level))
        return _fewest_with(fewest, share, self.power)
