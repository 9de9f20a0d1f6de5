"""A run as text blocks: the head, the cases with their reasons and evidence, and the end with the verdict.

All forms have the same head, cases and end. They differ in the choice and the order of the cases (`ListCases`): plain lines
have all of them in the order of the sets, a terminal first those that need attention, and Markdown the worst ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from proctor.common.safe_text import count_text
from proctor.reports.base import ReportOptions
from proctor.reports.content import summary
from proctor.reports.content.case_digest import (
    TELLING,
    Digest,
    added_text,
    held_text,
    is_repeated,
    mean_text,
    means_of,
    rate_field,
    rate_sentence,
    reason_of,
    repeat_figures,
    repeated_sets,
    rule_text,
    runs_text,
    score_field,
    trials_field,
    warnings_beside,
)
from proctor.reports.content.case_words import FLAKY, WORDS
from proctor.reports.content.text_blocks import (
    OUTCOME_ROLES,
    Block,
    Column,
    Fact,
    Gap,
    Line,
    Note,
    Record,
    Row,
    Spans,
    Table,
    TextSpan,
    TextStyle,
    Verdict,
    join_with_dots,
)
from proctor.schema.results.case_result import Repeats
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, RunResult, SetSummary
from proctor.schema.results.score import TrialRule
from proctor.stats.intervals import Mean

_INDENT = "    "
_MOST_SETS = 12
"""Eval sets that people see."""
_SCORED = {Outcome.PASSED, Outcome.FAILED, Outcome.INCONCLUSIVE}

IsListed = Callable[[CaseResult], bool]
"""Whether a report lists a case."""
ListCases = Callable[[RunResult, Digest, TextStyle, IsListed], Iterator[Block]]
"""Returns the cases of a run as blocks; all of them go into the digest."""


def report_blocks(
    runs: Sequence[RunResult], options: ReportOptions, list_cases: ListCases, style: TextStyle
) -> Iterator[Block]:
    """Return the report of one run, or of several side by side and then what each agent did not pass."""
    yield Gap()
    if options.note:
        yield Record(("EMPTY", options.note))
    if len(runs) == 1:
        yield from run_blocks(runs[0], list_cases, style)
    elif len(runs) > 1:
        yield from _several_runs(runs, options, list_cases, style)
    yield Gap()


def run_blocks(
    run: RunResult, list_cases: ListCases, style: TextStyle, is_listed: IsListed = lambda _: True
) -> Iterator[Block]:
    """Return the report of one run."""
    digest = Digest()
    yield from head_blocks(run, style)
    yield from list_cases(run, digest, style, is_listed)
    yield from end_blocks(run, digest, style)


def _several_runs(
    runs: Sequence[RunResult], options: ReportOptions, list_cases: ListCases, style: TextStyle
) -> Iterator[Block]:
    from proctor.reports.content.agent_matrix import line_up, matrix_blocks, names_to_list

    rows = line_up(runs)
    yield from matrix_blocks(runs, rows, style, only_different=options.only_different)
    names = names_to_list(rows, only_different=options.only_different)

    def is_listed(case: CaseResult) -> bool:
        return (case.eval_set_id, case.eval_id) in names and (style.verbose or not case.passed)

    for run in runs:
        yield Gap()
        yield from run_blocks(run, list_cases, style, is_listed)


# --- the head: the agent, the eval sets and their criteria ---------------------------------------------------------------


def head_blocks(run: RunResult, style: TextStyle) -> Iterator[Block]:
    """Return the agent, the eval sets and their criteria, and the metrics that were left out."""
    yield agent_fact(run, style)
    yield from set_blocks(run, style)


def agent_fact(run: RunResult, style: TextStyle) -> Fact:
    """Return the agent, the eval set or how many there are, the number of cases and trials, and the criteria of one set."""
    trials = runs_text(run.sets, run.num_runs, style.marks)
    times = f" {style.marks.times} {trials}" if trials else ""
    cases = count_text(sum(one.cases for one in run.sets) or len(run.cases), "case")
    one_set = run.sets[0] if len(run.sets) == 1 else None
    parts: list[Spans] = [
        [TextSpan(run.agent, "strong", is_data=True)],
        [TextSpan(summary.set_name(one_set), is_data=True) if one_set else TextSpan(f"{len(run.sets)} sets")],
        [TextSpan(f"{cases}{times}")],
        *(filter(None, [_criteria(one_set), _rule(one_set)]) if one_set else ()),
    ]
    return Fact("agent", parts, ("RUN", run.agent, f"cases={len(run.cases)}", f"runs={trials or 1}"))


def set_blocks(run: RunResult, style: TextStyle) -> Iterator[Block]:
    """Return each eval set with its criteria if there are several, and the metrics that were left out."""
    names = summary.set_names(run.sets)
    rows = [_set_row(run, name, one, style) for name, one in zip(names, run.sets, strict=True)]
    columns = [Column(wraps=True), Column(right=True), Column(wraps=True), Column(wraps=True)]
    yield from _first_rows(columns, rows, _MOST_SETS if len(rows) > 1 else 0)
    left_out = summary.left_out(run)
    for why in dict.fromkeys(left_out.values()):
        metrics = ", ".join(name for name, reason in left_out.items() if reason == why)
        yield Fact("left out", [[TextSpan(text, "dim", is_data=True)] for text in (metrics, why)])
    yield from (Record(("LEFT-OUT", name, why)) for name, why in left_out.items())


def _criteria(one: SetSummary) -> Spans:
    source = summary.config_source(one)
    return [TextSpan("criteria from ", "dim"), TextSpan(source, "dim", is_data=True)] if source else []


def _rule(one: SetSummary) -> Spans:
    return [TextSpan(rule_text(one.rule), "dim")] if one.rule and not one.failure else []


def _set_row(run: RunResult, name: str, one: SetSummary, style: TextStyle) -> Row:
    source = summary.config_source(one)
    runs = f" {style.marks.times} {one.num_runs}" if one.num_runs > 1 else ""
    count = [TextSpan(f"{one.cases}{runs}", "dim")]
    cells = [[TextSpan(name, is_data=True)], count, _criteria(one), _rule(one)]
    if one.failure:
        cells[1:] = [], [TextSpan("could not be run", "error")], []
    record = (
        "SET", name, f"cases={one.cases}", f"runs={one.num_runs}" if one.num_runs != run.num_runs else "",
        f"criteria={source}" if source else "", *_rule_fields(one.rule),
    )  # fmt: skip
    return Row(cells, record)


def _rule_fields(rule: TrialRule | None) -> Iterator[str]:
    if rule is not None:
        yield f"min_pass_rate={rule.min_pass_rate:g}"
        yield f"pass_k={rule.pass_k}" if rule.pass_k > 1 else ""
        yield f"confidence={rule.confidence:g}" if rule.confidence is not None else ""
        yield "until_decided" if rule.at_most is not None else ""


def _first_rows(columns: Sequence[Column], rows: Sequence[Row], most: int) -> Iterator[Block]:
    """Return a table with the rows of the first sets for people, and the records of all; without `most` only records."""
    if most and rows:
        yield Table(columns, rows[:most], 2)
    yield from (Record(row.record) for row in rows[most:])
    if most and len(rows) > most:
        yield Line([TextSpan(f"… {len(rows) - most:,} more sets", "dim")], 2)


# --- a case with its reason, its warnings and its evidence ---------------------------------------------------------------


def cases_in_order(run: RunResult, digest: Digest, style: TextStyle, is_listed: IsListed) -> Iterator[Block]:
    """Return the cases in the order of the sets."""
    for case in run.cases:
        digest.add(case)
        if is_listed(case):
            yield from result_blocks(case, style)


def result_blocks(case: CaseResult, style: TextStyle, *, has_evidence: bool = True) -> Iterator[Block]:
    """Return a case with its outcome, reason and warnings, and its evidence if it did not pass."""
    spans = [
        outcome_span(case.outcome, style),
        TextSpan("  "),
        TextSpan(f"{case.eval_set_id}/", "dim", is_data=True),
        TextSpan(case.eval_id, "strong", is_data=True),
    ]
    if is_repeated(case):
        spans += [TextSpan("  "), *strip_spans(case, style)]
    yield Line(spans, record=_case_record(case))
    if reason := reason_of(case):
        yield Line([TextSpan(reason, is_data=True, is_prose=True)], 4, (f"{_INDENT}reason: {reason}",))
    elif case.missed:
        yield Line(
            [TextSpan(case.missed, "dim", is_data=True, is_prose=True)],
            4,
            (f"{_INDENT}missed: {case.missed}",),
        )
    yield from warning_lines(case)
    if is_repeated(case):
        yield Fact("trials", [[TextSpan(rate_sentence(case, style.marks), "dim")]], indent=4)
    if style.verbose or (has_evidence and case.outcome in TELLING):
        from proctor.reports.evidence.case_evidence import evidence_block

        if scores := [*_other_scores(case, style)]:
            yield Fact("scores", scores, indent=4)
        yield evidence_block(case, full=style.verbose, longest_call=style.longest_call)


def outcome_span(outcome: Outcome, style: TextStyle) -> TextSpan:
    """Return the sign and the word of an outcome."""
    return TextSpan(f"{_sign(outcome, style)} {WORDS[outcome]}", OUTCOME_ROLES.get(outcome, "dim"))


def _sign(outcome: Outcome, style: TextStyle) -> str:
    return style.marks.outcomes.get(outcome, style.marks.rest)


def strip_spans(case: CaseResult, style: TextStyle) -> Iterator[TextSpan]:
    """Return one sign for each trial, or counts if there are many."""
    roles = {style.marks.trial(outcome): role for outcome, role in OUTCOME_ROLES.items()}
    for sign in style.marks.strip([trial.outcome for trial in case.trials]):
        yield TextSpan(sign, roles.get(sign, "dim"))


def warning_lines(case: CaseResult) -> Iterator[Line]:
    """Return the warnings that the evidence of a case does not contain."""
    for warning in warnings_beside(case):
        spans = [TextSpan("warning ", "warning"), TextSpan(warning, is_data=True, is_prose=True)]
        yield Line(spans, 4, (f"{_INDENT}warning: {warning}",))


def _case_record(case: CaseResult) -> tuple[str, ...]:
    return (
        case.outcome.value.upper(),
        f"{case.eval_set_id}/{case.eval_id}",
        trials_field(case) if case.trials else "",
        rate_field(case),
        FLAKY if case.flaky else "",
        *(score_field(case, metric) for metric in case.metrics.values() if _has_field(metric)),
    )


def _has_field(metric: MetricVerdict) -> bool:
    """Return whether a metric decides and was computed; if there was no trial, the reason states that once."""
    if not metric.gate or metric.outcome is Outcome.INFORMATIONAL:
        return False
    return metric.outcome is not Outcome.ERROR or any(
        score is not None and score.failure is not None for score in metric.per_trial
    )


def _other_scores(case: CaseResult, style: TextStyle) -> Iterator[Spans]:
    """Return the scores that the reason does not name, with their thresholds."""
    reason = reason_of(case)
    for metric in case.metrics.values():
        if metric.gate and metric.outcome in _SCORED and metric.name not in reason:
            role = "dim" if metric.outcome is Outcome.PASSED else OUTCOME_ROLES[metric.outcome]
            yield [TextSpan(f"{metric.name} {held_text(case, metric, style.marks)}", role)]


# --- the end: what could not be run, the figures of all cases, and the verdict --------------------------------------------


def end_blocks(run: RunResult, digest: Digest, style: TextStyle) -> Iterator[Block]:
    """Return the sets that could not be run, the warnings, the figures of all cases, and the verdict."""
    for name, cause in broken_sets(run):
        text = f"could not be run: {cause}"
        line = f"{_sign(Outcome.ERROR, style)} error  {name} {text}"
        yield Line([TextSpan(line, "error")], record=("ERROR", name, text))
        yield Gap()
    if run.failure is not None:  # a terminal shows it on stderr
        yield Record(("ERROR", run.failure.cause))
    for warning in digest.warnings(run):
        yield Note("warning", warning, "warning", is_data=True)
    yield from rate_facts(run, style)
    yield from figure_blocks(run, digest, style)
    yield Gap()
    yield verdict_block(run, digest, style)


def broken_sets(run: RunResult) -> Iterator[tuple[str, str]]:
    """Return the name of each eval set that could not be run, and why."""
    for name, one in zip(summary.set_names(run.sets), run.sets, strict=True):
        if one.failure is not None:
            yield name, one.failure.cause


def problem_table(run: RunResult, cases: Iterable[CaseResult], style: TextStyle) -> Table:
    """Return the sets that could not be run, the failure of the run, and these cases, with their reasons."""
    broken = [(name, "set", cause) for name, cause in broken_sets(run)]
    broken += [(run.agent, "run", run.failure.cause)] if run.failure else []
    sign = _sign(Outcome.ERROR, style)
    rows = [
        Row(
            [
                [TextSpan(f"{sign} {what}")],
                [TextSpan(name, is_data=True)],
                [TextSpan(cause, is_data=True, is_prose=True)],
                [],
            ]
        )
        for name, what, cause in broken
    ]
    rows += [_problem_row(case, style) for case in cases]
    return Table([Column("outcome"), Column("case"), Column("reason"), Column("trials")], rows)


def _problem_row(case: CaseResult, style: TextStyle) -> Row:
    reason, word = reason_of(case), WORDS[case.outcome]
    return Row([
        [outcome_span(case.outcome, style)],
        [TextSpan(f"{case.eval_set_id}/{case.eval_id}", is_data=True)],
        [TextSpan(reason, is_data=True, is_prose=True)] if reason not in {"", word} else [],
        [TextSpan(rate_sentence(case, style.marks))] if is_repeated(case) else [],
    ])  # fmt: skip


def run_facts(run: RunResult) -> Iterator[Fact]:
    """Return the id of a stored run."""
    if run.run_id:
        yield Fact("run", [[TextSpan(run.run_id, is_data=True)]])


def rate_facts(run: RunResult, style: TextStyle) -> Iterator[Fact]:
    """Return how many cases passed, unless there is only one."""
    yield from _facts("pass rate", [*filter(None, [summary.rate(run, style.marks)])])


def figure_blocks(
    run: RunResult, digest: Digest, style: TextStyle, *, has_means: bool = False
) -> Iterator[Block]:
    """Return the statistics of repeats, durations, usage, costs and judges; `has_means`: the means of single trials, too."""
    added_texts = [f"until decided: {text}" for text in [added_text(run, digest.repeats.trials)] if text]
    yield from _facts("trials", added_texts, "ADDED", *added_texts)
    if digest.is_repeated:
        yield from _repeat_blocks(digest.repeats, summary.rules(run.sets), style)
    if digest.is_repeated or has_means:
        yield from _mean_facts(digest, style)
    at_fault = summary.fault_fields(digest.whose_fault)
    yield from _facts("faults", summary.fault_texts(digest.whose_fault, style.marks), "AT-FAULT", *at_fault)
    figures, spent = digest.figures(), summary.money_of(run)
    yield from _facts("figures", figures, "FIGURES", ", ".join(figures))
    yield from _facts("duration", [*_durations(run)])
    yield from _facts("cost", spent, "COST", *spent)
    yield from badge_facts(run.badges)


def _facts(label: str, texts: Sequence[str], *record: str) -> Iterator[Fact]:
    """Return texts with their label, if there are any."""
    if texts:
        yield Fact(label, [[TextSpan(text)] for text in texts], record)


def _durations(run: RunResult) -> Iterator[str]:
    if run.duration:
        yield summary.duration(run.duration)
    if run.scoring_duration is not None:
        yield f"scored again in {summary.duration(run.scoring_duration)}"


def badge_facts(badges: Mapping[str, str]) -> Iterator[Fact]:
    """Return the calibration of each judge."""
    for name, badge in badges.items():
        state = TextSpan(badge, "warning" if badge.startswith(summary.VOID) else "dim")
        yield Fact("judge", [[TextSpan(name, "dim", is_data=True)], [state]], ("JUDGE", name, badge))


def _repeat_blocks(repeats: Repeats, rules: Sequence[TrialRule | None], style: TextStyle) -> Iterator[Block]:
    """Return pass^k and pass@k of all cases, and the same for each eval set."""
    if figures := [*repeat_figures(repeats, rules)]:
        yield Fact("repeats", [_mean_spans(name, mean, style) for name, mean in figures])
    rows = [_repeats_row(name, one, rules, style) for name, one in repeated_sets(repeats).items()]
    yield from _first_rows([Column(wraps=True), Column(wraps=True)], rows, _MOST_SETS)
    yield Record(("REPEATS", *_repeat_fields(repeats, rules, style)))


def _mean_facts(digest: Digest, style: TextStyle) -> Iterator[Fact]:
    if means := means_of(digest.repeats, digest.gating):
        fields = (f"{name}={_mean_field(mean, digest.repeats, style)}" for name, mean in means.items())
        parts = [_mean_parts(name, mean, digest.repeats, style) for name, mean in means.items()]
        yield Fact("means", parts, ("MEANS", *fields))


def _mean_parts(metric: str, mean: Mean, of: Repeats, style: TextStyle) -> Spans:
    cases = f" ({mean.cases:,} of {count_text(of.cases, 'case')})" if mean.cases < of.cases else ""
    return [
        TextSpan(metric, "dim", is_data=True),
        TextSpan(f" {mean_text(mean, style.marks)}"),
        TextSpan(cases, "dim"),
    ]


def _repeats_row(
    eval_set_id: str, repeats: Repeats, rules: Sequence[TrialRule | None], style: TextStyle
) -> Row:
    flaky = [[TextSpan(f"{repeats.flaky} {FLAKY}", "warning")]] if repeats.flaky else []
    figures = (_mean_spans(name, mean, style) for name, mean in repeat_figures(repeats, rules))
    record = ("REPEATS", f"set={eval_set_id}", *_repeat_fields(repeats, rules, style))
    spans = [*join_with_dots([*flaky, *figures], style)] or [TextSpan("steady")]
    return Row([[TextSpan(eval_set_id, is_data=True)], spans], record)


def _repeat_fields(repeats: Repeats, rules: Sequence[TrialRule | None], style: TextStyle) -> Iterator[str]:
    yield f"flaky={repeats.flaky}/{repeats.cases}"
    for name, mean in repeat_figures(repeats, rules):
        yield f"{name}={_mean_field(mean, repeats, style)}"


def _mean_spans(name: str, mean: Mean, style: TextStyle) -> Spans:
    return [TextSpan(name, "dim", is_data=True), TextSpan(f" {mean_text(mean, style.marks)}")]


def _mean_field(mean: Mean, of: Repeats, style: TextStyle) -> str:
    return f"{mean_text(mean, style.marks).replace(' ', '')}({mean.cases}/{of.cases})"


def verdict_block(run: RunResult, digest: Digest, style: TextStyle) -> Verdict:
    """Return the verdict of a run."""
    sentence = summary.verdict_sentence(run, flaky=digest.repeats.flaky)
    took = f"duration={summary.duration(run.duration)}" if run.duration else ""
    judged = run.scoring_duration
    record = (
        "VERDICT", sentence, summary.rate(run, style.marks), took,
        f"judged_in={summary.duration(judged)}" if judged is not None else "", run.run_id and f"run={run.run_id}",
    )  # fmt: skip
    role = OUTCOME_ROLES.get(run.outcome, "dim")
    return Verdict(_sign(run.outcome, style), sentence, role, record, data=run.stopped_by)
