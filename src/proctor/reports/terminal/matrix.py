"""Several agents on the same cases, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.table import Column, Table
from rich.text import Text

from proctor.reports.content.repeat_stats import is_repeated, mean_text
from proctor.reports.content.runs_side_by_side import Row, line_up
from proctor.reports.content.summary import short_names
from proctor.reports.content.symbols import WORDS
from proctor.reports.terminal.console import FLAKY_STYLE, STYLES, Page
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult
from proctor.schema.results.score import score_text

MOST_ROWS = 50
"""Rows in which all agents pass that are listed, unless every one is asked for."""

_LEAST_CELL = 8


class Matrix:
    """Draws one table: a row for each case, a column for each agent, cells with sign and score."""

    def __init__(
        self, page: Page, runs: Sequence[RunResult], *, only_different: bool = False, verbose: bool = False
    ) -> None:
        self._page = page
        self._runs = runs
        self._rows = line_up(runs)
        self._only_different = only_different
        self._verbose = verbose
        self._several_sets = len({row.eval_set_id for row in self._rows}) > 1
        names = {row.metric for row in self._rows if row.metric}
        self._short = short_names(sorted(names))

    def draw(self) -> None:
        """Draw rows that differ first, then those in which all failed, then the others."""
        different = [row for row in self._rows if row.differs]
        same = [row for row in self._rows if not row.differs]
        shown = (
            different if self._only_different else [*different, *sorted(same, key=lambda row: row.all_passed)]
        )
        quiet = [row for row in shown if row.all_passed and not row.differs]
        hidden = 0 if self._verbose else max(0, len(quiet) - MOST_ROWS)
        self._draw_table(shown[: len(shown) - hidden])
        if hidden:
            self._page.print(self._page.text(f"… {hidden} more on which all agree: passed", "dim"))
        if self._only_different:
            are = "is" if len(same) == 1 else "are"
            text = f"{len(same)} of {len(self._rows)} cases {are} the same for all agents"
            self._page.print(self._page.text(text, "dim"))

    def _draw_table(self, rows: Sequence[Row]) -> None:
        heads = [self._page.cut(run.agent, self._cell_width(), "bold") for run in self._runs]
        says_metric = self._has_room_for_metrics(heads)
        count = 1 + len(heads) + says_metric
        grid = self._page.grid(*(Column(overflow="fold") for _ in range(count)))
        grid.add_row(*[Text("case", "dim"), *heads, Text("score of", "dim")][:count])
        for row in rows:
            cells = [self._cell(case, row.metric) for case in row.cases]
            metric = self._page.text(self._short.get(row.metric, ""), "dim")
            grid.add_row(*[self._page.text(self._label(row)), *cells, metric][:count])
        grid.add_row(Text("passed", "dim"), *(self._total(run) for run in self._runs))
        if any(run.num_runs > 1 for run in self._runs):
            self._add_repeats(grid)
        self._page.print(grid)

    def _has_room_for_metrics(self, heads: Sequence[Text]) -> bool:
        """The names of metrics go first where the page is narrow: which case it is matters more."""
        cells = sum(max(head.cell_len, _LEAST_CELL) + 2 for head in heads)
        ids = max((cell_len(self._label(row)) for row in self._rows), default=0)
        metric = max(map(len, self._short.values()), default=0)
        return 2 + ids + 2 + cells + metric <= self._page.width

    def _label(self, row: Row) -> str:
        return row.name if self._several_sets else row.eval_id

    def _cell_width(self) -> int:
        ids = max((cell_len(self._label(row)) for row in self._rows), default=8)
        return max(
            10, (self._page.width - min(ids, self._page.width // 3) - 20) // max(1, len(self._runs)) - 2
        )

    def _cell(self, case: CaseResult | None, metric: str) -> Text:
        if case is None:
            return Text(f"{self._page.marks.rest} {WORDS[Outcome.NOT_RUN]}", "dim")
        found = case.metrics.get(metric)
        scored = found is not None and case.outcome in {Outcome.PASSED, Outcome.FAILED, Outcome.INCONCLUSIVE}
        score = score_text(found.score, found.threshold) if found is not None and scored else ""
        text = Text(f"{self._page.marks.outcome(case.outcome)} ", STYLES.get(case.outcome, "dim"))
        text.append(score or WORDS[case.outcome])
        if is_repeated(case):
            text.append(f" {case.trials_passed}/{len(case.trials)}", FLAKY_STYLE if case.flaky else "dim")
        return text

    def _add_repeats(self, grid: Table) -> None:
        """How sure it is that all trials of a case pass, for each agent."""
        repeats = [run.repeats for run in self._runs]
        k = max(each.most_trials for each in repeats)
        if k < 2:
            return
        means = [each.pass_hat(k) for each in repeats]
        marks = self._page.marks
        grid.add_row(
            Text(f"pass^{k}", "dim"), *(Text(mean_text(mean, marks) if mean else "", "dim") for mean in means)
        )

    def _total(self, run: RunResult) -> Text:
        return Text(f"{run.counts.get(Outcome.PASSED, 0)} of {len(run.cases)}", "dim")
