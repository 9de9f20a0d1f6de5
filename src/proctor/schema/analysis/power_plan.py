"""A power plan: the number of cases and trials that a run needs to detect a drop, with cost and duration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SizeRow:
    """A combination of cases and trials per case that detects the drop."""

    trials: int
    """Trials of each case, in either run."""
    cases: int
    total: int
    """Trials of one run; a comparison takes two runs."""
    cost: float | None = None
    """The cost of one run in US dollars, from the cost of a trial in the given run; `None`: unknown."""
    seconds: float | None = None
    """The duration of one run in seconds, with the same number of parallel trials; `None`: unknown."""


@dataclass(frozen=True, slots=True)
class MeasureSize:
    """The run size that is needed to detect a drop in one measure."""

    name: str
    """`passed`, or the name of a metric."""
    mean: float
    """Over the cases of the run."""
    detect: float
    """The drop to detect, in the measure's own units: 0.05 of `passed` is 5 percentage points."""
    within: float
    """Variance of the trials of one case."""
    between: float
    """The variance of the cases' own rates or scores; irrelevant to a comparison, which is paired by case."""
    level: float
    """The significance level of this measure in the outcome of a comparison: its part of 1 - confidence."""
    rows: Sequence[SizeRow]
    detectable: float | None
    """The smallest drop that a run of this size detects with the requested power; `None`: no possible drop."""
    more_trials: int | None = None
    """The number of trials of each case in the run that would detect `detect`; `None` if trials alone do not suffice."""
    notes: Sequence[str] = ()
    """What is assumed, and what is not known."""
    more_cases: int = 0
    """The number of cases that would detect `detect` with the trials of the run."""
    case_rate: float | None = None
    """The pass rate to which one case may drop from 100 % and be noticed by itself; `None`: no such drop is, or a metric."""


@dataclass(frozen=True, slots=True)
class RunSize:
    """The run size that is needed to detect a drop between two runs, estimated from one run of the cases."""

    run_id: str
    """The id of the run; empty if the result is not stored."""
    agent: str
    cases: int
    """The number of cases that the plan uses: those with a verdict on every trial."""
    left_out: int
    """Cases of which not every trial could be scored."""
    trials: int
    """Trials of a case; where cases differ, the mean, rounded."""
    power: float
    confidence: float
    measures: Sequence[MeasureSize]
    """`passed`, or the requested metrics."""
    sentence: str
