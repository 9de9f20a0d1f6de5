"""What another judging changed: which cases came out differently, and by which score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TextIO

from proctor.common.safe_text import clean, encodable
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.repeat_stats import held_text
from proctor.reports.evidence.case_evidence import reason_of
from proctor.reports.terminal.choose import is_terminal
from proctor.reports.terminal.symbols import ASCII, WORDS, Marks
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult

MOST_CHANGES = 50
"""Cases that are named, unless every one is asked for."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The cases that came out differently."""

    before: int
    """The number of the earlier judging."""
    now: int
    total: int
    """Cases of the run."""
    run: RunResult
    """As it is judged now."""
    changed: dict[int, tuple[Outcome, Outcome]] = field(default_factory=dict)
    """Outcomes before and now, by the position of the case."""


def changes_of(
    run: RunResult, before: Mapping[int, Outcome], now: Mapping[int, Outcome], *, numbers: tuple[int, int]
) -> Changes:
    """Compare two judgings of `run` by the outcomes of its cases; a case that was not decided was not run."""
    changed = {}
    for position in sorted({*before, *now}):
        pair = before.get(position, Outcome.NOT_RUN), now.get(position, Outcome.NOT_RUN)
        if pair[0] is not pair[1]:
            changed[position] = pair
    return Changes(*numbers, len(run.cases), run, changed)


def write_changes(changes: Changes, out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
    """Write `changes` in the form that suits `out`."""
    if is_terminal(out):
        _draw(changes, out, options)
        return
    encoding = getattr(out, "encoding", None)
    out.writelines(encodable(clean(line), encoding) + "\n" for line in _lines(changes))


def summary(changes: Changes) -> str:
    """Return in a sentence how much changed."""
    if not changes.changed:
        return f"every case came out as in judging {changes.before}"
    cases = f"{len(changes.changed)} of {changes.total} cases"
    return f"{cases} came out differently than in judging {changes.before}"


def _lines(changes: Changes) -> Iterator[str]:
    for position, (before, now) in changes.changed.items():
        case = changes.run.cases[position]
        scores = (f"{name}={told.replace(' of ', '/').replace(' ', '')}" for name, told in _scores(case))
        fields = ["CHANGED", f"{case.eval_set_id}/{case.eval_id}", f"{before.value} -> {now.value}", *scores]
        yield "  ".join(fields)
    yield f"JUDGING  {changes.now}  {summary(changes)}"


def _scores(case: CaseResult, marks: Marks = ASCII) -> Iterator[tuple[str, str]]:
    """The scores that decide."""
    for metric in case.metrics.values():
        if metric.gate and (metric.score is not None or metric.outcome is Outcome.ERROR):
            yield metric.name, held_text(case, metric, marks)


def _draw(changes: Changes, out: TextIO, options: ReportOptions) -> None:
    from rich.table import Column
    from rich.text import Text

    from proctor.reports.terminal.console import STYLES, Page

    page = Page(out, options)
    page.print(Text.assemble((f"judging {changes.now}", "bold"), ": ", page.text(summary(changes))))
    grid = page.grid(
        *(Column(no_wrap=True) for _ in range(3)), Column(overflow="fold"), Column(overflow="fold")
    )
    shown = list(changes.changed.items())
    most = len(shown) if options.verbose else MOST_CHANGES
    for position, (before, now) in shown[:most]:
        case = changes.run.cases[position]
        told = reason_of(case) or ", ".join(f"{name} {score}" for name, score in _scores(case, page.marks))
        grid.add_row(
            Text(f"{page.marks.outcome(before)} {WORDS[before]}", STYLES.get(before, "dim")),
            Text(page.marks.arrow, "dim"),
            Text(f"{page.marks.outcome(now)} {WORDS[now]}", STYLES.get(now, "dim")),
            page.text(case.eval_id, "bold"),
            page.prose(told),
        )
    if shown:
        page.print(grid, indent=4)
    if len(shown) > most:
        page.print(page.text(f"… {len(shown) - most} more (-v: all)", "dim"), indent=4)
    page.print()
