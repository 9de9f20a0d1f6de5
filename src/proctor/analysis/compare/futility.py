"""Whether the trials that are left would still decide a comparison: where they would hardly, they are not made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from proctor.schema.analysis.comparison import PASSED, InGeneral, Look, Measured
from proctor.stats.intervals import normal_quantile, normal_tail

FUTILE = 0.2
"""With less of a chance that the last look decides it, no further trials are made."""


@dataclass(frozen=True, slots=True)
class RemainingTrials:
    """The remaining part of a run at an interim look."""

    last: Look
    share: float
    """Of all the information that there will be at the last look, how much there is now; above 0 and below 1."""


def chance_to_decide(
    measures: Iterable[Measured], general: InGeneral, margin: float, ahead: RemainingTrials
) -> float:
    """Return about how probable it is that the last look decides, by the present evidence: at most 1.

    `measures` are those that decide, each with its interval at the level of the last look; `general` has the interval that
    may rule out a drop larger than the margin. A difference that is observed now is as likely to rise as to fall: at
    the last look it is normally distributed about its present value, and more certain by the ratio of the information
    (the predictive power with a flat prior). The probabilities are added, and cases are assumed to differ by
    chance alone: both make the result rather too large, so that a run ends too late rather than too early.

    Sources: D. J. Spiegelhalter, L. S. Freedman and P. R. Blackburn, "Monitoring clinical trials: conditional or predictive
    power?", Controlled Clinical Trials 7 (1986), 8-17; J. M. Lachin, "A review of methods for futility stopping based on
    conditional power", Statistics in Medicine 24 (2005), 2747-2764 (with which bounds).
    """
    return min(1.0, sum(_significant(one, ahead) for one in measures) + _ruled_out(general, margin, ahead))


def _significant(one: Measured, ahead: RemainingTrials) -> float:
    """Return the probability that this measure is significant at the last look."""
    by_then, moves = _errors(one, ahead)
    if not moves:
        return float(bool(one.verdict))
    far = normal_quantile(one.confidence) * by_then
    worse, better = normal_tail((far + one.difference) / moves), normal_tail((far - one.difference) / moves)
    return worse if one.name == PASSED else worse + better  # a better pass rate also rules out a drop


def _ruled_out(general: InGeneral, margin: float, ahead: RemainingTrials) -> float:
    """Return the probability that the last look rules out a drop larger than the margin."""
    by_then, moves = _errors(general, ahead)
    if not moves:
        return float(general.lowest >= -margin)
    bound = normal_quantile(1 - 2 * ahead.last.one_sided) * by_then - margin
    return normal_tail((bound - general.difference) / moves)


def _errors(one: Measured | InGeneral, ahead: RemainingTrials) -> tuple[float, float]:
    """Return the standard error of a difference at the last look, and of its change until then."""
    error = (one.high - one.low) / 2 / normal_quantile(one.confidence)
    return error * sqrt(ahead.share), error * sqrt(1 - ahead.share)
