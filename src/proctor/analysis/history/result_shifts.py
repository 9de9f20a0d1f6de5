"""Shifts of the results over runs that should not differ: the same code, config and cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, sqrt

from proctor.analysis.compare.measures import on_these_cases
from proctor.stats.paired_tests import tarone_holm
from proctor.stats.unequal_counts import TwoCounts, case_test

LEVEL = 0.05
"""The probability that any shift is found in runs without one."""

Counts = tuple[int, int]
"""Of one case in one run: the trials that passed, and those that passed or failed."""
Results = Mapping[tuple[str, int], Counts]
"""By case (its id, and its place among the cases of that id)."""


@dataclass(frozen=True, slots=True)
class Shift:
    """The results before and after one of the runs differ significantly."""

    place: int
    """The first run after the shift: its place in the sequence."""
    p_value: float
    """Corrected for the number of places that were tested."""
    before: float
    """The mean pass rate of the cases that both stretches have, from 0 to 1."""
    now: float
    cases: int
    """The number of these cases."""


def find_shifts(runs: Sequence[Results], level: float = LEVEL) -> list[Shift]:
    """Return where the results of consecutive runs (oldest first) shift, in their order.

    Every place is a hypothesis: all runs before it against all runs after it. The places with the largest differences are
    tested, and the most significant one divides the runs, if it is significant at `level` after Bonferroni's correction for
    all places; then both parts are searched in turn. Half of a place's level is for the pass rate over the cases (the test
    that decides a comparison; not its interval, which further shifts within a part make wider), half for single cases.

    Source: binary segmentation, A. J. Scott and M. Knott, "A cluster analysis method for grouping means in the analysis of
    variance", Biometrics 30 (1974), 507-512.
    """
    places = len(runs) - 1
    if places < 1:
        return []
    splits = [*_splits(runs)]
    tested = [(_p_value(splits[place - 1], level / places), place) for place in _largest(splits)]
    p_value, place = min(tested, default=(1.0, 0))
    if places * p_value > level:
        return []
    rates = _rates(runs, place)
    later = find_shifts(runs[place:], level)
    return [
        *find_shifts(runs[:place], level),
        Shift(place, places * p_value, *rates),
        *(replace(one, place=place + one.place) for one in later),
    ]


_Split = list[tuple[int, int, int, int]]
"""Before and after one place: passed and all trials of each case that has trials on both sides and did not always end alike."""
_MOST_TESTED = 2
"""Places with the largest difference of the pass rate, and of a case, that are tested."""


def _splits(runs: Sequence[Results]) -> Iterator[_Split]:
    """Yield the counts before and after each place, in order; a case that always passed or failed has no part in them."""
    totals = _sum(runs)
    moving = {case: total for case, total in totals.items() if 0 < total[0] < total[1]}
    before = dict.fromkeys(moving, (0, 0))
    for run in runs[:-1]:
        for case in moving.keys() & run.keys():
            passed, trials = before[case]
            before[case] = passed + run[case][0], trials + run[case][1]
        yield [
            (passed, trials, moving[case][0] - passed, moving[case][1] - trials)
            for case, (passed, trials) in before.items()
            if 0 < trials < moving[case][1]
        ]


def _sum(runs: Sequence[Results]) -> dict[tuple[str, int], Counts]:
    counts: dict[tuple[str, int], Counts] = {}
    for run in runs:
        for case, (passed, decided) in run.items():
            before = counts.get(case, (0, 0))
            counts[case] = before[0] + passed, before[1] + decided
    return counts


def _largest(splits: Sequence[_Split]) -> list[int]:
    """Return the places where the pass rate, or a case, differs most, in units of its standard error."""
    scores = [(*_scores(split), place) for place, split in enumerate(splits, 1) if split]
    of_set = sorted(scores, key=lambda one: -one[0])[:_MOST_TESTED]
    of_case = sorted(scores, key=lambda one: -one[1])[:_MOST_TESTED]
    return sorted({place for *_, place in (*of_set, *of_case)})


def _scores(split: _Split) -> tuple[float, float]:
    total, variance, largest = 0.0, 0.0, 0.0
    for passed, trials, passed_later, later in split:
        rate = (passed + passed_later) / (trials + later)
        difference = passed_later / later - passed / trials
        of_case = rate * (1 - rate) * (1 / trials + 1 / later)
        total, variance = total + difference, variance + of_case
        if of_case:
            largest = max(largest, difference * difference / of_case)
    return (abs(total) / sqrt(variance) if variance else 0.0), largest


def _p_value(split: _Split, level: float) -> float:
    """Return the p-value of one place."""
    counts = [TwoCounts(*one) for one in split]
    if not counts:
        return 1.0
    by_case = min(_least(counts, level / 4), _least([one.swap() for one in counts], level / 4))
    return min(1.0, 2 * on_these_cases(counts, level / 2, by_test_alone=True).p_value, 4 * by_case)


def _least(counts: Sequence[TwoCounts], level: float) -> float:
    """Return the smallest adjusted p-value of a case that is worse by itself."""
    tests = [case_test(one) for one in counts]
    return min(tarone_holm([p_value for p_value, _ in tests], [least for _, least in tests], level))


def _rates(runs: Sequence[Results], place: int) -> tuple[float, float, int]:
    before, now = _sum(runs[:place]), _sum(runs[place:])
    cases = [case for case in before.keys() & now.keys() if before[case][1] and now[case][1]]
    rates = (fsum(side[case][0] / side[case][1] for case in cases) / len(cases) for side in (before, now))
    return next(rates), next(rates), len(cases)
