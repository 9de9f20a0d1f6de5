"""As `google.adk.evaluation.rubric_based_multi_turn_trajectory_evaluator`."""

from typing import ClassVar

from proctor.compat.adk.evaluators import JudgedEvaluator
from proctor.schema.format.criterion import BaseCriterion, RubricsBasedCriterion

__all__ = ["RubricBasedMultiTurnTrajectoryEvaluator"]


class RubricBasedMultiTurnTrajectoryEvaluator(JudgedEvaluator):
    """`rubric_based_multi_turn_trajectory_quality_v1`, standalone."""

    metric_name: ClassVar[str] = "rubric_based_multi_turn_trajectory_quality_v1"
    RUBRIC_TYPE: ClassVar[str] = "TRAJECTORY_QUALITY"
    criterion_type: ClassVar[type[BaseCriterion]] = RubricsBasedCriterion
