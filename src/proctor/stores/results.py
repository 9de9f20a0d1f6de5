"""A stored run as the result that it was."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from proctor.schema.config import EvalConfig
from proctor.schema.repeats import TrialRule
from proctor.schema.run import JudgedSet, Judging, Manifest, RunSummary, SetManifest
from proctor.schema.verdict import CaseResult, RunResult, SetSummary


def result_of(
    manifest: Manifest, judging: Judging, summary: RunSummary, cases: Sequence[CaseResult]
) -> RunResult:
    """Return a run as a result."""
    by_id = {one.eval_set_id: one for one in judging.sets}
    in_order = len(judging.sets) == len(manifest.sets)
    judged = judging.sets if in_order else [by_id.get(one.eval_set_id) for one in manifest.sets]
    return RunResult(
        agent=manifest.agent.label,
        cases=cases,
        sets=[_set(*pair) for pair in zip(manifest.sets, judged, strict=True)],
        num_runs=manifest.num_runs,
        warnings=list(summary.warnings),
        started_at=manifest.created_at,
        duration=summary.duration,
        judging_duration=summary.judging_duration,
        interrupted=summary.interrupted,
        stopped_by=summary.stopped_by,
        failure=summary.failure,
        run_id=manifest.run_id,
        spent=list(summary.spent),
        judged_by=list(summary.judged_by),
    )


def _set(one: SetManifest, judged: JudgedSet | None) -> SetSummary:
    summary = SetSummary(one.eval_set_id, one.path, "", one.cases, failure=one.failure)
    summary.num_runs = one.num_runs
    if judged is not None:
        summary.config_source = judged.config_source
        gating = [metric.name for metric in judged.metrics if metric.gate]
        summary.metrics = gating + [metric.name for metric in judged.metrics if not metric.gate]
        summary.skipped_metrics = dict(judged.skipped_metrics)
        summary.rule = _rule(judged)
        summary.criteria = dict(judged.config.get("criteria") or {})
    return summary


def _rule(judged: JudgedSet) -> TrialRule | None:
    try:
        return EvalConfig.model_validate(judged.config).rule
    except ValidationError:  # a config of another version of Proctor: the cases have their rule themselves
        return None
