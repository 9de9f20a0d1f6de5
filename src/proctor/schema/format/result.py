"""Results as the format stores them: by case, metric and invocation."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from proctor.schema.format.case import SessionDetails
from proctor.schema.format.criterion import EvalMetric
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.rubric import RubricScore
from proctor.schema.format.wire_model import Timestamp, WireModel


class EvalStatus(IntEnum):
    """The status of a metric or a case. INFORMATIONAL: measured, but not decisive."""

    PASSED = 1
    FAILED = 2
    NOT_EVALUATED = 3
    INFORMATIONAL = 4

    def __bool__(self) -> bool:
        """Return whether it is a pass, so that `assert status` fails for everything else.

        Raises:
            TypeError: it is informational: neither a pass nor a failure.
        """
        if self is EvalStatus.INFORMATIONAL:
            raise TypeError(
                f"{self!r} is neither a pass nor a failure; compare it with a member of EvalStatus"
            )
        return self is EvalStatus.PASSED


class InferenceStatus(IntEnum):
    """Whether the agent could be run on a case."""

    UNKNOWN = 0
    SUCCESS = 1
    FAILURE = 2


def _read_status(value: Any) -> EvalStatus:
    if isinstance(value, str):
        name = value.strip().upper().replace("-", "_").replace(" ", "_")
        if name == "ERROR":
            return EvalStatus.NOT_EVALUATED
        if name in EvalStatus.__members__:
            return EvalStatus[name]
    elif isinstance(value, int | float) and not isinstance(value, bool) and value in (1, 2, 3, 4):
        return EvalStatus(int(value))
    raise PydanticCustomError(
        "eval_status", "expected a status: 1 to 4, or PASSED, FAILED, NOT_EVALUATED, INFORMATIONAL"
    )


WireEvalStatus = Annotated[EvalStatus, BeforeValidator(_read_status)]
"""Read as a number or a name in any case (`ERROR` is NOT_EVALUATED); written as the number."""


class TokenUsageDetails(WireModel):
    """Tokens used; null: not reported. Input = prompt + tool use (cached is part of the prompt), output = candidates + reasoning."""

    total_tokens: float | None = None
    input_tokens: float | None = None
    prompt_tokens: float | None = None
    cached_tokens: float | None = None
    tool_use_tokens: float | None = None
    output_tokens: float | None = None
    candidates_tokens: float | None = None
    reasoning_tokens: float | None = None


class DurationDetails(WireModel):
    """Durations in seconds; null: not measured."""

    total_seconds: float | None = None
    model_seconds: float | None = None
    tool_seconds: float | None = None
    framework_seconds: float | None = None


class EvalMetricResultDetails(WireModel):
    """Details of a metric's result other than its score."""

    rubric_scores: list[RubricScore] | None = None
    token_usage_details: TokenUsageDetails | None = None
    duration_details: DurationDetails | None = None


class EvalMetricResult(EvalMetric):
    """A metric with its result; `score` null: it could not be computed."""

    score: float | None = None
    eval_status: WireEvalStatus
    details: EvalMetricResultDetails = Field(default_factory=EvalMetricResultDetails)

    def __bool__(self) -> bool:
        return bool(self.eval_status)


class EvalMetricResultPerInvocation(WireModel):
    """The results of the metrics for one turn."""

    actual_invocation: Invocation
    expected_invocation: Invocation | None = None
    eval_metric_results: list[EvalMetricResult] = []


class EvalCaseResult(WireModel):
    """One run of one case. `eval_set_file` and `eval_metric_results` are older spellings, kept as read."""

    eval_set_file: str | None = None
    eval_set_id: str = ""
    eval_id: str = ""
    final_eval_status: WireEvalStatus
    eval_metric_results: list[tuple[EvalMetric, EvalMetricResult]] | None = None
    overall_eval_metric_results: list[EvalMetricResult]
    eval_metric_result_per_invocation: list[EvalMetricResultPerInvocation]
    session_id: str
    session_details: SessionDetails | None = None
    user_id: str | None = None

    def __bool__(self) -> bool:
        return bool(self.final_eval_status)


class EvalSetResult(WireModel):
    """One run of a set, as in `*.evalset_result.json`."""

    eval_set_result_id: str
    eval_set_result_name: str | None = None
    eval_set_id: str
    eval_case_results: list[EvalCaseResult] = []
    creation_timestamp: Timestamp = 0.0

    def __bool__(self) -> bool:
        return len(self.eval_case_results) > 0 and all(self.eval_case_results)
