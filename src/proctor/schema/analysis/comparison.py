"""Comparisons of two runs (outcome, statistics, differences case by case), and baselines, the form in which a run is kept for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from proctor.common.registry import load_object
from proctor.schema.results.exit_code import ExitCode
from proctor.schema.results.manifest import Manifest, ScoringManifest
from proctor.schema.results.score import MODEL_CALLS, Outcome, refuse_truth
from proctor.stats.unequal_counts import TwoCounts, case_test

PASSED = "passed"
"""The name of the pass rate among the measures."""
TRIAL_SECONDS, TRIAL_COST = "trial_seconds", "trial_cost"
"""The names of the measures of duration (seconds) and of the agent's cost (US dollars), if the evidence has them."""
USAGE_MEASURES = (
    "token_usage_v1",
    TRIAL_COST,
    TRIAL_SECONDS,
    "invocation_duration_v1",
    "tool_call_count_v1",
    MODEL_CALLS,
)
"""The usage of an agent per turn or trial: less is better."""


class Change(StrEnum):
    """The outcome of a comparison."""

    REGRESSION = "regression"
    """The candidate is significantly worse, even if every missing verdict were the best one for it."""
    ERROR = "error"
    """With the worst values of the missing verdicts the candidate would be significantly worse; or neither run could run a
    set, or nothing could be compared."""
    INCONCLUSIVE = "inconclusive"
    """Something fell, or a missing verdict could be a fall, and chance cannot be ruled out."""
    IMPROVEMENT = "improvement"
    """Significantly better, with a pass rate that is not lower, even with the worst values of the missing verdicts."""
    NO_REGRESSION = "no_regression"
    """The confidence interval rules out a drop of the pass rate larger than the margin, for cases like these."""
    NO_DIFFERENCE = "no_difference"
    """Nothing fell. How large a drop would have been noticed is a separate question."""

    def __bool__(self) -> bool:
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """The exit code: 0 no difference seen, no regression or an improvement, 1 regression, 3 error, 4 inconclusive."""
        return _EXIT_CODES[self]


_EXIT_CODES = {
    Change.REGRESSION: ExitCode.FAILED, Change.ERROR: ExitCode.ERROR, Change.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
    Change.IMPROVEMENT: ExitCode.PASSED, Change.NO_REGRESSION: ExitCode.PASSED, Change.NO_DIFFERENCE: ExitCode.PASSED,
}  # fmt: skip


class CaseChange(StrEnum):
    """What happened to one case, in the order in which cases are listed."""

    NOW_FAILS = "now_fails"
    """Its verdict changed from passed to failed."""
    MISSING = "missing"
    """Verdicts are missing (an error, or not run), and the case may have fallen: it passed at least one trial in the baseline and has
    no verdict in the candidate, or it fails and was not run in the baseline."""
    NOW_IN_ERROR = "now_in_error"
    """No trial passed in the baseline, and it is in error now: an error is not a verdict, so that it is neither better nor worse."""
    NOW_PASSES = "now_passes"
    """Its verdict changed from failed to passed."""
    NO_LONGER_IN_ERROR = "no_longer_in_error"
    """It was in error in the baseline and has a verdict now; the missing verdicts may have been any, so that it is neither better nor worse."""
    FEWER_TRIALS = "fewer_pass"
    """Its verdict is unchanged, and a smaller share of its trials passes."""
    MORE_TRIALS = "more_pass"
    """Its verdict is unchanged, and a larger share of its trials passes."""
    WITHIN_NOISE = "within_noise"
    """Its verdict or its pass rate changed, and the unequal numbers of trials of the two runs explain it: 1 of 1, and 3 of 4."""

    __bool__ = refuse_truth


UNCORRECTED = 0.05
"""The two-sided significance level of a test without correction for the others."""


@dataclass(frozen=True, slots=True)
class Trials:
    """The number of trials of one case by outcome."""

    passed: int
    failed: int
    other: int = 0
    """Trials in error, or not run: neither passed nor failed."""

    @property
    def total(self) -> int:
        """The number of all trials."""
        return self.passed + self.failed + self.other

    @property
    def rate(self) -> float | None:
        """The pass rate, from 0 to 1; `None` without trials, or if not all of them were scored."""
        return self.passed / self.total if self.total and not self.other else None

    @property
    def possible_rates(self) -> tuple[float, float]:
        """The lowest and the highest pass rate that the missing verdicts admit."""
        total = self.total
        return (self.passed / total, (self.passed + self.other) / total) if total else (0.0, 1.0)

    def change_to(self, now: Trials) -> CaseChange | None:
        """Return how the pass rate changed. What is certain despite missing verdicts comes before these."""
        was, is_now = self.possible_rates, now.possible_rates
        if is_now[1] < was[0]:
            return CaseChange.FEWER_TRIALS
        if self.passed and now.rate is None and self != now:
            return CaseChange.MISSING
        return CaseChange.MORE_TRIALS if is_now[0] > was[1] else None

    def is_within_noise(self, now: Trials) -> bool:
        """Return whether unequal numbers of trials explain the change to `now`: 1 of 1 is not better than 3 of 4.

        The test is Fisher's exact one, one-sided at `UNCORRECTED`, over the trials that passed or failed. If all of one side
        passed and all of the other failed, the change is not noise.
        """
        scored, scored_now = self.passed + self.failed, now.passed + now.failed
        if self.total == now.total or not scored or not scored_now:
            return False
        if {self.passed / scored, now.passed / scored_now} == {0.0, 1.0}:
            return False
        counts = TwoCounts(self.passed, scored, now.passed, scored_now)
        return min(case_test(one)[0] for one in (counts, counts.swap())) > UNCORRECTED


@dataclass(frozen=True, slots=True)
class ChangedCase:
    """A case that differs between the runs."""

    eval_set_id: str
    eval_id: str
    change: CaseChange
    base: Trials
    candidate: Trials
    metric: str = ""
    """The gating metric that `reason` names, otherwise the one with the largest change; empty if neither has scores."""
    scores: tuple[float, float] | None = None
    """Its score in the baseline and in the candidate."""
    reason: str = ""
    """Why the case did not pass in the candidate, in one line; empty: it passes now, or it is not known."""
    before: str = ""
    """Why it did not pass in the baseline, if it has no verdict there or `reason` is empty."""

    __bool__ = refuse_truth

    @property
    def name(self) -> str:
        """The name in the form `set/case`."""
        return f"{self.eval_set_id}/{self.eval_id}"


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure of both runs, paired by case: the value of a case is the mean of its trials."""

    name: str
    """`passed`, or the name of a metric."""
    base: float
    """The mean over the pairs."""
    candidate: float
    difference: float
    """Candidate minus baseline; `low` to `high` is the confidence interval."""
    low: float
    high: float
    p_value: float
    """Two-sided, and in agreement with the interval: the p-value is below 1 - `confidence` exactly if 0 is outside of it."""
    pairs: int
    """The number of paired cases."""
    missing: int = 0
    """The number of these without all of their values: in the test with the worst and the best values, but in no mean. If it is all
    of them, the means are midway between the bounds."""
    confidence: float = 0.95
    """The confidence of the interval: the level at which the measure was tested."""
    decides: bool = False
    """Whether the measure takes part in the outcome; other measures are only reported."""
    lower_is_better: bool = False
    """Whether lower is better, as for tokens, calls and seconds."""
    verdict: str = ""
    """`worse` or `better` if the difference is significant, else empty."""
    trials: tuple[Trials, Trials] | None = None
    """The trials of the baseline and of the candidate that a pass rate is the share of. `None`: it is a mean over the cases, which
    have unequal numbers of trials, or it is midway between bounds; or the measure is another one."""
    apart: bool = False
    """Whether the two runs scored it differently (another option, judge …): it is then only reported."""

    __bool__ = refuse_truth

    @property
    def known(self) -> int:
        """The number of paired cases with all of their values."""
        return self.pairs - self.missing

    @property
    def is_drop(self) -> bool:
        """Whether the candidate is worse by this measure, significantly or not."""
        return self.difference > 0 if self.lower_is_better else self.difference < 0

    @property
    def fell_before_correction(self) -> bool:
        """Whether a measure that decides dropped significantly, as if it were the only one."""
        return self.decides and self.is_drop and self.p_value <= UNCORRECTED


@dataclass(frozen=True, slots=True)
class RunDifference:
    """A difference between the two runs other than the agent's answers."""

    what: str
    """`set`, `case`, `cases`, `metric`, `option`, `threshold`, `gate`, `judge`, `prompt`, `code`, `user`, `config`, `trials`, `version`, `agent`."""
    text: str
    """A sentence that describes the difference."""
    expected: bool = False
    """Whether the difference is the subject of the comparison (the agent): reported without a warning."""


@dataclass(frozen=True, slots=True)
class Look:
    """A sequential look at a run: its significance level, so that all looks together have the error rate of one test."""

    number: int
    """The number of the look, from 1."""
    of: int
    """The maximum number of looks."""
    two_sided: float
    """The p-value below which a difference is significant at this look."""
    one_sided: float
    """The p-value below which a drop as large as the margin is ruled out."""


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One of the two runs."""

    run_id: str
    """The id of the run; empty if the result is not stored."""
    agent: str
    cases: int
    num_runs: int = 1
    started_at: float = 0.0
    cost: float | None = None
    known_cost: float = 0.0
    """The cost of the run in US dollars (`None`: unknown, see `run_cost`), and the part of it that is known."""
    against: str = ""
    """The id of the baseline of a run that stops when the comparison is decided; empty: none."""
    most: int = 0
    """The maximum number of trials of a case if they are added until a decision; 0: the number is fixed in advance."""
    unread_sets: Mapping[str, str] = field(default_factory=dict)
    """The eval sets that could not be run (`keep_going`), each with the cause."""


@dataclass(frozen=True, slots=True)
class CaseEvidence:
    """The test of one case: would its trials differ so much by chance?"""

    name: str
    """`set/case`."""
    p_value: float
    """Fisher's exact test, one-sided."""
    adjusted: float
    """The p-value adjusted for the number of cases that could be significant at all (Tarone and Holm)."""

    __bool__ = refuse_truth


@dataclass(frozen=True, slots=True)
class InGeneral:
    """The answer to the second question: would other cases like these get worse? The cases are the sample."""

    difference: float
    """The mean difference of pass rates; `low` to `high` is its confidence interval."""
    low: float
    high: float
    confidence: float
    p_value: float
    """Two-sided, paired by case, and in agreement with the interval."""
    lowest: float
    """The one-sided lower bound of the difference, with the worst values of the missing verdicts."""
    gates: bool = False
    """Whether a significant drop in general is a regression (`--generalize`)."""

    __bool__ = refuse_truth

    @property
    def is_regression(self) -> bool:
        """Whether a drop in general is significant and decides."""
        return self.gates and self.high < 0


@dataclass(slots=True)
class Comparison:
    """The result of comparing two runs."""

    base: ComparedRun
    candidate: ComparedRun
    outcome: Change
    sentence: str
    """A sentence with the outcome and its basis."""
    margin: float
    """The largest acceptable drop of the pass rate, from 0 to 1."""
    confidence: float
    """One minus the probability of a false regression, over everything that can cause one."""
    on_these_cases: str = ""
    """A sentence: did the candidate get worse on these cases?"""
    in_general: str = ""
    """A sentence: would cases like these get worse?"""
    pairs: int = 0
    """Cases of both runs."""
    next_steps: Sequence[str] = ()
    """What would decide an inconclusive comparison, the cheapest first: sentences and commands."""
    more_cases: int | None = None
    """About this many more cases would decide whether cases like these get worse."""
    more_trials: int | None = None
    """Or about this many more trials of each case; `None` if more trials alone do not suffice."""
    measures: Sequence[Measured] = ()
    """`passed` first, then metrics that decide, then measures that are only reported."""
    cases: Sequence[ChangedCase] = ()
    """Cases that now fail (the largest change first), missing verdicts, cases that now pass or are no longer in error, then other pass rates."""
    significant_cases: Sequence[CaseEvidence] = ()
    """The cases that are worse by themselves."""
    general: InGeneral | None = None
    """Cases like these; `None` if no case has its verdicts in both runs."""
    missing_base: int = 0
    """Verdicts of the baseline that are missing: trials in error or not run."""
    missing_candidate: int = 0
    only_base: Sequence[str] = ()
    """`set/case` of cases that only the baseline has: removed from the set. Those that the candidate could not run are missing verdicts."""
    only_candidate: Sequence[str] = ()
    changed_cases: Sequence[str] = ()
    """Cases whose content differs between the runs."""
    left_out: tuple[int, int] = (0, 0)
    """How many cases of the other run the baseline and the candidate left out (`--limit`, `--tag` …), or could not run with their set."""
    unknown_sets: Sequence[str] = ()
    """The eval sets that neither run could run: their missing verdicts are not counted."""
    look: Look | None = None
    """The sequential look at the candidate; `None` if its number of trials was fixed in advance."""
    futile: bool = False
    """Whether an inconclusive look stopped for futility: the remaining trials would hardly decide."""
    unlike: list[RunDifference] = field(default_factory=list)
    """The other differences between the runs."""

    def _repr_html_(self) -> str:
        """Return the outcome and its tables for a notebook."""
        html: str = load_object("proctor.analysis.compare.comparison_report:comparison_html")(self)
        return html

    def __bool__(self) -> bool:
        return self.passed  # an `assert comparison` must not pass by accident

    def __repr__(self) -> str:
        return f"<Comparison of {self.base.run_id or 'a run'} and {self.candidate.run_id or 'a run'}: {self.sentence}>"

    @property
    def passed(self) -> bool:
        """Whether the comparison found no difference, no regression, or an improvement."""
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """The exit code of its outcome."""
        return self.outcome.exit_code

    @property
    def warnings(self) -> list[str]:
        """The differences other than the agent that make the runs not comparable."""
        return [one.text for one in self.unlike if not one.expected]

    def measure(self, name: str) -> Measured:
        """Return the measure with the name `name`: `passed`, or a metric.

        Raises:
            KeyError: the runs have no common measure of this name.
        """
        for one in self.measures:
            if one.name == name:
                return one
        raise KeyError(name)

    @property
    def cases_with_fewer_passes(self) -> list[ChangedCase]:
        """The cases of which a smaller share of the trials passes, for every possible outcome of the missing verdicts."""
        return [one for one in self.cases if one.base.change_to(one.candidate) is CaseChange.FEWER_TRIALS]

    def changed(self, change: CaseChange) -> list[ChangedCase]:
        """Return the cases with this change."""
        return [case for case in self.cases if case.change is change]


# --- Baselines: the data of one run that a comparison needs, under a name; small enough to commit to a repository -----
VERSION = 1
_MOST = 10**9
"""The limit of any count; a larger number is a mistake."""
_Count = Annotated[int, Field(ge=0, le=_MOST)]

_Trials = Annotated[int, Field(ge=0, le=10**6)]
"""The number of trials of one case; its limit is lower because a comparison iterates over trials."""

CaseRow = tuple[str, str, str, Outcome, _Trials, _Trials, _Trials, list[FiniteFloat | None]]
"""Eval set, case, hash of its content, outcome; trials that passed, that failed, others; the metrics' means."""


class Baseline(BaseModel):
    """A run in the form in which a baseline stores it."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    proctor_baseline: Literal[1]
    run_id: str
    agent: str
    started_at: float
    num_runs: Annotated[int, Field(ge=1, le=_MOST)]
    most: _Count = 0
    """The maximum number of trials of a case if they are added until a decision."""
    against: str = ""
    cost: float | None = None
    known_cost: float = 0.0
    manifest: Manifest
    """The manifest of the run: the properties in which another run can differ."""
    judging: ScoringManifest
    """The configs and metrics by which the run was scored."""
    metrics: list[str]
    """The metrics, in the order of the means in `cases`."""
    cases: list[CaseRow]
    """The cases, sorted by eval set and id; those with one id in their original order."""


class NamedBaseline(BaseModel):
    """An entry in the list of baselines."""

    name: str
    run_id: str
    agent: str
    started_at: float
    cases: int
    num_runs: int
