"""Compare two runs of the same cases: is the candidate worse, no worse, better, or is the result inconclusive?

Everything is paired by case: what counts is each case's mean over its trials under the candidate, less that under the
base. So cases of mixed difficulty, flaky ones and different numbers of trials are taken account of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt

from proctor.analysis.compare.case_pairing import BriefCase, Pairs, changed_cases, pair
from proctor.analysis.compare.futility import FUTILE, Ahead, chance_to_decide
from proctor.analysis.compare.outcome_text import is_fall, sentence_of
from proctor.schema.analysis.comparison import (
    PASSED,
    TRIAL_COST,
    TRIAL_SECONDS,
    CaseChange,
    Change,
    ChangedCase,
    ComparedRun,
    Comparison,
    Look,
    Measured,
)
from proctor.schema.results.run_result import CaseResult
from proctor.stats.bootstrap import mean_difference, most_lost
from proctor.stats.paired_tests import holm, sign_flip_test
from proctor.stats.power import cases_needed, expected_deviation, variance_within
from proctor.stats.unequal_counts import TwoCounts, dealt_out_test, two_shares_interval

MARGIN = 0.05
CONFIDENCE = 0.95
POWER = 0.8
FIGURES = (
    "token_usage_v1",
    TRIAL_COST,
    TRIAL_SECONDS,
    "invocation_duration_v1",
    "tool_call_count_v1",
    "inference_call_count_v1",
)
"""What an agent takes, a turn or a trial: less is better, and nothing is decided by it."""
_SHARE_OF_PASSED = 2 / 3
"""Of the chance of a false alarm: pass and fail are the verdict, the metrics that decide share the rest."""
_SUREST = 1e-9
"""The smallest p-value that is asked for: an early look may ask for less, and what it asks cannot be had."""
_MOST_TRIALS = 50
"""Trials of a case beyond which more of them are not proposed."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs, with its cases and the hash of each one's content (empty where it is not known)."""

    run: ComparedRun
    cases: Iterable[tuple[str, CaseResult]]


MARGIN = 0.05
"""The drop of the pass rate that a comparison must rule out, unless another is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """How two runs are compared."""

    margin: float = MARGIN
    """By how much the pass rate may fall and still be called no worse, above 0 and below 1."""
    confidence: float = CONFIDENCE
    """Of the tests and intervals, between 0 and 1."""
    keep_changed: bool = False
    """Pair cases whose content has changed, too."""
    reach: Mapping[str, float] | None = None
    """By metric how far two scores can lie apart, where that is known."""
    apart: frozenset[str] = frozenset()
    """What was not judged alike, and so decides nothing: metrics, and `passed`."""
    look: Look | None = None
    """The interim look of a sequential run; `None`: a single analysis."""
    ahead: Ahead | None = None
    """What is to come after this look; `None`: nothing."""

    @property
    def level(self) -> float:
        """The p-value below which a difference is significant."""
        return 1 - self.confidence if self.look is None else max(self.look.two_sided, _SUREST)

    @property
    def both_sides(self) -> float:
        """The confidence of the interval whose lower end is a one-sided bound: 0.9 for a confidence of 0.95."""
        return 1 - 2 * (1 - self.confidence if self.look is None else max(self.look.one_sided, _SUREST))


def compare_runs(base: Side, candidate: Side, options: CompareOptions) -> Comparison:
    """Compare two runs case by case.

    *regression*: pass or fail, or a metric that decides, is worse, significantly so after Holm's correction (in
    which pass and fail have two thirds of the weight: they are the verdict, and metrics are many). *error*:
    else, where cases that passed could not be judged this time, or no case could be paired. *improvement*: something is
    significantly better, and the pass rate no worse than by the margin. *no regression*: the lower bound of the pass
    rate's difference lies above minus the margin. Else *inconclusive*; so is all but a regression where pass and fail
    were not judged alike.

    The test of "no worse": D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power approach",
    Journal of Pharmacokinetics and Biopharmaceutics 15 (1987), 657-680; here its lower side.
    """
    pairs = pair(base.cases, candidate.cases, keep_changed=options.keep_changed)
    measures = _measures(pairs, options)
    changed = changed_cases(pairs)
    judged = [(before, now) for _, before, now in pairs.both if None not in _rates(before, now)]
    lowest = _lower_bound(judged, options)
    outcome = _outcome(measures, changed, lowest, options)
    found = Comparison(
        base.run, candidate.run, outcome, "", options.margin, options.confidence,
        pairs=len(judged), measures=measures, cases=changed, only_base=pairs.only_base,
        only_candidate=pairs.only_candidate, changed_cases=pairs.changed,
        undecided=len(pairs.both) - len(judged), look=options.look,
    )  # fmt: skip
    if outcome is Change.INCONCLUSIVE and PASSED not in options.apart:
        found.more_cases, found.more_trials = _more(judged, options)
        found.futile = _is_futile(pairs, options)
    found.sentence = sentence_of(found, lowest)
    return found


# --- what is measured ------------------------------------------------------------------------------------------------


def _rates(before: BriefCase, now: BriefCase) -> tuple[float | None, float | None]:
    return before.trials.rate, now.trials.rate


def _measures(pairs: Pairs, options: CompareOptions) -> list[Measured]:
    """`passed`, the metrics that decide in either run, then what is only reported; adjusted for what decides."""
    reach = {**(options.reach or {}), PASSED: 1.0}
    measures = []
    for name, decides in _measure_names(pairs).items():
        values = _values_in_both(((before, now) for _, before, now in pairs.both), name)
        if values and not _is_unused_figure(name, values):
            measures.append(_measure(name, values, options, reach.get(name), decides=decides))
    return list(_adjust_p_values(measures, options.level))


def _measure_names(pairs: Pairs) -> dict[str, bool]:
    """Return the names of what is measured, in their order, and whether each decides."""
    gating = [name for _, before, now in pairs.both for one in (before, now) for name in one.gating]
    deciding = dict.fromkeys([PASSED, *gating], True)
    reported = dict.fromkeys(name for _, _, now in pairs.both for name in now.scores if name not in deciding)
    return {**deciding, **dict.fromkeys(sorted(reported, key=_figures_first), False)}


def _is_unused_figure(name: str, values: Sequence[Both]) -> bool:
    """Return whether a figure is 0 everywhere, as that of model calls in runs without a model."""
    return name in FIGURES and not any(one.before or one.now for one in values)


def _values_in_both(cases: Iterable[tuple[BriefCase, BriefCase]], name: str = PASSED) -> list[Both]:
    """What is measured of the cases of which it is known in both runs."""
    found = []
    for before, now in cases:
        was, is_now = (
            _rates(before, now) if name == PASSED else (before.scores.get(name), now.scores.get(name))
        )
        if was is not None and is_now is not None:
            found.append(Both(was, is_now, before.trials.total, now.trials.total))
    return found


def _figures_first(name: str) -> int:
    return FIGURES.index(name) if name in FIGURES else len(FIGURES)


def _measure(
    name: str,
    values: Sequence[Both],
    options: CompareOptions,
    reach: float | None,
    *,
    decides: bool,
) -> Measured:
    confidence, count = 1 - options.level, len(values)
    interval = mean_difference((one.difference for one in values), confidence=confidence, reach=reach)
    low, high = widen_interval(interval.low, interval.high, values, confidence=confidence, reach=reach)
    return Measured(
        name,
        fsum(one.before for one in values) / count,
        fsum(one.now for one in values) / count,
        interval.value,
        low,
        high,
        p_value_of(values, reach),
        count,
        decides=decides and name not in options.apart,
        lower_is_better=name in FIGURES,
        apart=name in options.apart,
    )


def share_of(name: str, others: int) -> float:
    """Return the share of the significance level of a measure if `metrics` decide in addition to pass and fail."""
    if not others:
        return 1.0
    return _SHARE_OF_PASSED if name == PASSED else (1 - _SHARE_OF_PASSED) / others


def _is_futile(pairs: Pairs, options: CompareOptions) -> bool:
    """Return whether further trials would hardly decide the comparison, by the intervals of the last look."""
    from dataclasses import replace

    if options.ahead is None:
        return False
    then = _measures(pairs, replace(options, look=options.ahead.last))
    deciding = [one for one in then if one.decides]
    shares = _shares(deciding)
    return chance_to_decide(deciding, shares, options.margin, options.ahead) < FUTILE


def _shares(deciding: Sequence[Measured]) -> dict[str, float]:
    others = sum(each.name != PASSED for each in deciding)
    return {one.name: share_of(one.name, others) for one in deciding}


def _adjust_p_values(found: Sequence[Measured], level: float) -> Iterator[Measured]:
    """Adjust the p-values of the deciding measures, and mark the significant differences."""
    from dataclasses import replace

    deciding = [one for one in found if one.decides]
    adjusted = iter(holm([one.p_value for one in deciding], [*_shares(deciding).values()]))
    for one in found:
        p_value = next(adjusted) if one.decides else None
        sure = (one.p_value if p_value is None else p_value) <= level + 1e-12
        better = (one.difference > 0) != one.lower_is_better
        verdict = ("better" if better else "worse") if sure and one.difference else ""
        yield replace(one, adjusted=p_value, verdict=verdict)


# --- the outcome -----------------------------------------------------------------------------------------------------


def _lower_bound(judged: Sequence[tuple[BriefCase, BriefCase]], options: CompareOptions) -> float | None:
    """How much the pass rate may have fallen: the lower end of its difference, one-sided; `None` without pairs."""
    known = _values_in_both(judged)
    differences = [one.difference for one in known]
    if not differences:
        return None
    low = mean_difference(differences, confidence=options.both_sides, reach=1.0).low
    low, _ = widen_interval(low, low, known, confidence=options.both_sides)
    if max(differences) > 0 or low < -options.margin:
        return low
    # cases that never differ but by breaking: a few of them tell less of that than a bootstrap supposes
    return min(low, -most_lost(-fsum(differences), len(differences), error=(1 - options.both_sides) / 2))


def _outcome(
    measures: Sequence[Measured],
    changed: Sequence[ChangedCase],
    lowest: float | None,
    options: CompareOptions,
) -> Change:
    verdicts = {one.name: one.verdict for one in measures if one.decides}
    if "worse" in verdicts.values():
        return Change.REGRESSION
    if lowest is None or any(case.change is CaseChange.IN_ERROR for case in changed):
        return Change.ERROR
    if PASSED in options.apart:
        return Change.INCONCLUSIVE
    if lowest < -options.margin:
        return Change.IMPROVEMENT if verdicts.get(PASSED) == "better" else Change.INCONCLUSIVE
    return Change.IMPROVEMENT if "better" in verdicts.values() else Change.NO_REGRESSION


def _more(
    judged: Sequence[tuple[BriefCase, BriefCase]], options: CompareOptions
) -> tuple[int | None, int | None]:
    """Return about how many more cases, or more trials of each, are needed.

    Planned for builds that do the same: to show that they differ by less than the margin. Where there are as many cases
    already, for the difference that was seen; where more than the margin has been lost, to find a fall as large.
    """
    count = len(judged)
    seen = mean_difference(
        (one.difference for one in _values_in_both(judged)), confidence=options.confidence, reach=1.0
    )
    trials = round(2 * count / fsum(1 / before.trials.total + 1 / now.trials.total for before, now in judged))
    within = variance_within(_trials_of(judged))
    deviation = max(seen.deviation, expected_deviation(options.margin, within or 0.0, max(1, trials)))
    detect, confidence = options.margin, options.both_sides
    if is_fall(seen.value, options.margin):
        detect, confidence = -seen.value, 1 - options.level
    elif _cases(detect, deviation, confidence) <= count:  # enough for builds that do the same
        detect = min(1.0, max(options.margin + min(0.0, seen.value), abs(seen.value)))
    more = max(_cases(detect, deviation, confidence) - count, -(-count // 10))
    if not within:
        return more, None
    between = max(0.0, deviation**2 - 2 * within / trials)
    for enough in range(trials + 1, _MOST_TRIALS + 1):
        if _cases(detect, sqrt(between + 2 * within / enough), confidence) <= count:
            return more, enough - trials
    return more, None


def _cases(detect: float, deviation: float, confidence: float) -> int:
    return cases_needed(detect, deviation, power=POWER, confidence=confidence)


def _trials_of(judged: Iterable[tuple[BriefCase, BriefCase]]) -> Iterator[Sequence[float]]:
    for both in judged:
        for one in both:
            yield [1.0] * one.trials.passed + [0.0] * one.trials.failed


# --- Where two runs have different numbers of trials of a case: what is measured, as trials that can be counted -------


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


def widen_interval(
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
            _round_to_steps(one.before / whole, one.trials_before), one.trials_before,
            _round_to_steps(one.now / whole, one.trials_now), one.trials_now,
        )
        for one in values
    ]  # fmt: skip


def _round_to_steps(share: float, trials: int) -> float:
    """So many trials, in halves, thirds or quarters of one: what is one of them but for rounding is it."""
    return min(float(trials), max(0.0, round(share * trials * _EVERY_STEP) / _EVERY_STEP))


def _in_steps(values: Iterable[Both], whole: float) -> bool:
    """Return whether all trials may have scores in equal steps from 0 to `whole`."""
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
