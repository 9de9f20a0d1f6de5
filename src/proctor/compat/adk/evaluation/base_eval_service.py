"""As `google.adk.evaluation.base_eval_service`: what the evaluation service takes and gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from typing import Annotated

from pydantic import BeforeValidator, Field

from proctor.schema.format.criterion import EvalMetric
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.result import EvalCaseResult, InferenceStatus
from proctor.schema.format.wire_model import WireModel

__all__ = [
    "BaseEvalService",
    "EvaluateConfig",
    "EvaluateRequest",
    "InferenceConfig",
    "InferenceRequest",
    "InferenceResult",
    "InferenceStatus",
]

AT_ONCE = 4
Parallelism = Annotated[int, Field(ge=1)]


def _refuse_live(value: object) -> object:
    if value:
        raise ValueError("live mode (bidirectional streaming) is not supported")
    return value


class InferenceConfig(WireModel):
    """How agents are run: so many cases at once."""

    labels: dict[str, str] | None = None
    parallelism: Parallelism = AT_ONCE
    use_live: Annotated[bool, BeforeValidator(_refuse_live)] = False
    live_timeout_seconds: int = 300


class InferenceRequest(WireModel):
    """Which cases are to be run; `eval_case_ids` empty or null: all of the set."""

    app_name: str
    eval_set_id: str
    eval_case_ids: list[str] | None = None
    inference_config: InferenceConfig = Field(default_factory=InferenceConfig)


class InferenceResult(WireModel):
    """The recorded inferences of one case; after an error `inferences` is null and `error_message` has the reason."""

    app_name: str
    eval_set_id: str
    eval_case_id: str
    inferences: list[Invocation] | None = None
    session_id: str | None = None
    status: InferenceStatus = InferenceStatus.UNKNOWN
    error_message: str | None = None


class EvaluateConfig(WireModel):
    """What is to be computed, so many cases at once."""

    eval_metrics: list[EvalMetric]
    parallelism: Parallelism = AT_ONCE


class EvaluateRequest(WireModel):
    """Which inferences are to be scored, and how."""

    inference_results: list[InferenceResult]
    evaluate_config: EvaluateConfig


class BaseEvalService(ABC):
    """Runs agents, and scores what they did."""

    @abstractmethod
    def perform_inference(self, inference_request: InferenceRequest) -> AsyncGenerator[InferenceResult, None]:
        """Run the cases; yields the result of each as it ends."""

    @abstractmethod
    def evaluate(self, evaluate_request: EvaluateRequest) -> AsyncGenerator[EvalCaseResult, None]:
        """Evaluate the inferences; yields each result when it is available."""
