"""As `google.adk.evaluation.evaluator`: what scores invocations, one's own among them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable
from typing import ClassVar, TypeAlias

from pydantic import Field

from proctor.schema.format.case import ConversationScenario
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.result import DurationDetails, EvalStatus, TokenUsageDetails, WireEvalStatus
from proctor.schema.format.rubric import RubricScore
from proctor.schema.format.wire_model import WireModel

__all__ = ["EvalStatus", "EvaluationResult", "Evaluator", "PerInvocationResult"]


class PerInvocationResult(WireModel):
    """What was found in one turn."""

    actual_invocation: Invocation
    expected_invocation: Invocation | None = None
    score: float | None = None
    eval_status: WireEvalStatus = EvalStatus.NOT_EVALUATED
    rubric_scores: list[RubricScore] | None = None
    token_usage_details: TokenUsageDetails | None = None
    duration_details: DurationDetails | None = None

    def __bool__(self) -> bool:
        return bool(self.eval_status)


class EvaluationResult(WireModel):
    """What was found in a conversation."""

    overall_score: float | None = None
    overall_eval_status: WireEvalStatus = EvalStatus.NOT_EVALUATED
    per_invocation_results: list[PerInvocationResult] = Field(default_factory=list)
    overall_rubric_scores: list[RubricScore] | None = None
    overall_token_usage_details: TokenUsageDetails | None = None
    overall_duration_details: DurationDetails | None = None

    def __bool__(self) -> bool:
        return bool(self.overall_eval_status)


Evaluated: TypeAlias = EvaluationResult | Awaitable[EvaluationResult]


class Evaluator(ABC):
    """Scores the invocations of a conversation. Subclasses are made with `eval_metric`, once for each case.

    They are known by the name that they are registered under (`metric_evaluator_registry`).
    """

    criterion_type: ClassVar[type[BaseCriterion]] = BaseCriterion

    @abstractmethod
    def evaluate_invocations(
        self,
        actual_invocations: list[Invocation],
        expected_invocations: list[Invocation] | None = None,
        conversation_scenario: ConversationScenario | None = None,
    ) -> Evaluated:
        """Score the actual invocations against the expected ones, if these are known. Plain or async."""
