"""As `google.adk.evaluation.hallucinations_v1`."""

from dataclasses import dataclass
from typing import ClassVar

from proctor.compat.adk.evaluators import JudgedEvaluator
from proctor.schema.format.criterion import BaseCriterion, HallucinationsCriterion

__all__ = ["EvaluationStep", "HallucinationsV1Evaluator"]


@dataclass(frozen=True)
class EvaluationStep:
    """An answer that is searched for unsupported sentences, and the context that may support them."""

    context: str
    nl_response: str


class HallucinationsV1Evaluator(JudgedEvaluator):
    """`hallucinations_v1`, standalone."""

    metric_name: ClassVar[str] = "hallucinations_v1"
    criterion_type: ClassVar[type[BaseCriterion]] = HallucinationsCriterion
