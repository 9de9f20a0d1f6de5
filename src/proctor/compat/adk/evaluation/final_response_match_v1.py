"""As `google.adk.evaluation.final_response_match_v1`."""

from __future__ import annotations

from typing import ClassVar

from proctor.compat.adk.evaluators import PrebuiltEvaluator

__all__ = ["RougeEvaluator"]


class RougeEvaluator(PrebuiltEvaluator):
    """`response_match_score`: ROUGE-1 between the final response and the expected one."""

    metric_name: ClassVar[str] = "response_match_score"
