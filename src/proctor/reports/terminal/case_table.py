"""The table of cases on a terminal: failures first, the reason in the row, the evidence below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import TextIO

from rich.table import Column
from rich.text import Text

from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.reasons import warnings_beside
from proctor.reports.content.repeat_stats import (
    FLAKY,
    held_text,
    interval_text,
    is_repeated,
    rate_sentence,
    rate_text,
)
from proctor.reports.content.run_digest import Digest
from proctor.reports.content.summary import FLAKY_ATTENTION, short_names
from proctor.reports.content.symbols import WORDS
from proctor.reports.evidence.case_evidence import evidence_of, reason_of, warnings_of
from proctor.reports.terminal.case_columns import MOST_PASSING, Group, Look, heading, lay_out, needs_attention
from proctor.reports.terminal.console import FLAKY_STYLE, STYLES, Page
from proctor.reports.terminal.evidence import INDENT, LABEL, EvidenceDrawing
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, RunResult
from proctor.schema.results.score import score_text

_FEW = 5
MOST_EVIDENCE = 50
"""Cases whose evidence is shown, unless all of it is asked for; the reason is in every row."""

_TELLING = range(FLAKY_ATTENTION - 1)
_FLAKY = (FLAKY_ATTENTION,)
_QUIET = (FLAKY_ATTENTION - 1, FLAKY_ATTENTION + 1)


class CaseRows:
    """Draws the cases of one run."""

    def __init__(
        self,
        page: Page,
        run: RunResult,
        digest: Digest,
        *,
        verbose: bool = False,
        failures_only: bool = False,
        only: Container[tuple[str, str]] | None = None,
    ) -> None:
        """Look at every case once, for its place and for `digest`; draw `only` these cases (set and case id)."""
        self._page = page
        self._cases = run.cases
        self._verbose = verbose
        self._failures_only = failures_only
        self._look = Look(page, every=verbose)
        self._look.over(run, digest, only)
        self._several_sets = len(self._look.sets) > 1
        metrics = [] if failures_only else digest.gating
        self._layout = lay_out(page, self._look, metrics, trials=run.num_runs > 1)
        self._thresholds = digest.common_thresholds()
        self.shown_warnings: Counter[str] = Counter()
        """Warnings of cases that were drawn, and of how many."""
        self._evidence_left = len(self._cases) if verbose else MOST_EVIDENCE

    def draw(self) -> None:
        """Draw the heading and every row; of many passing cases only the first."""
        if not self._failures_only:
            self._draw_heading()
        drawn = 0
        for group in self._look.groups_of(_TELLING):
            for place in group.places:
                if drawn:
                    self._page.print()
                case = self._cases[place]
                self._draw_row(case)
                self._draw_evidence(case)
                drawn += 1
        if not self._failures_only:
            drawn += self._draw_quiet([*self._look.groups_of(_FLAKY)], gap=drawn > 0)
            self._draw_quiet([*self._look.groups_of(_QUIET)], gap=drawn > 0)
        elif drawn:
            self._page.print()

    def _draw_quiet(self, groups: Sequence[Group], *, gap: bool) -> int:
        """Draw cases that need no attention, or the first of them; returns how many there are."""
        outcomes = sum((group.outcomes for group in groups), Counter[Outcome]())
        places = [place for group in groups for place in group.places]
        shown = places if self._verbose or outcomes.total() <= MOST_PASSING else places[:_FEW]
        if shown and gap:
            self._page.print()
        for index, place in enumerate(shown):
            if index and self._verbose:
                self._page.print()
            case = self._cases[place]
            outcomes[case.outcome] -= 1
            self._draw_row(case)
            if self._verbose:
                self._draw_evidence(case)
        self._draw_rest(outcomes)
        return len(places)

    def _draw_heading(self) -> None:
        layout = self._layout
        if not layout.metrics and not layout.trials:
            return
        names = short_names(layout.metrics)
        heads = [Text(heading(name), "dim") for name in names.values()]
        grid = self._page.grid(*layout.columns())
        for column in grid.columns:
            column.vertical = "bottom"
            column.no_wrap = False
        trials = [Text("trials", "dim")] if layout.trials else []
        trials += [Text(head, "dim") for head in ("passed", self._look.sure, "")[: len(layout.repeats)]]
        grid.add_row(
            "", Text("case", "dim"), *trials, *(self._page.text(head.plain, "dim") for head in heads)
        )
        needed = [self._thresholds.get(name) for name in layout.metrics]
        if any(each is not None for each in needed):
            limits = [f"{self._page.marks.at_least} {each:g}" if each is not None else "" for each in needed]
            grid.add_row("", "", *[""] * len(trials), *(Text(limit, "dim") for limit in limits))
        self._page.print(grid)

    # --- rows ------------------------------------------------------------------------------------------------------

    def _label(self, case: CaseResult) -> Text:
        style = "bold" if needs_attention(case) else ""
        label = self._page.text(case.eval_id, style)
        if self._several_sets:
            label = Text.assemble(self._page.text(f"{case.eval_set_id}/", "dim"), label)
        return label

    def _strip(self, case: CaseResult) -> Text:
        strip = Text()
        for sign in self._page.marks.strip([trial.outcome for trial in case.trials]):
            outcome = next((o for o, mark in self._page.marks.trials.items() if mark == sign), None)
            strip.append(sign, STYLES.get(outcome, "dim") if outcome is not None else "dim")
        return strip

    def _draw_row(self, case: CaseResult) -> None:
        layout, reason = self._layout, reason_of(case)
        style = STYLES.get(case.outcome, "dim")
        cells = [
            Text(f"{self._page.marks.outcome(case.outcome)} {WORDS[case.outcome]}", style),
            self._label(case),
        ]
        if layout.trials:
            cells.append(self._strip(case))
        if layout.repeats:
            cells += self._rate(case)[: len(layout.repeats)]
        cells += [self._score(case, case.metrics.get(name)) for name in layout.metrics]
        if layout.reason:
            cells.append(self._page.prose(reason))
        grid = self._page.grid(*layout.columns())
        grid.add_row(*cells)
        self._page.print(grid)
        if layout.trials and not layout.repeats and (needs_attention(case) or case.flaky):
            self._page.print(self._page.text(rate_sentence(case, self._page.marks), "dim"), indent=INDENT)
        if reason and not layout.reason:
            self._page.print(self._page.prose(reason), indent=INDENT)
        if case.passed and case.missed:
            self._page.print(self._page.prose(case.missed, "dim"), indent=INDENT)
        for warning in warnings_beside(case):
            self._page.print(Text.assemble(("warning ", "yellow"), self._page.prose(warning)), indent=INDENT)
        self.shown_warnings.update(warnings_of(case))

    def _rate(self, case: CaseResult) -> list[Text]:
        """The share of trials that passed, its interval, and whether the case is flaky."""
        if not is_repeated(case):
            return [Text(), Text(), Text()]
        return [
            Text(rate_text(case)),
            Text(interval_text(case, self._page.marks), "dim"),
            Text(FLAKY if case.flaky else "", FLAKY_STYLE),
        ]

    def _score(self, case: CaseResult, metric: MetricVerdict | None) -> Text:
        rest = Text(self._page.marks.rest, "dim")
        if metric is None or metric.outcome in {Outcome.NOT_APPLICABLE, Outcome.SKIPPED}:
            return rest
        if metric.score is None:
            return Text(self._page.marks.outcome(metric.outcome), STYLES.get(metric.outcome, "dim"))
        style = STYLES.get(metric.outcome, "") if metric.outcome is not Outcome.PASSED else ""
        if case.rule is not None:
            return Text(f"{metric.met}/{metric.scored}", style)
        return Text(score_text(metric.score, metric.threshold), style)

    def _draw_evidence(self, case: CaseResult) -> None:
        if self._evidence_left <= 0:
            self._evidence_left -= 1
            return
        self._evidence_left -= 1
        self._draw_scores(case)
        drawing = EvidenceDrawing(self._page, reason=reason_of(case), trials=len(case.trials))
        drawing.draw(evidence_of(case, full=self._verbose, longest_call=drawing.column))

    def _draw_scores(self, case: CaseResult) -> None:
        """Draw the other missed metrics with their thresholds, and all other scores that have no columns."""
        reason = reason_of(case)
        scored = [metric for metric in case.metrics.values() if metric.gate and metric.outcome in _SCORED]
        others = [metric for metric in scored if metric.name not in reason]
        scores = [
            self._page.text(
                f"{metric.name} {held_text(case, metric, self._page.marks)}", _metric_style(metric)
            )
            for metric in others
            if metric.name not in self._layout.metrics or metric.outcome is Outcome.FAILED
        ]
        if not scores:
            return
        grid = self._page.grid(Column(width=LABEL - 2), Column(overflow="fold"))
        grid.add_row(Text("scores", "dim"), self._page.joined(scores))
        self._page.print(grid, indent=INDENT)

    def _draw_rest(self, hidden: Mapping[Outcome, int]) -> None:
        if self._evidence_left < 0:
            self._page.print(
                self._page.text(f"… the evidence of {-self._evidence_left} more cases: -v shows it", "dim")
            )
        for outcome in Outcome:
            if count := hidden.get(outcome):
                mark = self._page.marks.outcome(outcome)
                self._page.print(self._page.text(f"{mark} … {count} more {WORDS[outcome]} (-v: all)", "dim"))


_SCORED = {Outcome.PASSED, Outcome.FAILED, Outcome.INCONCLUSIVE}


def _metric_style(metric: MetricVerdict) -> str:
    return "dim" if metric.outcome is Outcome.PASSED else STYLES.get(metric.outcome, "dim")


# --- One failed case alone, for reports that are not of a whole run -----------------------------------------------------


def draw_failure(case: CaseResult, out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
    """Draw the row of `case` and its evidence on `out`."""
    page = Page(out, options)
    run = RunResult("", cases=[case], num_runs=max(1, len(case.trials)))
    CaseRows(page, run, Digest(), verbose=options.verbose, failures_only=True).draw()
