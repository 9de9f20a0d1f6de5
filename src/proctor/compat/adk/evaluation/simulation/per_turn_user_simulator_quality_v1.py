"""As `google.adk.evaluation.simulation.per_turn_user_simulator_quality_v1`."""

from typing import ClassVar

from proctor.compat.adk.evaluators import JudgedEvaluator
from proctor.schema.format.criterion import BaseCriterion, LlmBackedUserSimulatorCriterion

__all__ = ["PerTurnUserSimulatorQualityV1"]


class PerTurnUserSimulatorQualityV1(JudgedEvaluator):
    """`per_turn_user_simulator_quality_v1`, standalone."""

    metric_name: ClassVar[str] = "per_turn_user_simulator_quality_v1"
    criterion_type: ClassVar[type[BaseCriterion]] = LlmBackedUserSimulatorCriterion
