"""As `google.adk.evaluation.metric_evaluator_registry`: evaluators by the name of their metric."""

from __future__ import annotations

from proctor.common.registry import METRICS
from proctor.compat.adk.argument_errors import a_model
from proctor.compat.adk.errors.not_found_error import NotFoundError
from proctor.compat.adk.evaluation.evaluator import Evaluator
from proctor.compat.adk.evaluators import EvaluatorMetricFactory, PrebuiltEvaluator
from proctor.errors import unknown_name
from proctor.runs.metric_facts import metric_infos
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.criterion import EvalMetric, MetricInfo

__all__ = [
    "DEFAULT_METRIC_EVALUATOR_REGISTRY",
    "MetricEvaluatorRegistry",
    "register_custom_metrics_from_config",
]


class MetricEvaluatorRegistry:
    """Evaluators by the name of their metric. A registration is visible only to users of this registry."""

    def __init__(self) -> None:
        self._own: dict[str, EvaluatorMetricFactory] = {}

    def register_evaluator(self, metric_info: MetricInfo, evaluator: type[Evaluator]) -> None:
        """Let `evaluator` score the metric that `metric_info` names; a later one of that name takes its place."""
        self._register(EvaluatorMetricFactory(metric_info, evaluator))

    def get_evaluator(self, eval_metric: EvalMetric) -> Evaluator:
        """Make the evaluator of a metric.

        Raises:
            NotFoundError: none is registered under that name.
            ValueError: its criterion does not fit.
        """
        if (own := self._own.get(eval_metric.metric_name)) is not None:
            return own.evaluator(eval_metric=eval_metric)  # type: ignore[call-arg]  # what subclasses take, by convention
        raise NotFoundError(str(unknown_name("metric", eval_metric.metric_name, list(self._own))))

    def get_registered_metrics(self) -> list[MetricInfo]:
        """Return what is known of each metric, in the order in which they were registered."""
        return [factory.info for factory in self._own.values()]

    def fork(self) -> MetricEvaluatorRegistry:
        """Return a registry with what is registered here; what is registered in one of the two later, the other does not know."""
        forked = MetricEvaluatorRegistry()
        forked._own = dict(self._own)
        return forked

    @property
    def factories(self) -> dict[str, EvaluatorMetricFactory]:
        """What was registered here, as metrics of the engine."""
        return dict(self._own)

    def _register(self, factory: EvaluatorMetricFactory) -> None:
        self._own[factory.info.metric_name] = factory


class _WithThoseOfTheEngine(MetricEvaluatorRegistry):
    """A registry that knows the metrics of the engine, too."""

    def get_evaluator(self, eval_metric: EvalMetric) -> Evaluator:
        name = eval_metric.metric_name
        if name in self._own:
            return super().get_evaluator(eval_metric)
        if name not in self._names():
            raise NotFoundError(str(unknown_name("metric", name, self._names())))
        evaluator_type = type("PrebuiltEvaluator", (PrebuiltEvaluator,), {"metric_name": name})
        return evaluator_type(eval_metric)  # type: ignore[no-any-return]  # a class made here

    def get_registered_metrics(self) -> list[MetricInfo]:
        return metric_infos() + super().get_registered_metrics()

    def fork(self) -> MetricEvaluatorRegistry:
        return _Fork(self._own, self._names())

    def _names(self) -> list[str]:
        return METRICS.names()


class _Fork(_WithThoseOfTheEngine):
    """Entries of the default registry when it was forked, and registrations that no other registry has."""

    def __init__(self, own: dict[str, EvaluatorMetricFactory], names: list[str]) -> None:
        super().__init__()
        self._own, self._known = dict(own), names

    def _names(self) -> list[str]:
        return self._known


class _DefaultRegistry(_WithThoseOfTheEngine):
    """The metrics of the engine. What is registered here is known to the whole process: `AgentEvaluator`, too."""

    def _register(self, factory: EvaluatorMetricFactory) -> None:
        METRICS.add(factory.info.metric_name, factory)  # first: it refuses the name of a built-in metric
        super()._register(factory)


DEFAULT_METRIC_EVALUATOR_REGISTRY = _DefaultRegistry()
"""The metrics of the engine; for evaluators that are to be known everywhere."""


def register_custom_metrics_from_config(
    eval_config: EvalConfig, metric_evaluator_registry: MetricEvaluatorRegistry | None = None
) -> MetricEvaluatorRegistry:
    """Register the functions in `custom_metrics` of a config; return the registry, by default the one of the process.

    Raises:
        ValueError: it is not a config.
    """
    from proctor.compat.adk.custom_functions import CustomFunctionFactory

    registry = metric_evaluator_registry
    if registry is None:
        registry = DEFAULT_METRIC_EVALUATOR_REGISTRY
    config = a_model(EvalConfig, eval_config, "eval_config")
    for name, custom in (config.custom_metrics or {}).items():
        registry._register(CustomFunctionFactory(name, custom))  # noqa: SLF001 - of this module's class
    return registry
