"""As `google.adk.evaluation.common`."""

from proctor.schema.base import WireModel as EvalBaseModel

__all__ = ["EvalBaseModel"]
