"""As `google.adk.evaluation.rubric_based_final_response_quality_v1`."""

from typing import ClassVar

from proctor.compat.adk.evaluators import JudgedEvaluator
from proctor.schema.format.criterion import BaseCriterion, RubricsBasedCriterion

__all__ = ["RubricBasedFinalResponseQualityV1Evaluator"]


class RubricBasedFinalResponseQualityV1Evaluator(JudgedEvaluator):
    """`rubric_based_final_response_quality_v1`, standalone."""

    metric_name: ClassVar[str] = "rubric_based_final_response_quality_v1"
    RUBRIC_TYPE: ClassVar[str] = "FINAL_RESPONSE_QUALITY"
    criterion_type: ClassVar[type[BaseCriterion]] = RubricsBasedCriterion
