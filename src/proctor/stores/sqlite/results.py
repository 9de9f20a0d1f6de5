"""A stored run as the result that it was."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from proctor.schema.format.config import EvalConfig
from proctor.schema.results.manifest import JudgedSet, Judging, Manifest, RunSummary, SetManifest, was_added
from proctor.schema.results.repeats import TrialRule
from proctor.schema.results.run_result import CaseResult, RunResult, SetSummary


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
        at_most=_at_most(manifest, judging),
        against=manifest.against,
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
        summary.rule = _rule(judged, one.num_runs)
        summary.criteria = dict(judged.config.get("criteria") or {})
    return summary


def _at_most(manifest: Manifest, judging: Judging) -> int:
    """Trials that there could have been, where they were added until it was decided, or 0."""
    added = was_added(manifest, judging)
    return sum(one.cases * one.num_runs for one in manifest.sets) if added else 0


def _rule(judged: JudgedSet, num_runs: int) -> TrialRule | None:
    try:
        return EvalConfig.model_validate(judged.config).rule_for(num_runs)
    except ValidationError:  # a config of another version of Proctor: the cases have their rule themselves
        return None
