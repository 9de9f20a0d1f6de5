"""Descriptions of the format's own metrics in google-adk's form, for tools of google-adk that list metrics."""

from __future__ import annotations

from proctor.common.registry import METRICS
from proctor.schema.format.criterion import Interval, MetricInfo, MetricValueInfo, PrebuiltMetrics


def metric_infos() -> list[MetricInfo]:
    """Return the description of each of the format's metrics, in google-adk's order."""
    return [_info(name.value) for name in PrebuiltMetrics]


def _info(name: str) -> MetricInfo:
    facts = METRICS.get(name).facts
    interval = None
    if facts.maximum is not None and facts.gates:
        interval = Interval(min_value=facts.minimum, max_value=facts.maximum)
    return MetricInfo(
        metric_name=name,
        description=facts.description,
        metric_value_info=MetricValueInfo(interval=interval),
        requires_threshold=facts.gates,
    )
