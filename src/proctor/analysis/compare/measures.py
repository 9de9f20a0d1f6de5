"""Each measure of two runs: its difference, its p-value and its confidence interval, which never contradict each other.

The p-value and the interval come from different methods, each with known error rates. Where they disagree, the more careful
one counts: if the test is not significant, the interval is widened to contain 0; if the interval contains 0, the p-value is
the level at which it would not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, fsum, log2, sqrt

from proctor.analysis.compare.overdispersion import assumed_overdispersion, overdispersion
from proctor.schema.analysis.comparison import InGeneral, Trials
from proctor.stats.intervals import most_lost
from proctor.stats.paired_tests import mean_difference, sign_flip_test
from proctor.stats.power import cases_needed, expected_deviation, variance_within
from proctor.stats.unequal_counts import TwoCounts, trial_permutation_test, two_shares_interval

Interval = tuple[float, float]
LEAST_LEVEL = 1e-9
"""The smallest two-sided level that a test is asked for: an early look may ask for less, and no interval has it."""
_BISECTIONS = 20


@dataclass(frozen=True, slots=True)
class PairedScore:
    """A measure of one case in both runs: means over so many trials."""

    before: float
    now: float
    trials_before: int
    trials_now: int

    @classmethod
    def of_trials(cls, case: TwoCounts) -> PairedScore:
        """Return the pass rates of a case."""
        rates = case.before / case.trials_before, case.now / case.trials_now
        return cls(*rates, case.trials_before, case.trials_now)

    @property
    def difference(self) -> float:
        """Candidate minus baseline; a difference that is 0 except for rounding is 0, and equal differences are equal."""
        return round(self.now - self.before, 12) + 0.0


@dataclass(frozen=True, slots=True)
class Means:
    """The means of a measure over the cases."""

    base: float
    candidate: float
    known: int
    """The number of cases that they are of: those with all values. 0: they are midway between the bounds over all cases."""

    @property
    def difference(self) -> float:
        """Candidate minus baseline."""
        return self.candidate - self.base


def means_of(known: Sequence[PairedScore], views: Sequence[Sequence[PairedScore]]) -> Means:
    """Return the mean of the baseline and of the candidate, by the `known` values of cases.

    Without any, the means are midway between those of the worst and the best values.
    """
    values = known or [one for view in views for one in view]
    return Means(*_both_means(values), known=len(known))


def trials_of(known: Sequence[PairedScore], means: Means) -> tuple[Trials, Trials] | None:
    """Return the trials of both runs that the mean pass rates are the shares of; `None` if they are not shares of trials."""
    base = _total((one.before, one.trials_before) for one in known)
    candidate = _total((one.now, one.trials_now) for one in known)
    ends = (base.rate, means.base), (candidate.rate, means.candidate)
    is_share = all(rate is not None and abs(rate - mean) < 1e-9 for rate, mean in ends)
    return (base, candidate) if means.known and is_share else None


def _total(cases: Iterable[tuple[float, int]]) -> Trials:
    counts = [(round(rate * trials), trials) for rate, trials in cases]
    passed = sum(one for one, _ in counts)
    return Trials(passed, sum(trials for _, trials in counts) - passed)


def _both_means(values: Sequence[PairedScore]) -> tuple[float, float]:
    return _mean(one.before for one in values), _mean(one.now for one in values)


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return fsum(numbers) / len(numbers) if numbers else 0.0


@dataclass(frozen=True, slots=True)
class MeasureTest:
    """The test of one measure at a level: the p-value (two-sided) is at most `level` exactly if 0 is outside of the interval."""

    difference: float
    low: float
    high: float
    p_value: float
    level: float


def on_these_cases(
    counts: Sequence[TwoCounts], level: float, *, by_test_alone: bool = False, changes: int | None = None
) -> MeasureTest:
    """Test the pass rate over a fixed set of cases: the trials are the sample.

    The test is the permutation test within cases. If at least so many cases changed that the signs of their differences
    could be significant, these must be, too: trials of one case may resemble each other within a run. The interval is that
    of the trials; if every case has a single trial, the variance within cases is unknown, and it is that of the paired cases.
    `by_test_alone` as in `by_case`; `changes` is then the number of cases that changed whatever the missing verdicts are.
    """
    rates = [*map(PairedScore.of_trials, counts)]
    difference = fsum(one.difference for one in rates) / len(rates)
    p_value = trial_permutation_test(counts)
    changed = [one.difference for one in rates if one.difference]
    if (len(changed) if changes is None else changes) >= ceil(1 - log2(max(level, LEAST_LEVEL))):
        p_value = max(p_value, sign_flip_test(changed))
    if by_test_alone:
        return _result_of_test(difference, p_value, level)
    if all(one.trials_before == one.trials_now == 1 for one in counts):
        return _agree(difference, p_value, level, lambda each: interval_by_case(rates, each))
    return _agree(difference, p_value, level, lambda each: interval_of_trials(counts, difference, each))


_MOST_HIDDEN = 2.0


def interval_of_trials(counts: Sequence[TwoCounts], difference: float, level: float) -> Interval:
    """Return the interval of the trials, wider by the root of their overdispersion.

    Trials that resemble each other also show too small a variance within their case: of m trials (m - overdispersion) / (m - 1)
    of it. If the overdispersion can be seen, the ends account for that where it does not move them to the other side of 0, so that
    it decides nothing: the tests keep their level without it, and few cases their power. If too few cases are flaky to see it,
    one is supposed, and all of it decides.

    Sources: P. McCullagh and J. A. Nelder, "Generalized Linear Models" (1989), section 4.5 (over-dispersion); L. Kish, "Survey
    Sampling" (1965), section 5.4 (the design effect).
    """
    interval, observed_overdispersion = (
        two_shares_interval(counts, confidence=1 - level),
        overdispersion(counts),
    )
    alike = assumed_overdispersion(counts) if observed_overdispersion is None else observed_overdispersion
    whole = _widened(interval, difference, alike * _hidden_variance(counts, alike))
    if observed_overdispersion is None:
        return whole
    decides = _widened(interval, difference, alike)
    low, high = whole
    return (
        decides[0] if decides[0] > 0 >= low else low,
        decides[1] if decides[1] < 0 <= high else high,
    )


def _widened(interval: Interval, difference: float, variance: float) -> Interval:
    low, high = ((end - difference) * sqrt(variance) for end in interval)
    return max(-1.0, difference + low), min(1.0, difference + high)


def _hidden_variance(counts: Sequence[TwoCounts], alike: float) -> float:
    """Return how many times the variance within cases is larger than it appears, at most twice."""
    trials = fsum(one.trials_before + one.trials_now for one in counts) / (2 * len(counts))
    return (trials - 1) / max(trials - alike, (trials - 1) / _MOST_HIDDEN)


def by_case(
    values: Sequence[PairedScore],
    level: float,
    reach: float | None,
    p_value: float | None = None,
    *,
    by_test_alone: bool = False,
) -> MeasureTest:
    """Test a measure over cases like these: the cases are the sample, each is one number; `p_value`, if it is known.

    With `by_test_alone` the interval need not agree. It is for the worst values of what is missing: the p-value is the smallest
    of all values, but an interval of few known values and one far outside contains 0.
    """
    difference = fsum(one.difference for one in values) / len(values)
    p_value = p_value_by_case(values, reach) if p_value is None else p_value
    if by_test_alone:
        return _result_of_test(difference, p_value, level)
    return _agree(difference, p_value, level, lambda each: interval_by_case(values, each, reach))


def hull(tests: Sequence[MeasureTest], difference: float) -> MeasureTest:
    """Return what holds under every choice of the missing verdicts: the widest interval, the largest p-value."""
    first = tests[0]
    if len(tests) == 1:
        return first
    low, high = (
        min(difference, *(one.low for one in tests)),
        max(difference, *(one.high for one in tests)),
    )
    p_value = max(one.p_value for one in tests)
    if (
        low <= 0 <= high and p_value <= first.level
    ):  # significant under each of them, but not in one direction
        p_value = 1.0
    return MeasureTest(difference, low, high, p_value, first.level)


def _agree(
    difference: float, p_value: float, level: float, interval_at: Callable[[float], Interval]
) -> MeasureTest:
    level = max(level, LEAST_LEVEL)
    low, high = interval_at(level)
    low, high = min(low, difference), max(high, difference)
    if p_value > level or difference == 0:
        return MeasureTest(difference, min(low, 0.0), max(high, 0.0), max(p_value, level * (1 + 1e-9)), level)
    if not low <= 0 <= high:
        return MeasureTest(difference, low, high, p_value, level)
    return MeasureTest(difference, low, high, _level_without_zero(level, interval_at), level)


def _result_of_test(difference: float, p_value: float, level: float) -> MeasureTest:
    """Return the result of a test without an interval: from 0 if it is not significant."""
    if p_value <= level:
        return MeasureTest(difference, difference, difference, p_value, level)
    return MeasureTest(difference, min(difference, 0.0), max(difference, 0.0), p_value, level)


def _level_without_zero(level: float, interval_at: Callable[[float], Interval]) -> float:
    """Return about the smallest level above `level` at which the interval does not contain 0."""
    contains, excludes = level, 1.0
    for _ in range(_BISECTIONS):
        middle = (contains + excludes) / 2
        low, high = interval_at(middle)
        if low <= 0 <= high:
            contains = middle
        else:
            excludes = middle
    return excludes


# --- by case: the sign test and the bootstrap, and by trials where these are differently many --------------------------

_FINEST_STEP = 4
"""Scores in halves, thirds and quarters of their range are taken for steps; finer ones for a continuum."""
_EVERY_STEP = 12
"""Parts that halves, thirds and quarters are whole numbers of."""


def p_value_by_case(values: Sequence[PairedScore], reach: float | None = 1.0) -> float:
    """Return the two-sided probability that two equal builds differ so much.

    If cases have different numbers of trials in the two runs, both tests must find a difference: the test of signs does not
    account for the spread of a mean of few trials, and the test within cases does not account for trials that resemble
    each other.
    """
    p_value = sign_flip_test([one.difference for one in values])
    counted = _counted_trials(values, reach)
    return max(p_value, trial_permutation_test(counted)) if counted else p_value


def interval_by_case(
    values: Sequence[PairedScore], level: float, reach: float | None = 1.0, *, more_lost: float = 0.0
) -> Interval:
    """Return the interval over cases, at least as wide as that over trials where the runs have different numbers of them."""
    differences = [one.difference for one in values]
    bound = reach if reach or any(differences) else _observed_range(values)
    difference = mean_difference(differences, confidence=1 - level, reach=bound, more_lost=more_lost)
    counted = _counted_trials(values, reach)
    if not counted:
        return difference.low, difference.high
    whole = reach or 1.0
    low, high = two_shares_interval(counted, confidence=1 - level)
    return min(difference.low, low * whole), max(difference.high, high * whole)


def _observed_range(values: Sequence[PairedScore]) -> float:
    """Return how far the scores of a metric without a known range lie apart; the size of its score if all are equal."""
    scores = [score for one in values for score in (one.before, one.now)]
    return max(scores) - min(scores) or max(map(abs, scores)) or 1.0


def _counted_trials(values: Sequence[PairedScore], reach: float | None) -> list[TwoCounts]:
    """Return the cases as counts of trials that passed; none where the runs have as many of each, or nothing to count.

    Of scores only the means are known. Where they come in steps (0 and 1, halves …), they are taken for trials that all
    have the lowest or the highest of them, which is the most that they can differ by chance.
    """
    whole = reach or 1.0
    if all(one.trials_before == one.trials_now for one in values) or not _have_equal_steps(values, whole):
        return []
    return [
        TwoCounts(
            _round_to_steps(one.before / whole, one.trials_before), one.trials_before,
            _round_to_steps(one.now / whole, one.trials_now), one.trials_now,
        )
        for one in values
    ]  # fmt: skip


def _round_to_steps(share: float, trials: int) -> float:
    """Return the number of trials in halves, thirds or quarters of one; a value equal to one of them except for rounding is it."""
    return min(float(trials), max(0.0, round(share * trials * _EVERY_STEP) / _EVERY_STEP))


def _have_equal_steps(values: Iterable[PairedScore], whole: float) -> bool:
    """Return whether all trials may have scores in equal steps from 0 to `whole`."""
    shares = [
        (share / whole, trials)
        for one in values
        for share, trials in ((one.before, one.trials_before), (one.now, one.trials_now))
    ]
    if not all(-1e-9 <= share <= 1 + 1e-9 and trials >= 1 for share, trials in shares):
        return False
    return any(
        all(abs((sums := share * trials * steps) - round(sums)) <= 1e-6 * trials for share, trials in shares)
        for steps in range(1, _FINEST_STEP + 1)
    )


# --- would cases like these get worse? ---------------------------------------------------------------------------------

POWER = 0.8
_MOST_TRIALS = 50
"""Trials of a case beyond which more of them are not proposed."""


def in_general(
    views: Sequence[Sequence[PairedScore]],
    known_difference: float,
    *,
    level: float,
    error: float,
    margin: float,
    gates: bool,
    by_test_alone: bool = False,
) -> InGeneral:
    """Return the difference of pass rates for cases like these, by the pass rates under every completion of the missing verdicts.

    `level` is that of the test and of its interval (two-sided), `error` that of the lower bound (one-sided).
    """
    tested = [by_case(rates, level, 1.0, by_test_alone=by_test_alone) for rates in views]
    widest = hull(tested, known_difference)
    lowest = min(lower_bound(rates, error, margin) for rates in views)
    low = min(widest.low, lowest) if widest.low <= 0 else widest.low
    return InGeneral(
        widest.difference, low, widest.high, 1 - widest.level, widest.p_value, max(low, lowest), gates
    )


_MORE_LOST = 0.5
"""The weight of a lost case that a lower bound adds."""


def lower_bound(rates: Sequence[PairedScore], error: float, margin: float) -> float:
    """Return how much the pass rate may have fallen: the lower end of its difference, one-sided with `error`.

    Half a lost case is added to those that fell. A bootstrap of few losses is too sure of their number. With many trials of each
    case, the differences are small unless a case breaks, and cases of which none is broken say nothing of a rare loss.
    """
    differences = [one.difference for one in rates]
    low = interval_by_case(rates, 2 * error, more_lost=_MORE_LOST)[0]
    if max(differences) > 0 or low < -margin:
        return low
    # if no case gained, a few cases say less about rare losses than a bootstrap supposes
    return min(low, -most_lost(-fsum(differences), len(differences), error=error))


def more_needed(rates: Sequence[PairedScore], margin: float, confidence: float) -> tuple[int, int | None]:
    """Return about how many more cases, or more trials of each, decide whether cases like these get worse.

    Planned for two equal builds: to show that they differ by less than the margin. If there are as many cases
    already, for the difference that was observed; if more than the margin was lost, to detect a drop of that size.
    """
    count, both_sides = len(rates), 1 - 2 * (1 - confidence)
    difference = mean_difference((one.difference for one in rates), confidence=confidence, reach=1.0)
    trials = round(2 * count / fsum(1 / one.trials_before + 1 / one.trials_now for one in rates))
    within = variance_within(_trials_of(rates))
    deviation = max(difference.deviation, expected_deviation(margin, within or 0.0, max(1, trials)))
    detect, level = margin, both_sides
    if difference.value < -margin:
        detect, level = -difference.value, confidence
    elif _cases(detect, deviation, level) <= count:  # enough for equal builds
        detect = min(1.0, max(margin + min(0.0, difference.value), abs(difference.value)))
    more = max(_cases(detect, deviation, level) - count, -(-count // 10))
    if not within:
        return more, None
    between = max(0.0, deviation**2 - 2 * within / trials)
    for enough in range(trials + 1, _MOST_TRIALS + 1):
        if _cases(detect, sqrt(between + 2 * within / enough), level) <= count:
            return more, enough - trials
    return more, None


def _cases(detect: float, deviation: float, confidence: float) -> int:
    return cases_needed(detect, deviation, power=POWER, confidence=confidence)


def _trials_of(rates: Iterable[PairedScore]) -> Iterator[Sequence[float]]:
    for one in rates:
        for rate, trials in ((one.before, one.trials_before), (one.now, one.trials_now)):
            passed = round(rate * trials)
            yield [1.0] * passed + [0.0] * (trials - passed)
