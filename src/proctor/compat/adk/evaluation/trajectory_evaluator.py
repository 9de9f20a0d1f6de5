"""As `google.adk.evaluation.trajectory_evaluator`."""

from __future__ import annotations

from typing import ClassVar

from proctor.compat.adk.evaluators import PrebuiltEvaluator
from proctor.schema.format.criterion import BaseCriterion, EvalMetric, ToolTrajectoryCriterion

__all__ = ["TrajectoryEvaluator"]


class TrajectoryEvaluator(PrebuiltEvaluator):
    """`tool_trajectory_avg_score`: whether the expected tools were called, EXACT, IN_ORDER or ANY_ORDER."""

    metric_name: ClassVar[str] = "tool_trajectory_avg_score"
    criterion_type: ClassVar[type[BaseCriterion]] = ToolTrajectoryCriterion

    def __init__(self, threshold: float | None = None, eval_metric: EvalMetric | None = None) -> None:
        super().__init__(eval_metric, threshold=threshold)
