"""One case as plain lines, in the form of the plain report (docs/text-report.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proctor.reports.content.case_data import CaseView, Judged, TrialView
from proctor.reports.content.reasons import warnings_beside
from proctor.reports.content.repeat_stats import FLAKY, is_repeated
from proctor.reports.content.run_list import when
from proctor.reports.evidence.case_evidence import reason_of
from proctor.reports.evidence.played_users import told_of
from proctor.reports.plain.evidence import evidence_lines
from proctor.reports.plain.run import rate_field, score_field
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome
from proctor.schema.results.score import MetricScore, score_text

_INDENT = "    "
_LETTERS = {Outcome.PASSED: "P", Outcome.FAILED: "F", Outcome.ERROR: "E", Outcome.INCONCLUSIVE: "I"}


def case_lines(view: CaseView) -> Iterator[str]:
    """Return `view` line by line."""
    case = view.case
    yield _joined(
        "CASE",
        f"{case.eval_set_id}/{case.eval_id}",
        case.outcome.value,
        f"trials={''.join(_LETTERS.get(trial.outcome, '-') for trial in case.trials)}",
        rate_field(case) if is_repeated(case) else "",
        FLAKY if case.flaky else "",
        f"run={view.run_id}",
        f"agent={view.agent}",
        when(view.began),
        f"judging={view.judging}",
        f"place={case.place}" if case.place else "",
    )
    if reason := reason_of(case):
        yield f"{_INDENT}reason: {reason}"
    if view.scenario is not None:
        yield "SCENARIO"
        yield from _set_in(told_of(view.scenario))
    for metric in case.metrics.values():
        if metric.score is not None or metric.outcome is not Outcome.INFORMATIONAL:
            yield _metric(case, metric)
    for warning in warnings_beside(case):
        yield f"{_INDENT}warning: {warning}"
    for name, badge in view.badges.items():
        yield _joined("JUDGE", name, badge)
    for trial in view.shown():
        yield from _trial(trial, several=len(case.trials) > 1)
    for judged in view.history:
        yield _judging(judged)


def _set_in(told: Iterable[tuple[str, str]]) -> Iterator[str]:
    for label, text in told:
        yield from (f"{_INDENT}{label}: {line}" for line in text.splitlines() or [""])


def _joined(*fields: str) -> str:
    return "  ".join(field for field in fields if field)


def _metric(case: CaseResult, metric: MetricVerdict) -> str:
    scores = ",".join(_score(metric, score) for score in metric.per_trial)
    told = score_field(case, metric).partition("=")[2] if metric.score is not None else ""
    return _joined("METRIC", metric.name, metric.outcome.value, told, f"trials={scores}" if scores else "")


def _score(metric: MetricVerdict, score: MetricScore | None) -> str:
    return score_text(score.value, metric.threshold) if score is not None and score.value is not None else "-"


def _trial(view: TrialView, *, several: bool) -> Iterator[str]:
    case = view.alone
    yield _joined("TRIAL", str(view.number + 1), case.outcome.value, *view.facts())
    reason = reason_of(case)
    if several and reason:
        yield f"{_INDENT}reason: {reason}"
    for attempt in view.attempts():
        yield f"{_INDENT}{attempt}"
    for note in view.trial.notes if view.trial else []:
        yield f"{_INDENT}note: {note}"
    for line in evidence_lines(case, reason, full=True):
        yield _INDENT + line


def _judging(judged: Judged) -> str:
    criteria = f"criteria={judged.criteria}" if judged.criteria else ""
    metrics = judged.case.metrics.values()
    scored = [
        score_field(judged.case, metric)
        for metric in metrics
        if metric.gate and (metric.score is not None or metric.outcome is Outcome.ERROR)
    ]
    return _joined(
        "JUDGING",
        str(judged.number),
        judged.case.outcome.value,
        when(judged.created_at),
        criteria,
        *scored,
    )
