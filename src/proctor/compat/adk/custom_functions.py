"""Scoring functions that a config names, as evaluators of a registry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.common.async_tools import settle
from proctor.compat.adk.argument_errors import set_up
from proctor.compat.adk.evaluation.evaluator import EvaluationResult, Evaluator, PerInvocationResult
from proctor.compat.adk.evaluation.llm_as_judge_utils import get_eval_status
from proctor.compat.adk.evaluators import EvaluatorMetricFactory
from proctor.metrics.base import CaseView, Metric
from proctor.metrics.custom.function_metric import from_config
from proctor.schema.format.adk_results import rubric_scores
from proctor.schema.format.case import ConversationScenario
from proctor.schema.format.config import CustomMetricConfig
from proctor.schema.format.criterion import BaseCriterion, EvalMetric, Interval, MetricInfo, MetricValueInfo
from proctor.schema.format.invocation import Invocation

__all__ = ["CustomFunctionFactory"]


class CustomFunctionFactory(EvaluatorMetricFactory):
    """Builds the metric of a function from a criterion."""

    def __init__(self, name: str, custom: CustomMetricConfig) -> None:
        """Set the metric's name and the config's entry for its function."""
        unit = MetricValueInfo(interval=Interval(min_value=0.0, max_value=1.0))
        info = custom.metric_info or MetricInfo(
            metric_name=name, description=custom.description, metric_value_info=unit
        )
        self._name, self._custom = name, custom
        members: dict[str, Any] = {"name": name, "custom": custom, "__doc__": custom.description}
        evaluator = type("CustomFunctionEvaluator", (_FunctionEvaluator,), members)
        super().__init__(info.model_copy(update={"metric_name": name}), evaluator)

    def __call__(self, criterion: BaseCriterion | None = None) -> Metric:
        """Build the metric. Raises CriterionError: the function cannot be imported or called, or the criterion does not fit."""
        return from_config(self._name, self._custom, criterion)


class _FunctionEvaluator(Evaluator):
    """Scores by a function, standalone."""

    name: str
    custom: CustomMetricConfig

    def __init__(self, eval_metric: EvalMetric) -> None:
        criterion = eval_metric.criterion
        if criterion is None and eval_metric.threshold is not None:
            criterion = BaseCriterion(threshold=eval_metric.threshold)
        self._threshold = criterion.threshold if criterion is not None else 0.0
        with set_up():
            self._metric = from_config(self.name, self.custom, criterion)

    async def evaluate_invocations(
        self,
        actual_invocations: list[Invocation],
        expected_invocations: list[Invocation] | None = None,
        conversation_scenario: ConversationScenario | None = None,
    ) -> EvaluationResult:
        """Ask the function. Raises MetricError: its answer is not a score."""
        view = CaseView(
            eval_id="",
            actual=actual_invocations,
            expected=expected_invocations,
            scenario=conversation_scenario,
        )
        score = await settle(self._metric.score(view))
        expected_turns: Sequence[Invocation | None] = expected_invocations or [None] * len(actual_invocations)
        per_invocation = [
            PerInvocationResult(
                actual_invocation=actual,
                expected_invocation=expected,
                score=one.value,
                eval_status=get_eval_status(one.value, self._threshold),
                rubric_scores=rubric_scores(one.details or {}),
            )
            for actual, expected, one in zip(
                actual_invocations, expected_turns, score.per_invocation, strict=False
            )
        ]
        return EvaluationResult(
            overall_score=score.value,
            overall_eval_status=get_eval_status(score.value, self._threshold),
            per_invocation_results=per_invocation,
            overall_rubric_scores=rubric_scores(score.details or {}),
        )
