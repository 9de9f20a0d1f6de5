"""The runs that are kept, as a table on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TextIO

from rich.table import Column, Table
from rich.text import Text

from proctor.reports.base import ReportOptions
from proctor.reports.page import STYLES, Page
from proctor.reports.run_list import ListedRun, how_it_stands, short_commit, told_counts
from proctor.reports.summary import duration
from proctor.schema.run import RunRecord, RunState

_WIDE_FROM = 96
"""Columns from which the commit is shown, too; it is in --json anyway."""


def draw_list(runs: Sequence[ListedRun], out: TextIO, *, more: int, options: ReportOptions) -> None:
    """Draw `runs`, newest first; `more` is how many there are beyond these."""
    page = Page(out, options)
    page.print()
    page.print(_table(page, runs))
    page.print()
    told = f"{len(runs)} of {len(runs) + more:,} runs: --limit 0 lists all" if more else ""
    page.print(page.joined(page.text(part, "dim") for part in (told, "proctor show RUN") if part))
    page.print()


def _table(page: Page, runs: Sequence[ListedRun]) -> Table:
    wide = page.width >= _WIDE_FROM
    columns = [
        Column(no_wrap=True),
        Column(no_wrap=True),
        Column(no_wrap=True),
        Column(overflow="fold", ratio=2),
        Column(overflow="fold", ratio=3),
        Column(no_wrap=True, justify="right"),
        Column(no_wrap=True),
        Column(no_wrap=True, justify="right"),
        *([Column(no_wrap=True)] if wide else []),
    ]
    grid = page.grid(*columns)
    heads = ("", "run", "began", "agent", "sets", "cases", "", "took", *(["commit"] if wide else []))
    grid.add_row(*(Text(head, "dim") for head in heads))
    for listed in runs:
        grid.add_row(*_row(page, listed, wide=wide))
    return grid


def _row(page: Page, listed: ListedRun, *, wide: bool) -> list[Text]:
    run = listed.run
    cells = [
        _standing(page, run),
        page.text(listed.short, "bold"),
        Text(_began(run.created_at), "dim"),
        page.text(run.agent),
        page.text(", ".join(run.sets)),
        page.text(f"{run.cases} {page.marks.times} {run.num_runs}" if run.num_runs > 1 else str(run.cases)),
        _counts(page, run),
        Text(duration(run.summary.duration) if run.summary.duration else "", "dim"),
    ]
    return [*cells, page.text(short_commit(listed.commit), "dim")] if wide else cells


def _standing(page: Page, run: RunRecord) -> Text:
    outcome = run.summary.outcome
    if run.state is not RunState.FINISHED or outcome is None:
        sign = page.marks.cut if run.state is RunState.RUNNING else page.marks.rest
        return Text(f"{sign} {how_it_stands(run)}", "cyan" if run.state is RunState.RUNNING else "dim")
    return Text(f"{page.marks.outcome(outcome)} {how_it_stands(run)}", STYLES.get(outcome, "dim"))


def _counts(page: Page, run: RunRecord) -> Text:
    told = [Text(f"{n} {page.marks.outcome(o)}", STYLES.get(o, "dim")) for o, n in told_counts(run)]
    return Text("  ").join(told)


def _began(seconds: float) -> str:
    """Return when a run began, as people say it."""
    then = datetime.fromtimestamp(seconds, tz=UTC).astimezone()
    today = datetime.now(tz=UTC).astimezone().date()
    if then.date() == today:
        return f"today {then:%H:%M}"
    if then.date() == today - timedelta(days=1):
        return f"yesterday {then:%H:%M}"
    return f"{then:%Y-%m-%d %H:%M}"
