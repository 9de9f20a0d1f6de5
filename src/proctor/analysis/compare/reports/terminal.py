"""A comparison on a terminal: what changed first, then the figures, and the outcome as the last sentence."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TextIO

from rich.table import Column
from rich.text import Text

from proctor.analysis.compare.reports.text import (
    FIGURES,
    HEADINGS,
    MOST,
    cost_texts,
    left_out_texts,
    numbers,
    run_text,
    score_pair,
    strip_of,
)
from proctor.common.safe_text import cells, shorten
from proctor.reports.base import ReportOptions
from proctor.reports.content.summary import short_names
from proctor.reports.terminal.console import FLAKY_STYLE, STYLES, Page
from proctor.schema.analysis.comparison import CaseChange, Change, ChangedCase, Comparison, Measured
from proctor.schema.results.outcome import Outcome

_LIKE = {
    Change.REGRESSION: Outcome.FAILED, Change.ERROR: Outcome.ERROR, Change.INCONCLUSIVE: Outcome.INCONCLUSIVE,
    Change.IMPROVEMENT: Outcome.PASSED, Change.NO_REGRESSION: Outcome.PASSED,
}  # fmt: skip
_STYLES = {
    CaseChange.REGRESSION: STYLES[Outcome.FAILED],
    CaseChange.IN_ERROR: STYLES[Outcome.ERROR],
    CaseChange.FIX: STYLES[Outcome.PASSED],
    CaseChange.FLAKY: FLAKY_STYLE,
}
_VERDICTS = {"worse": Outcome.FAILED, "better": Outcome.PASSED}


def draw_comparison(found: Comparison, out: TextIO, options: ReportOptions) -> None:
    """Draw `found` on `out`; without colour not one escape sequence is written."""
    page = Page(out, options)
    page.print()
    _draw_head(page, found)
    names = {one.name for one in found.measures} | {case.metric for case in found.cases if case.metric}
    short = short_names(sorted(names - FIGURES.keys()))
    for change in CaseChange:
        _draw_cases(page, found.changed(change), change, short, verbose=options.verbose)
    _draw_measures(page, found, short)
    _draw_outcome(page, found)
    page.print()


def _draw_head(page: Page, found: Comparison) -> None:
    base, candidate = found.base, found.candidate
    for word, run in (("base", base), ("candidate", candidate)):
        told = [
            page.text(run.agent, "bold"),
            page.text(run_text(run).replace(" x ", f" {page.marks.times} ")),
        ]
        told += [page.text(f"run {run.run_id}", "dim")] if run.run_id else []
        page.print(Text.assemble((f"{word:10}", "dim"), page.joined(told)))
    for one in found.unlike:
        style = "dim" if one.expected else "yellow"
        page.print(
            Text.assemble(("differs   " if one.expected else "warning   ", style), page.prose(one.text))
        )
    for text in left_out_texts(found):
        page.print(Text.assemble(("left out  ", "dim"), page.text(text)))


def _draw_cases(
    page: Page, cases: Sequence[ChangedCase], change: CaseChange, short: dict[str, str], *, verbose: bool
) -> None:
    if not cases:
        return
    page.print()
    page.print(Text.assemble((f"{len(cases):,} ", "bold"), page.text(HEADINGS[change], _STYLES[change])))
    shown = cases if verbose else cases[:MOST]
    several = len({case.eval_set_id for case in shown}) > 1
    names = [case.name if several else case.eval_id for case in shown]
    width = min(max(map(cells, names)), page.width // 3)
    for name, case in zip(names, shown, strict=True):
        page.print(_case(page, page.text(name, "bold"), width, case, short), indent=4)
        if case.reason:
            room = None if verbose else _LINES * (page.width - 8)
            page.print(_reason(page, case, room), indent=8)
    if len(shown) < len(cases):
        page.print(page.text(f"… {len(cases) - len(shown):,} more (-v: all)", "dim"), indent=4)


_LINES = 2
"""Lines that a reason may take, unless everything is asked for."""


def _case(page: Page, name: Text, width: int, case: ChangedCase, short: dict[str, str]) -> Text:
    """Its trials before and now, and the metric that moved."""
    line = Text().append_text(name).append(" " * max(2, width + 2 - name.cell_len))
    line.append_text(_trials(page, case))
    if (scores := score_pair(case)) and case.metric:
        moved = f"{short.get(case.metric, case.metric)} {scores[0]} {page.marks.arrow} {scores[1]}"
        line.append("   ").append_text(page.text(moved))
    return line


def _reason(page: Page, case: ChangedCase, room: int | None) -> Text:
    text = page.safe(("before: " if case.change is CaseChange.FIX else "") + case.reason)
    if room is not None:
        text = shorten(text, room, mark=page.marks.cut)
        text += "`" * (text.count("`") % 2)  # what was cut within a name is still one
    return page.prose(text, "dim")


def _trials(page: Page, case: ChangedCase) -> Text:
    arrow = f" {page.marks.arrow} "
    before, now = strip_of(case.base, page.marks), strip_of(case.candidate, page.marks)
    return Text.assemble((before, "dim"), (arrow, "dim"), (now, _STYLES[case.change]))


def _draw_measures(page: Page, found: Comparison, short: dict[str, str]) -> None:
    page.print()
    right = [Column(justify="right", no_wrap=True) for _ in range(3)]
    grid = page.grid(Column(overflow="fold"), *right, Column(no_wrap=True), Column(no_wrap=True))
    heads = ("", "base", "candidate", "change", f"{100 * found.confidence:g} %", "")
    grid.add_row(*(Text(head, "dim") for head in heads))
    for one in found.measures:
        grid.add_row(*_measure(page, one, short))
    if costs := cost_texts(found):
        grid.add_row(Text("cost of the run", "dim"), *(Text(cost, "dim") for cost in costs))
    page.print(grid)


def _measure(page: Page, one: Measured, short: dict[str, str]) -> list[Text]:
    """A row: what decides in full, what is only reported dimmed."""
    style = "" if one.decides else "dim"
    name = FIGURES[one.name][0] if one.name in FIGURES else short.get(one.name, one.name)
    before, now, difference, low, high = (page.text(text, style) for text in numbers(one))
    said = Text("not judged alike", "yellow") if one.apart else Text()
    if one.verdict and not one.apart:
        outcome = _VERDICTS[one.verdict]
        mark = page.marks.outcome(outcome) + " " if one.decides else ""
        said = Text(f"{mark}{one.verdict}", STYLES[outcome] if one.decides else "dim")
    return [page.text(name, style), before, now, difference, Text.assemble(low, (" to ", "dim"), high), said]


def _draw_outcome(page: Page, found: Comparison) -> None:
    page.print()
    like = _LIKE[found.outcome]
    word, _, said = found.sentence.partition(": ")
    page.print(
        Text.assemble((f"{page.marks.outcome(like)} {word}", f"bold {STYLES[like]}"), ": ", page.text(said))
    )
    runs = found.base.run_id, found.candidate.run_id
    if found.cases and all(runs):
        command = shlex.join(["proctor", "compare", *runs, found.cases[0].name])
        page.print(page.text(command, "dim"), indent=4)
