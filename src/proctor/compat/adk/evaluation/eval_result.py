"""As `google.adk.evaluation.eval_result`."""

from proctor.schema.format.result import (
    EvalCaseResult,
    EvalMetricResult,
    EvalMetricResultPerInvocation,
    EvalSetResult,
)

__all__ = ["EvalCaseResult", "EvalMetricResult", "EvalMetricResultPerInvocation", "EvalSetResult"]
