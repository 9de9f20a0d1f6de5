"""As `google.adk.evaluation.eval_config`."""

from __future__ import annotations

import os

from proctor.compat.adk.argument_errors import set_up
from proctor.runs.load import load_config
from proctor.schema.format.config import CustomMetricConfig, EvalConfig, LiveModelConfig
from proctor.schema.format.criterion import EFFICIENCY_METRICS, BaseCriterion, EvalMetric

__all__ = [
    "BaseCriterion",
    "CustomMetricConfig",
    "EvalConfig",
    "EvalMetric",
    "LiveModelConfig",
    "append_default_efficiency_metrics",
    "get_eval_metrics_from_config",
    "get_evaluation_criteria_or_default",
]


def get_evaluation_criteria_or_default(
    eval_config_file_path: str | os.PathLike[str] | None,
) -> EvalConfig:
    """Read a config; without a path, return what judges when there is none.

    Raises:
        ValueError: the file does not exist (google-adk silently uses the defaults), or is not a config.
    """
    if not eval_config_file_path:
        return EvalConfig.default()
    with set_up():
        return load_config(os.fspath(eval_config_file_path))


def get_eval_metrics_from_config(eval_config: EvalConfig) -> list[EvalMetric]:
    """Return the metrics that a config asks for, and the informational ones that are always computed."""
    return eval_config.eval_metrics()


def append_default_efficiency_metrics(eval_metrics: list[EvalMetric]) -> list[EvalMetric]:
    """Return the metrics with the informational ones, which are always computed, behind them."""
    names = {metric.metric_name for metric in eval_metrics}
    missing = [name.value for name in EFFICIENCY_METRICS if name.value not in names]
    return [*eval_metrics, *(EvalMetric(metric_name=name) for name in missing)]
