"""Cases over time as text blocks and as JSON: the cases by course, one case run by run, or one metric run by run."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TextIO

from proctor.analysis.history.pass_rates import pass_rate_blocks, unread_field, unread_lines
from proctor.analysis.history.text import (
    case_history_sentence,
    metric_names,
    metric_values,
    not_comparable_text,
    point_text,
    reason_of,
    run_fields,
    runs_of,
    strip_of_runs,
    value_text,
    without_trials,
)
from proctor.common.safe_text import count_text
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.case_words import COURSE_WORDS, LETTERS, WORDS, counted
from proctor.reports.content.run_list import short_commit, when
from proctor.reports.content.symbols import ASCII, short_names, sparkline
from proctor.reports.content.text_blocks import (
    Block,
    CaseGroup,
    Column,
    Gap,
    GroupedCase,
    Line,
    Reason,
    Record,
    Role,
    Row,
    Table,
    TextSpan,
    TextStyle,
    join_with_dots,
    outcome_role,
)
from proctor.reports.plain import write_blocks
from proctor.schema.analysis.comparison import PASSED, RunDifference
from proctor.schema.analysis.history import (
    CaseHistory,
    CasePoint,
    ChangedBy,
    Course,
    HistoryRun,
    MetricPoint,
    RunHistory,
)
from proctor.schema.results.score import score_text

_ROLES: dict[Course, Role] = {
    Course.BROKE: "bad",
    Course.FAILING: "bad",
    Course.UNDECIDED: "error",
    Course.FLAKY: "warning",
    Course.FIXED: "good",
    Course.STEADY: "dim",
}
_LISTED = tuple(course for course in Course if course is not Course.STEADY)
"""Courses whose cases are named one by one."""
_MOST = 50
"""Cases of a course that are named, unless every one is asked for."""
_MOST_RUNS = 40
"""Runs of a strip that are drawn at most: the newest."""


def write_history(
    history: RunHistory, out: TextIO, *, metric: str = "", options: ReportOptions = DEFAULTS
) -> None:
    """Write a history to `out`: drawn on a terminal, plain lines elsewhere; only `metric`, if one is named."""
    write_blocks(partial(history_blocks, history, metric), out, options)


def history_blocks(history: RunHistory, metric: str, style: TextStyle) -> Iterator[Block]:
    """Return a history as blocks."""
    yield Gap()
    if history.case:
        for case in history.cases:
            yield from _case_blocks(history, case, metric, style)
            yield Gap()
        return
    yield Record(("RUNS", str(len(history.runs)), f"older={history.older}" if history.older else ""))
    for agent in history.groups():
        yield from (
            _metric_blocks(history, agent, metric, style) if metric else _cases_blocks(history, agent, style)
        )
        yield Gap()


# --- all cases -------------------------------------------------------------------------------------------------------


def _cases_blocks(history: RunHistory, agent: str, style: TextStyle) -> Iterator[Block]:
    cases = [case for case in history.cases if case.agent == agent]
    several = len(history.groups()) > 1
    if several:
        yield Line([TextSpan(agent, "strong", is_data=True)])
        yield Gap()
    differences: set[_Difference] = set()
    for course in _LISTED:
        if of_course := [case for case in cases if case.course is course]:
            heading = COURSE_WORDS[course].heading[len(of_course) != 1]
            yield CaseGroup(heading, _ROLES[course], [*_items(history, of_course, differences, style)], _MOST)
            yield Gap()
    yield from pass_rate_blocks(history, agent, style)
    yield from _legend(history, cases, style)
    yield _summary_line(history, agent, cases, style)
    worst = next((case for case in cases if case.course in _LISTED), None)
    if worst is not None:
        yield _command("history", worst.name, *(["--agent", agent] if several else []))


def _summary_line(history: RunHistory, agent: str, cases: Sequence[CaseHistory], style: TextStyle) -> Line:
    """Return how many runs of the agent there are, and how many cases of each course."""
    counts = Counter(case.course for case in cases)
    groups = history.groups()
    runs = count_text(len(groups[agent]), "run")
    if history.older:
        runs += f" of {len(history.runs) + history.older:,} (--limit 0: all)" if len(groups) == 1 else ""
    texts = [runs, *(counted(COURSE_WORDS[course], counts[course]) for course in Course if counts[course])]
    record = ("CASES", *(f"{course.value}={counts[course]}" for course in Course if counts[course]))
    return Line(
        [*join_with_dots(map(TextSpan, texts), style)], record=(*record, *_agent_field(history, agent))
    )


def _agent_field(history: RunHistory, agent: str) -> tuple[str, ...]:
    """Return the agent as a field of a plain line, if there are several."""
    return (f"agent={agent}",) if len(history.groups()) > 1 else ()


def _legend(history: RunHistory, cases: Sequence[CaseHistory], style: TextStyle) -> Iterator[Line]:
    """Return what the signs between two runs of a strip mean, if there are any."""
    rows = [case for case in cases if case.course in _LISTED]
    drawn = {sign for case in rows for sign in _borders(history, case, style).values()}
    signs = {style.marks.border: "you changed something", style.marks.shift: "something else changed"}
    texts = [f"{sign} {text}" for sign, text in signs.items() if sign in drawn]
    if texts:
        yield Line([*join_with_dots([TextSpan(text, "dim") for text in texts], style)])


def _borders(history: RunHistory, case: CaseHistory, style: TextStyle) -> dict[str, str]:
    """Return the sign before each run (by its id) in which something changed since the previous run."""
    return {
        one.first.run_id: style.marks.border if one.changed_by is ChangedBy.YOU else style.marks.shift
        for one in history.changes
        if (one.agent, one.eval_set_id) == (case.agent, case.eval_set_id)
    }


_Difference = tuple[str, str]
"""A difference that is drawn already: the first run that has it, and its text."""


def _items(
    history: RunHistory, cases: Sequence[CaseHistory], differences: set[_Difference], style: TextStyle
) -> Iterator[GroupedCase]:
    """Return the cases of a course. Cases that turned together have their common sentence once, above the first.

    A difference between two runs is drawn once; `differences` has those of other courses.
    """
    several_sets = len({case.eval_set_id for case in history.cases}) > 1
    above: list[Line] = []
    for place, case in enumerate(cases):
        sentence, trials = without_trials(case, history.older)
        turn = [] if case.course is Course.FLAKY else _turn_lines(case, sentence)
        below = sentence if case.course is Course.FLAKY else trials
        yield GroupedCase(
            case.name,
            [[*_strip(history, case, style), *([] if place else [TextSpan(f" {style.marks.newest}", "dim")])]],
            [*([Line([TextSpan(below)], indent=6)] if below else []), *_notes(case)],
            above=_without_drawn(case, turn, differences) if turn != above else [],
            drawn_name=None if several_sets else case.eval_id,
            record=(
                case.course.value.upper(), case.name, _letters(history, case), case_history_sentence(case, history.older),
                *_agent_field(history, case.agent),
            ),
        )  # fmt: skip
        above = turn


def _turn_lines(case: CaseHistory, sentence: str) -> list[Line]:
    """Return in which run a case turned, and the known differences from the run before."""
    lines = [Line([TextSpan(sentence)])]
    if case.turn is not None:
        lines += [Line([_difference(one)]) for one in case.turn.changed]
        if not case.turn.changed and (text := not_comparable_text(case.turn)):
            lines.append(Line([TextSpan(text, "dim")]))
    return lines


def _without_drawn(case: CaseHistory, lines: list[Line], differences: set[_Difference]) -> list[Line]:
    """Return the lines of `_turn_lines` with a reference to the differences in `differences`; add the others to it."""
    if case.turn is None or not case.turn.changed:
        return lines
    first = case.turn.first.run_id
    keys = [(first, one.text) for one in case.turn.changed]
    rest = [line for line, key in zip(lines[1:], keys, strict=True) if key not in differences]
    differences.update(key for key, one in zip(keys, case.turn.changed, strict=True) if one.what != "case")
    reference = [Line([TextSpan("the differences between these runs are above", "dim")])]
    return [lines[0], *rest, *(reference if len(rest) < len(keys) else [])]


def _notes(case: CaseHistory) -> Iterator[Reason | Record]:
    if reason := reason_of(case):
        label, prefix = ("before", "before: ") if case.course is Course.FIXED else ("reason", "")
        yield Reason(label, reason, prefix)
    if case.turn is not None and case.course is not Course.FLAKY:
        yield from (Record((_difference_record(one),)) for one in case.turn.changed)
        if not case.turn.changed and (text := not_comparable_text(case.turn)):
            yield Record((f"    warning: {text}",))


def _difference(one: RunDifference) -> TextSpan:
    return TextSpan(one.text, "dim" if one.expected else "warning", is_data=True)


def _difference_record(one: RunDifference) -> str:
    return f"    {'differs' if one.expected else 'warning'}: {one.text}"


def _strip(history: RunHistory, case: CaseHistory, style: TextStyle) -> list[TextSpan]:
    """Return a sign for each run, oldest first; runs that did not reach the case leave a gap. A line divides builds."""
    runs = runs_of(case, history.runs)
    borders = _borders(history, case, style)
    points = [*zip(strip_of_runs(case, runs), reversed(runs), strict=True)]
    room = _strip_width(style)
    spans = [TextSpan(style.marks.cut, "dim")] if len(points) > room else []
    for place, (point, run) in enumerate(points[-room:]):
        if place and run.run_id in borders:
            spans.append(TextSpan(borders[run.run_id], "dim"))
        if point is None:
            spans.append(TextSpan(" "))
        else:
            spans.append(TextSpan(style.marks.trial(point.outcome), _point_role(point)))
    return spans


def _strip_width(style: TextStyle) -> int:
    return max(8, min(_MOST_RUNS, style.width // 2))


def _point_role(point: CasePoint) -> Role:
    return "warning" if point.is_mixed else outcome_role(point.outcome)


def _letters(history: RunHistory, case: CaseHistory) -> str:
    points = strip_of_runs(case, runs_of(case, history.runs))
    return "".join("-" if point is None else LETTERS.get(point.outcome, "-") for point in points)


# --- one case --------------------------------------------------------------------------------------------------------


def _case_blocks(history: RunHistory, case: CaseHistory, metric: str, style: TextStyle) -> Iterator[Block]:
    sentence = case_history_sentence(case, history.older)
    yield Record(
        (
            "CASE",
            case.name,
            case.course.value,
            sentence,
            *(f"agent={one.text}" for one in _agent_of(history, case)[1:]),
        )
    )
    name = [TextSpan(case.name, "strong", is_data=True), *_agent_of(history, case)]
    yield Line(
        [*name, TextSpan("  "), *_strip(history, case, style), TextSpan(f" {style.marks.newest}", "dim")]
    )
    yield Line(
        [TextSpan(COURSE_WORDS[case.course].state, _ROLES[case.course]), TextSpan(": "), TextSpan(sentence)]
    )
    if case.turn is not None and (text := not_comparable_text(case.turn)):
        yield Line([TextSpan(text, "warning" if case.turn.warnings else "dim")])
    yield Gap()
    yield from _sparklines(history, case, metric, style)
    metrics = metric_names(history, metric)
    short = short_names(sorted(history.metrics))
    several = len({point.run.agent for point in case.points}) > 1
    for point in case.points:
        yield _point_line(
            point, metric, {name: short.get(name, name) for name in metrics}, style, several=several
        )
        if point.reason:
            yield Reason("reason", point.reason, role="")
        for one in point.changed:
            yield Line([_difference(one)], indent=6, record=(_difference_record(one),))
    yield from _next_commands(case)


def _agent_of(history: RunHistory, case: CaseHistory) -> list[TextSpan]:
    return [TextSpan("  "), TextSpan(case.agent, "dim", is_data=True)] if len(history.cases) > 1 else []


def _sparklines(history: RunHistory, case: CaseHistory, metric: str, style: TextStyle) -> Iterator[Block]:
    rows = []
    runs = [run for run in history.runs if case.agent in ("", run.agent)]
    for name in metric_names(history, metric, every=style.verbose):
        values = metric_values(history, name, runs)
        known = [value for value in values if value is not None]
        line = sparkline(values[-_strip_width(style) :], rich=not style.marks.cut.isascii())
        texts = [score_text(value) for value in (known[:1] if len(known) == 1 else [*known[:1], *known[-1:]])]
        change = TextSpan(f" {style.marks.arrow} ".join(texts), "dim")
        record = ("METRIC", name, sparkline(values, rich=False))
        if known:
            rows.append(Row([[TextSpan(name, "dim")], [TextSpan(line)], [change]], record))
        else:
            yield Record(record)
    if rows:
        yield Table([Column(wraps=True), Column(), Column()], rows)
        yield Gap()


def _point_line(
    point: CasePoint, metric: str, names: dict[str, str], style: TextStyle, *, several: bool
) -> Line:
    """Return one run of a case: its outcome, trials and scores; with the agent, if there are several."""
    run = point.run
    spans = [
        TextSpan(
            f"{style.marks.outcome(point.outcome)} {WORDS[point.outcome]:9} ", outcome_role(point.outcome)
        ),
        TextSpan(run.short, "strong"),
        TextSpan(f"  {when(run.started_at)}  ", "dim"),
        TextSpan(style.marks.strip([*point.trials]), _point_role(point)),
    ]
    for name, short in names.items():
        if (one := point.metrics.get(name)) is not None:
            spans += [TextSpan("  "), *_score_spans(short, one, full=bool(metric))]
    agent = [TextSpan(run.agent, "dim", is_data=True)] if several else []
    spans += [TextSpan("  "), *join_with_dots([*agent, *_commit_span(run)], style)]
    return Line(spans, record=_point_record(point, metric))


def _point_record(point: CasePoint, metric: str) -> tuple[str, ...]:
    run = point.run
    scores = {
        name: point_text(one) if metric else _score_field(one)
        for name, one in point.metrics.items()
        if (name == metric if metric else one.gate)
    }
    trials = "".join(LETTERS.get(one, "-") for one in point.trials)
    return (
        "RUN", run.short, point.outcome.value, when(run.started_at), f"trials={trials}" if trials else "",
        *(f"{name}={score}" for name, score in scores.items()), *run_fields(run),
    )  # fmt: skip


def _commit_span(run: HistoryRun) -> list[TextSpan]:
    return [TextSpan(short_commit(run.commit), "dim")] if run.commit else []


def _score_spans(name: str, point: MetricPoint, *, full: bool) -> list[TextSpan]:
    if point.score is None:
        return [TextSpan(f"{name} {WORDS[point.outcome]}", "dim")]
    text = point_text(point) if full else score_text(point.score, point.threshold)
    return [TextSpan(f"{name} ", "dim"), TextSpan(text, outcome_role(point.outcome))]


def _score_field(point: MetricPoint) -> str:
    if point.score is None:
        return WORDS[point.outcome].replace(" ", "_")
    return score_text(point.score, point.threshold)


def _next_commands(case: CaseHistory) -> Iterator[Block]:
    """Return the commands that show both runs side by side where the case turned, and the commits between them."""
    if case.turn is None or case.turn.before is None:
        return
    before, first = case.turn.before, case.turn.first
    yield Gap()
    yield _command("compare", before.short, first.short, case.name)
    commits = [(run.commit or "").removesuffix("+") for run in (before, first)]
    if all(commits) and commits[0] != commits[1]:
        between = f"{short_commit(commits[0])}..{short_commit(commits[1])}"
        yield Line([TextSpan(shlex.join(["git", "log", "--oneline", between]), "dim")], indent=2)


def _command(*words: str) -> Line:
    return Line([TextSpan(shlex.join(["proctor", *words]), "dim", is_data=True)], indent=2)


# --- one metric ------------------------------------------------------------------------------------------------------


def _metric_blocks(history: RunHistory, agent: str, metric: str, style: TextStyle) -> Iterator[Block]:
    runs = history.groups()[agent]
    passed = history.metrics.get(PASSED, {})
    whole = [
        run
        for run in runs
        if not run.chosen_of and not (run.run_id in passed and passed[run.run_id].is_partial)
    ]
    values, left_out = metric_values(history, metric, whole), len(runs) - len(whole)
    line = sparkline(values[-_strip_width(style) :], rich=not style.marks.cut.isascii())
    fields = [*_agent_field(history, agent), f"left_out={left_out}" if left_out else ""]
    record = ("METRIC", metric, sparkline(values, rich=False), *fields)
    newest = TextSpan(f" {style.marks.newest}", "dim")
    note = f"  {count_text(left_out, 'partial run')} not drawn" if left_out else ""
    of_agent = [TextSpan(f"  {agent}", "dim", is_data=True)] if len(history.groups()) > 1 else []
    head = [
        TextSpan(metric, "strong"),
        *of_agent,
        TextSpan("  "),
        TextSpan(line),
        newest,
        TextSpan(note, "dim"),
    ]
    yield Line(head, record=record)
    yield Gap()
    points = history.metrics[metric]
    shown = [run for run in runs if run.run_id in points]
    yield from unread_lines(shown)
    rows = [_metric_row(run, metric, points[run.run_id], style) for run in shown]
    columns = [Column(), Column(), Column(wraps=True), Column(right=True), Column(wraps=True)]
    yield Table(columns, rows)


def _metric_row(run: HistoryRun, metric: str, point: MetricPoint, style: TextStyle) -> Row:
    is_met = point.threshold is None or (point.score or 0.0) >= point.threshold
    needs = f" needs {point.threshold:g}" if point.threshold is not None else ""
    return Row(
        [
            [TextSpan(run.short, "strong")],
            [TextSpan(when(run.started_at), "dim")],
            [TextSpan(value_text(metric, point, style.marks), "" if is_met else "bad"), TextSpan(needs, "dim")],
            [TextSpan(count_text(point.count, "case"), "dim")],
            [*join_with_dots([TextSpan(run.agent, "dim", is_data=True), *_commit_span(run)], style)],
        ],
        (
            "RUN", run.short, when(run.started_at), value_text(metric, point, ASCII), unread_field(run), f"cases={point.count}",
            needs and f"needs={point.threshold:g}", *run_fields(run),
        ),
    )  # fmt: skip
