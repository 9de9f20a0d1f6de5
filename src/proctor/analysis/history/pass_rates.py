"""The pass rate of each run of an agent with its confidence interval, and what changed between the runs, as text blocks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from proctor.analysis.history.text import change_text, rate_of, rate_text, run_fields
from proctor.common.safe_text import count_text
from proctor.reports.content.run_list import short_commit, when
from proctor.reports.content.summary import PassRate, bounds, missing_text, percent
from proctor.reports.content.symbols import ASCII, interval_bar
from proctor.reports.content.text_blocks import (
    Block,
    Column,
    Gap,
    Line,
    Record,
    Role,
    Row,
    Spans,
    Table,
    TextSpan,
    TextStyle,
    join_with_dots,
)
from proctor.schema.analysis.comparison import PASSED
from proctor.schema.analysis.history import ChangedBy, HistoryRun, MetricPoint, RunChange, RunHistory
from proctor.schema.results.score import Outcome

_MOST_RUNS = 8
"""Runs that are drawn of one agent: the newest, unless every one is asked for."""
_FEWER_RUNS = 4
"""The same if there are several agents."""
_BARS = (8, 40)
"""The least and the most columns of an interval."""
_OTHER_COLUMNS = 51
"""The columns next to it, without the texts of its bounds and of the cases."""


def pass_rate_blocks(history: RunHistory, agent: str, style: TextStyle) -> Iterator[Block]:
    """Return the pass rates of the runs of an agent, newest first, with what changed before each."""
    groups = history.groups()
    without_cases = {run.run_id: _point_without_cases(run) for run in groups[agent] if run.unread_sets}
    points = without_cases | history.metrics.get(PASSED, {})
    runs = [run for run in groups[agent] if run.run_id in points]
    changes = [one for one in history.changes if one.agent == agent]
    for run in runs:
        yield from _records(run, points[run.run_id], [one for one in changes if one.first is run])
    most = len(runs) if style.verbose else _MOST_RUNS if len(groups) == 1 else _FEWER_RUNS
    yield from unread_lines(runs[:most])
    if len(runs) < 2:
        return
    yield _table(runs, points, most, style)
    if len(runs) > most:
        yield Line([TextSpan(f"{count_text(len(runs) - most, 'older run')} (-v: all)", "dim")], indent=2)
    drawn = {run.run_id for run in runs[: most + 1]}
    yield from _change_lines([one for one in changes if one.before.run_id in drawn], style)
    yield Gap()


def _point_without_cases(run: HistoryRun) -> MetricPoint:
    """Return the point of a run none of whose cases was reached, because its sets could not be run."""
    return MetricPoint(None, None, Outcome.INFORMATIONAL, count=0, unread_sets=len(run.unread_sets))


def unread_texts(runs: Sequence[HistoryRun]) -> Iterator[tuple[str, str]]:
    """Yield each eval set that could not be run, and the rest of the sentence: in how many runs, and the newest of these."""
    runs_by_set: defaultdict[str, list[str]] = defaultdict(list)
    for run in runs:
        for name in run.unread_sets:
            runs_by_set[name].append(run.short)
    for name, ids in runs_by_set.items():
        more = ", …" if len(ids) > _MOST_RUNS else ""
        yield name, f"could not be run in {count_text(len(ids), 'run')}: {', '.join(ids[:_MOST_RUNS])}{more}"


def unread_lines(runs: Sequence[HistoryRun]) -> Iterator[Block]:
    """Return each eval set that could not be run, with the runs."""
    texts = [*unread_texts(runs)]
    for name, where in texts:
        yield Line([TextSpan(name, "error", is_data=True), TextSpan(f" {where}", "error")], indent=2)
    if texts:
        yield Gap()


def unread_field(run: HistoryRun) -> str:
    """Return the eval sets of a run that could not be run as a field of a plain line; empty if there are none."""
    return f"could not be run: {', '.join(run.unread_sets)}" if run.unread_sets else ""


def _table(
    runs: Sequence[HistoryRun], points: Mapping[str, MetricPoint], most: int, style: TextStyle
) -> Table:
    several_sets = len({run.sets for run in runs}) > 1
    bar = _bar_width([points[run.run_id] for run in runs[:most]], style)
    ends = {runs[-1].run_id: "oldest", runs[0].run_id: "newest"}
    columns = [
        Column(), Column("run"), Column("started"), Column("pass rate", right=True), Column("95 % CI"),
        Column(f"0 %{'100 %'.rjust(bar - 3)}", is_drawn=bar >= _BARS[0]), Column("cases", right=True),
    ]  # fmt: skip
    if several_sets:
        columns.append(Column("sets", is_cut=True))
    rows = [
        _row(run, points[run.run_id], ends.get(run.run_id, ""), bar, style, several_sets=several_sets)
        for run in runs[:most]
    ]
    return Table(columns, rows, is_plain=False)


def _bar_width(points: Iterable[MetricPoint], style: TextStyle) -> int:
    """Return the columns that numbers leave for drawings of intervals; below the least there is no room for any."""
    rates = [*map(rate_of, points)]
    bounds_width = max(len(_bounds_text(one, style)) for one in rates)
    cases_width = max(len(_cases_text(one)) for one in rates)
    return min(_BARS[1], style.width - _OTHER_COLUMNS - bounds_width - cases_width)


def _cases_text(passed: PassRate) -> str:
    return f"{passed.passed:,} of {passed.of:,}"


def _bounds_text(passed: PassRate, style: TextStyle) -> str:
    """Return the interval of the pass rate; of a run with cases not run what is missing."""
    if passed.rate is None:
        return missing_text(passed.not_run, passed.unread_sets).removeprefix(", ")
    return f"{bounds(*passed.interval, style.marks)} %"


def _row(
    run: HistoryRun, point: MetricPoint, end: str, bar: int, style: TextStyle, *, several_sets: bool
) -> Row:
    passed = rate_of(point)
    cells: list[Spans] = [
        [TextSpan(end, "dim")],
        [TextSpan(run.short, "strong")],
        [TextSpan(when(run.started_at), "dim")],
        *_rate_cells(passed, bar, style),
        [TextSpan(_cases_text(passed), "dim")],
    ]
    return Row([*cells, *([[TextSpan(", ".join(run.sets), "dim", is_data=True)]] if several_sets else [])])


def _rate_cells(passed: PassRate, bar: int, style: TextStyle) -> list[Spans]:
    """Return the pass rate, its interval and a drawing of both; of a run with cases not run only what is missing."""
    interval = TextSpan(_bounds_text(passed, style), "dim")
    if passed.rate is None:
        return [[], [interval], []]
    low, high = passed.interval
    drawing = interval_bar(low, passed.rate, high, max(bar, _BARS[0]), style.marks)
    return [[TextSpan(f"{percent(passed.rate)} %")], [interval], [TextSpan(drawing)]]


def _records(run: HistoryRun, point: MetricPoint, changes: Sequence[RunChange]) -> Iterator[Block]:
    cases = rate_of(point)
    stopped = f"stopped by {run.stopped_by}" if cases.not_run and run.stopped_by else ""
    yield Record(
        (
            "PASS_RATE",
            run.short,
            when(run.started_at),
            rate_text(point, ASCII),
            stopped,
            unread_field(run),
            f"cases={cases.of}",
            *run_fields(run),
        )
    )
    for one in changes:
        texts = "; ".join(difference.text for difference in one.differences)
        yield Record(("CHANGED_BY", run.short, one.changed_by.value, one.eval_set_id, texts))


def _change_lines(changes: Sequence[RunChange], style: TextStyle) -> Iterator[Line]:
    """Return what changed before each run, once for all sets that it concerns."""
    first_changes: dict[tuple[str, str], RunChange] = {}
    for one in changes:
        first_changes.setdefault((one.first.run_id, change_text(one)), one)
    for (_, text), one in first_changes.items():
        commits = [short_commit(run.commit) for run in (one.before, one.first) if run.commit]
        moved = f" {style.marks.arrow} ".join(dict.fromkeys(commits))
        between = f"{one.before.short} {style.marks.arrow} {one.first.short}"
        head = [TextSpan(between, "strong"), *([TextSpan(moved, "dim")] if len({*commits}) > 1 else [])]
        role: Role = "dim" if one.changed_by is ChangedBy.YOU else "warning"
        yield Line(
            [*join_with_dots(head, style), TextSpan("  "), TextSpan(text, role, is_data=True)], indent=2
        )
