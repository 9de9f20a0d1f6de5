"""What the comparison of two runs found: an outcome, what it rests on, and what is different case by case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from proctor.schema.results.outcome import refuse_truth

PASSED = "passed"
"""The name under which pass and fail are measured."""
TRIAL_SECONDS, TRIAL_COST = "trial_seconds", "trial_cost"
"""Those of what a trial took: seconds, and the agent's US dollars, where the evidence tells."""


class Change(StrEnum):
    """What a comparison came to."""

    REGRESSION = "regression"
    """Pass or fail, or a metric that decides, is significantly worse."""
    ERROR = "error"
    """Cases that passed could not be judged this time, or nothing could be paired: nothing is said of a regression."""
    INCONCLUSIVE = "inconclusive"
    """Neither worse for certain, nor certainly no worse than by the margin."""
    IMPROVEMENT = "improvement"
    """Significantly better, and nothing is worse."""
    NO_REGRESSION = "no_regression"
    """The pass rate has fallen by less than the margin, if it has."""

    def __bool__(self) -> bool:
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """0 no regression or an improvement, 1 regression, 3 error, 4 inconclusive."""
        return _EXIT_CODES[self]


_EXIT_CODES = {
    Change.REGRESSION: 1, Change.ERROR: 3, Change.INCONCLUSIVE: 4, Change.IMPROVEMENT: 0, Change.NO_REGRESSION: 0,
}  # fmt: skip


class CaseChange(StrEnum):
    """How one case differs, in the order in which they are listed."""

    REGRESSION = "regression"
    """Its verdict went from passed to failed."""
    IN_ERROR = "in_error"
    """It passed at least one trial, and could not be judged in full this time: an error, or it was not run."""
    FIX = "fix"
    """Its verdict went from failed to passed."""
    FLAKY = "flaky"
    """The verdict is as it was, but another share of its trials passes."""

    __bool__ = refuse_truth


@dataclass(frozen=True, slots=True)
class Trials:
    """How the trials of one case ended."""

    passed: int
    failed: int
    other: int = 0
    """In error, or not run: neither a pass nor a fail."""

    @property
    def total(self) -> int:
        """All of them."""
        return self.passed + self.failed + self.other

    @property
    def rate(self) -> float | None:
        """The share that passed, from 0 to 1; `None` where not all could be judged, or there are none."""
        return self.passed / self.total if self.total and not self.other else None


@dataclass(frozen=True, slots=True)
class ChangedCase:
    """One case that is not as it was."""

    eval_set_id: str
    eval_id: str
    change: CaseChange
    base: Trials
    candidate: Trials
    metric: str = ""
    """The deciding metric that moved most; empty where none did."""
    scores: tuple[float, float] | None = None
    """Its score in the base and in the candidate."""
    reason: str = ""
    """Why it failed, in a line: of a fix, what was wrong before."""

    __bool__ = refuse_truth

    @property
    def name(self) -> str:
        """`set/case`."""
        return f"{self.eval_set_id}/{self.eval_id}"


@dataclass(frozen=True, slots=True)
class Measured:
    """One thing that was measured in both runs, paired by case: each case is the mean of its trials."""

    name: str
    """`passed`, or the name of a metric."""
    base: float
    """The mean over the pairs."""
    candidate: float
    difference: float
    """Candidate less base, with its interval `low` to `high`."""
    low: float
    high: float
    p_value: float
    """Two-sided: McNemar's exact test, or the paired permutation test."""
    pairs: int
    """How many cases it rests on."""
    decides: bool = False
    """Whether it takes part in the outcome; the others are reported."""
    adjusted: float | None = None
    """The p-value adjusted for the number of things that decide (Holm); `None` of others."""
    lower_is_better: bool = False
    """Of tokens, calls and seconds."""
    verdict: str = ""
    """`worse` or `better` where the difference is significant, else empty."""
    apart: bool = False
    """Whether it was not judged alike in both runs (another option, judge …): it is reported, and decides nothing."""

    __bool__ = refuse_truth


@dataclass(frozen=True, slots=True)
class Unlike:
    """One thing beside the agent's answers in which the two runs differ."""

    what: str
    """`case`, `cases`, `metric`, `option`, `threshold`, `gate`, `judge`, `prompt`, `code`, `user`, `config`, `trials`, `version`, `agent`."""
    text: str
    """A sentence that names it."""
    expected: bool = False
    """It is what is compared (the agent): said, not warned of."""


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a run that was made until it was decided: how sure it must be, so that all looks err no more than one."""

    number: int
    """From 1."""
    of: int
    """Looks that there can be."""
    two_sided: float
    """The p-value below which a difference is significant at this look."""
    one_sided: float
    """That below which the pass rate has not fallen by as much as the margin."""


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One of the two runs."""

    run_id: str
    """Empty for a result that is not kept."""
    agent: str
    cases: int
    num_runs: int = 1
    started_at: float = 0.0
    cost: float | None = None
    """US dollars of the run; `None` where a price is not known."""
    against: str = ""
    """The run that it was made to be compared with, until that was decided."""
    most: int = 0
    """Trials of a case that there could be, where they were added until something was decided; 0: their number was chosen
    beforehand."""


@dataclass(slots=True)
class Comparison:
    """What came of comparing two runs."""

    base: ComparedRun
    candidate: ComparedRun
    outcome: Change
    sentence: str
    """The outcome in a sentence, with what it rests on."""
    margin: float
    """By how much the pass rate may fall and still be called no worse, from 0 to 1."""
    confidence: float
    pairs: int = 0
    """Cases whose pass or fail could be compared."""
    more_cases: int | None = None
    """Of an inconclusive comparison: about so many more cases would tell."""
    more_trials: int | None = None
    """Or about so many more trials of each case; `None` where trials alone would not."""
    measures: Sequence[Measured] = ()
    """`passed` first, then metrics that decide, then what is only reported."""
    cases: Sequence[ChangedCase] = ()
    """Regressions (the worst first), newly in error, fixes, flaky ones."""
    only_base: Sequence[str] = ()
    """`set/case` of cases that only the base has."""
    only_candidate: Sequence[str] = ()
    changed_cases: Sequence[str] = ()
    """Cases whose content is not the same in both runs."""
    look: Look | None = None
    """The look of a candidate that was made until this comparison was decided; `None`: it was chosen beforehand."""
    futile: bool = False
    """Of an inconclusive look: the trials that are left would hardly decide it."""
    undecided: int = 0
    """Cases left out of pass and fail: a trial of theirs was in error or not run."""
    unlike: list[Unlike] = field(default_factory=list)
    """What else differs between the runs."""

    def __bool__(self) -> bool:
        return self.passed  # `assert comparison` must not be green by accident

    def __repr__(self) -> str:
        return f"<Comparison of {self.base.run_id or 'a run'} and {self.candidate.run_id or 'a run'}: {self.sentence}>"

    @property
    def passed(self) -> bool:
        """Whether it found no regression, or an improvement."""
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """0 no regression or an improvement, 1 regression, 3 error, 4 inconclusive."""
        return self.outcome.exit_code

    @property
    def warnings(self) -> list[str]:
        """What makes the runs unlike, the agent aside."""
        return [one.text for one in self.unlike if not one.expected]

    def measure(self, name: str) -> Measured:
        """Return what was measured under `name`: `passed`, or a metric.

        Raises:
            KeyError: the runs have nothing of that name in common.
        """
        for one in self.measures:
            if one.name == name:
                return one
        raise KeyError(name)

    def changed(self, change: CaseChange) -> list[ChangedCase]:
        """Return the cases that differ in this way."""
        return [case for case in self.cases if case.change is change]
