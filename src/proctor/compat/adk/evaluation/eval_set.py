"""As `google.adk.evaluation.eval_set`."""

from proctor.schema.format.case import EvalCase, EvalSet

__all__ = ["EvalCase", "EvalSet"]
