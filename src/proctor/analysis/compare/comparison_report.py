"""A comparison of two runs as text blocks and as JSON: the runs, what differs, the cases that changed, the figures, the outcome."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TextIO

from proctor.analysis.compare.error_rates import describe_tests
from proctor.analysis.compare.measure_table import (
    FIGURES,
    cost_texts,
    drawn_names,
    has_general_interval,
    interval_texts,
    measures_table,
    numbers,
)
from proctor.analysis.compare.outcome_text import (
    OUTCOMES,
    answers,
    missing_texts,
    run_text,
    trials_text,
)
from proctor.common.json_values import JsonObject
from proctor.common.safe_text import count_text, encodable
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.case_words import CHANGE_WORDS
from proctor.reports.content.symbols import Marks
from proctor.reports.content.text_blocks import (
    OUTCOME_ROLES,
    Block,
    CaseGroup,
    Column,
    Fact,
    Gap,
    GroupedCase,
    Line,
    Note,
    Reason,
    Record,
    Role,
    Row,
    Spans,
    Table,
    TextSpan,
    TextStyle,
    Verdict,
)
from proctor.reports.formats.error_report import write_error_report
from proctor.reports.formats.json_text import write_json
from proctor.reports.plain import write_blocks
from proctor.schema.analysis.comparison import (
    PASSED,
    CaseChange,
    ChangedCase,
    ComparedRun,
    Comparison,
    Measured,
    Trials,
)
from proctor.schema.results.exit_code import ExitCode
from proctor.schema.results.score import Outcome, score_text

MOST = 50
"""Cases of a kind that are named, unless every one is asked for."""


def _strip(trials: Trials, marks: Marks) -> str:
    """Return the trials as signs: those that passed first."""
    outcomes = (
        [Outcome.PASSED] * trials.passed + [Outcome.FAILED] * trials.failed + [Outcome.ERROR] * trials.other
    )
    return marks.strip(outcomes) or "not run"


# --- blocks ----------------------------------------------------------------------------------------------------------

_CASE_ROLES: dict[CaseChange, Role] = {
    CaseChange.NOW_FAILS: "bad",
    CaseChange.MISSING: "error",
    CaseChange.NOW_IN_ERROR: "error",
    CaseChange.NOW_PASSES: "good",
    CaseChange.NO_LONGER_IN_ERROR: "warning",
    CaseChange.FEWER_TRIALS: "warning",
    CaseChange.MORE_TRIALS: "warning",
    CaseChange.WITHIN_NOISE: "dim",
}


def comparison_blocks(comparison: Comparison, style: TextStyle) -> Iterator[Block]:
    """Return a comparison as blocks: the outcome, the cases that moved, the two questions, the measures."""
    yield Gap()
    yield _run_fact("baseline", comparison.base, style)
    yield _run_fact("candidate", comparison.candidate, style)
    for difference in comparison.unlike:
        is_warning = not difference.expected
        yield Note(
            "warning" if is_warning else "differs",
            difference.text,
            "warning" if is_warning else "dim",
            is_data=True,
        )
    yield Gap()
    outcome = OUTCOMES[comparison.outcome]
    yield Verdict(style.marks.outcome(outcome), comparison.sentence, OUTCOME_ROLES[outcome])
    names = drawn_names(comparison)
    for change in CaseChange:
        if cases := comparison.changed(change):
            yield Gap()
            yield _case_group(cases, change, names, style)
    yield Gap()
    yield from _questions(comparison)
    measures = measures_table(comparison, names, style)
    if measures.rows:
        yield Gap()
        yield measures
    for text in describe_tests(comparison) if style.verbose else ():
        yield Line([TextSpan(text, "dim", is_data=True)], indent=2, record=("METHOD", text))
    if costs := cost_texts(comparison):
        yield Record(("COST", f"{costs[0]} -> {costs[1]}"))
    yield Gap()
    yield from _next_steps(comparison)
    yield Record(("OUTCOME", comparison.sentence))
    yield Gap()


def _questions(comparison: Comparison) -> Iterator[Block]:
    """Return the answers to the two questions, and the missing verdicts."""
    for label, text in answers(comparison):
        record = label.upper().replace(" ", "_"), text
        yield Line([TextSpan(f"{label}: ", "strong"), TextSpan(text, is_data=True)], indent=2, record=record)
    for text in missing_texts(comparison):
        yield Line(
            [TextSpan("Missing: ", "warning"), TextSpan(text)], indent=2, record=("MISSING_VERDICTS", text)
        )


def _run_fact(word: str, run: ComparedRun, style: TextStyle) -> Fact:
    parts: list[Spans] = [
        [TextSpan(run.agent, "strong", is_data=True)],
        [TextSpan(run_text(run, style.marks))],
    ]
    if run.run_id:
        parts.append([TextSpan("run ", "dim"), TextSpan(run.run_id, "dim", is_data=True)])
    run_id = f"run={run.run_id}" if run.run_id else ""
    return Fact(word, parts, (word.upper(), run.agent, f"cases={run.cases}", f"runs={run.num_runs}", run_id))


def _case_group(
    cases: Sequence[ChangedCase], change: CaseChange, names: Mapping[str, str], style: TextStyle
) -> CaseGroup:
    several = len({case.eval_set_id for case in cases}) > 1
    return CaseGroup(
        CHANGE_WORDS[change].heading[len(cases) != 1],
        _CASE_ROLES[change],
        [_case_item(case, names, style, short=not several) for case in cases],
        MOST,
        is_open=change in {CaseChange.NOW_FAILS, CaseChange.MISSING},
    )


def _case_item(case: ChangedCase, names: Mapping[str, str], style: TextStyle, *, short: bool) -> GroupedCase:
    before, now = trials_text(case.base), trials_text(case.candidate)
    arrow = TextSpan(f" {style.marks.arrow} ", "dim")
    trials = [
        TextSpan(before, "dim", drawn=_strip(case.base, style.marks)),
        arrow,
        TextSpan(now, _CASE_ROLES[case.change], drawn=_strip(case.candidate, style.marks)),
    ]
    parts: list[Spans] = [trials]
    moved = ""
    if case.scores is not None and case.metric:
        was, is_now = map(score_text, case.scores)
        metric = TextSpan(case.metric, drawn=names.get(case.metric), is_data=True)
        parts.append([metric, TextSpan(f" {was} {style.marks.arrow} {is_now}")])
        moved = f"{case.metric}={was} -> {is_now}"
    return GroupedCase(
        case.name,
        parts,
        [
            one
            for one in (Reason("reason", case.reason), Reason("before", case.before, "before: "))
            if one.text
        ],
        drawn_name=case.eval_id if short else None,
        record=(case.change.value.upper(), case.name, f"{before} -> {now}", moved),
    )


def _reason_text(case: ChangedCase) -> str:
    return "; ".join(filter(None, (case.reason, case.before and f"before: {case.before}")))


def _next_steps(comparison: Comparison) -> Iterator[Block]:
    for step in comparison.next_steps:
        yield Note("next", step, "dim", is_data=True)
    runs = comparison.base.run_id, comparison.candidate.run_id
    if comparison.cases and all(runs):
        command = shlex.join(["proctor", "compare", *runs, comparison.cases[0].name])
        yield Line([TextSpan(command, "dim", is_data=True)], indent=2)


# --- for a pull request: at most 25 lines with what a reviewer needs to decide --------------------------------------

_MOST_REVIEWED = 5
_MOST_WARNINGS = 2
_MOST_NOTES = 5
"""Warnings and steps together; each one more takes the place of a case."""
_MOST_METRICS = 4


def review_blocks(
    comparison: Comparison, style: TextStyle, *, has_every_measure: bool = False
) -> Iterator[Block]:
    """Return the outcome, the cases that moved, the two questions, the metrics that changed or all measures, and every next step."""
    outcome = OUTCOMES[comparison.outcome]
    yield Verdict(style.marks.outcome(outcome), comparison.sentence, OUTCOME_ROLES[outcome])
    costs = cost_texts(comparison) or ("", "")
    base, candidate = map(_review_run, (comparison.base, comparison.candidate), costs, (style, style))
    yield Line([*base, TextSpan(f" {style.marks.arrow} "), *candidate])
    warnings = comparison.warnings[:_MOST_WARNINGS]
    for text in warnings:
        yield Note("warning", text, "warning", is_data=True)
    if comparison.cases:
        more_notes = max(0, len(warnings) + len(comparison.next_steps) - _MOST_NOTES)
        yield _review_cases(comparison.cases, max(1, _MOST_REVIEWED - more_notes), style)
    yield from _answers(comparison)
    if has_every_measure:
        yield measures_table(comparison, {}, style)
    elif changes := [*_metric_changes(comparison, style)]:
        yield Line(changes)
    yield from map(_review_step, comparison.next_steps)


def _review_step(step: str) -> Block:
    """Return a step with its command as code, ready to copy."""
    text, _, command = step.partition("proctor ")
    return (
        Reason("next", f"proctor {command.rstrip('`:')}", text.rstrip("`")) if command else Note("next", step)
    )


def _review_run(run: ComparedRun, cost: str, style: TextStyle) -> Spans:
    spans = [TextSpan(run.agent, is_data=True), TextSpan(f" {run_text(run, style.marks)}")]
    if run.run_id:
        spans += [TextSpan(" run "), TextSpan(run.run_id, is_data=True)]
    return [*spans, TextSpan(f" cost {cost}")] if cost else spans


def _review_cases(cases: Sequence[ChangedCase], most: int, style: TextStyle) -> Table:
    rows = [
        Row([
            [TextSpan(case.name, is_data=True)],
            [TextSpan(CHANGE_WORDS[case.change].state)],
            [TextSpan(f"{trials_text(case.base)} {style.marks.arrow} {trials_text(case.candidate)}")],
            [TextSpan(text, is_data=True, is_prose=True)] if (text := _reason_text(case)) else [],
        ])
        for case in cases[:most]
    ]  # fmt: skip
    if len(cases) > most:
        rows.append(Row([[TextSpan(f"… and {len(cases) - most:,} more")], [], [], []]))
    return Table([Column("case"), Column("change"), Column("trials"), Column("reason")], rows)


def _answers(comparison: Comparison) -> Iterator[Line]:
    for label, text in answers(comparison):
        yield Line([TextSpan(f"{label}: "), TextSpan(text)])
    for text in missing_texts(comparison):
        yield Line([TextSpan(f"Missing: {text}")])


def _metric_changes(comparison: Comparison, style: TextStyle) -> Iterator[TextSpan]:
    changed = [one for one in comparison.measures if one.verdict and one.name != PASSED][:_MOST_METRICS]
    for place, one in enumerate(changed, start=1):
        before, now, *_ = numbers(one)
        label, is_metric = (FIGURES[one.name][0], False) if one.name in FIGURES else (one.name, True)
        if place == 1:
            yield TextSpan("Metrics: ")
        yield TextSpan(label, is_data=is_metric)
        end = ", " if place < len(changed) else ""
        yield TextSpan(
            f" {before} {style.marks.arrow} {now} ({one.verdict}, {count_text(one.known, 'case')}){end}"
        )


# --- JSON; docs/schemas/comparison.schema.json has its form --------------------------------------------------------

VERSION = 2


def comparison_data(comparison: Comparison) -> JsonObject:
    """Return a comparison as plain data."""
    return {
        "version": VERSION,
        "outcome": comparison.outcome.value,
        "exit_code": comparison.exit_code,
        "sentence": comparison.sentence,
        "base": _run_data(comparison.base),
        "candidate": _run_data(comparison.candidate),
        "margin": comparison.margin,
        "confidence": comparison.confidence,
        "on_these_cases": comparison.on_these_cases,
        "in_general": comparison.in_general,
        "general": None
        if comparison.general is None
        else asdict(comparison.general) | ({} if has_general_interval(comparison) else _NO_INTERVAL),
        "pairs": comparison.pairs,
        "missing_base": comparison.missing_base,
        "missing_candidate": comparison.missing_candidate,
        "next_steps": list(comparison.next_steps),
        "more_cases": comparison.more_cases,
        "more_trials": comparison.more_trials,
        "look": None if comparison.look is None else asdict(comparison.look),
        "measures": [_measure_data(comparison, one) for one in comparison.measures],
        "tests": [*describe_tests(comparison)],
        "significant_cases": [asdict(one) for one in comparison.significant_cases],
        "cases": [asdict(case) | {"metric": case.metric or None} for case in comparison.cases],
        "only_base": list(comparison.only_base),
        "only_candidate": list(comparison.only_candidate),
        "changed_cases": list(comparison.changed_cases),
        "differences": [asdict(one) for one in comparison.unlike],
        "unlike": [asdict(one) for one in comparison.unlike],
    }


_NO_INTERVAL: JsonObject = {"low": None, "high": None}


def _measure_data(comparison: Comparison, one: Measured) -> JsonObject:
    ends = {} if interval_texts(comparison, one) else _NO_INTERVAL
    return asdict(one) | {"verdict": one.verdict or None} | ends


def _run_data(run: ComparedRun) -> JsonObject:
    unset = {"run_id": run.run_id or None, "against": run.against or None, "most": run.most or None}
    unread_sets = [{"eval_set_id": name, "cause": cause} for name, cause in run.unread_sets.items()]
    return asdict(run) | unset | {"unread_sets": unread_sets}


# --- forms -----------------------------------------------------------------------------------------------------------

Writer = Callable[[Comparison, TextIO], None]


def write_comparison(comparison: Comparison, out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
    """Write a comparison to `out`: drawn on a terminal, plain lines elsewhere."""
    write_blocks(partial(comparison_blocks, comparison), out, options)


def write_markdown(comparison: Comparison, out: TextIO) -> None:
    """Write a comparison for a pull request."""
    from proctor.reports.formats import markdown_blocks

    markdown_blocks.write_markdown(partial(review_blocks, comparison), out)


_NOTEBOOK = 120
"""Columns of a notebook, about."""


def comparison_html(comparison: Comparison) -> str:
    """Return a comparison as HTML for a notebook."""
    from proctor.reports.content.symbols import UNICODE
    from proctor.reports.formats.notebook import blocks_html

    return blocks_html(review_blocks(comparison, TextStyle(UNICODE, width=_NOTEBOOK), has_every_measure=True))


_LEVELS = {Outcome.FAILED: "error", Outcome.ERROR: "error", Outcome.INCONCLUSIVE: "warning"}
_WORSE = frozenset({CaseChange.NOW_FAILS, CaseChange.MISSING, CaseChange.FEWER_TRIALS})
_MOST_ANNOTATED = 8
"""Cases with an annotation of their own: with the outcome and the warnings ten, as many as GitHub shows of one level."""


def write_github(comparison: Comparison, out: TextIO) -> None:
    """Write a comparison as annotations of GitHub Actions: the outcome with its basis, the warnings, and the cases that moved."""
    from proctor.reports.formats.github import annotation

    level = _LEVELS.get(OUTCOMES[comparison.outcome], "notice")
    missing = [f"Missing: {text}" for text in missing_texts(comparison)]
    answered = [f"{label}: {text}" for label, text in answers(comparison)]
    steps = [f"next: {step}" for step in comparison.next_steps]
    title = f"Proctor: {comparison.base.agent} compared with {comparison.candidate.agent}"
    lines = [annotation(level, title, [comparison.sentence, *answered, *missing, *steps])]
    if comparison.warnings:
        lines.append(annotation("warning", title, comparison.warnings))
    for case in comparison.cases[:_MOST_ANNOTATED]:
        trials = f"{trials_text(case.base)} -> {trials_text(case.candidate)}"
        is_worse = case.change in _WORSE and case.candidate.total > 0
        state = CHANGE_WORDS[case.change].state
        text = [trials, *filter(None, [_reason_text(case)])]
        lines.append(annotation(level if is_worse else "notice", f"{state}: {case.name}", text))
    if (more := len(comparison.cases) - _MOST_ANNOTATED) > 0:
        lines.append(annotation("notice", "Proctor", [f"{count_text(more, 'more case')} moved"]))
    encoding = getattr(out, "encoding", None)
    out.writelines(f"{encodable(line, encoding)}\n" for line in lines)


def _write_plain(comparison: Comparison, out: TextIO) -> None:
    from proctor.reports.plain import write_plain

    write_plain(partial(comparison_blocks, comparison), out)


def _write_json(comparison: Comparison, out: TextIO) -> None:
    write_json(comparison_data(comparison), out)


WRITERS: dict[str, Writer] = {
    "json": _write_json,
    "markdown": write_markdown,
    "md": write_markdown,
    "text": _write_plain,
    "github": write_github,
}
"""What writes a comparison as a report, by the name of the report."""


write_comparison_error = partial(
    write_error_report,
    what="not compared",
    data={"version": VERSION, "outcome": "error", "exit_code": ExitCode.CONFIGURATION_ERROR},
)
"""Writes why there is no comparison, as the report of a name: one of `WRITERS` or `html`."""
