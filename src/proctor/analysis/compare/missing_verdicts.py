"""The best and the worst values of missing verdicts: what a comparison must hold under, because an error is never left out.

A trial in error, or one that was not run, has no verdict, and a metric that could not be computed has no score. Leaving them
out of one side would hide a candidate that fails exactly where its judge breaks. So the comparison is computed twice: with
the values that are worst for the candidate and with those that are best for it.

Source: C. F. Manski, "Partial Identification of Probability Distributions" (2003), chapter 1 (bounds without assumptions).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from proctor.analysis.compare.measures import PairedScore
from proctor.analysis.compare.sides import BriefCase, Key, Pairs
from proctor.schema.analysis.comparison import PASSED, USAGE_MEASURES
from proctor.schema.results.score import Outcome
from proctor.stats.unequal_counts import TwoCounts

Range = tuple[float, float]
"""The lowest and the highest score of a metric."""
_FEW = 0.02
"""The share of missing verdicts, at most, that are taken for chance where most trials of their case passed; one is always."""
_ROUNDING = 1e-9
_BEYOND = 4.0
"""A missing score of a metric without a known range counts as this multiple of all known differences together."""


@dataclass(frozen=True, slots=True)
class CompletedCase:
    """One case of both runs, with a value for every missing verdict."""

    key: Key
    counts: TwoCounts
    fell: bool
    """Whether its verdict changes from passed to failed."""
    rose: bool

    @property
    def name(self) -> str:
        """The name in the form `set/case`."""
        return f"{self.key[0]}/{self.key[1]}"


@dataclass(frozen=True, slots=True)
class Completion:
    """All cases of both runs with one choice of the missing verdicts, and the scores of each deciding metric."""

    cases: Sequence[CompletedCase]
    rates: Sequence[PairedScore]
    """The pass rates of the cases."""
    scores: Mapping[str, Sequence[PairedScore]]
    few_missing: bool
    """Whether at most 2 % (or one) of the verdicts of each run are missing."""


def missing_count(case: BriefCase, planned: int) -> int:
    """Return how many trials of a case have no verdict; `planned` trials if none was made."""
    return case.trials.other if case.count else planned


def completions(pairs: Pairs, planned: tuple[int, int], ranges: Mapping[str, Range]) -> list[Completion]:
    """Return the worst and the best completion for the candidate, in this order; one if nothing is missing.

    `planned` is the number of trials of a case in each run, for cases that were not run. A case of which verdicts are missing
    falls with the worst of them, except where only a few are: if at most 2 % (or one) of the candidate's verdicts are missing, a
    case of which most trials have a verdict, and all of these passed, keeps its verdict. Its trials count as failed all the
    same.
    """
    metrics, few = deciding_metrics(pairs), _few_missing(pairs, planned)
    ends = [_complete(pairs, planned, ranges, metrics, few, worst=worst) for worst in (True, False)]
    return ends if ends[0] != ends[1] else ends[:1]


def credible_ranges(pairs: Pairs, ranges: Mapping[str, Range]) -> dict[str, Range]:
    """Return the ranges without those that a score contradicts: a missing score may be outside of them, too."""
    contradicted = {
        name
        for _, before, now in pairs.both
        for scores in (before.scores, now.scores)
        for name, score in scores.items()
        if name in ranges and not ranges[name][0] - _ROUNDING <= score <= ranges[name][1] + _ROUNDING
    }
    return {name: known for name, known in ranges.items() if name not in contradicted}


def deciding_metrics(pairs: Pairs) -> list[str]:
    """Return the metrics that decide in either run, in their order."""
    gating = (name for _, before, now in pairs.both for one in (before, now) for name in one.gating)
    return [name for name in dict.fromkeys(gating) if name != PASSED]


def _complete(
    pairs: Pairs,
    planned: tuple[int, int],
    ranges: Mapping[str, Range],
    metrics: Iterable[str],
    few: tuple[bool, bool],
    *,
    worst: bool,
) -> Completion:
    """Return one completion; `few`: whether only a few verdicts of the baseline and of the candidate are missing."""
    cases = [
        CompletedCase(
            key,
            _counts(before, now, planned, worst=worst),
            _verdict(before, best=worst) is Outcome.PASSED
            and _verdict(now, best=not worst or (few[1] and _mostly_passed(now))) is Outcome.FAILED,
            _verdict(before, best=worst) is Outcome.FAILED
            and _verdict(now, best=not worst) is Outcome.PASSED,
        )
        for key, before, now in pairs.both
    ]
    scores = {name: _scores(pairs, name, planned, ranges.get(name), worst=worst) for name in metrics}
    rates = [PairedScore.of_trials(one.counts) for one in cases]
    return Completion(cases, rates, {name: values for name, values in scores.items() if values}, all(few))


def _counts(before: BriefCase, now: BriefCase, planned: tuple[int, int], *, worst: bool) -> TwoCounts:
    """Count missing trials of the baseline as passed and of the candidate as failed, or the other way round."""
    missing = missing_count(before, planned[0]), missing_count(now, planned[1])
    passed = before.trials.passed + worst * missing[0], now.trials.passed + (not worst) * missing[1]
    return _two_counts(
        passed[0], before.trials.passed + before.trials.failed + missing[0],
        passed[1], now.trials.passed + now.trials.failed + missing[1],
    )  # fmt: skip


_two_counts = lru_cache(1024, typed=True)(TwoCounts)  # most cases are alike: they share one object
_paired_score = lru_cache(1024, typed=True)(PairedScore)


def _few_missing(pairs: Pairs, planned: tuple[int, int]) -> tuple[bool, bool]:
    """Return for the baseline and for the candidate whether only a few verdicts are missing."""
    missing = total_missing(pairs, planned)
    base = sum(before.count or planned[0] for _, before, _ in pairs.both)
    candidate = sum(now.count or planned[1] for _, _, now in pairs.both)
    return missing[0] <= max(1, _FEW * base), missing[1] <= max(1, _FEW * candidate)


def _mostly_passed(case: BriefCase) -> bool:
    """Return whether most trials have a verdict, and all of these passed."""
    return not case.trials.failed and case.trials.passed > case.trials.other


def _verdict(case: BriefCase, *, best: bool) -> Outcome:
    if case.outcome in (Outcome.ERROR, Outcome.NOT_RUN):
        return Outcome.PASSED if best else Outcome.FAILED
    return case.outcome


def _scores(
    pairs: Pairs, name: str, planned: tuple[int, int], known_range: Range | None, *, worst: bool
) -> list[PairedScore]:
    """Return the scores of a metric; a case in which it does not apply has none."""
    low, high = known_range or _beyond(_known_scores(pairs, name))
    is_low_bad = name not in USAGE_MEASURES
    base_value, candidate_value = (high, low) if worst is is_low_bad else (low, high)
    scores = []
    for _, before, now in pairs.both:
        was = _score(before, now, name, base_value)
        is_now = _score(now, before, name, candidate_value)
        if was is not None and is_now is not None:
            trials = before.count or planned[0], now.count or planned[1]
            scores.append(_paired_score(was, is_now, *trials))
    return scores


def _known_scores(pairs: Pairs, name: str) -> Iterator[list[float]]:
    """Yield for each case the scores of a metric in either run."""
    for _, before, now in pairs.both:
        yield [side.scores[name] for side in (before, now) if name in side.scores]


def _score(case: BriefCase, other: BriefCase, name: str, missing: float) -> float | None:
    """Return the score of a case, or `missing` if it should have one; `None` if the metric does not apply.

    If only some trials have a score, that of the others is `missing`, too.
    """
    if name in case.scores:
        share = case.missing_shares.get(name, 0.0)
        return (1 - share) * case.scores[name] + share * missing
    was_not_scored = case.outcome in (Outcome.ERROR, Outcome.NOT_RUN) and name not in case.gating
    return missing if name in case.unscored or (was_not_scored and name in other.gating) else None


def _beyond(known: Iterable[Sequence[float]]) -> Range:
    """Return a range that no sum of the known differences can outweigh, from the scores of each case in either run."""
    values, differences = [0.0], 0.0
    for scores in known:
        values += scores
        differences += abs(scores[-1] - scores[0]) if scores else 0.0
    width = _BEYOND * (differences + max(map(abs, values)) + 1.0)
    return min(values) - width, max(values) + width


def total_missing(pairs: Pairs, planned: tuple[int, int]) -> tuple[int, int]:
    """Return how many verdicts of the baseline and of the candidate are missing."""
    return (
        sum(missing_count(before, planned[0]) for _, before, _ in pairs.both),
        sum(missing_count(now, planned[1]) for _, _, now in pairs.both),
    )
