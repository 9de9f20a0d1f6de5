"""How large a run must be to see a drop: cases and trials, and what that takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SizeRow:
    """One way to see the drop: so many cases, each run so often."""

    trials: int
    """Trials of each case, in either run."""
    cases: int
    total: int
    """Trials of one run; a comparison takes two runs."""
    cost: float | None = None
    """US dollars of one run, by what a trial of the run took; `None`: not known."""
    seconds: float | None = None
    """Seconds of one run, as many trials at once as there were; `None`: not known."""


@dataclass(frozen=True, slots=True)
class MeasureSize:
    """What it takes to see a drop in one thing that is measured."""

    name: str
    """`passed`, or the name of a metric."""
    mean: float
    """Over the cases of the run."""
    detect: float
    """The drop to be seen, in the measure's own units: 0.05 of `passed` is 5 points."""
    within: float
    """Variance of the trials of one case."""
    between: float
    """Variance of the cases' own rates or scores; it does not matter to a comparison, which is paired by case."""
    level: float
    """The p-value that is asked of this measure in the outcome of a comparison: its part of 1 - confidence."""
    rows: Sequence[SizeRow]
    detectable: float | None
    """The smallest drop that a run like this one finds with the power asked for; `None`: none that there can be."""
    more_trials: int | None = None
    """Trials of each of the run's cases that would find `detect`; `None` where trials alone do not."""
    notes: Sequence[str] = ()
    """What is assumed, and what is not known."""


@dataclass(frozen=True, slots=True)
class RunSize:
    """What it takes to see a drop between two runs, by one run of the cases."""

    run_id: str
    """Empty for a result that is not kept."""
    agent: str
    cases: int
    """Cases that it goes by: those of which every trial could be judged."""
    left_out: int
    """Cases of which not every trial could be judged."""
    trials: int
    """Trials of a case; where cases differ, the mean, rounded."""
    power: float
    confidence: float
    measures: Sequence[MeasureSize]
    """`passed`, or the metrics that were asked for."""
    sentence: str
