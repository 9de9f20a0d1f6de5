"""Trials that resemble each other within a run, for example because a service is down for an hour: what a single case must then show.

Two runs alone cannot tell such trials from a change of one case. The other flaky cases (those with passed and failed trials)
show how much cases vary between the runs. While there are any, a single case must exceed them:

* The squared correlation of run and result over its trials must be at least 0.6 times the mean excess of the other flaky
  cases, and at least 0.6. The excess is 1 on average if trials are independent. A case that goes from all to none has the
  correlation 1, and that is always enough.
* With many trials and flaky cases an F test is enough, for which the mean excess counts as at least 1, too.
* If three or more flaky cases vary significantly more than independent trials would, no single case exceeds them.

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


def resemblance(cases: Iterable[TwoCounts]) -> float:
    """Return how many times as much flaky cases vary between the runs as independent trials would; 1 if not significantly.

    The test is that of homogeneity by chi-square, over the cases.
    """
    excesses, flaky = _excesses([one] for one in cases)
    return _mean(excesses) if _is_significant(excesses, len(excesses), flaky) else 1.0


def is_beyond_resemblance(case: Sequence[TwoCounts], others: Iterable[Sequence[TwoCounts]]) -> bool:
    """Return whether a case changed by more than the other cases explain, under each choice of the missing verdicts."""
    excesses, flaky = _excesses(others)
    if _is_significant(excesses, len(excesses), flaky):
        return False
    degrees = max(len(excesses), min(1, flaky))
    return all(exceeds(one, _mean(excesses), degrees) for one in case)


def could_be_beyond_resemblance(case: TwoCounts, known: Iterable[TwoCounts], others: int) -> bool:
    """Return whether a case could be beyond resemblance: `case` has its worst values, and up to `others` more cases may be flaky."""
    excesses = [each for one in known if (each := excess_of_difference(one)) is not None]
    degrees = len(excesses) + others
    if _is_significant(excesses, degrees, len(excesses)):
        return False
    return not excesses or exceeds(case, fsum(excesses) / degrees, degrees)


def exceeds(case: TwoCounts, mean_excess: float, flaky: int) -> bool:
    """Return whether a case changed by more than so many other flaky cases, which vary so much on average (infinitely: no)."""
    if not flaky:
        return True
    if mean_excess == inf:
        return False
    trials = case.trials_before + case.trials_now
    by_trials = student_quantile(_CONFIDENCE_OF_CASE, flaky) ** 2 / (trials - 1)
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
