"""As `google.adk.evaluation.eval_metrics`."""

from abc import ABC, abstractmethod
from typing import TypeAlias

from proctor.schema.format.criterion import (
    BaseCriterion,
    EvalMetric,
    HallucinationsCriterion,
    Interval,
    JudgeModelOptions,
    LlmAsAJudgeCriterion,
    LlmBackedUserSimulatorCriterion,
    MetricInfo,
    MetricValueInfo,
    PrebuiltMetrics,
    RubricsBasedCriterion,
    ToolTrajectoryCriterion,
)
from proctor.schema.format.result import (
    DurationDetails,
    EvalMetricResult,
    EvalMetricResultDetails,
    EvalMetricResultPerInvocation,
    EvalStatus,
    TokenUsageDetails,
)
from proctor.schema.format.rubric import Rubric, RubricScore

__all__ = [
    "BaseCriterion",
    "DurationDetails",
    "EvalMetric",
    "EvalMetricResult",
    "EvalMetricResultDetails",
    "EvalMetricResultPerInvocation",
    "EvalStatus",
    "HallucinationsCriterion",
    "Interval",
    "JudgeModelOptions",
    "LlmAsAJudgeCriterion",
    "LlmBackedUserSimulatorCriterion",
    "MetricInfo",
    "MetricInfoProvider",
    "MetricName",
    "MetricValueInfo",
    "PrebuiltMetrics",
    "Rubric",
    "RubricScore",
    "RubricsBasedCriterion",
    "Threshold",
    "TokenUsageDetails",
    "ToolTrajectoryCriterion",
]

MetricName: TypeAlias = str | PrebuiltMetrics
Threshold: TypeAlias = float


class MetricInfoProvider(ABC):
    """Provides the description of a metric."""

    @abstractmethod
    def get_metric_info(self) -> MetricInfo:
        """Return it."""
