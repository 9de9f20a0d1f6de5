"""The history of cases over several runs: which case broke in which run; and every metric over the runs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from proctor.analysis.history.pass_rates import unread_texts
from proctor.analysis.history.text import (
    case_history_sentence,
    change_text,
    metric_names,
    not_comparable_text,
    reason_of,
    strip_of_runs,
)
from proctor.common.safe_text import shorten
from proctor.reports.content.case_words import LETTERS
from proctor.schema.analysis.history import (
    CaseHistory,
    CasePoint,
    ChangedBy,
    Course,
    RunChange,
    RunHistory,
    VerdictChange,
)
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.score import Outcome
from proctor.web.pages.analysis.comparison import UnlikeLine, difference_lines
from proctor.web.pages.base import copy_fields
from proctor.web.pages.runs.case_table import strip_of

_LONGEST_WHY = 300


class HistoryRunPart(PageModel):
    """One of the runs of the history."""

    run_id: str
    short: str
    started_at: float
    agent: str
    commit: str | None
    version: str | None
    build: str
    """The hash of the agent's source, or its version; empty if unknown."""
    outcome: Outcome | None
    cases: int
    num_runs: int
    stopped_by: str
    """What stopped it before its end; empty if nothing did."""
    unread_sets: list[str]
    """The ids of its eval sets that could not be run."""
    chosen_of: int | None
    """The cases of the whole sets, if the run had a selection of them."""
    trial_cost: float | None
    """US dollars per attempt at a trial: per case, a run with more trials would seem more expensive. Null: unknown."""


class TurningPart(PageModel):
    """The run in which a case got its present outcome."""

    first: str
    """The id of the first run with this outcome."""
    before: str | None
    """The id of the last run with another outcome; null: every run of the history has this one."""
    changed: list[UnlikeLine]
    """The known differences between the two runs."""
    caution: str
    """Why the agent may not be the cause; empty if nothing suggests another cause."""
    command: str
    """The command that compares the two runs; empty if there is no earlier run."""


class RunChangePart(PageModel):
    """What changed for one eval set between a run and the previous run of the same agent."""

    agent: str
    """Empty: the runs of all agents are one history."""
    eval_set_id: str
    before: str
    """The id of the previous run."""
    first: str
    """The id of the first run after the change."""
    changed_by: ChangedBy
    text: str
    """A sentence: who changed what."""
    command: str
    """The command that compares the two runs."""


class HistoryPoint(PageModel):
    """One case in one run."""

    run_id: str
    position: int
    outcome: Outcome
    strip: str
    """One letter per trial."""
    reason: str
    changed: list[UnlikeLine]
    """The differences from the previous run."""


class HistoryCase(PageModel):
    """The history of one case in the runs of one agent."""

    agent: str
    """Empty: the runs of all agents are one history."""
    eval_set_id: str
    eval_id: str
    course: Course
    sentence: str
    strip: str
    """One letter per run, oldest first; `-`: the run is of another agent, or did not reach the case."""
    why: str
    """The reason of its last failure."""
    decided: int
    failed: int
    flips: int
    unexplained: int
    mixed: int
    turning: TurningPart | None


class SeriesPoint(PageModel):
    """A metric in one run."""

    run_id: str
    score: float | None
    low: float | None
    """The 95 % confidence interval over the trials of a case, or over cases; null for a single value."""
    high: float | None
    threshold: float | None
    outcome: Outcome
    count: int
    """The number of trials, or of cases."""
    not_run: int
    """The number of cases that the run did not reach: then the score is of the others only."""
    unread_sets: int
    """The number of eval sets of the run that could not be run; 0 for the trials of a case."""


class Series(PageModel):
    """One metric over the runs of an agent."""

    agent: str
    """Empty: the runs of all agents are one history."""
    name: str
    decides: bool
    points: list[SeriesPoint]
    """Oldest first, without the runs that lack the metric."""


class HistoryPage(PageModel):
    """The history of all cases, or of one."""

    runs: list[HistoryRunPart]
    """Newest first."""
    older: int
    """The number of older runs that are left out."""
    sets: list[str]
    """The ids of the eval sets of all stored runs, to choose from."""
    agents: list[str]
    """The agents of all stored runs."""
    unread: list[str]
    """The eval sets that could not be run: a sentence about each, with the runs."""
    counts: dict[Course, int]
    cases: list[HistoryCase]
    """The important ones first; if the request names a case, only this one, once for each agent."""
    points: list[HistoryPoint] | None
    """The runs of the requested case, newest first; null if the request names none."""
    series: list[Series]
    """Agent by agent `passed` (the share of the executed cases) first, then the deciding metrics."""
    changes: list[RunChangePart]
    """What changed between the runs, newest first."""
    command: str
    """The equivalent command."""


def history_page(history: RunHistory, *, options: Sequence[str] = (), has_cases: bool = True) -> HistoryPage:
    """Return the page of a history, or without the rows of its cases; `options`: those of the equivalent command."""
    case = [history.case] if history.case else []
    return HistoryPage(
        runs=[copy_fields(HistoryRunPart, run) for run in history.runs],
        older=history.older,
        sets=history.sets,
        agents=history.agents,
        unread=[f"{name} {where}" for name, where in unread_texts(history.runs)],
        counts=history.counts(),
        cases=[history_case(history, one) for one in history.cases if has_cases],
        points=[_point(point) for case in history.cases for point in case.points] if history.case else None,
        series=[*_every_series(history)],
        changes=[_change(one) for one in history.changes],
        command=shlex.join(["proctor", "history", *case, *options]),
    )


def history_case(history: RunHistory, case: CaseHistory) -> HistoryCase:
    """Return the row of a case."""
    letters = [
        LETTERS.get(point.outcome, "-") if point is not None else "-"
        for point in strip_of_runs(case, history.runs)
    ]
    return HistoryCase.model_construct(
        agent=case.agent,
        eval_set_id=case.eval_set_id,
        eval_id=case.eval_id,
        course=case.course,
        sentence=case_history_sentence(case, history.older),
        strip="".join(letters),
        why=shorten(reason_of(case), _LONGEST_WHY),
        decided=case.decided,
        failed=case.failed,
        flips=case.flips,
        unexplained=case.unexplained,
        mixed=case.mixed,
        turning=_turning(case, case.turn) if case.turn else None,
    )


def _turning(case: CaseHistory, turn: VerdictChange) -> TurningPart:
    before = turn.before
    command = ["proctor", "compare", before.short, turn.first.short, case.name] if before is not None else []
    return TurningPart(
        first=turn.first.run_id,
        before=before.run_id if before is not None else None,
        changed=difference_lines(turn.changed),
        caution=not_comparable_text(turn),
        command=shlex.join(command),
    )


def _point(point: CasePoint) -> HistoryPoint:
    return copy_fields(
        HistoryPoint,
        point,
        point.run,
        strip=strip_of(point.trials),
        changed=difference_lines(point.changed),
    )


def _change(one: RunChange) -> RunChangePart:
    return copy_fields(
        RunChangePart,
        one,
        before=one.before.run_id,
        first=one.first.run_id,
        text=change_text(one),
        command=shlex.join(["proctor", "compare", one.before.short, one.first.short]),
    )


def _every_series(history: RunHistory) -> Iterator[Series]:
    for agent, runs in history.groups().items():
        for name in metric_names(history, every=True):
            points = history.metrics[name]
            scored = [run for run in reversed(runs) if run.run_id in points]
            if scored:
                yield Series(
                    agent=agent,
                    name=name,
                    decides=any(points[run.run_id].gate for run in scored),
                    points=[
                        copy_fields(SeriesPoint, points[run.run_id], run_id=run.run_id) for run in scored
                    ],
                )
