"""What runs say of cases over time: which broke, in which run; and every metric over the runs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from proctor.analysis.history.text import (
    LETTERS,
    metric_names,
    reason_of,
    sentence_of,
    strip_of_runs,
    unlike_text,
)
from proctor.common.safe_text import shorten
from proctor.schema.analysis.comparison import Unlike
from proctor.schema.analysis.history import (
    CaseHistory,
    CasePoint,
    Course,
    HistoryRun,
    MetricPoint,
    RunHistory,
    Turning,
)
from proctor.schema.results.outcome import Outcome
from proctor.schema.results.page_model import PageModel
from proctor.web.pages.analysis.comparison import UnlikeLine

__all__ = ["HistoryPage", "history_page"]

_LONGEST_WHY = 300


class HistoryRunPart(PageModel):
    """One of the runs that were looked at."""

    run_id: str
    short: str
    started_at: float
    agent: str
    commit: str | None
    outcome: Outcome | None
    cases: int
    num_runs: int


class TurningPart(PageModel):
    """Where a case became what it is."""

    first: str
    """The id of the first run in which it was so."""
    before: str | None
    """That of the last run in which it was not; null: it was so in every run that was looked at."""
    changed: list[UnlikeLine]
    """What is known to differ between the two."""
    caution: str
    """Why the agent need not be what changed it; empty where nothing speaks against it."""
    command: str
    """What shows the two side by side in a terminal; empty where there is no run before."""


class HistoryPoint(PageModel):
    """One case in one run."""

    run_id: str
    position: int
    outcome: Outcome
    strip: str
    """A letter a trial."""
    reason: str
    changed: list[UnlikeLine]
    """Since the run before."""


class HistoryCase(PageModel):
    """What the runs say of one case."""

    eval_set_id: str
    eval_id: str
    course: Course
    sentence: str
    strip: str
    """A letter for each run, oldest first; `-`: that run did not reach it."""
    why: str
    """Why it failed when it last did."""
    decided: int
    failed: int
    flips: int
    unexplained: int
    mixed: int
    turning: TurningPart | None


class SeriesPoint(PageModel):
    """What a metric said in one run."""

    run_id: str
    score: float | None
    low: float | None
    """The 95 % interval over trials (of a case) or over cases; null where one value says nothing of it."""
    high: float | None
    threshold: float | None
    outcome: Outcome
    count: int
    """Trials, or cases, that it rests on."""


class Series(PageModel):
    """One metric over the runs."""

    name: str
    decides: bool
    points: list[SeriesPoint]
    """Oldest first; runs without it are left out."""


class HistoryPage(PageModel):
    """What was found by looking back."""

    runs: list[HistoryRunPart]
    """Newest first."""
    older: int
    """Runs beyond these."""
    sets: list[str]
    """The eval sets of all runs that are kept, by their ids: what can be asked for."""
    agents: list[str]
    """Their agents."""
    counts: dict[Course, int]
    cases: list[HistoryCase]
    """Those that matter first; where one case is asked for, only that."""
    points: list[HistoryPoint] | None
    """Of the one case, newest first; null where all are asked for."""
    series: list[Series]
    """`passed` (the share of the cases that were run) first, then what decides."""
    command: str
    """What shows the same in a terminal."""


def history_page(found: RunHistory, *, options: Sequence[str] = ()) -> HistoryPage:
    """Return a history as a page; `options` are those of the command line that it was asked with."""
    case = [found.case] if found.case else []
    return HistoryPage(
        runs=[_run(run) for run in found.runs],
        older=found.older,
        sets=found.sets,
        agents=found.agents,
        counts=found.counts(),
        cases=[_case(found, one) for one in found.cases],
        points=[_point(point) for point in found.cases[0].points] if found.case else None,
        series=[_series(found, name) for name in metric_names(found, every=True)],
        command=shlex.join(["proctor", "history", *case, *options]),
    )


def _run(run: HistoryRun) -> HistoryRunPart:
    return HistoryRunPart(
        run_id=run.run_id,
        short=run.short,
        started_at=run.started_at,
        agent=run.agent,
        commit=run.commit,
        outcome=run.outcome,
        cases=run.cases,
        num_runs=run.num_runs,
    )


def _case(found: RunHistory, case: CaseHistory) -> HistoryCase:
    letters = [
        LETTERS.get(point.outcome, "-") if point is not None else "-"
        for point in strip_of_runs(case, found.runs)
    ]
    return HistoryCase.model_construct(
        eval_set_id=case.eval_set_id,
        eval_id=case.eval_id,
        course=case.course,
        sentence=sentence_of(case, found.older),
        strip="".join(letters),
        why=shorten(reason_of(case), _LONGEST_WHY),
        decided=case.decided,
        failed=case.failed,
        flips=case.flips,
        unexplained=case.unexplained,
        mixed=case.mixed,
        turning=_turning(case, case.turn) if case.turn else None,
    )


def _turning(case: CaseHistory, turn: Turning) -> TurningPart:
    before = turn.before
    command = ["proctor", "compare", before.short, turn.first.short, case.name] if before is not None else []
    return TurningPart(
        first=turn.first.run_id,
        before=before.run_id if before is not None else None,
        changed=_unlike(turn.changed),
        caution=unlike_text(turn),
        command=shlex.join(command),
    )


def _point(point: CasePoint) -> HistoryPoint:
    return HistoryPoint(
        run_id=point.run.run_id,
        position=point.position,
        outcome=point.outcome,
        strip="".join(LETTERS.get(one, "n") for one in point.trials),
        reason=point.reason,
        changed=_unlike(point.changed),
    )


def _unlike(found: Sequence[Unlike]) -> list[UnlikeLine]:
    return [UnlikeLine(what=one.what, text=one.text, expected=one.expected) for one in found]


def _series(found: RunHistory, name: str) -> Series:
    points: Mapping[str, MetricPoint] = found.metrics[name]
    return Series(
        name=name,
        decides=any(point.gate for point in points.values()),
        points=[
            _of_run(run.run_id, points[run.run_id]) for run in reversed(found.runs) if run.run_id in points
        ],
    )


def _of_run(run_id: str, point: MetricPoint) -> SeriesPoint:
    return SeriesPoint(
        run_id=run_id,
        score=point.score,
        low=point.low,
        high=point.high,
        threshold=point.threshold,
        outcome=point.outcome,
        count=point.count,
    )
