"""Evaluators with the interface of adk-ts, and the registry that makes them metrics for `criteria`."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar

from proctor.common.async_tools import settle
from proctor.common.registry import METRICS
from proctor.compat.adk.argument_errors import a_model, set_up, setup_error, unexpected_argument
from proctor.compat.adk.evaluation.evaluator import EvaluationResult
from proctor.errors import CriterionError
from proctor.metrics.base import Metric, MetricFacts
from proctor.metrics.custom.function_metric import FunctionMetricFactory, with_range
from proctor.metrics.custom.scoring_function import read_signature
from proctor.schema.format.criterion import BaseCriterion, EvalMetric, MetricInfo
from proctor.schema.format.invocation import Invocation

__all__ = ["DEFAULT_METRIC_EVALUATOR_REGISTRY", "Evaluator", "MetricEvaluatorRegistry"]


class Evaluator(ABC):
    """Base class of custom evaluators: scores the invocations of a conversation."""

    def __init__(self, metric: EvalMetric | Mapping[str, Any]) -> None:
        """Take the metric: its `metric_name` and its `threshold`, and a judge's options where it has one."""
        self.metric = a_model(EvalMetric, metric, "metric")

    @abstractmethod
    def evaluate_invocations(
        self, actual_invocations: list[Invocation], expected_invocations: list[Invocation]
    ) -> Any:
        """Score actual against expected invocations: an `EvaluationResult`. Plain or async."""

    @staticmethod
    def get_metric_info() -> MetricInfo | Mapping[str, Any]:
        """Return the description of the metric."""
        raise NotImplementedError


E = TypeVar("E", bound=type[Evaluator])


class MetricEvaluatorRegistry:
    """Evaluators by metric name for the whole process; `criteria` and config files can name them."""

    def __init__(self) -> None:
        self._own: dict[str, EvaluatorFactory] = {}

    def register(self, evaluator: E) -> E:
        """Register a class under the name in its `get_metric_info()`; usable as a decorator.

        Raises:
            ValueError: it is not such a class, or another metric has its name.
        """
        _check_class(evaluator)
        try:
            info = evaluator.get_metric_info()
        except NotImplementedError:
            raise setup_error(
                f"{evaluator.__name__}: expected a static method get_metric_info() that names the metric; "
                "add it, or use register_evaluator(metric_info, evaluator)"
            ) from None
        self.register_evaluator(info, evaluator)
        return evaluator

    def register_evaluator(
        self, metric_info: MetricInfo | Mapping[str, Any], evaluator: type[Evaluator]
    ) -> None:
        """Register a class for the metric that `metric_info` describes. A later class of that name replaces it.

        Raises:
            ValueError: it is not an evaluator class, or a metric that was not registered here has that name.
        """
        _check_class(evaluator)
        info = _read_info(metric_info)
        name = info.metric_name
        if name in METRICS and name not in self._own:
            raise setup_error(
                f"{evaluator.__name__}: {name!r} is the name of another metric; use another name"
            )
        with set_up():
            factory = EvaluatorFactory(info, evaluator)
        self._own[name] = factory
        METRICS.add(name, factory)

    def unregister(self, name: str) -> None:
        """Remove the metric of that name, if it was registered here."""
        if self._own.pop(name, None) is not None:
            METRICS.remove(name)

    def get_registered_metrics(self) -> list[MetricInfo]:
        """Return the description of each metric, in the order of registration."""
        return [factory.info for factory in self._own.values()]


class EvaluatorFactory:
    """Builds a metric of the engine from a criterion; each case is scored by a new instance of the class."""

    def __init__(self, info: MetricInfo, evaluator: type[Evaluator]) -> None:
        self.info, self.evaluator = info, evaluator
        interval = info.metric_value_info.interval
        facts = MetricFacts(
            name=info.metric_name,
            description=info.description or (inspect.getdoc(evaluator) or "").partition("\n")[0],
            kind="custom",
            default_threshold=_default_threshold(info),
            needs=frozenset({"expected"}),
            source="your own evaluator",
        )
        self.facts = with_range(facts, interval.min_value, interval.max_value) if interval else facts

    def __call__(self, criterion: BaseCriterion | None = None) -> Metric:
        """Build the metric.

        Raises:
            CriterionError: the class cannot be made with the criterion, or the threshold cannot fail or cannot pass.
        """
        self._make(criterion)

        async def evaluate(
            actual_invocations: list[Invocation], expected_invocations: list[Invocation]
        ) -> EvaluationResult:
            answer = self._make(criterion).evaluate_invocations(actual_invocations, expected_invocations)
            return a_model(EvaluationResult, await settle(answer), f"{self.facts.name}: its answer")

        signature = read_signature(self.facts.name, evaluate)
        return FunctionMetricFactory(self.facts, evaluate, signature)(criterion)

    def _make(self, criterion: BaseCriterion | None) -> Evaluator:
        name, kind = self.facts.name, self.evaluator.__name__
        threshold = criterion.threshold if criterion is not None else self.facts.default_threshold
        try:
            evaluator = self.evaluator(*self._arguments(threshold, criterion))
        except Exception as error:
            raise CriterionError(f"{name}: {kind} refuses it: {type(error).__name__}: {error}") from error
        own = getattr(getattr(evaluator, "metric", None), "threshold", threshold)
        if own != threshold:
            raise CriterionError(
                f"{name}: {kind} has the threshold {own}, and the criterion asks for {threshold}; "
                "pass the argument of its constructor to super().__init__()"
            )
        return evaluator

    def _arguments(self, threshold: float | None, criterion: BaseCriterion | None) -> list[Any]:
        """Return what the constructor takes: nothing, the threshold (as in adk-ts's documents) or the metric."""
        first = next(iter(inspect.signature(self.evaluator).parameters.values()), None)
        if first is None:
            return []
        if first.name == "threshold" or isinstance(first.default, int | float):
            return [threshold]
        return [EvalMetric(metric_name=self.facts.name, threshold=threshold, criterion=criterion)]


def _check_class(evaluator: Any) -> None:
    if not (isinstance(evaluator, type) and issubclass(evaluator, Evaluator)):
        raise unexpected_argument("register", "a subclass of Evaluator", evaluator)
    if inspect.isabstract(evaluator):
        raise setup_error(f"{evaluator.__name__}: expected a method evaluate_invocations(actual, expected)")


def _read_info(info: MetricInfo | Mapping[str, Any]) -> MetricInfo:
    """Return the description as a model; adk-ts's examples leave the range out, which is then 0 to 1."""
    if isinstance(info, Mapping) and not {"metric_value_info", "metricValueInfo"} & info.keys():
        info = {**info, "metric_value_info": {}}
    return a_model(MetricInfo, info, "get_metric_info")


def _default_threshold(info: MetricInfo) -> float | None:
    extra = info.model_extra or {}
    value = extra.get("default_threshold", extra.get("defaultThreshold"))
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


DEFAULT_METRIC_EVALUATOR_REGISTRY = MetricEvaluatorRegistry()
"""The registry of this process."""
