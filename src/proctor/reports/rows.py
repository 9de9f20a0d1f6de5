"""The table of cases on a terminal: failures first, the reason in the row, the evidence below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rich.cells import cell_len
from rich.table import Column
from rich.text import Text

from proctor.reports.drawing import INDENT, LABEL, EvidenceDrawing
from proctor.reports.evidence import evidence_of, reason_of
from proctor.reports.marks import WORDS
from proctor.reports.page import FLAKY_STYLE, STYLES, Page
from proctor.reports.repeating import FLAKY, interval_text, is_repeated, met_text, rate_sentence, rate_text
from proctor.reports.summary import against, by_attention, gating_metrics, percent, short_names
from proctor.schema.score import score_text
from proctor.schema.verdict import CaseResult, MetricVerdict, Outcome, RunResult

MOST_PASSING = 20
"""Passing cases that are listed; of more, only the first few, unless every one is asked for."""
_FEW = 5
MOST_EVIDENCE = 50
"""Cases whose evidence is shown, unless all of it is asked for; the reason is in every row."""

_LEAST_FOR_REASON = 64  # columns, unless every reason fits into fewer
_MOST_OF_PAGE_FOR_IDS = 0.4
_LEAST_COLUMNS = 3


@dataclass(slots=True)
class Layout:
    """Where the columns stand; the same for every row."""

    outcome: int
    case: int
    trials: int
    repeats: list[int] = field(default_factory=list)
    """Widths of the share of trials that passed, its interval, and the word for flaky; empty: told below the row."""
    metrics: list[str] = field(default_factory=list)
    """Metrics with a column of their own: all that decide, or as many as fit."""
    widths: list[int] = field(default_factory=list)
    reason: int = 0
    """Columns for the reason; 0: it stands below the row."""
    thresholds: dict[str, float | None] = field(default_factory=dict)
    """Thresholds that are the same in all cases, by metric."""


class CaseRows:
    """Draws the cases of one run."""

    def __init__(
        self, page: Page, run: RunResult, *, verbose: bool = False, failures_only: bool = False
    ) -> None:
        self._page = page
        self._verbose = verbose
        self._failures_only = failures_only
        self._several_sets = len({case.eval_set_id for case in run.cases}) > 1
        self._cases = by_attention(run.cases)
        self._layout = self._lay_out(run)
        self._evidence_left = len(self._cases) if verbose else MOST_EVIDENCE

    def draw(self) -> None:
        """Draw the heading and every row; of many passing cases only the first."""
        telling = [case for case in self._cases if _needs_attention(case)]
        if not self._failures_only:
            self._draw_heading()
        for index, case in enumerate(telling):
            if index:
                self._page.print()
            self._draw_row(case)
            self._draw_evidence(case)
        if not self._failures_only:
            flaky = [case for case in self._cases if _passed_in_part(case)]
            quiet = [case for case in self._cases if not _needs_attention(case) and not _passed_in_part(case)]
            self._draw_quiet(flaky, gap=bool(telling))
            self._draw_quiet(quiet, gap=bool(telling or flaky))
        elif telling:
            self._page.print()

    def _draw_quiet(self, cases: Sequence[CaseResult], *, gap: bool) -> None:
        shown = cases if self._verbose or len(cases) <= MOST_PASSING else cases[:_FEW]
        if shown and gap:
            self._page.print()
        for index, case in enumerate(shown):
            if index and self._verbose:
                self._page.print()
            self._draw_row(case)
            if self._verbose:
                self._draw_evidence(case)
        self._draw_rest(cases[len(shown) :])

    # --- columns ---------------------------------------------------------------------------------------------------

    def _lay_out(self, run: RunResult) -> Layout:
        ids = max((cell_len(self._label(case).plain) for case in self._cases), default=0)
        words = max((len(WORDS[case.outcome]) for case in self._cases), default=0)
        strips = max([len("trials"), *(len(self._strip(case)) for case in self._cases)])
        layout = Layout(
            outcome=2 + words,
            case=max(4, min(ids, int(self._page.width * _MOST_OF_PAGE_FOR_IDS))),
            trials=strips if run.num_runs > 1 else 0,
        )
        fixed = [layout.outcome, layout.case, *([layout.trials] if layout.trials else [])]
        room = self._page.width - 2 - sum(fixed) - 2 * len(fixed)
        room -= self._give_repeats(layout, room)
        if not self._failures_only:
            _give_columns(layout, short_names(gating_metrics([run])), room)
            room -= sum(layout.widths) + 2 * len(layout.widths)
        longest = max((cell_len(reason_of(case)) for case in self._cases), default=0)
        layout.reason = room if room >= min(_LEAST_FOR_REASON, max(longest, 1)) else 0
        layout.thresholds = _common_thresholds(run, layout.metrics)
        return layout

    def _give_repeats(self, layout: Layout, room: int) -> int:
        """Give the pass rates their columns where they fit; returns how much room these take."""
        repeated = [case for case in self._cases if is_repeated(case)]
        if not repeated or not layout.trials:
            return 0
        rates = max([len("passed"), *(len(rate_text(case)) for case in repeated)])
        intervals = max(len(interval_text(case, self._page.marks)) for case in repeated)
        flaky = len(FLAKY) if any(case.flaky for case in repeated) else 0
        layout.repeats = [rates, max(intervals, len("95 %")), *([flaky] if flaky else [])]
        taken = sum(layout.repeats) + 2 * len(layout.repeats)
        if taken > room:
            layout.repeats = []
            return 0
        return taken

    def _columns(self) -> list[Column]:
        layout = self._layout
        columns = [Column(width=layout.outcome, no_wrap=True), Column(width=layout.case, overflow="fold")]
        if layout.trials:
            columns.append(Column(width=layout.trials, no_wrap=True))
        sides: list[Literal["left", "right"]] = ["right", "left", "left"]
        columns += [
            Column(width=width, justify=side, no_wrap=True)
            for width, side in zip(layout.repeats, sides, strict=False)
        ]
        columns += [Column(width=width, justify="right", vertical="top") for width in layout.widths]
        if layout.reason:
            columns.append(Column(overflow="fold", max_width=layout.reason))
        return columns

    def _draw_heading(self) -> None:
        layout = self._layout
        if not layout.metrics and not layout.trials:
            return
        names = short_names(layout.metrics)
        heads = [Text(_heading(name), "dim") for name in names.values()]
        grid = self._page.grid(*self._columns())
        for column in grid.columns:
            column.vertical = "bottom"
            column.no_wrap = False
        trials = [Text("trials", "dim")] if layout.trials else []
        sure = next((f"{percent(case.confidence)} %" for case in self._cases if is_repeated(case)), "")
        trials += [Text(head, "dim") for head in ("passed", sure, "")[: len(layout.repeats)]]
        grid.add_row(
            "", Text("case", "dim"), *trials, *(self._page.text(head.plain, "dim") for head in heads)
        )
        needed = [layout.thresholds.get(name) for name in layout.metrics]
        if any(each is not None for each in needed):
            limits = [f"{self._page.marks.at_least} {each:g}" if each is not None else "" for each in needed]
            grid.add_row("", "", *[""] * len(trials), *(Text(limit, "dim") for limit in limits))
        self._page.print(grid)

    # --- rows ------------------------------------------------------------------------------------------------------

    def _label(self, case: CaseResult) -> Text:
        style = "bold" if _needs_attention(case) else ""
        label = self._page.text(case.eval_id, style)
        if self._several_sets:
            label = Text.assemble(self._page.text(f"{case.eval_set_id}/", "dim"), label)
        return label

    def _strip(self, case: CaseResult) -> Text:
        strip = Text()
        for sign in self._page.marks.strip([trial.outcome for trial in case.trials]):
            outcome = next((o for o, mark in self._page.marks.trials.items() if mark == sign), None)
            strip.append(sign, STYLES.get(outcome, "dim") if outcome else "dim")
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
        grid = self._page.grid(*self._columns())
        grid.add_row(*cells)
        self._page.print(grid)
        if layout.trials and not layout.repeats and (_needs_attention(case) or case.flaky):
            self._page.print(self._page.text(rate_sentence(case, self._page.marks), "dim"), indent=INDENT)
        if reason and not layout.reason:
            self._page.print(self._page.prose(reason), indent=INDENT)
        if case.passed and case.missed:
            self._page.print(self._page.prose(case.missed, "dim"), indent=INDENT)

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
        """What else missed, beside its threshold; and all other scores where they have no columns."""
        reason = reason_of(case)
        scored = [metric for metric in case.metrics.values() if metric.gate and metric.outcome in _SCORED]
        others = [metric for metric in scored if metric.name not in reason]
        told = [
            self._page.text(f"{metric.name} {self._against(case, metric)}", _metric_style(metric))
            for metric in others
            if metric.name not in self._layout.metrics or metric.outcome is Outcome.FAILED
        ]
        if not told:
            return
        grid = self._page.grid(Column(width=LABEL - 2), Column(overflow="fold"))
        grid.add_row(Text("scores", "dim"), self._page.joined(told))
        self._page.print(grid, indent=INDENT)

    def _against(self, case: CaseResult, metric: MetricVerdict) -> str:
        counted = case.rule is not None and metric.scored > 0
        return met_text(metric, self._page.marks) if counted else against(metric, self._page.marks)

    def _draw_rest(self, hidden: Sequence[CaseResult]) -> None:
        if self._evidence_left < 0:
            self._page.print(
                self._page.text(f"… the evidence of {-self._evidence_left} more cases: -v shows it", "dim")
            )
        for outcome in Outcome:
            count = sum(case.outcome is outcome for case in hidden)
            if count:
                mark = self._page.marks.outcome(outcome)
                self._page.print(self._page.text(f"{mark} … {count} more {WORDS[outcome]} (-v: all)", "dim"))


_SCORED = {Outcome.PASSED, Outcome.FAILED, Outcome.INCONCLUSIVE}


def _needs_attention(case: CaseResult) -> bool:
    return case.outcome in {Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE}


def _passed_in_part(case: CaseResult) -> bool:
    return case.flaky and not _needs_attention(case)


def _metric_style(metric: MetricVerdict) -> str:
    return "dim" if metric.outcome is Outcome.PASSED else STYLES.get(metric.outcome, "dim")


def _heading(name: str) -> str:
    """A metric's name as words, so that it wraps."""
    return name.replace("_", " ")


def _give_columns(layout: Layout, names: Mapping[str, str], room: int) -> None:
    """Give metrics a column each, as many as fit; but not one or two of many, which would look like all."""
    for name, short in names.items():
        width = max(5, *map(len, _heading(short).split()))
        if width + 2 > room:
            break
        room -= width + 2
        layout.metrics.append(name)
        layout.widths.append(width)
    if len(layout.metrics) < min(len(names), _LEAST_COLUMNS):
        layout.metrics.clear()
        layout.widths.clear()


def _common_thresholds(run: RunResult, names: Sequence[str]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name in names:
        stated = {metric.threshold for case in run.cases if (metric := case.metrics.get(name))}
        found[name] = stated.pop() if len(stated) == 1 else None
    return found
