"""The changes of a new scoring: the cases with another outcome, and their scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TextIO

from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.case_digest import held_text, reason_of
from proctor.reports.content.case_words import WORDS
from proctor.reports.content.text_blocks import (
    Block,
    Column,
    Gap,
    Line,
    Record,
    Row,
    Table,
    TextSpan,
    TextStyle,
    outcome_role,
)
from proctor.reports.plain import write_blocks
from proctor.schema.results.run_result import Outcome, RunResult

MOST_CHANGES = 50
"""Cases that are shown without --verbose."""


@dataclass(frozen=True, slots=True)
class RescoringChanges:
    """The cases with another outcome."""

    before: int
    """The number of the earlier scoring."""
    now: int
    total: int
    """Cases of the run."""
    run: RunResult
    """With the new scores."""
    changed: dict[int, tuple[Outcome, Outcome]] = field(default_factory=dict)
    """Outcomes before and now, by the position of the case."""


def changes_of(
    run: RunResult, before: Mapping[int, Outcome], now: Mapping[int, Outcome], *, numbers: tuple[int, int]
) -> RescoringChanges:
    """Compare two scorings of `run` by the outcomes of its cases; a case without an outcome was not run."""
    changed = {}
    for position in sorted({*before, *now}):
        pair = before.get(position, Outcome.NOT_RUN), now.get(position, Outcome.NOT_RUN)
        if pair[0] is not pair[1]:
            changed[position] = pair
    return RescoringChanges(*numbers, len(run.cases), run, changed)


def write_changes(changes: RescoringChanges, out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
    """Write `changes` in the form that suits `out`."""
    write_blocks(partial(change_blocks, changes), out, options)


def summary(changes: RescoringChanges) -> str:
    """Return in a sentence how much changed."""
    if not changes.changed:
        return f"every case came out as in scoring {changes.before}"
    cases = f"{len(changes.changed)} of {changes.total} cases"
    return f"{cases} came out differently than in scoring {changes.before}"


def change_blocks(changes: RescoringChanges, style: TextStyle) -> Iterator[Block]:
    """Return the changes as blocks; a table for people names the first `MOST_CHANGES` cases."""
    sentence = summary(changes)
    yield Line([TextSpan(f"scoring {changes.now}", "strong"), TextSpan(": "), TextSpan(sentence)])
    changed_cases = list(changes.changed.items())
    most = len(changed_cases) if style.verbose else MOST_CHANGES
    columns = [*(Column() for _ in range(3)), Column(wraps=True), Column(wraps=True)]
    yield Table(columns, [_row(changes, position, style) for position, _ in changed_cases[:most]], indent=2)
    for position, _ in changed_cases[most:]:
        yield Record(_row(changes, position, style).record)
    if len(changed_cases) > most:
        yield Line(
            [TextSpan(f"{style.marks.cut} {len(changed_cases) - most} more (-v: all)", "dim")], indent=2
        )
    yield Record(("SCORING", str(changes.now), sentence))
    yield Gap()


def _row(changes: RescoringChanges, position: int, style: TextStyle) -> Row:
    case = changes.run.cases[position]
    before, now = changes.changed[position]
    scores = [
        (metric.name, held_text(case, metric, style.marks))
        for metric in case.metrics.values()
        if metric.gate and (metric.score is not None or metric.outcome is Outcome.ERROR)
    ]
    reason = reason_of(case) or ", ".join(f"{name} {score}" for name, score in scores)
    fields = (f"{name}={score.replace(' of ', '/').replace(' ', '')}" for name, score in scores)
    return Row(
        [
            [TextSpan(f"{style.marks.outcome(before)} {WORDS[before]}", outcome_role(before))],
            [TextSpan(style.marks.arrow, "dim")],
            [TextSpan(f"{style.marks.outcome(now)} {WORDS[now]}", outcome_role(now))],
            [TextSpan(case.eval_id, "strong", is_data=True)],
            [TextSpan(reason, is_data=True, is_prose=True)],
        ],
        ("CHANGED", f"{case.eval_set_id}/{case.eval_id}", f"{before.value} -> {now.value}", *fields),
    )
