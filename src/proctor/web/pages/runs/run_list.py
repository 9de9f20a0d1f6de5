"""The list of runs: one row per run, newest first."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.reports.content.run_list import ListedRun, state_text
from proctor.reports.content.summary import run_cost_text
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.manifest import NO_ANNOTATION, RunAnnotation, RunState
from proctor.schema.results.model_usage import run_cost
from proctor.schema.results.run_result import Outcome
from proctor.web.pages.base import PassedShare, copy_fields, counts_of, passed_of

TREND = 12
"""The most pass rates in the trend of a row."""


class PassedCases(PageModel):
    """How many cases of a run passed; each of them was run."""

    count: int
    of: int
    """At least 1."""


class RunRow(PageModel):
    """A run in a list."""

    run_id: str
    name: str
    """What people call it; empty if they do not."""
    note: str
    starred: bool
    short: str
    """The beginning of its id that no other run shares."""
    state: RunState
    outcome: Outcome | None
    """Null while the run is running, or if it has no result yet."""
    standing: str
    """Its status in a word or two: `failed`, `running`, `unfinished`."""
    created_at: float
    """Unix seconds."""
    agent: str
    commit: str | None
    """The git commit of the agent, with a trailing `+` if there were uncommitted changes."""
    sets: list[str]
    cases: int
    num_runs: int
    """Trials of each case; the maximum if sets differ."""
    counts: dict[Outcome, int]
    """Cases by outcome."""
    trials: int
    """Trials whose evidence is stored."""
    in_flight: int
    """Trials that run now, up to 15 seconds old."""
    pass_rate: PassedShare
    duration: float
    """The seconds that processes spent on it."""
    cost: float | None
    """US dollars; null if a price is unknown or nothing was reported."""
    cost_text: str
    """The same as text: `$0.60`, `at least $0.60`, `unknown`; empty if nothing was reported."""
    stopped_by: str
    interrupted: bool
    judgings: int
    judging: int
    """The number of the scoring whose verdicts the row shows."""
    imported_from: str
    trend: list[PassedCases]
    """The cases that passed in the runs of the same agent and sets up to this one, oldest first."""


class RunsPage(PageModel):
    """Some of the runs."""

    items: list[RunRow]
    next: str | None
    """`before` of the next page; null: these are the last."""
    total: int
    """The number of all runs in the store."""


def run_row(
    entry: ListedRun, trend: Sequence[PassedCases] = (), annotation: RunAnnotation = NO_ANNOTATION
) -> RunRow:
    """Return the row of a run."""
    run, summary = entry.run, entry.run.summary
    return copy_fields(
        RunRow,
        run,
        summary,
        entry,
        annotation,
        outcome=summary.outcome if run.state is RunState.FINISHED else None,
        standing=state_text(run),
        judgings=run.scorings,
        judging=run.scoring,
        counts=counts_of(run),
        pass_rate=passed_of(run),
        cost=run_cost(summary.spent, summary.unreported),
        cost_text=run_cost_text(summary),
        trend=trend,
    )
