"""As `google.adk.evaluation.response_evaluator`."""

from __future__ import annotations

from typing import ClassVar

from proctor.compat.adk.argument_errors import setup_error
from proctor.compat.adk.evaluators import PrebuiltEvaluator
from proctor.schema.format.criterion import EvalMetric

__all__ = ["ResponseEvaluator"]

METRICS = ("response_match_score", "response_evaluation_score")


class ResponseEvaluator(PrebuiltEvaluator):
    """`response_match_score` or `response_evaluation_score`, depending on `metric_name`."""

    metric_name: ClassVar[str] = "response_match_score"

    def __init__(
        self,
        threshold: float | None = None,
        metric_name: str | None = None,
        eval_metric: EvalMetric | None = None,
    ) -> None:
        name = eval_metric.metric_name if eval_metric is not None else metric_name
        if name not in METRICS:
            raise setup_error(f"metric_name: expected {' or '.join(METRICS)}, got {name!r}")
        self.metric_name = name  # type: ignore[misc]  # one class for two metrics, as there
        super().__init__(eval_metric, threshold=threshold)
