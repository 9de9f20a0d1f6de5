"""What runs say of cases over time, on a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

from rich.table import Column
from rich.text import Text

from proctor.analysis.history.text import (
    HEADINGS,
    LISTED,
    MOST,
    metric_names,
    metric_values,
    point_text,
    reason_of,
    runs_of,
    sentence_of,
    strip_of_runs,
    times,
    unlike_text,
    without_trials,
)
from proctor.common.safe_text import shorten
from proctor.reports.base import ReportOptions
from proctor.reports.content.summary import short_names
from proctor.reports.plain.run_list import short_commit, when
from proctor.reports.terminal.console import FLAKY_STYLE, STYLES, Page
from proctor.reports.terminal.sparkline import sparkline
from proctor.reports.terminal.symbols import WORDS
from proctor.schema.analysis.history import CaseHistory, CasePoint, Course, MetricPoint, RunHistory
from proctor.schema.results.outcome import Outcome
from proctor.schema.results.score import score_text

_STYLES = {
    Course.BROKE: STYLES[Outcome.FAILED],
    Course.FAILING: STYLES[Outcome.FAILED],
    Course.UNDECIDED: STYLES[Outcome.ERROR],
    Course.FLAKY: FLAKY_STYLE,
    Course.FIXED: STYLES[Outcome.PASSED],
    Course.STEADY: "dim",
}
_MOST_RUNS = 40
"""Runs of a strip that are drawn at most: the newest."""


def draw_history(found: RunHistory, out: TextIO, metric: str, options: ReportOptions) -> None:
    """Draw `found` on `out`; without colour not one escape sequence is written."""
    page = Page(out, options)
    page.print()
    if found.case:
        _draw_case(page, found, found.cases[0], metric, options)
    elif metric:
        _draw_metric(page, found, metric)
    else:
        _draw_cases(page, found, options)
    page.print()


# --- all cases -------------------------------------------------------------------------------------------------------


def _draw_cases(page: Page, found: RunHistory, options: ReportOptions) -> None:
    for course in LISTED:
        cases = found.of(course)
        if not cases:
            continue
        page.print(Text.assemble((f"{len(cases):,} ", "bold"), page.text(HEADINGS[course], _STYLES[course])))
        shown = cases if options.verbose else cases[:MOST]
        several = len({case.eval_set_id for case in found.cases}) > 1
        said: tuple[str, ...] = ()
        for case in shown:
            sentence, trials = without_trials(case, found.older)
            head = (sentence, *(one.text for one in (case.turn.changed if case.turn else ())))
            if head != said and course is not Course.FLAKY:
                _draw_turn(page, case, sentence)
            said = head
            told = sentence if course is Course.FLAKY else trials
            _draw_one_of_many(page, found, case, told, several=several, verbose=bool(options.verbose))
        if len(shown) < len(cases):
            page.print(page.text(f"… {len(cases) - len(shown):,} more (-v: all)", "dim"), indent=4)
        page.print()
    _draw_summary(page, found)


def _draw_one_of_many(
    page: Page, found: RunHistory, case: CaseHistory, told: str, *, several: bool, verbose: bool
) -> None:
    name = page.text(case.name if several else case.eval_id, "bold")
    page.print(Text.assemble(name, "  ", _strip(page, found, case)), indent=4)
    if told:
        page.print(page.text(told), indent=8)
    if reason := reason_of(case):
        before = "before: " if case.course is Course.FIXED else ""
        room = None if verbose else _LINES * (page.width - 8)
        page.print(_reason(page, f"{before}{reason}", room, "dim"), indent=8)


_LINES = 2
"""Lines that a reason may take, unless everything is asked for."""


def _draw_turn(page: Page, case: CaseHistory, sentence: str) -> None:
    """Say once of cases that turned together in which run, and what is known to differ between the two."""
    page.print(page.text(sentence), indent=4)
    if case.turn is None:
        return
    for one in case.turn.changed:
        page.print(page.text(one.text, "dim" if one.expected else "yellow"), indent=4)
    if not case.turn.changed and (text := unlike_text(case.turn)):
        page.print(page.text(text, "dim"), indent=4)


def _strip(page: Page, found: RunHistory, case: CaseHistory) -> Text:
    """A sign for each run, oldest first; those that did not reach the case leave a gap."""
    strip = Text()
    points = strip_of_runs(case, runs_of(case, found.runs))
    room = max(8, min(_MOST_RUNS, page.width // 2))
    if len(points) > room:
        strip.append(page.marks.cut, "dim")
    for point in points[-room:]:
        if point is None:
            strip.append(" ")
        else:
            style = FLAKY_STYLE if point.is_mixed else STYLES.get(point.outcome, "dim")
            strip.append(page.marks.trial(point.outcome), style)
    return strip


def _draw_summary(page: Page, found: RunHistory) -> None:
    told = [f"{count:,} {course.value}" for course, count in found.counts().items() if count]
    runs = times(len(found.runs), "run")
    if found.older:
        runs += f" of {len(found.runs) + found.older:,} (--limit 0: all)"
    page.print(page.joined(page.text(one) for one in [f"{runs}", *told]))
    worst = next((case for case in found.cases if case.course in LISTED), None)
    if worst is not None:
        page.print(page.text(shlex.join(["proctor", "history", worst.name]), "dim"), indent=4)


# --- one case --------------------------------------------------------------------------------------------------------


def _draw_case(page: Page, found: RunHistory, case: CaseHistory, metric: str, options: ReportOptions) -> None:
    page.print(Text.assemble(page.text(case.name, "bold"), "  ", _strip(page, found, case)))
    page.print(
        Text.assemble(
            (case.course.value, _STYLES[case.course]), ": ", page.text(sentence_of(case, found.older))
        )
    )
    if case.turn is not None and (text := unlike_text(case.turn)):
        page.print(page.text(text, "yellow" if case.turn.warnings else "dim"))
    page.print()
    names = metric_names(found, metric)
    _draw_sparklines(page, found, metric_names(found, metric, every=bool(options.verbose)))
    look = _Look(
        names,
        short_names(sorted(found.metrics)),
        several=len({point.run.agent for point in case.points}) > 1,
        verbose=bool(options.verbose),
        full=bool(metric),
    )
    for point in case.points:
        _draw_point(page, point, look)
    _draw_way_on(page, case)


def _draw_sparklines(page: Page, found: RunHistory, names: Sequence[str]) -> None:
    grid = page.grid(Column(overflow="fold"), Column(no_wrap=True), Column(no_wrap=True))
    for name in names:
        values = metric_values(found, name)
        known = [value for value in values if value is not None]
        if not known:
            continue
        room = max(8, min(_MOST_RUNS, page.width // 2))
        line = sparkline(values[-room:], rich=page.marks_are_rich)
        told = f"{known[0]:.2f} {page.marks.arrow} {known[-1]:.2f}" if len(known) > 1 else f"{known[0]:.2f}"
        grid.add_row(page.text(name, "dim"), Text(line), page.text(told, "dim"))
    if grid.row_count:
        page.print(grid)
        page.print()


@dataclass(frozen=True, slots=True)
class _Look:
    """How the runs of one case are drawn."""

    names: Sequence[str]
    """Of the metrics that are shown."""
    short: dict[str, str]
    several: bool
    """Whether the runs are of several agents."""
    verbose: bool
    full: bool
    """Whether scores have their intervals."""


def _draw_point(page: Page, point: CasePoint, look: _Look) -> None:
    run = point.run
    style = STYLES.get(point.outcome, "dim")
    head = Text.assemble(
        (f"{page.marks.outcome(point.outcome)} {WORDS[point.outcome]:9}", style), " ", page.text(run.short, "bold"),
        "  ", (when(run.started_at), "dim"), "  ",
        (page.marks.strip([*point.trials]), FLAKY_STYLE if point.is_mixed else style),
    )  # fmt: skip
    for name in look.names:
        if (one := point.metrics.get(name)) is not None:
            head.append("  ").append_text(_score(page, look.short.get(name, name), one, full=look.full))
    rest = [page.text(run.agent, "dim")] if look.several else []
    rest += [page.text(short_commit(run.commit), "dim")] if run.commit else []
    page.print(head.append("  ").append_text(page.joined(rest)))
    if point.reason:
        room = None if look.verbose else _LINES * (page.width - 6)
        page.print(_reason(page, point.reason, room), indent=6)
    for unlike in point.changed:
        page.print(page.text(unlike.text, "dim" if unlike.expected else "yellow"), indent=6)


def _reason(page: Page, reason: str, room: int | None, style: str = "") -> Text:
    text = page.safe(reason)
    if room is not None:
        text = shorten(text, room, mark=page.marks.cut)
        text += "`" * (text.count("`") % 2)  # what was cut within a name is still one
    return page.prose(text, style)


def _score(page: Page, name: str, point: MetricPoint, *, full: bool) -> Text:
    if point.score is None:
        return page.text(f"{name} {WORDS[point.outcome]}", "dim")
    told = point_text(point) if full else score_text(point.score, point.threshold)
    return Text.assemble(page.text(f"{name} ", "dim"), page.text(told, STYLES.get(point.outcome, "")))


def _draw_way_on(page: Page, case: CaseHistory) -> None:
    """The two runs side by side where it turned, and the commits between them."""
    if case.turn is None or case.turn.before is None:
        return
    before, first = case.turn.before, case.turn.first
    page.print()
    command = ["proctor", "compare", before.short, first.short, case.name]
    page.print(page.text(shlex.join(command), "dim"), indent=4)
    commits = [(run.commit or "").removesuffix("+") for run in (before, first)]
    if all(commits) and commits[0] != commits[1]:
        between = f"{short_commit(commits[0])}..{short_commit(commits[1])}"
        page.print(page.text(shlex.join(["git", "log", "--oneline", between]), "dim"), indent=4)


# --- one metric ------------------------------------------------------------------------------------------------------


def _draw_metric(page: Page, found: RunHistory, metric: str) -> None:
    values = metric_values(found, metric)
    room = max(8, min(_MOST_RUNS, page.width // 2))
    line = sparkline(values[-room:], rich=page.marks_are_rich)
    page.print(Text.assemble(page.text(metric, "bold"), "  ", line))
    page.print()
    grid = page.grid(
        Column(no_wrap=True), Column(no_wrap=True), Column(overflow="fold"), Column(no_wrap=True, justify="right"),
        Column(overflow="fold"),
    )  # fmt: skip
    for run in found.runs:
        if (point := found.metrics[metric].get(run.run_id)) is None:
            continue
        met = point.threshold is None or (point.score or 0.0) >= point.threshold
        needs = f" needs {point.threshold:g}" if point.threshold is not None else ""
        score = Text.assemble(
            page.text(point_text(point), "" if met else STYLES[Outcome.FAILED]), (needs, "dim")
        )
        named = [page.text(run.agent, "dim")]
        named += [page.text(short_commit(run.commit), "dim")] if run.commit else []
        grid.add_row(
            page.text(run.short, "bold"), Text(when(run.started_at), "dim"), score,
            Text(times(point.count, "case"), "dim"), page.joined(named),
        )  # fmt: skip
    page.print(grid)
