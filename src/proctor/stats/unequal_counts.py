"""Permutation test and interval for cases that have different numbers of trials in the two runs.
If both runs have the same number of trials of a case, its difference is equally likely to have the opposite sign under the
null hypothesis (`paired_tests`). With unequal numbers it is not: if a case passes nine times of ten, a single trial is a
little better than the mean of many in nine runs of ten, and much worse in one. Therefore this test permutes the trials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import erfc, exp, fsum, gcd, inf, lcm, lgamma, log, prod, sinh, sqrt

from proctor.stats.intervals import normal_quantile, score_interval

_MOST_SUMS = 200_000
"""The limit of sums to enumerate (about a tenth of a second); beyond it, they are approximated."""
_FINEST = 10**12
"""The resolution of case weights, if the numbers of trials have no common multiple of a reasonable size."""


@dataclass(frozen=True, slots=True)
class TwoCounts:
    """One case: the number of passed trials in either run; fractional if the trials have scores."""

    before: float
    trials_before: int
    now: float
    trials_now: int

    def __post_init__(self) -> None:
        """Validate the counts.

        Raises:
            ValueError: not 0 <= passed <= trials, or a run without a trial.
        """
        for passed, trials in ((self.before, self.trials_before), (self.now, self.trials_now)):
            if not (trials >= 1 and 0 <= passed <= trials):
                raise ValueError(f"expected 0 <= passed <= trials, and a trial; got {passed} of {trials}")

    def swap(self) -> TwoCounts:
        """Return the case with the runs exchanged."""
        return TwoCounts(self.now, self.trials_now, self.before, self.trials_before)


def trial_permutation_test(cases: Iterable[TwoCounts]) -> float:
    """Return the two-sided p-value of the permutation test within cases: is the mean difference of pass rates 0?

    Under the null hypothesis the trials of a case are exchangeable between baseline and candidate: the number of passed
    trials that fall to the candidate has a hypergeometric distribution. The p-value is twice the probability of a mean
    difference that is at least as extreme in the observed direction. It is exact if the number of sums to enumerate is small,
    otherwise it is computed by the saddlepoint approximation. Fractional passes are interpolated between the two neighbouring
    integers; the larger of the p-values from permuting to either run counts.

    Sources: R. A. Fisher, "The Design of Experiments" (1935), section 21; within cases: N. Mantel and W. Haenszel, Journal
    of the National Cancer Institute 22 (1959), 719-748; the approximation: R. Lugannani and S. Rice, Advances in Applied
    Probability 12 (1980), 475-490, in the form of O. E. Barndorff-Nielsen's r*.
    """
    known = list(cases)
    tail = min(_tails(known))
    if any(passed % 1 for case in known for passed in (case.before, case.now)):
        tail = max(tail, min(_tails([case.swap() for case in known])))
    return min(1.0, float(f"{2 * tail:.12g}"))  # the last digits depend on which run is the baseline


def _tails(known: Sequence[TwoCounts]) -> tuple[float, float]:
    """Return the probability of a weighted sum of the candidate's passes at most, and at least, as high as observed."""
    parts, observed_sum = _parts(known)
    sums, same = _sums(parts), _rounding_tolerance(parts)
    if sums is None:
        half = max(0.5, same)
        mirrored = [part.mirror() for part in parts]
        return _saddlepoint_tail(mirrored, -observed_sum, half), _saddlepoint_tail(parts, observed_sum, half)
    below = fsum(chance for each, chance in sums.items() if each <= observed_sum + same)
    above = fsum(chance for each, chance in sums.items() if each >= observed_sum - same)
    return min(1.0, below), min(1.0, above)


def _parts(known: Sequence[TwoCounts]) -> tuple[list[_Part], float]:
    """Return the distributions of the cases, equal cases together, and the observed weighted sum."""
    weights = _weights(known)
    counts = Counter(
        (case.trials_before, case.trials_now, round(case.before + case.now, 9), weight)
        for case, weight in zip(known, weights, strict=True)
    )
    parts = [_Part(_pass_distribution(*key[:3]), key[3], count) for key, count in counts.items()]
    parts.sort(
        key=lambda part: (part.weight, len(part.chances), part.cases)
    )  # the same order if the runs are exchanged
    return parts, fsum(case.now * weight for case, weight in zip(known, weights, strict=True))


def case_test(case: TwoCounts) -> tuple[float, float]:
    """Return Fisher's exact one-sided p-value of one case, and the smallest p-value that its counts admit.

    The p-value is the probability that the candidate passes at most as many trials, if all trials of the case are
    exchangeable. The smallest one belongs to the most extreme division of the same passes: it is 1 if the case passes or
    fails in every trial of both runs. The counts must be whole numbers.

    Source: R. A. Fisher, "The Logic of Inductive Inference", Journal of the Royal Statistical Society 98 (1935), 39-82.
    """
    chances = _hypergeometric(case.trials_before, case.trials_now, int(case.before + case.now))
    p_value = fsum(chance for passed, chance in chances.items() if passed <= case.now)
    return min(1.0, p_value), min(1.0, chances[min(chances)])


def least_p_values(one: TwoCounts, other: TwoCounts) -> tuple[float, float]:
    """Return the smallest p-value that a case admits by `case_test`, for every number of passes from that in `one` to that in `other`.

    The first is the smallest of these, the second the largest.
    """
    ends = int(one.before + one.now), int(other.before + other.now)
    known = [
        case_test(_with_passes(one.trials_before, one.trials_now, passed))[1]
        for passed in range(min(ends), max(ends) + 1)
    ]
    return min(known), max(known)


def squared_correlation(case: TwoCounts) -> float:
    """Return the squared correlation of run and result over the trials of a case: 1 if all pass in one run and none in the other.

    It is 0 if all trials end alike.
    """
    passed, trials = case.before + case.now, case.trials_before + case.trials_now
    if not 0 < passed < trials:
        return 0.0
    difference = case.now / case.trials_now - case.before / case.trials_before
    return difference**2 * case.trials_before * case.trials_now / (passed * (trials - passed))


def excess_of_difference(case: TwoCounts) -> float | None:
    """Return the squared difference of a flaky case, as a multiple of what its trials explain: 1 on average if they are independent.

    `None` for a case that passes, or fails, in every trial of a run and in none of the other: it is broken or fixed. `None`
    also for one whose trials all end alike.
    """
    trials = case.trials_before + case.trials_now
    is_broken = abs(case.now / case.trials_now - case.before / case.trials_before) == 1
    if is_broken or not 0 < case.before + case.now < trials:
        return None
    return (trials - 1) * squared_correlation(case)


def _with_passes(trials_before: int, trials_now: int, passed: int) -> TwoCounts:
    before = min(passed, trials_before)
    return TwoCounts(before, trials_before, passed - before, trials_now)


def _weights(known: Iterable[TwoCounts]) -> list[int]:
    """Return as integers by how much each pass that falls to the candidate increases the difference of its case."""
    counts = [(case.trials_before, case.trials_now) for case in known]
    common = lcm(*{count for pair in counts for count in pair})
    weights = [common // before + common // now for before, now in counts]
    unit, top = gcd(*weights) or 1, max(weights, default=1)
    if top // unit <= _FINEST:
        return [weight // unit for weight in weights]
    return [weight * _FINEST // top for weight in weights]


@dataclass(frozen=True, slots=True)
class _Part:
    """Equal cases: the probability of each number of passes of the candidate, the weight of a pass, and the number of cases."""

    chances: Mapping[int, float]
    weight: int
    cases: int

    def mirror(self) -> _Part:
        return _Part({-passed: chance for passed, chance in self.chances.items()}, self.weight, self.cases)


def _pass_distribution(before: int, now: int, passed: float) -> dict[int, float]:
    """Return the distribution of the number of passed trials that fall to the candidate."""
    few = int(passed)
    distribution: dict[int, float] = {}
    for whole, share in ((few, 1 - (passed - few)), (few + 1, passed - few)):
        if share:
            for each, chance in _hypergeometric(before, now, whole).items():
                distribution[each] = distribution.get(each, 0.0) + share * chance
    # drop probabilities that underflowed to 0
    return {each: chance for each, chance in distribution.items() if chance}


def _hypergeometric(before: int, now: int, passed: int) -> dict[int, float]:
    every = _log_ways(before + now, now)
    return {
        each: exp(_log_ways(passed, each) + _log_ways(before + now - passed, now - each) - every)
        for each in range(max(0, passed - before), min(passed, now) + 1)
    }


def _log_ways(count: int, size: int) -> float:
    return lgamma(count + 1) - lgamma(size + 1) - lgamma(count - size + 1)


def _sums(parts: Iterable[_Part]) -> dict[int, float] | None:
    """Return the probability of each sum, or `None` if there are too many to enumerate."""
    sums, work = {0: 1.0}, 0
    for weight, same in groupby(parts, key=lambda part: part.weight):
        passes = [1.0]
        least = 0
        for part in same:
            kernel = [part.chances.get(each, 0.0) for each in range(min(part.chances), max(part.chances) + 1)]
            for _ in range(part.cases):
                work += len(sums) * len(passes) * len(kernel)
                if work > _MOST_SUMS:
                    return None
                passes = _convolve(passes, kernel)
            least += min(part.chances) * part.cases
        sums = _add(sums, {(least + place) * weight: chance for place, chance in enumerate(passes)})
    return sums


def _rounding_tolerance(parts: Iterable[_Part]) -> float:
    """Return the tolerance within which sums are equal except for rounding: a millionth of a trial."""
    return 1e-6 * max((part.weight for part in parts), default=1)


def _convolve(passes: Sequence[float], kernel: Sequence[float]) -> list[float]:
    """Return the distribution of a sum of two numbers, each with the probabilities of 0, 1, 2 …"""
    distribution = [0.0] * (len(passes) + len(kernel) - 1)
    for place, chance in enumerate(kernel):
        end = place + len(passes)
        distribution[place:end] = [
            so_far + chance * one for so_far, one in zip(distribution[place:end], passes, strict=True)
        ]
    return distribution


def _add(sums: Mapping[int, float], others: Mapping[int, float]) -> dict[int, float]:
    distribution: dict[int, float] = {}
    for more, chance in others.items():
        for each, so_far in sums.items():
            distribution[each + more] = distribution.get(each + more, 0.0) + so_far * chance
    return distribution


def _saddlepoint_tail(parts: Sequence[_Part], observed_sum: float, half: float) -> float:
    """Approximate the probability that the sum is at least the observed one, for many cases.

    Sums within half a step of the observed one count as equal to it.
    """
    largest = sum(max(part.chances) * part.weight * part.cases for part in parts)
    if observed_sum > largest - half:
        return prod(part.chances[max(part.chances)] ** part.cases for part in parts)
    place = observed_sum - half
    if place <= _cumulants(parts, 0.0)[1]:
        return 1.0
    tilt = _tilt_to(parts, place)
    cumulant, mean, variance = _cumulants(parts, tilt)
    r = sqrt(max(0.0, 2 * (tilt * mean - cumulant)))
    u = 2 * sinh(tilt / 2) * sqrt(variance)
    return 1.0 if r < 1e-6 else erfc((r + log(u / r) / r) / sqrt(2)) / 2


def _tilt_to(parts: Sequence[_Part], place: float) -> float:
    """Return the tilt at which the mean is `place`: by Newton's method, with bisection if a step leaves the bracket."""
    _, mean, variance = _cumulants(parts, 0.0)
    low, tilt, high = 0.0, (place - mean) / variance, inf
    for _ in range(200):
        _, mean, variance = _cumulants(parts, tilt)
        low, high = (tilt, high) if mean < place else (low, tilt)
        step = tilt + (place - mean) / variance if variance else inf
        if not low < step < high:
            step = 2 * low if high == inf else (low + high) / 2
        if abs(step - tilt) <= 1e-13 * tilt:
            break
        tilt = step
    return tilt


def _cumulants(parts: Iterable[_Part], tilt: float) -> tuple[float, float, float]:
    """Return cumulant generating function, mean and variance of the sum if each value has the weight exp(tilt * value)."""
    cumulant = mean = variance = 0.0
    for part in parts:
        logs = {x: log(p) + tilt * part.weight * x for x, p in part.chances.items()}
        top = max(logs.values())
        tilted = {x: exp(each - top) for x, each in logs.items()}
        whole = fsum(tilted.values())
        first = fsum(p * x for x, p in tilted.items()) / whole
        second = fsum(p * (x - first) ** 2 for x, p in tilted.items()) / whole
        cumulant += part.cases * (log(whole) + top)
        mean += part.cases * part.weight * first
        variance += part.cases * part.weight**2 * second
    return cumulant, mean, variance


def two_shares_interval(cases: Iterable[TwoCounts], *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the confidence interval of the mean difference of pass rates, given the variation of trials within cases.

    It is R. G. Newcombe's interval for two proportions, each with Wilson's score interval, which accounts for possible
    failures even if a few trials all passed. The trials of one case are correlated: the effective number of trials is larger,
    by the ratio of the total variance to the variance pooled within cases (as if one more pair of trials had differed).

    Source: R. G. Newcombe, "Interval estimation for the difference between independent proportions: comparison of eleven
    methods", Statistics in Medicine 17 (1998), 873-890, method 10.

    Raises:
        ValueError: no cases, or not 0 < confidence < 1.
    """
    known = list(cases)
    if not (known and 0 < confidence < 1):
        raise ValueError(f"expected cases, and 0 < confidence < 1; got {len(known)}, {confidence}")
    z, alike = normal_quantile(confidence), _variance_ratio(known)
    before = _Share.of([(case.before, case.trials_before) for case in known], alike, z)
    now = _Share.of([(case.now, case.trials_now) for case in known], alike, z)
    value = now.value - before.value
    below = sqrt((now.value - now.low) ** 2 + (before.high - before.value) ** 2)
    above = sqrt((now.high - now.value) ** 2 + (before.value - before.low) ** 2)
    return value - below, value + above


@dataclass(frozen=True, slots=True)
class _Share:
    value: float
    low: float
    high: float

    @classmethod
    def of(cls, counts: Sequence[tuple[float, int]], alike: float, z: float) -> _Share:
        """Return the mean pass rate of cases and its score interval; `alike` multiplies the effective number of trials."""
        value = min(1.0, fsum(passed / trials for passed, trials in counts) / len(counts))
        trials = len(counts) ** 2 / fsum(1 / trials for _, trials in counts)
        return cls(value, *score_interval(value, trials * alike, z))


def _variance_ratio(cases: Iterable[TwoCounts]) -> float:
    """Return the ratio of the variance of all trials to the variance within cases: at least 1."""
    counts = [
        pair for case in cases for pair in ((case.before, case.trials_before), (case.now, case.trials_now))
    ]
    trials = sum(each for _, each in counts)
    rate = (fsum(passed for passed, _ in counts) + 1) / (trials + 2)
    squares = fsum(passed * (each - passed) / each for passed, each in counts)
    within = (squares + 0.5) / (trials - len(counts) + 1)
    return max(1.0, rate * (1 - rate) / within)
