"""As `google.adk.evaluation.metric_info_providers`: what each built-in metric measures, in Proctor's words."""

from __future__ import annotations

from typing import ClassVar

from proctor.compat.adk.argument_errors import setup_error
from proctor.compat.adk.evaluation.eval_metrics import MetricInfo, MetricInfoProvider, PrebuiltMetrics
from proctor.runs.metric_facts import metric_infos

__all__ = [
    "FinalResponseMatchV2EvaluatorMetricInfoProvider",
    "HallucinationsV1EvaluatorMetricInfoProvider",
    "InferenceCallCountV1MetricInfoProvider",
    "InvocationDurationV1MetricInfoProvider",
    "MultiTurnTaskSuccessV1MetricInfoProvider",
    "MultiTurnToolUseQualityV1MetricInfoProvider",
    "MultiTurnTrajectoryQualityV1MetricInfoProvider",
    "PerTurnUserSimulatorQualityV1MetricInfoProvider",
    "ResponseEvaluatorMetricInfoProvider",
    "RubricBasedFinalResponseQualityV1EvaluatorMetricInfoProvider",
    "RubricBasedMultiTurnTrajectoryMetricInfoProvider",
    "RubricBasedToolUseV1EvaluatorMetricInfoProvider",
    "SafetyEvaluatorV1MetricInfoProvider",
    "TokenUsageV1MetricInfoProvider",
    "ToolCallCountV1MetricInfoProvider",
    "TrajectoryEvaluatorMetricInfoProvider",
]


class _OneMetricInfoProvider(MetricInfoProvider):
    """Describes the metric that the class names."""

    metric: ClassVar[PrebuiltMetrics]

    def get_metric_info(self) -> MetricInfo:
        return _info(self.metric.value)


def _info(metric_name: str) -> MetricInfo:
    return next(info for info in metric_infos() if info.metric_name == metric_name)


class ResponseEvaluatorMetricInfoProvider(MetricInfoProvider):
    """Describes `response_evaluation_score` or `response_match_score`, whichever it is made for."""

    def __init__(self, metric_name: str) -> None:
        self._metric_name = str(getattr(metric_name, "value", metric_name))

    def get_metric_info(self) -> MetricInfo:
        """Return its description. Raises ValueError for another metric."""
        known = (PrebuiltMetrics.RESPONSE_EVALUATION_SCORE.value, PrebuiltMetrics.RESPONSE_MATCH_SCORE.value)
        if self._metric_name not in known:
            raise setup_error(f"metric_name: expected {' or '.join(known)}, got {self._metric_name!r}")
        return _info(self._metric_name)


class TrajectoryEvaluatorMetricInfoProvider(_OneMetricInfoProvider):
    """Describes `tool_trajectory_avg_score`."""

    metric = PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE


class SafetyEvaluatorV1MetricInfoProvider(_OneMetricInfoProvider):
    """Describes `safety_v1`."""

    metric = PrebuiltMetrics.SAFETY_V1


class MultiTurnTaskSuccessV1MetricInfoProvider(_OneMetricInfoProvider):
    """Describes `multi_turn_task_success_v1`."""

    metric = PrebuiltMetrics.MULTI_TURN_TASK_SUCCESS_V1


class MultiTurnTrajectoryQualityV1MetricInfoProvider(_OneMetricInfoProvider):
    """Describes `multi_turn_trajectory_quality_v1`."""

    metric = PrebuiltMetrics.MULTI_TURN_TRAJECTORY_QUALITY_V1


class MultiTurnToolUseQualityV1MetricInfoProvider(_OneMetricInfoProvider):
    """Describes `multi_turn_tool_use_quality_v1`."""

    metric = PrebuiltMetrics.MULTI_TURN_TOOL_USE_QUALITY_V1


class FinalResponseMatchV2EvaluatorMetricInfoProvider(_OneMetricInfoProvider):
    """Describes `final_response_match_v2`."""

    metric = PrebuiltMetrics.FINAL_RESPONSE_MATCH_V2


class RubricBasedFinalResponseQualityV1EvaluatorMetricInfoProvider(_OneMetricInfoProvider):
    """Describes `rubric_based_final_response_quality_v1`."""

    metric = PrebuiltMetrics.RUBRIC_BASED_FINAL_RESPONSE_QUALITY_V1


class HallucinationsV1EvaluatorMetricInfoProvider(_OneMetricInfoProvider):
    """Describes `hallucinations_v1`."""

    metric = PrebuiltMetrics.HALLUCINATIONS_V1


class RubricBasedToolUseV1EvaluatorMetricInfoProvider(_OneMetricInfoProvider):
    """Describes `rubric_based_tool_use_quality_v1`."""

    metric = PrebuiltMetrics.RUBRIC_BASED_TOOL_USE_QUALITY_V1


class PerTurnUserSimulatorQualityV1MetricInfoProvider(_OneMetricInfoProvider):
    """Describes `per_turn_user_simulator_quality_v1`."""

    metric = PrebuiltMetrics.PER_TURN_USER_SIMULATOR_QUALITY_V1


class RubricBasedMultiTurnTrajectoryMetricInfoProvider(_OneMetricInfoProvider):
    """Describes `rubric_based_multi_turn_trajectory_quality_v1`."""

    metric = PrebuiltMetrics.RUBRIC_BASED_MULTI_TURN_TRAJECTORY_QUALITY_V1


class ToolCallCountV1MetricInfoProvider(_OneMetricInfoProvider):
    """Describes `tool_call_count_v1`."""

    metric = PrebuiltMetrics.TOOL_CALL_COUNT_V1


class InferenceCallCountV1MetricInfoProvider(_OneMetricInfoProvider):
    """Describes `inference_call_count_v1`."""

    metric = PrebuiltMetrics.INFERENCE_CALL_COUNT_V1


class InvocationDurationV1MetricInfoProvider(_OneMetricInfoProvider):
    """Describes `invocation_duration_v1`."""

    metric = PrebuiltMetrics.INVOCATION_DURATION_V1


class TokenUsageV1MetricInfoProvider(_OneMetricInfoProvider):
    """Describes `token_usage_v1`."""

    metric = PrebuiltMetrics.TOKEN_USAGE_V1
