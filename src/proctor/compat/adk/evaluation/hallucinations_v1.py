"""As `google.adk.evaluation.hallucinations_v1`."""

from typing import ClassVar

from proctor.compat.adk.evaluators import JudgedEvaluator
from proctor.schema.criterion import BaseCriterion, HallucinationsCriterion

__all__ = ["HallucinationsV1Evaluator"]


class HallucinationsV1Evaluator(JudgedEvaluator):
    """`hallucinations_v1`, standalone."""

    metric_name: ClassVar[str] = "hallucinations_v1"
    criterion_type: ClassVar[type[BaseCriterion]] = HallucinationsCriterion
