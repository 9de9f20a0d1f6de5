"""As `google.adk.evaluation.multi_turn_tool_use_quality_evaluator`."""

from typing import ClassVar

from proctor.compat.adk.evaluators import JudgedEvaluator
from proctor.schema.format.criterion import BaseCriterion

__all__ = ["MultiTurnToolUseQualityV1Evaluator"]


class MultiTurnToolUseQualityV1Evaluator(JudgedEvaluator):
    """`multi_turn_tool_use_quality_v1`, standalone."""

    metric_name: ClassVar[str] = "multi_turn_tool_use_quality_v1"
    criterion_type: ClassVar[type[BaseCriterion]] = BaseCriterion
