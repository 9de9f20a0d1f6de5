"""As `google.adk.evaluation.eval_set`."""

from proctor.schema.format.case import EvalCase
from proctor.schema.format.eval_set import EvalSet

__all__ = ["EvalCase", "EvalSet"]
