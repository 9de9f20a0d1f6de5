"""Facts about the metrics, without running them, and the values that each option accepts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proctor.common.registry import METRICS
from proctor.errors import SetupError
from proctor.metrics.base import NEEDS, MetricFacts, example_of, metric_options
from proctor.schema.format.criterion import (
    BaseCriterion,
    Interval,
    JudgeModelOptions,
    MetricInfo as AdkMetricInfo,
    MetricValueInfo,
    PrebuiltMetrics,
)
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


_OURS: dict[str, dict[str, Any]] = {
    "gate": {"type": "boolean", "default": True},
    "applies_to": {"enum": ["recorded", "scenario"]},
    "aggregate": {"enum": ["mean", "min", "every_invocation"]},
    "compat": {"enum": ["adk"]},
}
"""Options that every criterion has and that no criterion class declares."""


def facts_of(name: str) -> MetricFacts:
    """Return the facts of a metric; those of a plug-in function are derived from its docstring.

    Raises:
        UnknownNameError: no metric has this name.
        SetupError: the object registered under this name is not a metric.
    """
    plugin = METRICS.get(name)
    facts = getattr(plugin, "facts", None)
    if isinstance(facts, MetricFacts):
        return facts
    if not callable(plugin):
        raise SetupError(f"The metric {name!r} is {type(plugin).__name__}: neither a metric nor a function.")
    first_line = next(iter((plugin.__doc__ or "").strip().splitlines()), "")
    return MetricFacts(name=name, description=first_line, kind="custom", minimum=float("-inf"), maximum=None)


def metrics_page(judge: str) -> MetricsPage:
    """Return every metric; `judge` is the model that they call if their criterion names none."""
    return MetricsPage(items=[_info(facts_of(name), name) for name in METRICS.names()], judge=judge)


def _info(facts: MetricFacts, name: str) -> MetricInfo:
    return MetricInfo(
        name=name,
        description=facts.description,
        kind=facts.kind,
        needs=[NEEDS.get(need, need) for need in sorted(facts.needs)],
        asks_judge="judge" in facts.needs,
        gates=facts.gates,
        minimum=None if facts.minimum == float("-inf") else facts.minimum,
        maximum=facts.maximum,
        default_threshold=facts.default_threshold,
        options=list(_options(facts, name)),
        example=example_of(facts) if facts.gates else None,
        source=facts.source,
    )


def _options(facts: MetricFacts, name: str) -> Iterator[OptionFacts]:
    schema = _schema(name)
    properties, shared = schema.get("properties", {}), schema.get("$defs", {})
    for option, meaning in metric_options(facts).items():
        required = option in facts.required
        text = meaning.removesuffix(" (required)") if required else meaning
        known = _OURS.get(option) or properties.get(option, {})
        if "$ref" in str(known):
            known = {**known, "$defs": shared}
        yield OptionFacts(name=option, meaning=text, required=required, json_schema=known)


def _schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a metric's criterion; what JSON Schema cannot express is left open."""
    kind = getattr(METRICS.get(name), "kind", BaseCriterion)
    if not (isinstance(kind, type) and issubclass(kind, BaseCriterion)):
        kind = BaseCriterion
    try:
        schema = kind.model_json_schema()
    except Exception:  # noqa: BLE001 - a user's class may have types that JSON Schema cannot express
        schema = BaseCriterion.model_json_schema()
    schema["properties"].setdefault("judge_model_options", {"$ref": "#/$defs/JudgeModelOptions"})
    schema.setdefault("$defs", {}).setdefault("JudgeModelOptions", JudgeModelOptions.model_json_schema())
    return schema


# --- Descriptions of the format's own metrics in google-adk's form, for tools of google-adk that list metrics ---------


def metric_infos() -> list[AdkMetricInfo]:
    """Return the description of each of the format's metrics, in google-adk's order."""
    return [_adk_info(name.value) for name in PrebuiltMetrics]


def _adk_info(name: str) -> AdkMetricInfo:
    facts = METRICS.get(name).facts
    interval = None
    if facts.maximum is not None and facts.gates:
        interval = Interval(min_value=facts.minimum, max_value=facts.maximum)
    return AdkMetricInfo(
        metric_name=name,
        description=facts.description,
        metric_value_info=MetricValueInfo(interval=interval),
        requires_threshold=facts.gates,
    )
