"""Agreement between judge verdicts and human labels, and the correction of a pass rate for judge errors.
All functions use only the standard library. Intervals are two-sided and keep their coverage for few labels and near 0
and 1 (`tests/stats/test_agreement.py` measures the coverage).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, sqrt

from proctor.stats.intervals import normal_quantile, score_interval, wilson


@dataclass(frozen=True, slots=True)
class Estimate:
    """A point estimate with its confidence interval."""

    value: float | None
    """`None` if it is undefined: a rate over no items, or kappa if both raters gave one and the same verdict throughout."""
    low: float
    high: float

    def __str__(self) -> str:
        return (
            "unknown" if self.value is None else f"{self.value:.2f} (CI: {self.low:.2f} to {self.high:.2f})"
        )

    @property
    def width(self) -> float:
        """The length of the interval."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class Confusion:
    """The confusion matrix of judge verdicts against human labels."""

    both_pass: int = 0
    """True passes: human label pass, judge verdict pass."""
    judge_fails: int = 0
    """False fails: human label pass, judge verdict fail."""
    judge_passes: int = 0
    """False passes: human label fail, judge verdict pass."""
    both_fail: int = 0
    """True fails: human label fail, judge verdict fail."""

    def __post_init__(self) -> None:
        if min(self.both_pass, self.judge_fails, self.judge_passes, self.both_fail) < 0:
            raise ValueError(f"expected counts of at least 0, got {self}")

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> Confusion:
        """Count pairs of (human label, judge verdict)."""
        counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
        for human, judge in pairs:
            counts[human, judge] += 1
        return cls(*counts.values())

    @property
    def total(self) -> int:
        """The number of items with both a human label and a judge verdict."""
        return self.both_pass + self.judge_fails + self.judge_passes + self.both_fail

    @property
    def human_passes(self) -> int:
        """The number of items with the human label pass."""
        return self.both_pass + self.judge_fails

    @property
    def human_fails(self) -> int:
        """The number of items with the human label fail."""
        return self.judge_passes + self.both_fail


def accuracy(confusion: Confusion, *, confidence: float = 0.95) -> Estimate:
    """Return the share of items on which judge and human label agree, with its Wilson interval."""
    return _share(confusion.both_pass + confusion.both_fail, confusion.total, confidence)


def true_pass_rate(confusion: Confusion, *, confidence: float = 0.95) -> Estimate:
    """Return the true positive rate (sensitivity): the share of human passes that the judge passes, with its Wilson interval."""
    return _share(confusion.both_pass, confusion.human_passes, confidence)


def true_fail_rate(confusion: Confusion, *, confidence: float = 0.95) -> Estimate:
    """Return the true negative rate (specificity): the share of human fails that the judge fails, with its Wilson interval."""
    return _share(confusion.both_fail, confusion.human_fails, confidence)


def _share(count: int, total: int, confidence: float) -> Estimate:
    return Estimate(count / total if total else None, *wilson(count, total, confidence=confidence))


def items_for_width(count: int, total: int, width: float, *, confidence: float = 0.95) -> int:
    """Return how many items a rate needs for a Wilson interval of at most `width` (above 0, below 1), if it remains as it is.

    The rate is taken as (count + 1) / (total + 2), Laplace's rule of succession: `total` items that agree throughout do not prove a
    rate of 1, and without items the rate is 0.5, which needs the most.

    Raises:
        ValueError: not 0 <= count <= total, or not 0 < width < 1.
    """
    if not (0 <= count <= total and 0 < width < 1):
        raise ValueError(f"expected 0 <= count <= total, 0 < width < 1; got {count}, {total}, {width}")
    rate, z = (count + 1) / (total + 2), normal_quantile(confidence)

    def is_enough(items: int) -> bool:
        low, high = score_interval(rate, items, z)
        return high - low <= width

    upper = 1
    while not is_enough(upper):
        upper *= 2
    return bisect_left(range(upper + 1), 1, lo=1, key=lambda items: int(is_enough(items)))


# --- Cohen's kappa ---------------------------------------------------------------------------------------------------


def cohen_kappa(confusion: Confusion, *, confidence: float = 0.95) -> Estimate:
    """Return Cohen's kappa, the agreement beyond chance (1: complete, 0: as by chance), with its interval within -1 to 1.

    The value is `None` without labels, or if both raters gave one and the same verdict throughout: kappa is then undefined.

    The interval is the large-sample interval of the table with 1 added to each of its four cells; without labels -1 to 1. Without the addition it
    would shrink to the point 1 if a few labels happen to agree. It always contains the estimate.

    Sources: J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20
    (1960), 37-46. Standard error: J. L. Fleiss, J. Cohen, B. S. Everitt, "Large sample standard errors of kappa and
    weighted kappa", Psychological Bulletin 72 (1969), 323-327. Adding to cells before a large-sample interval:
    A. Agresti, B. A. Coull, "Approximate is better than 'exact' for interval estimation of binomial proportions", The
    American Statistician 52 (1998), 119-126.
    """
    if not confusion.total:
        return Estimate(None, -1.0, 1.0)
    z = normal_quantile(confidence)
    value = _kappa(confusion, added=0)[0]
    middle, error = _kappa(confusion, added=1)
    if middle is None:
        raise AssertionError("no cell is empty")
    low, high = max(-1.0, middle - z * error), min(1.0, middle + z * error)
    if value is not None:
        low, high = min(low, value), max(high, value)
    return Estimate(value, low, high)


def _kappa(confusion: Confusion, *, added: int) -> tuple[float | None, float]:
    """Return kappa and its standard error, with `added` added to each cell."""
    total = confusion.total + 4 * added
    cells = (confusion.both_pass, confusion.judge_fails, confusion.judge_passes, confusion.both_fail)
    a, b, c, d = ((cell + added) / total for cell in cells)
    human, judge = a + b, a + c
    by_chance = human * judge + (1 - human) * (1 - judge)
    if by_chance == 1:
        return None, inf
    kappa = (a + d - by_chance) / (1 - by_chance)
    apart = 1 - kappa
    same = a * (1 - (human + judge) * apart) ** 2 + d * (1 - (2 - human - judge) * apart) ** 2
    other = apart**2 * (b * (judge + 1 - human) ** 2 + c * (human + 1 - judge) ** 2)
    spread = same + other - (kappa - by_chance * apart) ** 2
    return kappa, sqrt(max(0.0, spread) / total) / (1 - by_chance)


# --- a pass rate, corrected for judge errors -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """The share that humans would pass, estimated from the share that a judge passes."""

    apparent: Estimate
    """The share that the judge passes."""
    corrected: Estimate
    """The estimate of the share that humans would pass, within 0 and 1. Its value is `None` if the labels contain only one
    class, or if the judge is not better than chance."""
    unclipped: float | None
    """The estimate before clipping: below 0 or above 1 if labels and verdicts are hardly consistent."""


def corrected_rate(
    passed: int, total: int, confusion: Confusion, *, confidence: float = 0.95
) -> CorrectedRate:
    """Correct a judge's pass rate, `passed` of `total` verdicts, for the errors that `confusion` counts against human labels.

    The estimate is (share + TNR - 1) / (TPR + TNR - 1). The interval accounts for the uncertainty of both verdicts and
    labels: it contains every rate r for which (share + TNR - 1) - r * (TPR + TNR - 1) differs from 0 by no more than its
    standard error allows. Counts are adjusted first, so that the interval does not shrink to a point at 0 or 1. The
    condition is a quadratic in r and needs no division by a value that may be 0: an uninformative judge gives the interval
    0 to 1. If no rate within 0 and 1 satisfies it, labels and verdicts contradict each other; the interval is 0 to 1, too.

    Sources: W. J. Rogan, B. Gladen, "Estimating prevalence from the results of a screening test", American Journal of
    Epidemiology 107 (1978), 71-76. Adjusted counts and the standard error: Zs. Lang, J. Reiczigel, "Confidence limits
    for prevalence of disease adjusted for estimated sensitivity and specificity", Preventive Veterinary Medicine 113
    (2014), 13-22. A ratio's interval by its quadratic: E. C. Fieller, "Some problems in interval estimation", Journal
    of the Royal Statistical Society B 16 (1954), 175-185; it keeps its coverage with few labels of one class, where the
    interval of 2014 does not.

    Raises:
        ValueError: not 0 <= passed <= total, or not 0 < confidence < 1.
    """
    apparent = _share(passed, total, confidence)
    low, high = _rates_that_fit(passed, total, confusion, normal_quantile(confidence))
    value = _rogan_gladen(passed, total, confusion)
    if value is None:
        return CorrectedRate(apparent, Estimate(None, low, high), None)
    clipped = min(1.0, max(0.0, value))
    return CorrectedRate(apparent, Estimate(clipped, min(low, clipped), max(high, clipped)), value)


def _rogan_gladen(passed: int, total: int, confusion: Confusion) -> float | None:
    if not (total and confusion.human_passes and confusion.human_fails):
        return None
    tpr, tnr = confusion.both_pass / confusion.human_passes, confusion.both_fail / confusion.human_fails
    return (passed / total + tnr - 1) / (tpr + tnr - 1) if tpr + tnr > 1 else None


def _rates_that_fit(passed: int, total: int, confusion: Confusion, z: float) -> tuple[float, float]:
    squared = z * z
    share, of_share = _smooth_share(passed, total, squared / 2)
    tpr, of_tpr = _smooth_share(confusion.both_pass, confusion.human_passes, 1)
    tnr, of_tnr = _smooth_share(confusion.both_fail, confusion.human_fails, 1)
    if not total:
        return 0.0, 1.0
    above, youden = share + tnr - 1, tpr + tnr - 1
    a = youden * youden - squared * (of_tpr + of_tnr)
    b = 2 * (squared * of_tnr - above * youden)
    c = above * above - squared * (of_share + of_tnr)
    return _where_not_above_zero(a, b, c)


def _smooth_share(count: int, total: int, added: float) -> tuple[float, float]:
    """Return a share with `added` successes and `added` failures, and its variance."""
    share = (count + added) / (total + 2 * added)
    return share, share * (1 - share) / (total + 2 * added)


def _where_not_above_zero(a: float, b: float, c: float) -> tuple[float, float]:
    """Return the smallest and largest r within 0 and 1 with a*r*r + b*r + c <= 0; 0 and 1 if there is none."""
    ends = [end for end in (0.0, 1.0) if (a * end + b) * end + c <= 0]
    ends += [root for root in _roots(a, b, c) if 0 < root < 1]
    return (min(ends), max(ends)) if ends else (0.0, 1.0)


def _roots(a: float, b: float, c: float) -> list[float]:
    inside = b * b - 4 * a * c
    if inside < 0:
        return []
    half = -(b + (sqrt(inside) if b >= 0 else -sqrt(inside))) / 2  # the sign that avoids cancellation
    return [top / bottom for top, bottom in ((half, a), (c, half)) if bottom]
