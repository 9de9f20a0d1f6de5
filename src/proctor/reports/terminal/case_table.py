"""The table of cases on a terminal: failures first, the reason in the row, the evidence below it."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TextIO

from rich.cells import cell_len
from rich.table import Column
from rich.text import Text

from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.case_digest import (
    Digest,
    held_text,
    rate_sentence,
    rate_text,
    reason_of,
    warnings_beside,
    warnings_of,
)
from proctor.reports.content.case_words import FLAKY, WORDS
from proctor.reports.content.failure_causes import SharedCauses
from proctor.reports.content.summary import FLAKY_ATTENTION, attention, bounds, percent
from proctor.reports.content.symbols import short_names
from proctor.reports.evidence.case_evidence import evidence_block
from proctor.reports.terminal.block_drawing import INDENT, LABEL, EvidenceDrawing, call_width
from proctor.reports.terminal.console import FLAKY_STYLE, STYLES, Page
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, RunResult
from proctor.schema.results.score import score_text

MOST_PASSING = 20
"""Passing cases that are listed; of more, only the first few, unless every one is asked for."""

_LEAST_FOR_REASON = 64  # columns, unless every reason fits into fewer
_MOST_OF_PAGE_FOR_IDS = 0.4
_LEAST_COLUMNS = 3


@dataclass(slots=True)
class Group:
    """Cases that are listed together."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    """How many there are."""
    places: array[int] = field(default_factory=lambda: array("Q"))
    """Their positions in the run; if not all are listed, the first ones."""


class Look:
    """What one look at every case of a run finds. Of the cases themselves nothing is kept."""

    def __init__(self, page: Page, *, every: bool) -> None:
        """Take whether `every` case is listed, however many pass."""
        self._page = page
        self._every = every
        self.groups: dict[int, Group] = {}
        """By how much attention they need (`summary.attention`)."""
        self.sets: set[str] = set()
        self.ids = self.full_ids = self.strips = self.reasons = self.words = 0
        self.rates = self.intervals = 0
        self.sure = ""
        """At which confidence the intervals hold."""
        self.is_flaky = False
        self.causes = SharedCauses()

    def over(self, run: RunResult, digest: Digest, only: Container[tuple[str, str]] | None) -> None:
        """Look at the cases of `run` (`only` these); all of them go into `digest`."""
        for place, case in enumerate(run.cases):
            digest.add(case)
            self.causes.add(case)
            if only is None or (case.eval_set_id, case.eval_id) in only:
                self._take(place, case)

    def _take(self, place: int, case: CaseResult) -> None:
        rank = attention(case)
        group = self.groups.setdefault(rank, Group())
        group.outcomes[case.outcome] += 1
        if self._every or needs_attention(case) or len(group.places) < MOST_PASSING:
            group.places.append(place)
        self.sets.add(case.eval_set_id)
        name, whole = case.eval_id, f"{case.eval_set_id}/{case.eval_id}"
        self.ids = max(self.ids, cell_len(self._page.safe(name)))
        self.full_ids = max(self.full_ids, cell_len(self._page.safe(whole)))
        self.words = max(self.words, len(WORDS[case.outcome]))
        self.reasons = max(self.reasons, cell_len(reason_of(case)))
        if case.trials:
            strip = self._page.marks.strip([trial.outcome for trial in case.trials])
            self.strips = max(self.strips, len(strip))
        if case.has_rate:
            self.rates = max(self.rates, len(rate_text(case)))
            self.intervals = max(self.intervals, len(bounds(*case.interval, self._page.marks)))
            self.sure = self.sure or f"{percent(case.confidence)} % CI"
            self.is_flaky = self.is_flaky or case.flaky

    def groups_of(self, ranks: Container[int]) -> Iterator[Group]:
        """Return the groups of these ranks, in their order."""
        return (group for rank, group in sorted(self.groups.items()) if rank in ranks)


def needs_attention(case: CaseResult) -> bool:
    """Return whether a case is shown with its evidence."""
    return case.outcome in {Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE}


@dataclass(slots=True)
class Layout:
    """The layout of the columns; the same for every row."""

    outcome: int
    case: int
    trials: int
    repeats: list[int] = field(default_factory=list)
    """Widths of the share of trials that passed, its interval, and the word for flaky; empty: shown below the row."""
    metrics: list[str] = field(default_factory=list)
    """Metrics with a column: all that decide, or as many as fit."""
    widths: list[int] = field(default_factory=list)
    reason: int = 0
    """Columns for the reason; 0: it is below the row."""

    def columns(self) -> list[Column]:
        """Return the columns of a row."""
        columns = [Column(width=self.outcome, no_wrap=True), Column(width=self.case, overflow="fold")]
        if self.trials:
            columns.append(Column(width=self.trials, no_wrap=True))
        sides: list[Literal["left", "right"]] = ["right", "left", "left"]
        columns += [
            Column(width=width, justify=side, no_wrap=True)
            for width, side in zip(self.repeats, sides, strict=False)
        ]
        columns += [Column(width=width, justify="right", vertical="top") for width in self.widths]
        if self.reason:
            columns.append(Column(overflow="fold", max_width=self.reason))
        return columns


def lay_out(page: Page, look: Look, metrics: list[str], *, trials: bool) -> Layout:
    """Give each column its width; of `metrics` those that fit get one, `trials`: the strip of trials does."""
    ids = look.full_ids if len(look.sets) > 1 else look.ids
    layout = Layout(
        outcome=2 + look.words,
        case=max(4, min(ids, int(page.width * _MOST_OF_PAGE_FOR_IDS))),
        trials=max(len("trials"), look.strips) if trials else 0,
    )
    fixed = [layout.outcome, layout.case, *([layout.trials] if trials else [])]
    room = page.width - 2 - sum(fixed) - 2 * len(fixed)
    if trials:
        _give_repeats(layout, look, room)
        room -= sum(layout.repeats) + 2 * len(layout.repeats)
    _give_columns(layout, short_names(metrics), room)
    room -= sum(layout.widths) + 2 * len(layout.widths)
    layout.reason = room if room >= min(_LEAST_FOR_REASON, max(look.reasons, 1)) else 0
    return layout


def _give_repeats(layout: Layout, look: Look, room: int) -> None:
    """Give the pass rates their columns, where they fit."""
    if not look.rates:
        return
    widths = [max(len("passed"), look.rates), max(look.intervals, len(look.sure))]
    widths += [len(FLAKY)] if look.is_flaky else []
    if sum(widths) + 2 * len(widths) <= room:
        layout.repeats = widths


def _give_columns(layout: Layout, names: Mapping[str, str], room: int) -> None:
    """Give metrics a column each, as many as fit; but not one or two of many, which would look like all."""
    for name, short in names.items():
        width = max(5, *map(len, heading(short).split()))
        if width + 2 > room:
            break
        room -= width + 2
        layout.metrics.append(name)
        layout.widths.append(width)
    if len(layout.metrics) < min(len(names), _LEAST_COLUMNS):
        layout.metrics.clear()
        layout.widths.clear()


def heading(name: str) -> str:
    """Return a metric's name as words, so that it wraps."""
    return name.replace("_", " ")


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
        self.causes = self._look.causes
        """The causes of all failures."""
        self.shown_warnings: Counter[str] = Counter()
        """Warnings of cases that were drawn, and of how many."""
        self._evidence_left = len(self._cases) if verbose else MOST_EVIDENCE

    def draw(self) -> None:
        """Draw the heading and every row; of many passing cases only the first."""
        if not self._failures_only:
            self._draw_heading()
        places = [place for group in self._look.groups_of(_TELLING) for place in group.places]
        case_count = self._draw_cases(places, with_evidence=True).total()
        if not self._failures_only:
            case_count += self._draw_quiet([*self._look.groups_of(_FLAKY)], gap=case_count > 0)
            self._draw_quiet([*self._look.groups_of(_QUIET)], gap=case_count > 0)
        elif case_count:
            self._page.print()

    def _draw_quiet(self, groups: Sequence[Group], *, gap: bool) -> int:
        """Draw cases that need no attention, or the first of them; returns how many there are."""
        outcomes = sum((group.outcomes for group in groups), Counter[Outcome]())
        places = [place for group in groups for place in group.places]
        visible_places = places if self._verbose or outcomes.total() <= MOST_PASSING else places[:_FEW]
        if visible_places and gap:
            self._page.print()
        outcomes.subtract(self._draw_cases(visible_places, with_evidence=self._verbose))
        self._draw_rest(outcomes)
        return len(places)

    def _draw_cases(self, places: Sequence[int], *, with_evidence: bool) -> Counter[Outcome]:
        """Draw cases, those with evidence with an empty line between them; return their outcomes."""
        outcomes = Counter[Outcome]()
        for index, place in enumerate(places):
            if index and with_evidence:
                self._page.print()
            case = self._cases[place]
            outcomes[case.outcome] += 1
            self._draw_row(case)
            if with_evidence:
                self._draw_evidence(case)
        return outcomes

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
        limits = self._limits()
        if any(limits):
            grid.add_row("", "", *[""] * len(trials), *(Text(limit, "dim") for limit in limits))
        self._page.print(grid)

    def _limits(self) -> list[str]:
        """Return the threshold of each metric with a column; empty if it has no common one."""
        thresholds = [self._thresholds.get(name) for name in self._layout.metrics]
        at_least = self._page.marks.at_least
        return [f"{at_least} {threshold:g}" if threshold is not None else "" for threshold in thresholds]

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
        reason = reason_of(case)
        cells = self._cells(case, reason)
        if (
            cells[1].cell_len > self._layout.case
        ):  # a name that is longer than its column has a line to itself
            self._page.print(
                Text.assemble(cells[0], " " * (2 + self._layout.outcome - cells[0].cell_len), cells[1])
            )
            cells[:2] = Text(), Text()
        if any(cell.plain for cell in cells):
            grid = self._page.grid(*self._layout.columns())
            grid.add_row(*cells)
            self._page.print(grid)
        self._draw_notes(case, reason)
        self.shown_warnings.update(warnings_of(case))

    def _cells(self, case: CaseResult, reason: str) -> list[Text]:
        layout = self._layout
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
        return cells

    def _draw_notes(self, case: CaseResult, reason: str) -> None:
        """Draw below the row what has no column: the pass rate, the reason and the warnings."""
        layout = self._layout
        if layout.trials and not layout.repeats and (needs_attention(case) or case.flaky):
            self._page.print(self._page.text(rate_sentence(case, self._page.marks), "dim"), indent=INDENT)
        if reason and not layout.reason:
            self._page.print(self._page.prose(reason), indent=INDENT)
        if case.passed and case.missed:
            self._page.print(self._page.prose(case.missed, "dim"), indent=INDENT)
        for warning in warnings_beside(case):
            self._page.print(Text.assemble(("warning ", "yellow"), self._page.prose(warning)), indent=INDENT)

    def _rate(self, case: CaseResult) -> list[Text]:
        """The share of trials that passed, its interval, and whether the case is flaky."""
        if not case.has_rate:
            return [Text(), Text(), Text()]
        return [
            Text(rate_text(case)),
            Text(bounds(*case.interval, self._page.marks), "dim"),
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
        evidence = evidence_block(case, full=self._verbose, longest_call=call_width(self._page))
        EvidenceDrawing(self._page, evidence).draw()

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
        grid.add_row(Text("scores", "dim"), self._page.filled(scores, self._page.width - INDENT - LABEL))
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
