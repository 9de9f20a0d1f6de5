"""Inference results of google-adk's shape, and the evidence that they are."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.compat.adk.argument_errors import setup_error
from proctor.compat.adk.evaluation.base_eval_service import InferenceResult
from proctor.schema.evidence.convert_events import events_of
from proctor.schema.evidence.trial import Failure, Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.config import CodeConfig, CustomMetricConfig, EvalConfig
from proctor.schema.format.criterion import EFFICIENCY_METRICS, EvalMetric
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.result import InferenceStatus

ALWAYS = frozenset(name.value for name in EFFICIENCY_METRICS)
"""Metrics that are always computed and never decide."""


def inference_of(trial: Trial, app_name: str) -> InferenceResult:
    """Return what an agent did as an inference result."""
    broken = trial.failure
    return InferenceResult(
        app_name=app_name,
        eval_set_id=trial.eval_set_id,
        eval_case_id=trial.eval_id,
        inferences=None if broken else trial.invocations,
        session_id=trial.session_id,
        status=InferenceStatus.FAILURE if broken else InferenceStatus.SUCCESS,
        error_message=(broken.message or broken.cause) if broken else None,
    )


def trial_of(inference: InferenceResult) -> Trial:
    """Return an inference result as evidence; what it does not have (the final state) is unknown."""
    failure = None
    if inference.status == InferenceStatus.FAILURE or inference.inferences is None:
        failure = Failure(
            where="agent", message=inference.error_message or "the inference has no invocations"
        )
    return Trial(
        eval_set_id=inference.eval_set_id,
        eval_id=inference.eval_case_id,
        session_id=inference.session_id or "",
        app_name=inference.app_name,
        turns=[_turn(one) for one in inference.inferences or ()],
        failure=failure,
    )


def _turn(invocation: Invocation) -> Turn:
    return Turn(
        user_content=invocation.user_content,
        events=events_of(invocation),
        started_at=invocation.creation_timestamp,
        duration=invocation.duration,
        model_duration=invocation.model_duration,
        tool_duration=invocation.tool_duration,
        app_details=invocation.app_details.model_dump() if invocation.app_details else None,
    )


def config_of(metrics: Sequence[EvalMetric]) -> EvalConfig:
    """Return the config that asks for these metrics."""
    criteria, custom = {}, {}
    for metric in metrics:
        if metric.criterion is not None or metric.threshold is not None:
            criteria[metric.metric_name] = metric.criterion or metric.threshold
        elif metric.metric_name not in ALWAYS:
            raise setup_error(f"{metric.metric_name}: expected a criterion or a threshold")
        if metric.custom_function_path:
            code = CodeConfig(name=metric.custom_function_path)
            custom[metric.metric_name] = CustomMetricConfig(code_config=code)
    return EvalConfig(criteria=criteria, custom_metrics=custom or None)
