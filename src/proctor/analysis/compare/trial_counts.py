"""Where two runs have different numbers of trials of a case: what is measured, as trials that can be counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proctor.stats.paired_tests import sign_flip_test
from proctor.stats.unequal_counts import TwoCounts, dealt_out_test, two_shares_interval

_FINEST_STEP = 4
"""Scores in halves, thirds and quarters of their range are taken for steps; finer ones for a continuum."""
_EVERY_STEP = 12
"""Parts that halves, thirds and quarters are whole numbers of."""


@dataclass(frozen=True, slots=True)
class Both:
    """What one case has of one thing that is measured, in the base and in the candidate: means over so many trials."""

    before: float
    now: float
    trials_before: int
    trials_now: int

    @property
    def difference(self) -> float:
        """Candidate less base; what is 0 but for rounding is 0, and equal differences are equal."""
        return round(self.now - self.before, 12) + 0.0


def p_value_of(values: Sequence[Both], reach: float | None = 1.0) -> float:
    """Return the chance that two builds that do the same differ so much.

    Where cases have different numbers of trials in the two runs, both tests must find so: that of signs knows nothing of
    how a mean of few trials is spread, that of trials dealt out anew nothing of trials that resemble each other.
    """
    p_value = sign_flip_test([one.difference for one in values])
    counted = counted_trials(values, reach)
    return max(p_value, dealt_out_test(counted)) if counted else p_value


def widened(
    low: float, high: float, values: Sequence[Both], *, confidence: float, reach: float | None = 1.0
) -> tuple[float, float]:
    """Return an interval over cases, at least as wide as that by their trials where these are differently many."""
    counted = counted_trials(values, reach)
    if not counted:
        return low, high
    whole = reach or 1.0
    least, most = two_shares_interval(counted, confidence=confidence)
    return min(low, least * whole), max(high, most * whole)


def counted_trials(values: Sequence[Both], reach: float | None) -> list[TwoCounts]:
    """Return the cases as counts of trials that passed; none where the runs have as many of each, or nothing to count.

    Of scores only the means are known. Where they come in steps (0 and 1, halves …), they are taken for trials that all
    have the lowest or the highest of them, which is the most that they can differ by chance.
    """
    whole = reach or 1.0
    if all(one.trials_before == one.trials_now for one in values) or not _in_steps(values, whole):
        return []
    return [
        TwoCounts(
            _passed(one.before / whole, one.trials_before), one.trials_before,
            _passed(one.now / whole, one.trials_now), one.trials_now,
        )
        for one in values
    ]  # fmt: skip


def _passed(share: float, trials: int) -> float:
    """So many trials, in halves, thirds or quarters of one: what is one of them but for rounding is it."""
    return min(float(trials), max(0.0, round(share * trials * _EVERY_STEP) / _EVERY_STEP))


def _in_steps(values: Iterable[Both], whole: float) -> bool:
    """Tell whether all trials may have had scores of some steps from 0 to `whole`."""
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
