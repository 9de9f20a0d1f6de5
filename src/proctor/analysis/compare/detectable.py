"""Which drop a comparison on these cases would have noticed: the other half of "no difference seen"."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, fsum, log2, sqrt

from proctor.stats.binomial import at_most
from proctor.stats.intervals import normal_quantile
from proctor.stats.paired_tests import tarone_holm
from proctor.stats.power import variance_within
from proctor.stats.unequal_counts import TwoCounts, case_test

POWER = 0.8
_STEPS = 100


@dataclass(frozen=True, slots=True)
class Detectable:
    """The drops that are noticed with a probability of 80 %."""

    case_rate: float | None
    """The pass rate to which one case may drop from 100 % and still be noticed by itself; `None`: no such drop is."""
    overall: float | None
    """The drop of the pass rate over the set; `None`: no drop is noticed."""


def detectable_drop(
    counts: Sequence[TwoCounts], *, case_level: float, overall_level: float, power: float = POWER
) -> Detectable:
    """Return which drops would be noticed on these cases, with these numbers of trials, at the one-sided levels.

    `power` is the probability with which the drop of one case is noticed.

    One case: it passes throughout in the baseline, and is tested with correction for those of the others that are flaky. The
    set: every trial fails additionally with the same probability; the test needs at least `log2(1 / level)` trials that
    fail, and flaky trials add their variance.
    """
    trials = min(
        ((one.trials_before, one.trials_now) for one in counts), key=lambda both: case_power_key(*both)
    )
    others = [case_test(one)[1] for one in counts[1:]]
    return Detectable(_case_rate(trials, case_level, others, power), _overall_drop(counts, overall_level))


def case_power_key(before: int, now: int) -> float:
    """Return the harmonic size of two numbers of trials: the smaller, the less is noticed."""
    return before * now / (before + now)


def _case_rate(trials: tuple[int, int], level: float, others: Sequence[float], power: float) -> float | None:
    """Return the pass rate to which a case may drop; `others` are the smallest p-values of the other cases."""
    before, now = trials

    def is_significant(passed: int) -> bool:
        p_value, least = case_test(TwoCounts(before, before, passed, now))
        return tarone_holm([p_value, *[1.0] * len(others)], [least, *others], level)[0] <= level

    most = max(filter(is_significant, range(now)), default=-1)
    if most < 0:
        return None
    steps = range(
        1, _STEPS + 1
    )  # a case that always fails is noticed, and less and less of one that passes more often
    return bisect_left(steps, True, key=lambda step: at_most(most, now, step / _STEPS) < power) / _STEPS


def _overall_drop(counts: Sequence[TwoCounts], level: float) -> float | None:
    trials = sum(one.trials_now for one in counts)
    least = ceil(-log2(level) - 1e-9)
    if trials < least:
        return None
    steps = range(2 * _STEPS)  # the more each trial fails, the more likely enough of them do
    enough = bisect_left(
        steps, True, key=lambda step: at_most(least - 1, trials, step / len(steps)) <= 1 - POWER
    )
    by_count = enough / len(steps)
    drop = max(by_count, (normal_quantile(1 - 2 * level) + normal_quantile(2 * POWER - 1)) * _error(counts))
    return drop if drop <= 1 else None


def _error(counts: Sequence[TwoCounts]) -> float:
    """Return the standard error of the difference of pass rates, by the variance of the trials within cases."""
    sides = [side for one in counts for side in ((one.before, one.trials_before), (one.now, one.trials_now))]
    within = variance_within(
        [1.0] * round(passed) + [0.0] * round(trials - passed) for passed, trials in sides
    )
    return sqrt((within or 0.0) * fsum(1 / trials for _, trials in sides)) / len(counts)
