"""What is read for a picture over several runs, when a person opens it: the causes of failures, and the intervals of the cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from math import inf
from typing import TYPE_CHECKING

from proctor.reports.content.failure_causes import FailureCause, cause_of, group_failures
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.score import Outcome
from proctor.stats.intervals import ClusteredMean
from proctor.web.pages.runs.load_run import RunPageCache
from proctor.web.pages.runs.selected_run import SelectedRun, earlier_runs, select_run

if TYPE_CHECKING:
    from proctor.schema.results.manifest import RunRecord, RunSummary
    from proctor.stores.base import Store

_MOST_RUNS = 8
MOST_CASES = 5_000
"""The cases of all requested runs whose evidence is read for the intervals of their costs."""


class TrendRun(PageModel):
    """One of the runs over which causes are counted."""

    run_id: str
    short: str
    created_at: float
    failed: int
    """The cases that failed or could not be decided."""


class CauseSizes(PageModel):
    """One cause of failures over the runs."""

    text: str
    sizes: list[int]
    """The number of cases with it in each run, oldest first."""
    since: str
    """Since when the cause is there: `new`, `since abc123 (3 runs)`, `in all 8 runs`."""


class CauseTrend(PageModel):
    """The causes of the failures of a run in the last runs of the same agent and eval sets."""

    runs: list[TrendRun]
    """Oldest first; the last one is the run itself."""
    causes: list[CauseSizes]
    """As the page of the run has them: those of most cases first."""


class CostInterval(PageModel):
    """The 95 % confidence interval of the mean cost of a trial in one run, in US dollars."""

    run_id: str
    low: float
    high: float
    cases: int


class CostIntervals(PageModel):
    """The intervals of the requested runs; without those whose costs are not all known, and the oldest of many."""

    items: list[CostInterval]
    left_out: int
    """The runs left out because the runs before them have 5,000 cases together."""


def cause_trend(store: Store, name: str, scoring: int | None = None) -> CauseTrend:
    """Count the causes of a run's failures in it and in the runs before it (8 at most); the verdicts of all are read.

    Raises:
        UnknownNameError: there is no such run or scoring, or several ids begin like this.
    """
    selected = select_run(store, name, scoring)
    run = selected.stored.listed
    earlier = earlier_runs(store, run.run, _MOST_RUNS - 1)
    now = [*_causes(store, run.run.run_id, selected.stored.scoring)]
    before = [[*_causes(store, one.run.run_id, one.run.scoring)] for one in earlier]
    groups, _ = group_failures(now)
    sizes = {group.cause: [group.cases] for group in groups}
    for causes in before:
        for group in group_failures(now, causes)[0]:
            sizes[group.cause].insert(0, group.before or 0)
    counted = [*zip(reversed(earlier), map(len, reversed(before)), strict=True), (run, len(now))]
    runs = [
        TrendRun(run_id=one.run.run_id, short=one.short, created_at=one.run.created_at, failed=failed)
        for one, failed in counted
    ]
    return CauseTrend(
        runs=runs,
        causes=[
            CauseSizes(text=cause.text, sizes=counts, since=_since_text(counts, runs))
            for cause, counts in sizes.items()
        ],
    )


def _causes(store: Store, run_id: str, scoring: int) -> Iterator[FailureCause]:
    causes = (cause_of(case) for _, case in store.verdicts(run_id, scoring))
    return (cause for cause in causes if cause is not None)


def _since_text(sizes: Sequence[int], runs: Sequence[TrendRun]) -> str:
    row = sum(1 for _ in takewhile(bool, reversed(sizes)))
    if len(sizes) == 1:
        return ""
    if row == len(sizes):
        return f"in all {row} runs"
    if row > 1:
        return f"since {runs[-row].short} ({row} runs)"
    return "again" if any(sizes[:-1]) else "new"


def cost_intervals(store: Store, pages: RunPageCache, names: Sequence[str]) -> CostIntervals:
    """Return the confidence intervals of the costs of runs (the newest first); the evidence of all is read.

    The interval is Student's for the ratio of the costs to the attempts at trials over the cases. A run has none if the cost of an
    executed case is unknown, or if its mean cost is no such ratio (see `trial_cost`): only the agent's part lacks attempts.

    Raises:
        UnknownNameError: there is no such run, or several ids begin like this.
    """
    items: list[CostInterval] = []
    cases = 0
    for at, name in enumerate(names):
        selected = select_run(store, name)
        cases += selected.stored.listed.run.cases
        if at and cases > MOST_CASES:
            return CostIntervals(items=items, left_out=len(names) - at)
        if (interval := _cost_interval(store, pages, selected)) is not None:
            items.append(interval)
    return CostIntervals(items=items, left_out=0)


def _cost_interval(store: Store, pages: RunPageCache, selected: SelectedRun) -> CostInterval | None:
    run = selected.stored.listed.run
    extras = pages.extras(store, run.run_id)
    costs = [
        (cost, attempts)
        for cost, attempts in zip(extras.costs, extras.attempts, strict=False)
        if cost is not None
    ]
    if len(costs) != _executed(run) or not _has_ratio(run.summary):
        return None
    clusters = ClusteredMean()
    for cost, attempts in costs:
        clusters.add(cost / max(1, attempts), attempts)
    mean = clusters.result(within=(0.0, inf))
    if mean is None or mean.low is None or mean.high is None:
        return None
    return CostInterval(run_id=run.run_id, low=mean.low, high=mean.high, cases=len(costs))


def _has_ratio(summary: RunSummary) -> bool:
    return not summary.unreported or all(one.purpose == "agent" for one in summary.spent)


def _executed(run: RunRecord) -> int:
    counts = run.summary.counts
    return sum(counts.values()) - sum(counts.get(one.value, 0) for one in (Outcome.SKIPPED, Outcome.NOT_RUN))
