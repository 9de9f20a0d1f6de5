"""As `google.adk.evaluation.rubric_based_tool_use_quality_v1`."""

from typing import ClassVar

from proctor.compat.adk.evaluators import JudgedEvaluator
from proctor.schema.format.criterion import BaseCriterion, RubricsBasedCriterion

__all__ = ["RubricBasedToolUseV1Evaluator"]


class RubricBasedToolUseV1Evaluator(JudgedEvaluator):
    """`rubric_based_tool_use_quality_v1`, standalone."""

    metric_name: ClassVar[str] = "rubric_based_tool_use_quality_v1"
    RUBRIC_TYPE: ClassVar[str] = "TOOL_USE_QUALITY"
    criterion_type: ClassVar[type[BaseCriterion]] = RubricsBasedCriterion
