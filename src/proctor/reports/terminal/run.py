"""The report of runs on a terminal: first the cases that need attention, with their evidence, then the others as a table."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar, TextIO

from proctor.common.safe_text import cells as text_width, clean, count_text
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.case_digest import Digest, is_repeated
from proctor.reports.content.case_words import WORDS
from proctor.reports.content.failure_causes import SharedCauses
from proctor.reports.content.run_blocks import (
    IsListed,
    outcome_span,
    report_blocks,
    result_blocks,
    strip_spans,
)
from proctor.reports.content.summary import FLAKY_ATTENTION, attention, bounds, passed_share, percent
from proctor.reports.content.symbols import short_names
from proctor.reports.content.text_blocks import (
    Block,
    Column,
    Gap,
    Line,
    Row,
    Spans,
    Table,
    TextSpan,
    TextStyle,
    outcome_role,
)
from proctor.reports.terminal.block_drawing import draw_blocks
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, RunResult

_BAR = 40
MOST_EVIDENCE = 50
"""Cases whose evidence is shown, unless all of it is asked for."""
MOST_PASSING = 20
"""Cases of one rank without a problem that are listed; of more, only the first few, unless every one is asked for."""
_FEW = 5
_MOST_OF_PAGE_FOR_NAMES = 0.4
_INDENT = _GAP = 2
_LEAST_COLUMNS = 3
_MOST_HEADING_LINES = 4
_LONG_HEADING = 16
"""Columns of a heading with more words than it may have lines."""
_PROBLEMS = FLAKY_ATTENTION - 1
"""The number of ranks of cases that are shown with their evidence (see `attention`)."""


class TerminalReport:
    """The report for people at a terminal; several runs are shown side by side."""

    needs_evidence: ClassVar[bool] = False

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Draw `runs` on `out`; without colour not one escape sequence is written."""
        draw_blocks(partial(report_blocks, runs, options, cases_by_attention), out, options)


def draw_failure(case: CaseResult, out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
    """Draw one case that did not pass, with its evidence, on `out`."""
    draw_blocks(lambda style: [*result_blocks(case, style), Gap()], out, options)


def cases_by_attention(
    run: RunResult, digest: Digest, style: TextStyle, is_listed: IsListed
) -> Iterator[Block]:
    """Return the trials as a bar, the problems with their evidence, the other cases, and what several problems share.

    The cases are read twice, and none is kept: of a stored run there may be very many.
    """
    causes, others = SharedCauses(), Counter[Outcome]()
    places: list[list[tuple[float, int]]] = [[] for _ in range(FLAKY_ATTENTION + 2)]
    for place, case in enumerate(run.cases):
        digest.add(case)
        causes.add(case)
        if is_listed(case):
            rank = attention(case)
            others[case.outcome] += rank >= _PROBLEMS
            if style.verbose or rank < _PROBLEMS or len(places[rank]) <= MOST_PASSING:
                places[rank].append((passed_share(case), place))
    yield from _bar(run, digest, style)
    yield Gap()
    worst_first = [*map(_worst_first, places)]
    yield from _problems(run, [place for of_rank in worst_first[:_PROBLEMS] for place in of_rank], style)
    yield from _others(run, worst_first[_PROBLEMS:], others, style)
    if (table := causes.table()).rows:
        yield table
        yield Gap()


def _worst_first(places: Iterable[tuple[float, int]]) -> list[int]:
    """Return the places of cases by their shares of passed trials."""
    return [place for _, place in sorted(places)]


def _bar(run: RunResult, digest: Digest, style: TextStyle) -> Iterator[Block]:
    """Return all trials as one bar, coloured by outcome, and their counts."""
    done = digest.trials.total()
    if not done:
        return
    counts = {outcome: digest.trials[outcome] for outcome in Outcome if digest.trials[outcome]}
    planned = max(done, sum(one.cases * one.num_runs for one in run.sets))
    shares = _shares(counts, min(_BAR, style.width // 3))
    bar = (TextSpan(style.marks.bar * length, outcome_role(outcome)) for outcome, length in shares.items())
    signs = (
        TextSpan(f"  {n} {style.marks.outcome(outcome)}", outcome_role(outcome))
        for outcome, n in counts.items()
    )
    yield Line([*bar, TextSpan(f"  {done}/{planned}"), *signs])


def _shares(counts: dict[Outcome, int], length: int) -> dict[Outcome, int]:
    """Divide a bar: everything that happened gets at least one sign, what happened most pays for it."""
    total = sum(counts.values())
    shares = {outcome: max(1, length * count // total) for outcome, count in counts.items()}
    most = max(counts, key=lambda outcome: counts[outcome])
    shares[most] = max(1, shares[most] + length - sum(shares.values()))
    return shares


def _problems(run: RunResult, places: Sequence[int], style: TextStyle) -> Iterator[Block]:
    for index, place in enumerate(places):
        yield from result_blocks(run.cases[place], style, has_evidence=index < MOST_EVIDENCE)
        yield Gap()
    if len(places) > MOST_EVIDENCE and not style.verbose:
        text = f"… the evidence of {len(places) - MOST_EVIDENCE} more cases: -v shows it"
        yield Line([TextSpan(text, "dim")])
        yield Gap()


# --- cases without a problem -------------------------------------------------------------------------------------------


def _others(
    run: RunResult, places: Sequence[Sequence[int]], counts: Counter[Outcome], style: TextStyle
) -> Iterator[Block]:
    """Return flaky cases with what they missed, a table of the others, and how many more there are."""
    hidden_counts, rest = counts.copy(), list[CaseResult]()
    for of_rank in places:
        is_long = len(of_rank) > MOST_PASSING and not style.verbose
        for case in (run.cases[place] for place in (of_rank[:_FEW] if is_long else of_rank)):
            hidden_counts[case.outcome] -= 1
            if style.verbose or case.flaky:
                yield from result_blocks(case, style)
                yield Gap()
            else:
                rest.append(case)
    if rest:
        yield from _case_table(rest, style)
    yield from _hidden_cases(hidden_counts, style)
    if counts.total():
        yield Gap()


def _hidden_cases(counts: Counter[Outcome], style: TextStyle) -> Iterator[Line]:
    for outcome in Outcome:
        if counts[outcome] > 0:
            text = f"{style.marks.outcome(outcome)} … {counts[outcome]} more {WORDS[outcome]} (-v: all)"
            yield Line([TextSpan(text, "dim")])


def _case_table(cases: Sequence[CaseResult], style: TextStyle) -> Iterator[Block]:
    """Return a row for each case: its outcome, name and trials, and the score of each metric that decides if there is room."""
    has_trials = any(map(is_repeated, cases))
    rows = [[*_case_cells(case, style, has_trials=has_trials)] for case in cases]
    trials = ["trials", f"{percent(cases[0].confidence)} % CI"] if has_trials else []
    digest = Digest(cases)
    metrics = _metrics_with_room(digest, _room_for_scores(["", "", *trials], rows, style), style)
    headings = [["case"] if metrics or has_trials else [], *([text] for text in trials)]
    columns = _columns([*headings, *_metric_headings(metrics, digest, style)], first_score=len(headings))
    pairs = zip(cases, rows, strict=True)
    yield Table(columns, [Row([*row, *_score_cells(case, metrics, style)]) for case, row in pairs])
    if left_out := len(digest.gating) - len(metrics):
        what = count_text(left_out, "more metric") if metrics else "scores"
        yield Line([TextSpan(f"{what}: -v, or a wider terminal", "dim")])


def _columns(headings: Sequence[Sequence[str]], *, first_score: int) -> list[Column]:
    """Return the columns: the outcome without a heading, the name, and one for each other heading; headings end on one line."""
    tallest = max(map(len, headings))
    name, *others = ("\n".join([*[""] * (tallest - len(lines)), *lines]) for lines in headings)
    columns = [Column(text, right=index >= first_score) for index, text in enumerate(others, 1)]
    return [Column(), Column(name, wraps=True, is_name=True), *columns]


def _metric_headings(metrics: Mapping[str, str], digest: Digest, style: TextStyle) -> Iterator[list[str]]:
    """Return the lines above the scores of each metric: the words of its short name, and its threshold if it has a common one."""
    limits = digest.common_thresholds()
    for name, short in metrics.items():
        limit = limits[name]
        yield [*_heading_lines(short, style), "" if limit is None else f"{style.marks.at_least} {limit:g}"]


def _heading_lines(short: str, style: TextStyle) -> list[str]:
    """Return the words of a metric's short name, a line each; those of a long name share lines, and the last ones are cut."""
    lines = short.split("_")
    if len(lines) > _MOST_HEADING_LINES:
        lines = textwrap.wrap(" ".join(lines), _LONG_HEADING)
    return (
        lines if len(lines) <= _MOST_HEADING_LINES else [*lines[: _MOST_HEADING_LINES - 1], style.marks.cut]
    )


def _metrics_with_room(digest: Digest, room: int, style: TextStyle) -> dict[str, str]:
    """Return the short names of the metrics that have room for a column; not one or two of many, which would look like all."""
    names = short_names(digest.gating)
    fitting: dict[str, str] = {}
    for name, short in names.items():
        room -= _GAP + max(5, *map(len, _heading_lines(short, style)))
        if room < 0:
            break
        fitting[name] = short
    return fitting if len(fitting) >= min(len(names), _LEAST_COLUMNS) else {}


def _case_cells(case: CaseResult, style: TextStyle, *, has_trials: bool) -> Iterator[Spans]:
    """Return the outcome and the name of a case, and its trials with the interval of its pass rate."""
    yield [outcome_span(case.outcome, style)]
    yield [TextSpan(f"{case.eval_set_id}/{case.eval_id}", is_data=True)]
    if has_trials:
        yield [*strip_spans(case, style)]
        yield [TextSpan(bounds(*case.interval, style.marks) if case.has_rate else "", "dim")]


def _score_cells(case: CaseResult, metrics: Iterable[str], style: TextStyle) -> Iterator[Spans]:
    return ([_score(case, case.metrics.get(name), style)] for name in metrics)


def _room_for_scores(headings: Sequence[str], rows: Sequence[Sequence[Spans]], style: TextStyle) -> int:
    """Return the columns of the page to the right of these cells; long names have lines of their own."""
    texts = [headings, *([clean("".join(span.text for span in cell)) for cell in row] for row in rows)]
    outcome, name, *others = (max(map(text_width, column)) for column in zip(*texts, strict=True))
    widths = [outcome, min(name, int(_MOST_OF_PAGE_FOR_NAMES * style.width)), *others]
    return style.width - _INDENT - sum(widths) - _GAP * (len(widths) - 1)


def _score(case: CaseResult, metric: MetricVerdict | None, style: TextStyle) -> TextSpan:
    if metric is None or metric.outcome in {Outcome.NOT_APPLICABLE, Outcome.SKIPPED}:
        return TextSpan(style.marks.rest, "dim")
    if metric.score is None:
        return TextSpan(style.marks.outcome(metric.outcome), outcome_role(metric.outcome))
    role = "" if metric.outcome is Outcome.PASSED else outcome_role(metric.outcome)
    text = metric.text_of(metric.score)
    return TextSpan(f"{metric.met}/{metric.scored}" if case.rule is not None else text, role)
