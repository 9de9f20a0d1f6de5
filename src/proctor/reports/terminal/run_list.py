"""The runs that are kept, as a table on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TextIO

from rich.table import Column, Table
from rich.text import Text

from proctor.reports.base import ReportOptions
from proctor.reports.content.cost_text import cost_text
from proctor.reports.content.summary import duration
from proctor.reports.plain.run_list import ListedRun, how_it_stands, short_commit, told_counts
from proctor.reports.terminal.console import STYLES, Page
from proctor.schema.results.manifest import RunRecord, RunState

_COLUMNS = {
    "": 0,
    "run": 0,
    "began": 0,
    "agent": 0,
    "sets": 64,
    "cases": 0,
    "counts": 72,
    "took": 92,
    "cost": 92,
    "commit": 104,
}
"""What is shown, and from how many columns of the page on; --json has everything."""
_SHORT_BELOW = 92
_LEAST_NAME = 8


def draw_list(runs: Sequence[ListedRun], out: TextIO, *, more: int, options: ReportOptions) -> None:
    """Draw `runs`, newest first; `more` is how many there are beyond these."""
    page = Page(out, options)
    page.print()
    page.print(_table(page, runs))
    page.print()
    told = f"{len(runs)} of {len(runs) + more:,} runs: --limit 0 lists all" if more else ""
    ways = ("proctor show RUN [CASE]", told)
    page.print(page.joined(page.text(part, "dim") for part in ways if part))
    page.print()


def _table(page: Page, runs: Sequence[ListedRun]) -> Table:
    shown = [name for name, least in _COLUMNS.items() if page.width >= least]
    if not any(listed.run.summary.spent for listed in runs):
        shown = [name for name in shown if name != "cost"]
    rows = [_row(page, listed) for listed in runs]
    _fit_names(page, rows, shown)
    grid = page.grid(
        *(
            Column(no_wrap=True, justify="right" if name in {"cases", "took", "cost"} else "left")
            for name in shown
        )
    )
    grid.add_row(*(Text("" if name == "counts" else name, "dim") for name in shown))
    for row in rows:
        grid.add_row(*(row[name] for name in shown))
    return grid


def _fit_names(page: Page, rows: Sequence[dict[str, Text]], shown: Sequence[str]) -> None:
    """Cut the names of agents and sets to what the other columns leave them."""
    widths = {name: max([len(name), *(row[name].cell_len for row in rows)]) for name in shown}
    names = [name for name in ("agent", "sets") if name in widths]
    room = page.width - 2 * len(shown) - sum(width for name, width in widths.items() if name not in names)
    for left, name in zip((2, 1), names, strict=False):
        others = sum(widths[one] for one in names if one != name) if left == 2 else 0
        width = max(_LEAST_NAME, min(widths[name], max(room // left, room - others)))
        room -= width
        for row in rows:
            row[name].truncate(width, overflow="ellipsis" if page.marks_are_rich else "crop")


def _row(page: Page, listed: ListedRun) -> dict[str, Text]:
    run = listed.run
    times = f" {page.marks.times} {run.num_runs}" if run.num_runs > 1 else ""
    return {
        "": _standing(page, run),
        "run": page.text(listed.short, "bold"),
        "began": Text(_began(run.created_at, short=page.width < _SHORT_BELOW), "dim"),
        "agent": page.text(run.agent),
        "sets": page.text(", ".join(run.sets)),
        "cases": page.text(f"{run.cases}{times}"),
        "counts": _counts(page, run),
        "took": Text(duration(run.summary.duration) if run.summary.duration else "", "dim"),
        "cost": Text(cost_text(run.summary.spent) if run.summary.spent else "", "dim"),
        "commit": page.text(short_commit(listed.commit), "dim"),
    }


def _standing(page: Page, run: RunRecord) -> Text:
    outcome = run.summary.outcome
    if run.state is not RunState.FINISHED or outcome is None:
        sign = page.marks.cut if run.state is RunState.RUNNING else page.marks.rest
        return Text(f"{sign} {how_it_stands(run)}", "cyan" if run.state is RunState.RUNNING else "dim")
    return Text(f"{page.marks.outcome(outcome)} {how_it_stands(run)}", STYLES.get(outcome, "dim"))


def _counts(page: Page, run: RunRecord) -> Text:
    told = [Text(f"{n} {page.marks.outcome(o)}", STYLES.get(o, "dim")) for o, n in told_counts(run)]
    return Text("  ").join(told)


def _began(seconds: float, *, short: bool) -> str:
    """Return when a run began, as people say it."""
    then = datetime.fromtimestamp(seconds, tz=UTC).astimezone()
    today = datetime.now(tz=UTC).astimezone().date()
    if then.date() == today:
        return f"{then:%H:%M}" if short else f"today {then:%H:%M}"
    if short:
        return f"{then:%Y-%m-%d}"
    if then.date() == today - timedelta(days=1):
        return f"yesterday {then:%H:%M}"
    return f"{then:%Y-%m-%d %H:%M}"
