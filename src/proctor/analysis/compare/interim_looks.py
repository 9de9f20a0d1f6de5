"""Interim looks of a run that stops when its comparison with a baseline is decided: their times and significance levels.

After each round (one more trial of every case) the comparison is the same as ever, but for what it asks: the chance of an
error is spent over the looks (`proctor.stats.sequential`), so that all of them together err no more often than one would.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from proctor.analysis.compare.compare_cases import CompareOptions, compare_cases
from proctor.analysis.compare.futility import RemainingTrials
from proctor.analysis.compare.sides import Side, side_cases
from proctor.schema.analysis.comparison import Change, ComparedRun, Comparison, Look
from proctor.schema.results.manifest import AGAINST_RUN
from proctor.schema.results.run_result import CaseResult
from proctor.stats.sequential import look_levels

MOST_LOOKS = 10
"""The maximum number of looks; with many rounds, not each round has one."""


DECIDED = frozenset({Change.REGRESSION, Change.IMPROVEMENT, Change.NO_REGRESSION})
"""The outcomes that end a run before its last trial: each of them is proven."""


def look_rounds(most: int) -> list[int]:
    """Return the numbers of trials of a case after which there is a look."""
    count = min(most, MOST_LOOKS)
    return [-(-most * look // count) for look in range(1, count + 1)]


def look_at(base_trials: int, most: int, trials: int, confidence: float) -> Look | None:
    """Return the look after so many trials of a case, of at most so many; `None` before the first one.

    The baseline has `base_trials` of each case, so that a further trial of the candidate adds less information the more there are:
    the information is that of a difference of two means, 1 / (1 / trials + 1 / base_trials).
    """
    rounds = look_rounds(most)
    number = sum(each <= trials for each in rounds)
    if not number:
        return None
    two_sided, one_sided = _levels(base_trials, most, confidence)
    return Look(number, len(rounds), two_sided[number - 1], one_sided[number - 1])


def remaining_trials(base_trials: int, most: int, trials: int, confidence: float) -> RemainingTrials | None:
    """Return what comes after so many trials of a case; `None` where that is nothing."""
    last = look_at(base_trials, most, most, confidence)
    if last is None or trials >= most:
        return None
    return RemainingTrials(last, _share(base_trials, most, trials))


def _share(base_trials: int, most: int, trials: int) -> float:
    return (1 / most + 1 / base_trials) / (1 / trials + 1 / base_trials)


@lru_cache(maxsize=32)
def _levels(base_trials: int, most: int, confidence: float) -> tuple[list[float], list[float]]:
    shares = [_share(base_trials, most, each) for each in look_rounds(most)]
    return look_levels(shares, 1 - confidence), look_levels(shares, 1 - confidence, sides=1)


def apply_last_look(base: Side, candidate: Side, options: CompareOptions) -> tuple[Side, CompareOptions]:
    """Return the candidate and the options of its last look, for a run that was made until it was decided against `base`."""
    cases = [*candidate.cases]
    trials = max((case.result.count for case in cases), default=0)
    return Side(replace(candidate.run, num_runs=trials or 1), cases), _at_look(
        options, base.run.num_runs, candidate.run.most, trials
    )


def _at_look(options: CompareOptions, base_trials: int, most: int, trials: int) -> CompareOptions:
    look = look_at(base_trials, most, trials, options.confidence)
    ahead = remaining_trials(base_trials, most, trials, options.confidence) if look is not None else None
    return replace(options, look=look, ahead=ahead)


@dataclass(slots=True)
class InterimLooks:
    """Decides after each round whether the comparison of a run with `base` is decided."""

    base: Side
    """Its cases are gone through at every look."""
    options: CompareOptions
    most: int
    """Trials of a case."""

    @property
    def base_run_id(self) -> str:
        """The run that this one is compared with."""
        return self.base.run.run_id

    def manifest_options(self) -> dict[str, Any]:
        """Return what the manifest keeps, so that the run resumes, and is compared, as it began."""
        margin = {"margin": self.options.margin} if self.options.require_proof else {}
        return {AGAINST_RUN: self.base_run_id, **margin}

    def next_round(self, trials: int) -> int:
        """Return the number of trials of each case at the next look; 0: there is no further look."""
        return next((each for each in look_rounds(self.most) if each > trials), 0)

    def is_decided(self, cases: Iterable[tuple[str, CaseResult]], trials: int) -> bool:
        """Return whether the run ends after this many trials of each case.

        It ends with a regression, an improvement or no regression within the margin, or if the rest would hardly decide.
        """
        comparison = self.comparison_at([*cases], trials)
        return comparison.outcome in DECIDED or comparison.futile

    def comparison_at(self, cases: Sequence[tuple[str, CaseResult]], trials: int) -> Comparison:
        """Return the comparison after this many trials of each case."""
        candidate = Side(ComparedRun("", "", len(cases), trials), [*side_cases(cases)])
        options = _at_look(self.options, self.base.run.num_runs, self.most, trials)
        return compare_cases(self.base, candidate, options)
