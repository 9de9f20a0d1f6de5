"""The list of stored runs as text blocks and as JSON, and the texts about a stored run that other reports share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TextIO

from proctor.common.json_values import JsonObject
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.case_words import WORDS
from proctor.reports.content.summary import duration, run_cost_text, unread_sets_text
from proctor.reports.content.text_blocks import (
    Block,
    Column,
    Gap,
    Line,
    Record,
    Row,
    Spans,
    Table,
    TextSpan,
    TextStyle,
    join_with_dots,
    outcome_role,
)
from proctor.reports.formats.json_text import json_writer
from proctor.reports.plain import write_blocks
from proctor.schema.results.manifest import NO_ANNOTATION, RunAnnotation, RunRecord, RunState
from proctor.schema.results.run_result import Outcome

_COMMIT = 9
_COUNTED = (Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.NOT_RUN)


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run in a list."""

    run: RunRecord
    short: str
    """The shortest unambiguous prefix of its id."""
    commit: str | None = None
    """The git commit of its agent."""
    imported_from: str = ""
    """The result file of an imported run; else empty."""
    annotation: RunAnnotation = NO_ANNOTATION


def write_list(
    runs: Sequence[ListedRun], out: TextIO, *, more: int = 0, options: ReportOptions = DEFAULTS
) -> None:
    """Write `runs` in the form that suits `out`; `more` is how many there are beyond these."""
    write_blocks(partial(run_list_blocks, runs, more), out, options)


def write_list_json(runs: Iterable[ListedRun], out: TextIO) -> None:
    """Write `runs` as one JSON object, a run on each line, one at a time."""
    write = json_writer(out)
    write('{"runs": [')
    for index, entry in enumerate(runs):
        write(",\n" if index else "\n")
        write(json.dumps(run_data(entry), ensure_ascii=False, allow_nan=False))
    write("\n]}\n")


def run_data(entry: ListedRun) -> JsonObject:
    """Return a run of the list as JSON data."""
    run = entry.run
    return {
        "run_id": run.run_id,
        "kind": run.kind.value,
        "state": run.state.value,
        "created_at": run.created_at,
        "agent": run.agent,
        "commit": entry.commit,
        "imported_from": entry.imported_from or None,
        "name": entry.annotation.name,
        "note": entry.annotation.note,
        "starred": entry.annotation.starred,
        "sets": list(run.sets),
        "unread_sets": list(run.unread_sets),
        "cases": run.cases,
        "num_runs": run.num_runs,
        "judgings": run.scorings,
        "judging": run.scoring,
        **run.summary.model_dump(mode="json", exclude={"audit"}),
    }


# --- texts that other reports share -----------------------------------------------------------------------------------


def state_text(run: RunRecord) -> str:
    """Return the outcome of a finished run, else its state: `failed`, `running`, `unfinished`."""
    if run.state is RunState.FINISHED and run.summary.outcome is not None:
        return WORDS[run.summary.outcome]
    return run.state.value


def outcome_counts(run: RunRecord) -> list[tuple[Outcome, int]]:
    """Return the number of cases of each outcome, without those that were skipped."""
    return [(outcome, count) for outcome in _COUNTED if (count := run.summary.counts.get(outcome.value))]


def when(seconds: float) -> str:
    """Return a local time: `2026-11-22 14:02`."""
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def short_commit(commit: str | None) -> str:
    """Return the prefix of a commit, with `+` if the folder had changes."""
    if not commit:
        return ""
    return commit.removesuffix("+")[:_COMMIT] + ("+" if commit.endswith("+") else "")


# --- blocks ----------------------------------------------------------------------------------------------------------

_COLUMNS = {
    "": 0, "run": 0, "name": 64, "began": 0, "agent": 0, "sets": 64, "cases": 0, "counts": 72, "took": 92, "cost": 92,
    "commit": 104,
}  # fmt: skip
"""The columns of the table, and from which width of the page on each is shown; --json has everything."""
_SHORT_BELOW = 92


def run_list_blocks(runs: Sequence[ListedRun], more: int, style: TextStyle) -> Iterator[Block]:
    """Return the list as blocks, newest run first; `more` is how many there are beyond these."""
    names = _column_names(runs, style)
    columns = [_column(name) for name in names]
    rows = [_cells(entry, style) for entry in runs]
    yield Gap()
    yield Table(
        columns,
        [Row([row[name] for name in names], _record(entry)) for entry, row in zip(runs, rows, strict=True)],
    )
    yield Gap()
    texts = ["proctor show RUN [CASE]"]
    if more:
        texts.append(f"{len(runs)} of {len(runs) + more:,} runs: --limit 0 lists all")
        yield Record(("MORE", f"{more} runs", "(--limit 0 lists all)"))
    yield Line([*join_with_dots([TextSpan(text, "dim") for text in texts], style)])
    yield Gap()


def _column_names(runs: Sequence[ListedRun], style: TextStyle) -> list[str]:
    has = {
        "cost": any(entry.run.summary.spent for entry in runs),
        "name": any(entry.annotation.name or entry.annotation.starred for entry in runs),
    }
    return [name for name, least in _COLUMNS.items() if style.width >= least and has.get(name, True)]


def _column(name: str) -> Column:
    heading = "" if name == "counts" else name
    return Column(heading, right=name in {"cases", "took", "cost"}, is_cut=name in {"agent", "sets", "name"})


def _cells(entry: ListedRun, style: TextStyle) -> dict[str, Spans]:
    run, summary = entry.run, entry.run.summary
    trials = f" {style.marks.times} {run.num_runs}" if run.num_runs > 1 else ""
    return {
        "": [_state_span(run, style)],
        "run": [TextSpan(entry.short, "strong")],
        "name": [TextSpan(_name_text(entry.annotation), is_data=True)],
        "began": [TextSpan(_began(run.created_at, short=style.width < _SHORT_BELOW), "dim")],
        "agent": [TextSpan(run.agent, is_data=True)],
        "sets": [TextSpan(", ".join(run.sets), is_data=True)],
        "cases": [TextSpan(f"{run.cases}{trials}")],
        "counts": [
            TextSpan(f"{'  ' if index else ''}{count} {style.marks.outcome(outcome)}", outcome_role(outcome))
            for index, (outcome, count) in enumerate(outcome_counts(run))
        ]
        + ([TextSpan(f"  {unread_sets_text(len(run.unread_sets))}", "error")] if run.unread_sets else [])
        + ([TextSpan(f"  {summary.live_text}", "active")] if summary.in_flight else []),
        "took": [TextSpan(duration(summary.duration) if summary.duration else "", "dim")],
        "cost": [TextSpan(run_cost_text(summary), "dim")],
        "commit": [TextSpan(short_commit(entry.commit), "dim")],
    }


def _name_text(annotation: RunAnnotation) -> str:
    """Return the name of a run, with an asterisk if it is starred."""
    return " ".join(filter(None, ["*" if annotation.starred else "", annotation.name]))


def _state_span(run: RunRecord, style: TextStyle) -> TextSpan:
    outcome = run.summary.outcome
    if run.state is RunState.RUNNING:
        return TextSpan(f"{style.marks.cut} {state_text(run)}", "active")
    if run.state is not RunState.FINISHED or outcome is None:
        return TextSpan(f"{style.marks.rest} {state_text(run)}", "dim")
    return TextSpan(f"{style.marks.outcome(outcome)} {state_text(run)}", outcome_role(outcome))


def _began(seconds: float, *, short: bool) -> str:
    """Return the time when a run began: `today 14:02`; without the day, or without the time of day, if `short`."""
    began = datetime.fromtimestamp(seconds).astimezone()
    today = datetime.now().astimezone().date()
    if began.date() == today:
        return f"{began:%H:%M}" if short else f"today {began:%H:%M}"
    if short:
        return f"{began:%Y-%m-%d}"
    if began.date() == today - timedelta(days=1):
        return f"yesterday {began:%H:%M}"
    return when(seconds)


_LIVE_FIGURES = ("in_flight", "lost_workers", "lost_attempts")


def _record(entry: ListedRun) -> tuple[str, ...]:
    run, summary = entry.run, entry.run.summary
    return (
        run.kind.value.upper(),
        entry.short,
        state_text(run).replace(" ", "_"),
        when(run.created_at),
        f"agent={run.agent}",
        f"sets={','.join(run.sets)}",
        f"unread_sets={','.join(run.unread_sets)}" if run.unread_sets else "",
        f"cases={run.cases}",
        f"runs={run.num_runs}",
        *(f"{outcome.value}={count}" for outcome, count in outcome_counts(run)),
        f"duration={duration(summary.duration)}" if summary.duration else "",
        f"cost={run_cost_text(summary).replace(' ', '_')}" if summary.spent else "",
        f"commit={short_commit(entry.commit)}" if entry.commit else "",
        f"scorings={run.scorings}" if run.scorings > 1 else "",
        *(f"{name}={count}" for name in _LIVE_FIGURES if (count := getattr(summary, name))),
        f"name={entry.annotation.name.replace(' ', '_')}" if entry.annotation.name else "",
        "starred" if entry.annotation.starred else "",
    )


# --- the run whose report follows ------------------------------------------------------------------------------------


def write_run_header(
    entry: ListedRun, scoring: int, out: TextIO, *, options: ReportOptions = DEFAULTS
) -> None:
    """Write one line about the stored run whose report follows."""
    write_blocks(partial(_header_blocks, entry, scoring), out, options)


def _header_blocks(entry: ListedRun, scoring: int, style: TextStyle) -> Iterator[Block]:
    run = entry.run
    began = when(run.created_at)
    parts = [
        _name_text(entry.annotation),
        " ".join(entry.annotation.note.split()),
        f"scoring {scoring} of {run.scorings}" if run.scorings > 1 else "",
        run.state.value if run.state is not RunState.FINISHED else "",
        f"stopped by {run.summary.stopped_by}" if run.summary.stopped_by else "",
        run.summary.live_text,
        run.summary.lost_text,
        f"imported from {entry.imported_from}" if entry.imported_from else "",
        f"commit {short_commit(entry.commit)}" if entry.commit else "",
    ]
    yield Gap()
    spans = [TextSpan(text, "dim") for text in (f"run {entry.short}", began, *parts) if text]
    yield Line([*join_with_dots(spans, style)], record=("KEPT", run.run_id, began, *parts))
