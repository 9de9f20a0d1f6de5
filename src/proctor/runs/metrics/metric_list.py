"""Page of all metrics: what each measures and needs, its options and their values."""

from __future__ import annotations

from typing import Any

from proctor.schema.format.wire_model import PageModel


class OptionFacts(PageModel):
    """One option of a metric's criterion."""

    name: str
    meaning: str
    required: bool
    json_schema: dict[str, Any]
    """The JSON Schema of its values. Empty: any value."""


class MetricInfo(PageModel):
    """The facts about a metric, without running it."""

    name: str
    description: str
    kind: str
    needs: list[str]
    """Descriptions of the needs, for readers."""
    asks_judge: bool
    gates: bool
    """False: the metric is always reported and never decides."""
    minimum: float | None
    maximum: float | None
    default_threshold: float | None
    options: list[OptionFacts]
    example: dict[str, Any] | None
    """The `criteria` of a config that uses it."""
    source: str


class MetricsPage(PageModel):
    """Every metric."""

    items: list[MetricInfo]
    judge: str
    """The judge of metrics whose criterion names none."""
