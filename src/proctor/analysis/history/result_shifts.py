"""Shifts of the results over runs that should not differ: the same code, config and cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

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
    """The results before and after one of the runs differ beyond chance."""

    place: int
    """The first run after the shift: its place in the sequence."""
    p_value: float
    """Corrected for the number of places that were tested."""
    before: float
    """The pass rate over the cases of both stretches, from 0 to 1."""
    now: float


def find_shifts(runs: Sequence[Results], level: float = LEVEL) -> list[Shift]:
    """Return where the results of consecutive runs (oldest first) shift, in their order.

    Every place is tested with all runs before it against all runs after it; the most significant one divides the runs, if
    it is significant at `level` after Bonferroni's correction, and both parts are searched in turn. Half of a place's level
    is for the pass rate over the cases (the test that decides a comparison), half for single cases.

    Source: binary segmentation, A. J. Scott and M. Knott, "A cluster analysis method for grouping means in the analysis of
    variance", Biometrics 30 (1974), 507-512.
    """
    places = len(runs) - 1
    if places < 1:
        return []
    tested = [(_p_value(*_sums(runs, place), level / places), place) for place in range(1, len(runs))]
    p_value, place = min(tested)
    if places * p_value > level:
        return []
    before, now = _rates(*_sums(runs, place))
    later = find_shifts(runs[place:], level)
    return [
        *find_shifts(runs[:place], level),
        Shift(place, places * p_value, before, now),
        *(Shift(place + one.place, one.p_value, one.before, one.now) for one in later),
    ]


_Sums = dict[tuple[str, int], Counts]


def _sums(runs: Sequence[Results], place: int) -> tuple[_Sums, _Sums]:
    return _sum(runs[:place]), _sum(runs[place:])


def _sum(runs: Sequence[Results]) -> _Sums:
    found: _Sums = {}
    for run in runs:
        for case, (passed, decided) in run.items():
            before = found.get(case, (0, 0))
            found[case] = before[0] + passed, before[1] + decided
    return found


def _p_value(before: _Sums, now: _Sums, level: float) -> float:
    """Return the p-value of one place; a case that passed or failed throughout in both stretches has no part in it."""
    counts = [
        TwoCounts(before[case][0], before[case][1], *now[case])
        for case in before.keys() & now.keys()
        if before[case][1] and now[case][1]
    ]
    moving = [one for one in counts if 0 < one.before + one.now < one.trials_before + one.trials_now]
    if not moving:
        return 1.0
    by_case = min(_least(moving, level / 4), _least([one.swap() for one in moving], level / 4))
    return min(1.0, 2 * on_these_cases(moving, level / 2).p_value, 4 * by_case)


def _least(counts: Sequence[TwoCounts], level: float) -> float:
    """Return the smallest adjusted p-value of a case that is worse by itself."""
    tests = [case_test(one) for one in counts]
    return min(tarone_holm([p_value for p_value, _ in tests], [least for _, least in tests], level))


def _rates(before: _Sums, now: _Sums) -> tuple[float, float]:
    cases = [case for case in before.keys() & now.keys() if before[case][1] and now[case][1]]
    rates = (fsum(side[case][0] / side[case][1] for case in cases) / len(cases) for side in (before, now))
    return next(rates), next(rates)
