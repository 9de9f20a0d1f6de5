"""As `google.adk.evaluation.common`."""

from proctor.schema.format.wire_model import WireModel as EvalBaseModel

__all__ = ["EvalBaseModel"]
