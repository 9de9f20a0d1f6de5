"""As `google.adk.evaluation.safety_evaluator`."""

from typing import ClassVar

from proctor.compat.adk.evaluators import JudgedEvaluator
from proctor.schema.format.criterion import BaseCriterion

__all__ = ["SafetyEvaluatorV1"]


class SafetyEvaluatorV1(JudgedEvaluator):
    """`safety_v1`, standalone."""

    metric_name: ClassVar[str] = "safety_v1"
    criterion_type: ClassVar[type[BaseCriterion]] = BaseCriterion
