"""As `google.adk.evaluation.final_response_match_v2`."""

from typing import ClassVar

from proctor.compat.adk.evaluators import JudgedEvaluator
from proctor.schema.format.criterion import BaseCriterion, LlmAsAJudgeCriterion

__all__ = ["FinalResponseMatchV2Evaluator"]


class FinalResponseMatchV2Evaluator(JudgedEvaluator):
    """`final_response_match_v2`, standalone."""

    metric_name: ClassVar[str] = "final_response_match_v2"
    criterion_type: ClassVar[type[BaseCriterion]] = LlmAsAJudgeCriterion
