"""As `google.adk.evaluation.eval_set`."""

from proctor.schema.case import EvalCase
from proctor.schema.eval_set import EvalSet

__all__ = ["EvalCase", "EvalSet"]
