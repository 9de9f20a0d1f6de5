"""The order of the cases of a run and the layout of their columns, computed before any case is drawn."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from rich.cells import cell_len
from rich.table import Column

from proctor.reports.content.repeat_stats import FLAKY, interval_text, is_repeated, rate_text
from proctor.reports.content.run_digest import Digest
from proctor.reports.content.summary import attention, percent, short_names
from proctor.reports.content.symbols import WORDS
from proctor.reports.evidence.case_evidence import reason_of
from proctor.reports.terminal.console import Page
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult

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

    def over(self, run: RunResult, digest: Digest, only: Container[tuple[str, str]] | None) -> None:
        """Look at the cases of `run` (`only` these); all of them go into `digest`."""
        for place, case in enumerate(run.cases):
            digest.add(case)
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
        if is_repeated(case):
            self.rates = max(self.rates, len(rate_text(case)))
            self.intervals = max(self.intervals, len(interval_text(case, self._page.marks)))
            self.sure = self.sure or f"{percent(case.confidence)} %"
            self.is_flaky = self.is_flaky or case.flaky

    def groups_of(self, wanted: Container[int]) -> Iterator[Group]:
        """Return the groups of these ranks, in their order."""
        return (group for rank, group in sorted(self.groups.items()) if rank in wanted)


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
