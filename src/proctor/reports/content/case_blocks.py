"""One case as text blocks: its outcome, the scenario, every metric, every trial, and the earlier scorings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TextIO

from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.case_data import CaseScoring, StoredCase, TrialView
from proctor.reports.content.case_digest import (
    TELLING,
    held_text,
    rate_field,
    rate_sentence,
    reason_of,
    score_field,
    trials_field,
)
from proctor.reports.content.case_words import FLAKY, WORDS
from proctor.reports.content.run_blocks import badge_facts, strip_spans, warning_lines
from proctor.reports.content.run_list import when
from proctor.reports.content.summary import duration
from proctor.reports.content.text_blocks import (
    Block,
    Column,
    Evidence,
    Gap,
    Line,
    Record,
    Row,
    Spans,
    Table,
    TextSpan,
    TextStyle,
    TrialEvidence,
    join_with_dots,
    outcome_role,
)
from proctor.reports.evidence.case_evidence import evidence_of, without_reason
from proctor.reports.evidence.simulated_users import scenario_facts
from proctor.reports.plain import write_blocks
from proctor.schema.format.criterion import PrebuiltMetrics
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome
from proctor.schema.results.score import MetricScore

_MOST_PASSED = 1
"""Trials that passed whose evidence is drawn, unless every one is asked for."""
_MOST_COMPARED = 10
"""Trials with which a later one is compared, to draw equal evidence once."""
_INDENT = "    "


def write_case(view: StoredCase, out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
    """Write `view` in the form that suits `out`."""
    write_blocks(partial(case_blocks, view), out, options)


def case_blocks(view: StoredCase, style: TextStyle) -> Iterator[Block]:
    """Return a case as blocks. The plain form has every trial; a terminal leaves out those that show nothing new."""
    yield Gap()
    yield from _head(view, style)
    yield from _scenario(view)
    yield from _metrics(view, style)
    yield from _trials(view, style)
    yield from _scorings(view, style)
    yield Gap()


def _head(view: StoredCase, style: TextStyle) -> Iterator[Block]:
    case = view.case
    sign = f"{style.marks.outcome(case.outcome)} {WORDS[case.outcome]}"
    spans = [
        TextSpan(sign, outcome_role(case.outcome)),
        TextSpan("  "),
        TextSpan(f"{case.eval_set_id}/", "dim", is_data=True),
        TextSpan(case.eval_id, "strong", is_data=True),
    ]
    if len(case.trials) > 1:
        spans += [
            TextSpan("  "),
            *strip_spans(case, style),
            TextSpan(f"  {rate_sentence(case, style.marks)}", "dim"),
        ]
    yield Line(spans, record=_case_record(view))
    scoring = f"scoring {view.scoring} of {len(view.history)}" if len(view.history) > 1 else ""
    facts = [f"run {view.short}", view.agent, when(view.began), scoring, case.place]
    yield Line([*join_with_dots([TextSpan(fact, "dim") for fact in facts if fact], style)])
    reason = reason_of(case)
    if reason or case.missed:
        yield Gap()
        fields = (f"{_INDENT}reason: {reason}",) if reason else ()
        yield Line([TextSpan(reason or case.missed, is_data=True, is_prose=True)], record=fields)
    yield Gap()


def _case_record(view: StoredCase) -> tuple[str, ...]:
    case = view.case
    return (
        "CASE", f"{case.eval_set_id}/{case.eval_id}", case.outcome.value,
        trials_field(case),
        rate_field(case), FLAKY if case.flaky else "",
        f"run={view.run_id}", f"agent={view.agent}", when(view.began), f"scoring={view.scoring}",
        f"place={case.place}" if case.place else "",
    )  # fmt: skip


def _scenario(view: StoredCase) -> Iterator[Block]:
    """Return the scenario of a simulated user, without which its conversation cannot be understood."""
    if view.scenario is None:
        return
    facts = list(scenario_facts(view.scenario))
    yield Record(("SCENARIO",))
    for label, text in facts:
        yield from (Record((f"{_INDENT}{label}: {line}",)) for line in text.splitlines() or [""])
    rows = [
        Row([[TextSpan(label, "dim")], [TextSpan(text, is_data=True, keeps_lines=True)]])
        for label, text in facts
    ]
    yield Table([Column(), Column(wraps=True)], rows, is_plain=False)
    yield Gap()


# --- metrics ---------------------------------------------------------------------------------------------------------


def _metrics(view: StoredCase, style: TextStyle) -> Iterator[Block]:
    metrics = [metric for metric in view.case.metrics.values() if _is_shown(metric)]
    skipped = [metric for metric in metrics if metric.outcome is Outcome.SKIPPED]
    rows = [_metric_row(view.case, metric, style) for metric in metrics if metric not in skipped]
    if rows:
        yield Table([Column(wraps=True), Column(), Column(wraps=True)], rows)
    yield from (Record(_metric_record(view.case, metric)) for metric in skipped)
    yield from warning_lines(view.case)
    yield from badge_facts(view.badges)
    if rows:
        yield Gap()


def _is_shown(metric: MetricVerdict) -> bool:
    return metric.score is not None or metric.outcome is not Outcome.INFORMATIONAL


def _metric_row(case: CaseResult, metric: MetricVerdict, style: TextStyle) -> Row:
    informs = metric.outcome is Outcome.INFORMATIONAL
    role = outcome_role(metric.outcome)
    sign = style.marks.dot if informs else style.marks.outcome(metric.outcome)
    scores = metric.per_trial if len(metric.per_trial) > 1 else []
    cells: list[Spans] = [
        [TextSpan(f"{sign} ", role), TextSpan(metric.name, "dim" if informs else "", is_data=True)],
        [TextSpan(_held(case, metric, style), role if metric.outcome in TELLING else "dim")],
        [span for index, score in enumerate(scores) for span in _score_spans(metric, score, style, index)],
    ]
    return Row(cells, _metric_record(case, metric))


def _held(case: CaseResult, metric: MetricVerdict, style: TextStyle) -> str:
    is_figure = metric.score is not None and metric.threshold is None
    return _figure(metric, metric.score or 0.0) if is_figure else held_text(case, metric, style.marks)


def _figure(metric: MetricVerdict, value: float) -> str:
    """Return a score; that of the metric of durations in a unit that suits it."""
    if metric.name == PrebuiltMetrics.INVOCATION_DURATION_V1.value and metric.threshold is None:
        return duration(value)
    return metric.text_of(value)


def _score_spans(
    metric: MetricVerdict, score: MetricScore | None, style: TextStyle, index: int
) -> list[TextSpan]:
    gap = [TextSpan(" ")] if index else []
    if score is None or score.value is None:
        has_failed = score is not None and score.failure is not None
        return [*gap, TextSpan(style.marks.outcome(Outcome.ERROR) if has_failed else style.marks.rest, "dim")]
    misses = metric.gate and metric.threshold is not None and score.value < metric.threshold
    return [*gap, TextSpan(_figure(metric, score.value), "bad" if misses else "dim")]


def _metric_record(case: CaseResult, metric: MetricVerdict) -> tuple[str, ...]:
    scores = ",".join(
        "-" if score is None or score.value is None else metric.text_of(score.value)
        for score in metric.per_trial
    )
    score = score_field(case, metric).partition("=")[2] if metric.score is not None else ""
    return ("METRIC", metric.name, metric.outcome.value, score, f"trials={scores}" if scores else "")


# --- trials ----------------------------------------------------------------------------------------------------------


def _trials(view: StoredCase, style: TextStyle) -> Iterator[Block]:
    everything = style.verbose or bool(view.trials)
    passed_left = len(view.case.trials) if everything else _MOST_PASSED
    hidden = 0
    earlier: list[tuple[int, list[TrialEvidence]]] = []
    for trial in view.shown():
        evidence = evidence_of(trial.alone, full=True)
        is_passed = trial.alone.outcome is Outcome.PASSED
        is_drawn = not is_passed or passed_left > 0
        passed_left -= is_passed
        hidden += not is_drawn
        like = _trial_with(evidence, earlier) if is_drawn and not everything else None
        yield from _trial(view, trial, evidence, style, is_drawn=is_drawn, like=like)
        if is_drawn and len(earlier) < _MOST_COMPARED:
            earlier.append((trial.number, evidence))
    if hidden:
        sign = style.marks.trial(Outcome.PASSED)
        text = f"{sign} {style.marks.cut} {hidden} more that passed (-v: all, --trial N: one)"
        yield Line([TextSpan(text, "dim")])
        yield Gap()


def _trial_with(evidence: list[TrialEvidence], earlier: list[tuple[int, list[TrialEvidence]]]) -> int | None:
    """Return the first trial with the same evidence."""
    return next((number for number, other in earlier if other == evidence), None)


def _trial(
    view: StoredCase,
    trial: TrialView,
    evidence: list[TrialEvidence],
    style: TextStyle,
    *,
    is_drawn: bool,
    like: int | None,
) -> Iterator[Block]:
    """Return one trial; `like` is an earlier trial with the same evidence."""
    case = trial.alone
    facts = trial.facts()
    record = ("TRIAL", str(trial.number + 1), case.outcome.value, *facts)
    if is_drawn:
        sign = TextSpan(style.marks.trial(case.outcome), outcome_role(case.outcome))
        likeness = [f"like trial {like + 1}"] if like is not None else []
        rest = [TextSpan(fact, "dim") for fact in [*facts, *likeness]]
        yield Line(
            [sign, *join_with_dots([TextSpan(f" trial {trial.number + 1}", "strong"), *rest], style)],
            record=record,
        )
    else:
        yield Record(record)
    is_detailed = is_drawn and like is None
    reason = reason_of(case)
    for line in _trial_notes(trial, reason if len(view.case.trials) > 1 else ""):
        yield line if is_detailed else Record(line.record)
    yield Evidence(without_reason(evidence, reason), is_drawn=is_detailed)
    if is_drawn:
        yield Gap()


def _trial_notes(trial: TrialView, reason: str) -> Iterator[Line]:
    if reason:
        yield Line([TextSpan(reason, is_data=True, is_prose=True)], 4, (f"{_INDENT}reason: {reason}",))
    for attempt in trial.attempts():
        yield Line([TextSpan(attempt, "dim", is_data=True)], 4, (_INDENT + attempt,))
    for note in trial.trial.notes if trial.trial else []:
        spans = [TextSpan("note ", "warning"), TextSpan(note, is_data=True, is_prose=True)]
        yield Line(spans, 4, (f"{_INDENT}note: {note}",))


# --- scorings --------------------------------------------------------------------------------------------------------


def _scorings(view: StoredCase, style: TextStyle) -> Iterator[Block]:
    rows = [_scoring_row(judged, style, is_shown=judged.number == view.scoring) for judged in view.history]
    if len(rows) == 1:
        yield Record(rows[0].record)
        return
    yield Line([TextSpan("scored", "strong")])
    yield Table([*(Column() for _ in range(3)), Column(wraps=True)], rows, indent=2)


def _scoring_row(judged: CaseScoring, style: TextStyle, *, is_shown: bool) -> Row:
    outcome = judged.case.outcome
    scored = [
        metric
        for metric in judged.case.metrics.values()
        if metric.gate and (metric.score is not None or metric.outcome is Outcome.ERROR)
    ]
    scores = [TextSpan(f"{metric.name} {held_text(judged.case, metric, style.marks)}") for metric in scored]
    criteria = [TextSpan(f"criteria from {judged.criteria}", "dim")] if judged.criteria else []
    cells: list[Spans] = [
        [TextSpan(str(judged.number), "strong" if is_shown else "dim")],
        [TextSpan(f"{style.marks.outcome(outcome)} {WORDS[outcome]}", outcome_role(outcome))],
        [TextSpan(when(judged.created_at), "dim")],
        [*join_with_dots([*criteria, *scores], style)],
    ]
    fields = [score_field(judged.case, metric) for metric in scored]
    source = f"criteria={judged.criteria}" if judged.criteria else ""
    return Row(
        cells, ("SCORING", str(judged.number), outcome.value, when(judged.created_at), source, *fields)
    )
