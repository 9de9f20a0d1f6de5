"""As `google.adk.evaluation.metric_evaluator_registry`: evaluators by the name of their metric."""

from __future__ import annotations

from proctor.api.metric_infos import metric_infos
from proctor.compat.adk.errors.not_found_error import NotFoundError
from proctor.compat.adk.evaluation.evaluator import Evaluator
from proctor.compat.adk.evaluators import EvaluatorMetricFactory, PrebuiltEvaluator
from proctor.errors import unknown_name
from proctor.registry import METRICS
from proctor.schema.criterion import EvalMetric, MetricInfo

__all__ = ["DEFAULT_METRIC_EVALUATOR_REGISTRY", "MetricEvaluatorRegistry"]


class MetricEvaluatorRegistry:
    """Evaluators by the name of their metric. What is registered here is known to whoever is given this registry."""

    def __init__(self) -> None:
        self._own: dict[str, EvaluatorMetricFactory] = {}

    def register_evaluator(self, metric_info: MetricInfo, evaluator: type[Evaluator]) -> None:
        """Let `evaluator` score the metric that `metric_info` names; a later one of that name takes its place."""
        self._own[metric_info.metric_name] = EvaluatorMetricFactory(metric_info, evaluator)

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

    @property
    def factories(self) -> dict[str, EvaluatorMetricFactory]:
        """What was registered here, as metrics of the engine."""
        return dict(self._own)


class _DefaultRegistry(MetricEvaluatorRegistry):
    """The metrics of the engine. What is registered here is known to the whole process: `AgentEvaluator`, too."""

    def register_evaluator(self, metric_info: MetricInfo, evaluator: type[Evaluator]) -> None:
        super().register_evaluator(metric_info, evaluator)
        METRICS.add(metric_info.metric_name, self._own[metric_info.metric_name])

    def get_evaluator(self, eval_metric: EvalMetric) -> Evaluator:
        name = eval_metric.metric_name
        if name in self._own:
            return super().get_evaluator(eval_metric)
        if name not in METRICS:
            raise NotFoundError(str(unknown_name("metric", name, METRICS.names())))
        made = type("PrebuiltEvaluator", (PrebuiltEvaluator,), {"metric_name": name})
        return made(eval_metric)  # type: ignore[no-any-return]  # a class made here

    def get_registered_metrics(self) -> list[MetricInfo]:
        return metric_infos() + super().get_registered_metrics()


DEFAULT_METRIC_EVALUATOR_REGISTRY = _DefaultRegistry()
"""The metrics of the engine; for evaluators that are to be known everywhere."""
