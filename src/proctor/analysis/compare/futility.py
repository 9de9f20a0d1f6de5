"""Whether the trials that are left would still decide a comparison: where they would hardly, they are not made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import erfc, sqrt

from proctor.schema.analysis.comparison import PASSED, Look, Measured
from proctor.stats.intervals import normal_quantile

FUTILE = 0.2
"""With less of a chance that the last look decides it, no further trials are made."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """The remaining part of a run at an interim look."""

    last: Look
    share: float
    """Of all the information that there will be at the last look, how much there is now; above 0 and below 1."""


def chance_to_decide(
    measures: Iterable[Measured], shares: Mapping[str, float], margin: float, ahead: Ahead
) -> float:
    """Return about how probable it is that the last look decides, by what is known now: at most 1.

    `measures` are those that decide, with the intervals that the last look asks for, `shares` by name what each has of
    the chance of a false alarm. A difference that is seen now is as likely to rise as to fall: by then it is normally
    distributed about what it is now, and as much more certain as there is more information (the predictive power, every
    difference alike beforehand). What measures decide is added up, and cases are taken to differ by chance alone: both
    make the chance rather too large, so that trials are given up too late rather than too early.

    Sources: D. J. Spiegelhalter, L. S. Freedman and P. R. Blackburn, "Monitoring clinical trials: conditional or predictive
    power?", Controlled Clinical Trials 7 (1986), 8-17; J. M. Lachin, "A review of methods for futility stopping based on
    conditional power", Statistics in Medicine 24 (2005), 2747-2764 (with which bounds).
    """
    return min(1.0, sum(_chance(one, shares[one.name], margin, ahead) for one in measures))


def _chance(one: Measured, share: float, margin: float, ahead: Ahead) -> float:
    """Return the probability that this measure shows a difference at the last look, or that the pass rate is no worse."""
    error = (one.high - one.low) / 2 / normal_quantile(1 - ahead.last.two_sided)
    by_then, moves = error * sqrt(ahead.share), error * sqrt(1 - ahead.share)
    if not moves:
        return 1.0
    far = normal_quantile(1 - ahead.last.two_sided * share) * by_then
    above = far
    if one.name == PASSED:
        above = min(far, normal_quantile(1 - 2 * ahead.last.one_sided) * by_then - margin)
    return _upper((above - one.difference) / moves) + _upper((far + one.difference) / moves)


def _upper(z: float) -> float:
    return erfc(z / sqrt(2)) / 2
