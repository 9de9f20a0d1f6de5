"""What many runs say of a case: since when it is as it is, how often it went back and forth, what changed meanwhile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from proctor.schema.analysis.comparison import Trials, Unlike
from proctor.schema.results.outcome import Outcome, refuse_truth


class Course(StrEnum):
    """What has become of a case over its runs, in the order in which cases are listed."""

    BROKE = "broke"
    """It failed in its newest run, and passed in the one before."""
    FAILING = "failing"
    """It failed in its newest run, and before that, too."""
    UNDECIDED = "undecided"
    """Its newest run could not judge it: an error, or not enough trials."""
    FLAKY = "flaky"
    """It comes out differently where nothing that is known of has changed, or goes back and forth."""
    FIXED = "fixed"
    """It passed in its newest run, and failed in the one before."""
    STEADY = "steady"
    """It passed in its newest run, and nothing is to be said of it."""

    __bool__ = refuse_truth


@dataclass(frozen=True, slots=True)
class HistoryRun:
    """One of the runs that were looked at."""

    run_id: str
    short: str
    """The beginning of its id that no other run shares."""
    started_at: float
    """Unix seconds."""
    agent: str
    commit: str | None
    """The git commit that its agent was at, with `+` behind it where files were changed."""
    version: str | None
    outcome: Outcome | None
    cases: int
    num_runs: int
    sets: tuple[str, ...] = ()
    """The ids of its eval sets."""

    def __bool__(self) -> bool:
        return self.outcome is Outcome.PASSED


@dataclass(frozen=True, slots=True)
class MetricPoint:
    """What one metric said in one run."""

    score: float | None
    """`None`: it could not be computed, or did not apply."""
    threshold: float | None
    outcome: Outcome
    gate: bool = True
    low: float | None = None
    """The 95 % interval over the trials of a case, or over cases; `None` where one value says nothing of it."""
    high: float | None = None
    count: int = 1
    """Trials of the case, or cases, that it rests on."""

    def __bool__(self) -> bool:
        return bool(self.outcome)


@dataclass(slots=True)
class CasePoint:
    """One case in one run."""

    run: HistoryRun
    outcome: Outcome
    trials: Sequence[Outcome]
    reason: str
    position: int
    """The place of the case in its run, from 0."""
    metrics: Mapping[str, MetricPoint] = field(default_factory=dict)
    content_hash: str = ""
    """Of the case as it was run; empty where it is not known."""
    changed: Sequence[Unlike] = ()
    """What was changed since the run before (the next older one with this case); only where one case is asked for."""

    def __bool__(self) -> bool:
        return bool(self.outcome)

    @property
    def counts(self) -> Trials:
        """How its trials ended."""
        passed, failed = (
            sum(one is wanted for one in self.trials) for wanted in (Outcome.PASSED, Outcome.FAILED)
        )
        return Trials(passed, failed, len(self.trials) - passed - failed)

    @property
    def is_decided(self) -> bool:
        """Whether it passed or failed."""
        return self.outcome is Outcome.PASSED or self.outcome is Outcome.FAILED

    @property
    def is_mixed(self) -> bool:
        """Whether some of its trials passed and some failed."""
        return len(self.trials) > 1 and Outcome.PASSED in self.trials and Outcome.FAILED in self.trials


@dataclass(frozen=True, slots=True)
class Turning:
    """Where a case turned: from passing to not passing, or the other way."""

    first: HistoryRun
    """The first run in which it was so."""
    before: HistoryRun | None
    """The last run in which it was not; `None` where every run that was looked at is so."""
    changed: Sequence[Unlike] = ()
    """What is known to differ between the two; what is not `expected` makes them unlike."""
    known: bool = False
    """Whether another build of the agent would have been noticed: else that nothing is told to differ says little."""

    @property
    def warnings(self) -> list[str]:
        """What makes the two runs unlike, the agent aside: then the agent need not be what broke the case."""
        return [one.text for one in self.changed if not one.expected]


@dataclass(slots=True)
class CaseHistory:
    """What the runs say of one case."""

    eval_set_id: str
    eval_id: str
    course: Course
    points: list[CasePoint]
    """Newest first; runs that did not reach the case are not among them."""
    turn: Turning | None = None
    """Where it broke, could not be judged any more, or was fixed; `None` of a steady case."""
    decided: int = 0
    """Runs in which it passed or failed."""
    failed: int = 0
    flips: int = 0
    """How often it went from passed to failed, or back, from one decided run to the next."""
    unexplained: int = 0
    """Those among them where nothing that is known of had changed between the two runs."""
    mixed: int = 0
    """Runs in which some of its trials passed and some failed."""

    def __bool__(self) -> bool:
        return bool(self.points) and bool(self.points[0])  # the newest run decides

    @property
    def name(self) -> str:
        """`set/case`."""
        return f"{self.eval_set_id}/{self.eval_id}"

    @property
    def lasted(self) -> int:
        """For how many runs it has been as it is now; 0 of a steady case."""
        if self.turn is None:
            return 0
        first = self.turn.first.run_id
        return next(number for number, point in enumerate(self.points, 1) if point.run.run_id == first)


@dataclass(slots=True)
class RunHistory:
    """What was found by looking back over runs."""

    runs: list[HistoryRun]
    """Those that were looked at, newest first; where one case is asked for, those that were to run it."""
    older: int
    """Runs beyond these that were not looked at."""
    cases: list[CaseHistory]
    """Those that matter first; where one case is asked for, only that."""
    case: str = ""
    """The case asked for, as `set/case`; empty: all."""
    sets: list[str] = field(default_factory=list)
    """The eval sets of all runs that are kept, by their ids: what can be asked for."""
    agents: list[str] = field(default_factory=list)
    """Their agents."""
    metrics: dict[str, dict[str, MetricPoint]] = field(default_factory=dict)
    """By metric and run: the mean over the cases. `passed` is the share of the cases which passed, of those that were run."""

    __bool__ = refuse_truth

    def counts(self) -> dict[Course, int]:
        """Return how many cases have which course."""
        found = dict.fromkeys(Course, 0)
        for case in self.cases:
            found[case.course] += 1
        return found

    def of(self, course: Course) -> list[CaseHistory]:
        """Return the cases of this course."""
        return [case for case in self.cases if case.course is course]
