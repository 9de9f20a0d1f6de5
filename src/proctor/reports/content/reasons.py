"""The reason of a case in one sentence. The module is light: `evidence`, the full explanation, loads only if it is shown."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome

__all__ = ["TELLING", "deciding", "reason_of", "warnings_beside", "warnings_of"]

TELLING = {Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE}
"""Outcomes that need a reason."""


def reason_of(case: CaseResult) -> str:
    """Return in one sentence why the case has its outcome; empty if it passed."""
    if case.outcome is Outcome.PASSED:
        return ""
    if case.reason:
        return case.reason
    telling = next((metric for metric in deciding(case) if metric.outcome is case.outcome), None)
    if telling is not None and telling.reason:
        return telling.reason
    failure = next((trial.failure for trial in case.trials if trial.failure), None)
    if failure is not None:
        return failure.cause
    return f"{telling.name} gives no reason" if telling is not None else ""


def deciding(case: CaseResult) -> list[MetricVerdict]:
    """Return the gating metrics that did not pass, in their order; where trials are counted, that missed in one."""
    counted = case.rule is not None and case.outcome in TELLING
    return [
        metric
        for metric in case.metrics.values()
        if metric.gate and (metric.outcome in TELLING or (counted and metric.met < metric.scored))
    ]


def warnings_of(case: CaseResult) -> list[str]:
    """Return the warnings about the scores of this case, each once, with its metric."""
    return _warnings(case.metrics.values())


def warnings_beside(case: CaseResult) -> list[str]:
    """Return the warnings that the evidence does not contain: those of metrics that did not decide the outcome."""
    shown = {metric.name for metric in deciding(case)} if case.outcome in TELLING else set()
    return _warnings(metric for metric in case.metrics.values() if metric.name not in shown)


def _warnings(metrics: Iterable[MetricVerdict]) -> list[str]:
    found = (
        f"{metric.name}: {each.warning}"
        for metric in metrics
        for score in metric.per_trial
        if score is not None
        for each in score.per_invocation
        if each.warning
    )
    return list(dict.fromkeys(found))
