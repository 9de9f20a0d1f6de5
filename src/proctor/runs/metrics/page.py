"""Every metric: what it measures, what it needs, its options and what each may be."""

from __future__ import annotations

from typing import Any

from proctor.schema.results.page_model import PageModel


class OptionFacts(PageModel):
    """One option of a metric's criterion."""

    name: str
    meaning: str
    required: bool
    json_schema: dict[str, Any]
    """What it may be: JSON Schema. Empty: anything."""


class MetricInfo(PageModel):
    """What there is to know about a metric without running it."""

    name: str
    description: str
    kind: str
    needs: list[str]
    """In words."""
    asks_judge: bool
    gates: bool
    """False: always reported, never deciding."""
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
    """Whom metrics ask whose criterion names nobody."""
