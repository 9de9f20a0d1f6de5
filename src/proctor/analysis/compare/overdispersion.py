"""Overdispersion: trials of a run that resemble each other, as if a service is down for an hour, and what a comparison must then show.

Two runs alone cannot tell such trials from a change of one case. The other flaky cases (those with passed and failed trials)
show how much cases vary between the runs. A single case must exceed them:

* The squared correlation of run and result over its trials must be at least 0.6, and at least 0.6 times the mean excess of the
  other flaky cases. The excess is 1 on average if trials are independent. A case that goes from all to none has the
  correlation 1, which is enough.
* With many trials and flaky cases an F test is enough, for which the mean excess counts as at least 1, too.
* If three or more flaky cases vary significantly more than independent trials would, no single case exceeds them.
* Four trials in each run are too few if two or more other cases are flaky: half of them alike go from all to none in 2.5 % of
  comparisons, which is more than single cases may err.

If only one or two cases are flaky, the pass rate over the set is tested as if half of the trials were alike. A comparison of a
single case has no other cases, and is for settling what another comparison left open: its exact test decides.

Sources: P. McCullagh and J. A. Nelder, "Generalized Linear Models" (1989), section 4.5 (over-dispersion); the correlation by
simulation (`benchmarks.false_alarms`), because the trials of few cases resemble each other in more ways than the F test assumes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import fsum, inf

from proctor.stats.intervals import chi_square_tail, student_quantile
from proctor.stats.unequal_counts import TwoCounts, excess_of_difference, squared_correlation

_FEWEST_FLAKY = 3
"""Cases that are flaky: with fewer of them it cannot be seen whether trials resemble each other."""
_LEVEL = 0.2
_LEAST_CORRELATION = 0.6
_CONFIDENCE_OF_CASE = 0.9998
"""The confidence (two-sided) of the F test of a single case."""
_SUPPOSED_CORRELATION = 0.25
"""The correlation of two trials of a case within a run, of which half go the same way."""
_TOO_FEW_TRIALS = 8
"""Trials of a case in both runs that go from all to none too often by chance if half of them are alike: (3/4)^8 / 4."""
_FLAKY_THAT_ALSO_ERR = 2


def overdispersion(cases: Sequence[TwoCounts]) -> float | None:
    """Return how many times as much flaky cases vary between the runs as independent trials would; 1 if not significantly.

    `None` if one or two cases of several are flaky: these cannot show it. The test is that of homogeneity by chi-square, over the cases.
    """
    excesses, flaky = _excesses([one] for one in cases)
    if len(cases) > 1 and 0 < flaky < _FEWEST_FLAKY:
        return None
    return _mean(excesses) if _is_significant(excesses, len(excesses), flaky) else 1.0


def assumed_overdispersion(cases: Sequence[TwoCounts]) -> float:
    """Return how many times as much cases vary between the runs if half of their trials are alike.

    Source: L. Kish, "Survey Sampling" (1965), section 5.4 (the design effect).
    """
    trials = 2 * len(cases) / fsum(1 / one.trials_before + 1 / one.trials_now for one in cases)
    return 1 + (trials - 1) * _SUPPOSED_CORRELATION


def exceeds_overdispersion(case: Sequence[TwoCounts], others: Sequence[Sequence[TwoCounts]]) -> bool:
    """Return whether a case changed by more than the other cases explain, under each choice of the missing verdicts."""
    if not others:
        return True
    excesses, flaky = _excesses(others)
    if _is_significant(excesses, len(excesses), flaky):
        return False
    degrees = max(len(excesses), min(1, flaky))
    return all(exceeds(one, _mean(excesses), degrees) for one in case)


def could_exceed_overdispersion(case: TwoCounts, known: Sequence[TwoCounts], others: int) -> bool:
    """Return whether a case could be beyond the overdispersion: `case` has its worst values, and up to `others` more cases may be flaky."""
    if not known:
        return True
    excesses = [each for one in known if (each := excess_of_difference(one)) is not None]
    degrees = len(excesses) + others
    if _is_significant(excesses, degrees, len(excesses)) or _has_too_few_trials(case, len(excesses)):
        return False
    least_excess = fsum(excesses) / degrees if degrees else 1.0
    return _correlates(case, least_excess, degrees)


def exceeds(case: TwoCounts, mean_excess: float, flaky: int) -> bool:
    """Return whether a case changed by more than so many other flaky cases, which vary so much on average (infinitely: no)."""
    return not _has_too_few_trials(case, flaky) and _correlates(case, mean_excess, flaky)


def _has_too_few_trials(case: TwoCounts, flaky: int) -> bool:
    return flaky >= _FLAKY_THAT_ALSO_ERR and case.trials_before + case.trials_now <= _TOO_FEW_TRIALS


def _correlates(case: TwoCounts, mean_excess: float, flaky: int) -> bool:
    if mean_excess == inf:
        return False
    trials = case.trials_before + case.trials_now
    by_trials = student_quantile(_CONFIDENCE_OF_CASE, flaky) ** 2 / (trials - 1) if flaky else inf
    needed = min(_LEAST_CORRELATION, by_trials) * max(1.0, mean_excess)
    return squared_correlation(case) >= min(1.0, needed) - 1e-9


_PARTS = 20
_MOST_DEGREES = 100
"""The mean excess of more flaky cases hardly differs from 1."""


@lru_cache(maxsize=16)
def likely_excesses(flaky: int) -> list[float]:
    """Return equally likely mean excesses of so many flaky cases if trials are independent; infinite if significant."""
    if not flaky:
        return [1.0]
    degrees = min(flaky, _MOST_DEGREES)
    tails = [(part + 0.5) / _PARTS for part in range(_PARTS)]
    is_enough = flaky >= _FEWEST_FLAKY
    return [inf if is_enough and tail < _LEVEL else _chi_square_at(tail, degrees) / degrees for tail in tails]


def _chi_square_at(tail: float, degrees: int) -> float:
    """Return the value above which a chi-square variable is with this probability."""
    low, high = 0.0, 10.0 * degrees
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if chi_square_tail(middle, degrees) > tail else (low, middle)
    return high


def _excesses(cases: Iterable[Sequence[TwoCounts]]) -> tuple[list[float], int]:
    """Return by how much the flaky cases vary, by the choice that shows most, and how many may be flaky."""
    excesses, flaky = [], 0
    for choices in cases:
        known = [each for one in choices if (each := excess_of_difference(one)) is not None]
        flaky += bool(known) or _missing(choices) > 1  # steady at both ends, and perhaps flaky between them
        if known and (
            len(known) == len(choices) or max(known) > 1
        ):  # steady under a choice: it would hide the others
            excesses.append(max(known))
    return excesses, flaky


def _missing(choices: Sequence[TwoCounts]) -> float:
    first, last = choices[0], choices[-1]
    return abs(first.before - last.before) + abs(first.now - last.now)


def _mean(excesses: Sequence[float]) -> float:
    return fsum(excesses) / len(excesses) if excesses else 1.0


def _is_significant(excesses: Sequence[float], degrees: int, flaky: int) -> bool:
    return flaky >= _FEWEST_FLAKY and bool(excesses) and chi_square_tail(fsum(excesses), degrees) < _LEVEL
