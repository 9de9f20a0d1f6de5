"""The history of cases over many runs: current state and since when, how often the verdict changed, and what differed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from proctor.schema.analysis.comparison import RunDifference, Trials
from proctor.schema.results.score import Outcome, refuse_truth


class Course(StrEnum):
    """The state of a case over its runs, in the order in which cases are listed."""

    BROKE = "broke"
    """It failed in its newest run, and passed in the previous one."""
    FAILING = "failing"
    """It failed in its newest run and in the previous one."""
    UNDECIDED = "undecided"
    """Its newest run gave no verdict: an error, or not enough trials."""
    FLAKY = "flaky"
    """Its verdict varies without a known difference between the runs, within the noise of unequal trials, or back and forth."""
    FIXED = "fixed"
    """It passed in its newest run, and failed in the previous one."""
    STEADY = "steady"
    """It passed in its newest run, and is in none of the states above."""

    __bool__ = refuse_truth


@dataclass(frozen=True, slots=True)
class HistoryRun:
    """One of the runs in a history."""

    run_id: str
    short: str
    """The shortest prefix of its id that no other run has."""
    started_at: float
    """Unix seconds."""
    agent: str
    commit: str | None
    """The git commit of the agent, with the suffix `+` if files were modified."""
    version: str | None
    outcome: Outcome | None
    cases: int
    num_runs: int
    sets: tuple[str, ...] = ()
    """The ids of its eval sets."""
    unread_sets: tuple[str, ...] = ()
    """Those of `sets` that could not be run (`keep_going`), among the requested ones."""
    build: str = ""
    """The hash of the agent's source and of the project's modules that it imports, or its version; empty if unknown."""
    models: tuple[str, ...] = ()
    """The names of the models that answered, as the evidence has them."""
    stopped_by: str = ""
    """What stopped it before its end, such as `Ctrl-C`; empty if nothing did."""
    chosen_of: int | None = None
    """The cases of the largest run of its sets, if it had a selection with fewer; `None`: it had all, or none is known to have more."""
    trial_cost: float | None = None
    """US dollars per attempt at a trial, agent, simulated user and judges together; `None`: unknown, or only some sets are looked at."""

    def __bool__(self) -> bool:
        return self.outcome is Outcome.PASSED


@dataclass(frozen=True, slots=True)
class MetricPoint:
    """The score of one metric in one run."""

    score: float | None
    """`None`: it could not be computed, or did not apply."""
    threshold: float | None
    outcome: Outcome
    gate: bool = True
    low: float | None = None
    """The 95 % CI over the trials of a case, or over cases; `None` if it cannot be computed from one value."""
    high: float | None = None
    count: int = 1
    """The number of trials of the case, or of cases."""
    not_run: int = 0
    """Over cases: those that the run did not reach, or did not decide; then the score is of the others, and not of the whole run."""
    unread_sets: int = 0
    """Over cases: the eval sets of the run that could not be run; it is unknown how many cases they have."""

    def __bool__(self) -> bool:
        return bool(self.outcome)

    @property
    def is_partial(self) -> bool:
        """Whether cases of the run are missing in the score."""
        return bool(self.not_run or self.unread_sets)


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
    """The hash of the case in this run; empty if unknown."""
    changed: Sequence[RunDifference] = ()
    """The differences from the previous run with this case; only in the history of a single case."""

    def __bool__(self) -> bool:
        return bool(self.outcome)

    @property
    def counts(self) -> Trials:
        """The number of trials by outcome."""
        passed, failed = (
            sum(one is outcome for one in self.trials) for outcome in (Outcome.PASSED, Outcome.FAILED)
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
class VerdictChange:
    """A change of a case's verdict: from passing to not passing, or vice versa."""

    first: HistoryRun
    """The first run in which it was so."""
    before: HistoryRun | None
    """The last run with the previous verdict; `None` if every run in the history has the current one."""
    changed: Sequence[RunDifference] = ()
    """The known differences between the two runs; those that are not `expected` make them not comparable."""
    known: bool = False
    """Whether a different build of the agent would have been detected; if not, the absence of differences proves little."""

    @property
    def warnings(self) -> list[str]:
        """The differences other than the agent that make the two runs not comparable: the agent may not be the cause."""
        return [one.text for one in self.changed if not one.expected]


class ChangedBy(StrEnum):
    """Who changed something between two runs, as far as the manifests show it."""

    YOU = "you"
    """Something that the manifest records differs: the agent, the cases, the config, a package."""
    PROVIDER = "provider"
    """Code, config and cases are the same, and other models answered or the results differ significantly."""
    UNKNOWN = "unknown"
    """The same, but it is unknown whether the code changed: it has no version, or the commit differs."""

    __bool__ = refuse_truth


@dataclass(frozen=True, slots=True)
class RunChange:
    """What changed for one eval set between a run and the previous run of the same agent."""

    agent: str
    """Empty: the runs of all agents are one history."""
    eval_set_id: str
    before: HistoryRun
    first: HistoryRun
    """The first run after the change."""
    changed_by: ChangedBy
    differences: Sequence[RunDifference]
    p_value: float | None = None
    """Of the difference of results, corrected for the number of runs tested; `None`: the manifests show the change."""

    __bool__ = refuse_truth


@dataclass(slots=True)
class CaseHistory:
    """The history of one case in the runs of one agent."""

    eval_set_id: str
    eval_id: str
    course: Course
    points: list[CasePoint]
    """Newest first; without runs that did not reach the case."""
    turn: VerdictChange | None = None
    """The run in which it broke, became undecided, or was fixed; `None` for a steady case."""
    decided: int = 0
    """Runs in which it passed or failed."""
    failed: int = 0
    flips: int = 0
    """The number of verdict changes between consecutive decided runs."""
    unexplained: int = 0
    """The verdict changes without a known difference between the two runs."""
    mixed: int = 0
    """Runs in which some of its trials passed and some failed."""
    agent: str = ""
    """The agent of the runs; empty: the runs of all agents are one history."""

    def __bool__(self) -> bool:
        return bool(self.points) and bool(self.points[0])  # the newest run decides

    @property
    def name(self) -> str:
        """The name in the form `set/case`."""
        return f"{self.eval_set_id}/{self.eval_id}"

    @property
    def lasted(self) -> int:
        """The number of runs since the last change; 0 for a steady case."""
        if self.turn is None:
            return 0
        first = self.turn.first.run_id
        return next(number for number, point in enumerate(self.points, 1) if point.run.run_id == first)


@dataclass(slots=True)
class RunHistory:
    """The history of runs and their cases."""

    runs: list[HistoryRun]
    """The runs in the history, newest first; for a single case, the runs that planned it."""
    older: int
    """The number of older runs that are not in the history."""
    cases: list[CaseHistory]
    """Each case once for each agent that ran it; those that need attention first. For a single case, only this one."""
    case: str = ""
    """The requested case as `set/case`; empty: all."""
    sets: list[str] = field(default_factory=list)
    """The ids of the eval sets of all stored runs, for selection."""
    agents: list[str] = field(default_factory=list)
    """The agents of all stored runs, for selection."""
    metrics: dict[str, dict[str, MetricPoint]] = field(default_factory=dict)
    """By metric and run: the mean over the cases. `passed` is the share of cases that passed, among those that ran."""
    changes: list[RunChange] = field(default_factory=list)
    """What changed between consecutive runs of an agent, newest first."""
    combined: bool = False
    """Whether the runs of all agents are one history."""

    __bool__ = refuse_truth

    def groups(self) -> dict[str, list[HistoryRun]]:
        """Return the runs by agent, newest first; all of them under an empty name if agents are combined."""
        groups: dict[str, list[HistoryRun]] = {}
        for run in self.runs:
            groups.setdefault("" if self.combined else run.agent, []).append(run)
        return groups

    def counts(self) -> dict[Course, int]:
        """Return the number of cases by course."""
        counts = dict.fromkeys(Course, 0)
        for case in self.cases:
            counts[case.course] += 1
        return counts

    def of(self, course: Course) -> list[CaseHistory]:
        """Return the cases with this course."""
        return [case for case in self.cases if case.course is course]
