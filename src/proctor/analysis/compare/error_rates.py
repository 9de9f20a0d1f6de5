"""The error rates of a comparison: the probability of a false regression, divided over the tests, and the drops that they notice.

All tests are one-sided: 2 % for single cases, 2 % for the pass rate of the set, 1 % for the metrics. If a drop in general is
a regression, too (`--generalize`), it gets 2 %, and cases and set get 1 % each. By Bonferroni's inequality the probability
that any of them is wrong is at most the sum. The same levels hold for improvements.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum

from proctor.analysis.compare.measures import interval_of_trials
from proctor.analysis.compare.overdispersion import exceeds, likely_excesses
from proctor.schema.analysis.comparison import PASSED, Comparison
from proctor.stats.intervals import at_most
from proctor.stats.paired_tests import tarone_holm
from proctor.stats.power import pass_rate_size, smallest_drop
from proctor.stats.unequal_counts import TwoCounts, case_test, trial_permutation_test


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """The one-sided significance level of each kind of test."""

    cases: float
    """Of all single cases together."""
    overall: float
    """Of the pass rate over the set."""
    metrics: float
    """Of all metrics that decide, together."""
    general: float
    """Of the pass rate in general; 0: it does not decide."""


_SHARES = ErrorBudget(cases=0.4, overall=0.4, metrics=0.2, general=0.0)
_SHARES_IF_GENERAL = ErrorBudget(cases=0.2, overall=0.2, metrics=0.2, general=0.4)


def divide_error(error: float, *, generalize: bool = False) -> ErrorBudget:
    """Divide the probability `error` of a false regression over the tests."""
    shares = _SHARES_IF_GENERAL if generalize else _SHARES
    return ErrorBudget(
        shares.cases * error, shares.overall * error, shares.metrics * error, shares.general * error
    )


def describe_tests(comparison: Comparison) -> list[str]:
    """Return the tests of a comparison with their levels and corrections, and the p-values of the cases that are worse."""
    if comparison.general is None:
        return []
    cases = (
        f"{one.name}: p = {one.p_value:.2g}, {one.adjusted:.2g} after correction"
        for one in comparison.significant_cases
    )
    return [
        *_deciding_tests(comparison, divide_error(_error(comparison), generalize=comparison.general.gates)),
        f"other measures: {_SIGNS}; {_percent(1 - comparison.confidence)} each, without correction",
        f"in general: {_SIGNS}, and a bootstrap over cases; {_percent(1 - comparison.general.confidence)}",
        *cases,
    ]


def _deciding_tests(comparison: Comparison, budget: ErrorBudget) -> Iterator[str]:
    is_single = comparison.base.num_runs == comparison.candidate.num_runs == 1
    rate_test = "McNemar's exact test" if is_single else "permutation test of the trials within each case"
    metrics = sum(one.decides and one.name != PASSED for one in comparison.measures)
    yield f"single cases: Fisher's exact test, one-sided; {_percent(budget.cases)} over all cases, with Tarone's and Holm's corrections"
    yield f"{PASSED}: {rate_test}, two-sided; {_percent(2 * budget.overall)}"
    if metrics:
        yield f"metrics that decide: {_SIGNS}; {_percent(2 * budget.metrics)} over {metrics}, with Holm's correction"


_SIGNS = "permutation test of the signs of the cases' differences, two-sided"


def _error(comparison: Comparison) -> float:
    return 1 - comparison.confidence if comparison.look is None else comparison.look.one_sided


def _percent(level: float) -> str:
    return f"{100 * level:.2g} %"


# --- Which drop would be noticed ---------------------------------------------------------------------------------------


POWER = 0.8
_STEPS = 100


@dataclass(frozen=True, slots=True)
class Detectable:
    """The drops that are noticed with a probability of 80 %."""

    case_rate: float | None
    """The pass rate to which one case may drop from 100 % and still be noticed by itself; `None`: no such drop is."""
    overall: float | None
    """The drop of the pass rate over the set; `None`: no drop is noticed."""


def detectable_drop(counts: Sequence[TwoCounts], *, case_level: float, overall_level: float) -> Detectable:
    """Return which drops would be noticed on these cases, with these numbers of trials, at the one-sided levels.

    The set: every trial fails additionally with the same probability, as in a plan (`PassRateSize`).
    """
    return Detectable(
        detectable_case_rate(counts, level=case_level, power=POWER), _overall_drop(counts, overall_level)
    )


def detectable_case_rate(counts: Sequence[TwoCounts], *, level: float, power: float) -> float | None:
    """Return the pass rate to which a case may drop from 100 % and be noticed with the probability `power`; `None`: no such drop is.

    It is tested with correction for those of the other cases that are flaky, and must exceed what these are likely to vary
    (`overdispersion`). If none of them is flaky, the pass rate over the set may notice it, too.
    """
    trials = min(
        ((one.trials_before, one.trials_now) for one in counts), key=lambda both: case_power_key(*both)
    )
    flaky = [one for one in counts if 0 < one.before + one.now < one.trials_before + one.trials_now]
    others = [case_test(one)[1] for one in flaky[len(flaky) == len(counts) :]]
    before, now = trials
    significant = [
        case
        for passed in range(now)
        if _is_significant(case := TwoCounts(before, before, passed, now), level, others)
    ]
    if len(counts) == 1:
        return _case_rate(now, [len(significant) - 1], power)
    by_set = [] if others else [one.now for one in significant if _falls_with_set(one, level)]
    return _case_rate(
        now,
        [
            max((*by_set, *(one.now for one in significant if exceeds(one, each, len(others)))), default=-1)
            for each in likely_excesses(len(others))
        ],
        power,
    )


def case_power_key(before: int, now: int) -> float:
    """Return the harmonic size of two numbers of trials: the smaller, the less is noticed."""
    return before * now / (before + now)


def _falls_with_set(case: TwoCounts, level: float) -> bool:
    """Return whether the pass rate over a set falls significantly if this is the only case that does."""
    steady = TwoCounts(case.trials_before, case.trials_before, case.trials_now, case.trials_now)
    difference = (case.now / case.trials_now - case.before / case.trials_before) / 2
    return interval_of_trials([case, steady], difference, 2 * level)[1] < 0


def _case_rate(trials: int, mosts: Sequence[float], power: float) -> float | None:
    """Return the pass rate to which a case may drop; with one of `mosts` passes or fewer it is noticed, each equally likely."""

    def is_noticed(step: int) -> bool:
        shares = [at_most(int(most), trials, step / _STEPS) for most in mosts]
        return fsum(shares) / len(shares) >= power - 1e-9

    if not is_noticed(0):
        return None
    steps = range(
        1, _STEPS + 1
    )  # a case that always fails is noticed, and less and less of one that passes more often
    return bisect_left(steps, True, key=lambda step: not is_noticed(step)) / _STEPS


def _is_significant(case: TwoCounts, level: float, others: Sequence[float]) -> bool:
    p_value, least = case_test(case)
    return tarone_holm([p_value, *[1.0] * len(others)], [least, *others], level)[0] <= level


def _overall_drop(counts: Sequence[TwoCounts], level: float) -> float | None:
    sides = [side for one in counts for side in ((one.before, one.trials_before), (one.now, one.trials_now))]
    trials = [[1.0] * round(passed) + [0.0] * round(trial_count - passed) for passed, trial_count in sides]
    size = pass_rate_size(trials, level=2 * level, power=POWER)
    each = len(sides) / fsum(1 / trial_count for _, trial_count in sides)
    drop = smallest_drop(size, len(counts), max(1, round(each)))
    rate = fsum(one.before / one.trials_before for one in counts) / len(counts)
    if drop is None or drop <= rate:
        return drop
    # no drop is larger than the pass rate: then every trial fails
    fallen = [TwoCounts(one.before, one.trials_before, 0, one.trials_now) for one in counts]
    return rate if trial_permutation_test(fallen) <= 2 * level else None
