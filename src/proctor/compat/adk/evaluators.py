"""Evaluators of google-adk's shape as metrics of the engine, and metrics of the engine as evaluators."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

from proctor.common.async_tools import settle
from proctor.common.registry import METRICS
from proctor.compat.adk.argument_errors import a_model, set_up, setup_error
from proctor.compat.adk.evaluation.evaluator import (
    EvaluationResult,
    Evaluator,
    PerInvocationResult,
)
from proctor.errors import CriterionError
from proctor.judges.base import JudgeSource
from proctor.metrics.base import Metric, MetricFacts
from proctor.metrics.criterion_check import check_criterion
from proctor.metrics.custom.adk_functions import uses_adk_classes
from proctor.metrics.custom.function_metric import FunctionMetric
from proctor.metrics.custom.scoring_function import read_signature
from proctor.schema.format.adk_results import rubric_scores
from proctor.schema.format.case import ConversationScenario
from proctor.schema.format.criterion import BaseCriterion, EvalMetric, MetricInfo
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.run_result import InvocationVerdict, MetricVerdict

if TYPE_CHECKING:
    from proctor.compat.adk.evaluation.llm_as_judge import LlmAsJudge

# --- an evaluator as a metric ----------------------------------------------------------------------------------------


class EvaluatorMetric(FunctionMetric):
    """A metric that asks an evaluator; one that asks a judge is given the run's."""

    evaluation: EvaluationOfCases

    def use(self, judges: JudgeSource) -> None:
        """Take the judges of the run.

        Raises:
            SetupError: the judge that the criterion names cannot be asked.
        """
        self.evaluation.make(judges)
        self.evaluation.judges = judges


class EvaluationOfCases:
    """Asks a new evaluator for each case, as google-adk does."""

    def __init__(self, evaluator: type[Evaluator], metric: EvalMetric) -> None:
        self.judges: JudgeSource | None = None
        self._evaluator = evaluator
        self._convert: Callable[[Any], Any] = lambda value: value
        if uses_adk_classes(evaluator):
            from proctor.metrics.custom.adk_functions import to_adk

            self._convert = to_adk
        self._metric = self._convert(metric)

    def make(self, judges: JudgeSource | None = None) -> Evaluator:
        """Return an evaluator; its exceptions reach the caller."""
        evaluator = self._evaluator(eval_metric=self._metric)  # type: ignore[call-arg]  # what subclasses take, by convention
        if judges is not None:
            cast("LlmAsJudge[Any]", evaluator).use(judges)
        return evaluator

    async def evaluate(
        self,
        actual_invocations: list[Invocation],
        expected_invocations: list[Invocation] | None,
        conversation_scenario: ConversationScenario | None,
    ) -> EvaluationResult:
        """Score one case."""
        evaluator = self.make(self.judges)
        values = (actual_invocations, expected_invocations, conversation_scenario)
        result = await evaluate_with(evaluator, *map(self._convert, values))
        if self.judges is not None:
            cast("LlmAsJudge[Any]", evaluator).require_scores(result)
        return result


class EvaluatorMetricFactory:
    """Builds a metric from a criterion."""

    def __init__(self, info: MetricInfo, evaluator: type[Evaluator]) -> None:
        """Take what is known of the metric, and the class that scores it; both may be google-adk's."""
        info = a_model(MetricInfo, info, "metric_info")
        interval = info.metric_value_info.interval
        any_number = interval is None and not info.requires_threshold  # a count, which decides nothing
        self.info, self.evaluator = info, evaluator
        self.facts = MetricFacts(
            name=info.metric_name,
            description=info.description or (inspect.getdoc(evaluator) or "").partition("\n")[0],
            kind="custom",
            minimum=-math.inf if any_number else interval.min_value if interval else 0.0,
            maximum=None if any_number else interval.max_value if interval else 1.0,
            gates=info.requires_threshold,
            needs=frozenset({"judge"}) if _asks_a_judge(evaluator) else frozenset(),
            source="your own evaluator",
        )

    def __call__(self, criterion: BaseCriterion | None = None) -> Metric:
        """Build the metric.

        Raises:
            CriterionError: the evaluator refuses its criterion, or the threshold cannot fail or pass within its range.
        """
        name, facts = self.info.metric_name, self.facts
        threshold = criterion.threshold if criterion is not None else None
        evaluation = EvaluationOfCases(
            self.evaluator, EvalMetric(metric_name=name, threshold=threshold, criterion=criterion)
        )
        try:
            tried = evaluation.make()
        except Exception as error:
            kind = type(error).__name__
            raise CriterionError(f"{name}: {self.evaluator.__name__} refuses it: {kind}: {error}") from error
        if _asks_a_judge(self.evaluator) and getattr(tried, "_expected_invocations_required", False):
            facts = replace(facts, needs=facts.needs | {"expected"})
        signature = read_signature(name, evaluation.evaluate)
        checked = check_criterion(facts, criterion, BaseCriterion)
        metric = EvaluatorMetric(facts, evaluation.evaluate, signature, checked, "")
        metric.evaluation = evaluation
        return metric


def _asks_a_judge(evaluator: type[Evaluator]) -> bool:
    from proctor.compat.adk.evaluation.llm_as_judge import LlmAsJudge

    return issubclass(evaluator, LlmAsJudge)


async def evaluate_with(
    evaluator: Evaluator,
    actual: list[Invocation],
    expected: list[Invocation] | None,
    scenario: ConversationScenario | None,
) -> EvaluationResult:
    """Ask an evaluator, plain or async, with as many arguments as it takes (older ones know no scenario)."""
    values = {
        "actual_invocations": list(actual),  # a copy, because the evaluator may change it
        "expected_invocations": None if expected is None else list(expected),
        "conversation_scenario": scenario,
    }
    parameters = inspect.signature(evaluator.evaluate_invocations).parameters
    if not any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        values = {name: value for name, value in values.items() if name in parameters}
    answer: Any = evaluator.evaluate_invocations(**values)  # type: ignore[arg-type]  # chosen by its own signature
    return cast("EvaluationResult", await settle(answer))


# --- a metric as an evaluator ----------------------------------------------------------------------------------------


class PrebuiltEvaluator(Evaluator):
    """One of the metrics that Proctor computes, by itself: for standalone use."""

    metric_name: ClassVar[str] = ""

    def __init__(self, eval_metric: EvalMetric | None = None, *, threshold: float | None = None) -> None:
        """Take the metric with its criterion, or the threshold alone.

        Raises:
            ValueError: neither is given, or both, or the criterion does not fit.
        """
        if (eval_metric is None) == (threshold is None):
            raise setup_error(f"{self.metric_name}: expected either eval_metric or threshold")
        with set_up():
            metric = None if eval_metric is None else a_model(EvalMetric, eval_metric, "eval_metric")
            criterion = (metric and _criterion(metric)) or BaseCriterion.model_validate(
                {"threshold": threshold}
            )
            self._criteria = {self.metric_name: criterion}
            METRICS.get(self.metric_name)(criterion)

    def evaluate_invocations(
        self,
        actual_invocations: list[Invocation],
        expected_invocations: list[Invocation] | None = None,
        conversation_scenario: ConversationScenario | None = None,
    ) -> EvaluationResult:
        """Score the actual invocations against the expected ones.

        Raises:
            ValueError: the metric cannot be computed from these.
        """
        from proctor.runs.score import score_sync

        if self._has_nothing(actual_invocations, expected_invocations):
            return EvaluationResult()
        with set_up():
            verdicts = score_sync(
                actual_invocations,
                expected_invocations,
                criteria=self._criteria,
                scenario=conversation_scenario,
            )
        return result_of(verdicts[self.metric_name], actual_invocations, expected_invocations)

    def _has_nothing(self, actual: list[Invocation], expected: list[Invocation] | None) -> bool:
        """Return whether there is nothing to score.

        Raises:
            ValueError: what is to be compared with is missing.
        """
        needs_expected = "expected" in METRICS.get(self.metric_name).facts.needs
        if needs_expected and expected is None:
            raise setup_error(f"{self.metric_name} needs expected_invocations")
        return not actual and not expected


class JudgedEvaluator(PrebuiltEvaluator):
    """One of the metrics that ask a language model; to be awaited."""

    async def evaluate_invocations(  # type: ignore[override]  # evaluators may be plain or async
        self,
        actual_invocations: list[Invocation],
        expected_invocations: list[Invocation] | None = None,
        conversation_scenario: ConversationScenario | None = None,
    ) -> EvaluationResult:
        """Score what was done. Raises ValueError: the metric cannot be computed from these."""
        from proctor.runs.score import score

        if self._has_nothing(actual_invocations, expected_invocations):
            return EvaluationResult()
        with set_up():
            verdicts = await score(
                actual_invocations,
                expected_invocations,
                criteria=self._criteria,
                scenario=conversation_scenario,
            )
        return result_of(verdicts[self.metric_name], actual_invocations, expected_invocations)


def _criterion(metric: EvalMetric) -> BaseCriterion | None:
    if metric.criterion is not None:
        return metric.criterion
    return BaseCriterion(threshold=metric.threshold) if metric.threshold is not None else None


def result_of(
    verdict: MetricVerdict, actual: Sequence[Invocation], expected: Sequence[Invocation] | None
) -> EvaluationResult:
    """Return a verdict in google-adk's form.

    Raises:
        ValueError: the metric could not be computed.
    """
    if verdict.failure is not None:
        raise setup_error(f"{verdict.name}: {verdict.failure.cause}")
    results = [
        _of_turn(actual[turn], expected[turn] if expected else None, turn_verdict)
        for turn, turn_verdict in enumerate(verdict.per_invocation)
    ]
    overall = next((score.details for score in verdict.per_trial if score is not None), None)
    return EvaluationResult(
        overall_score=verdict.score,
        overall_eval_status=verdict.status,
        per_invocation_results=results,
        overall_rubric_scores=rubric_scores(overall or {}),
    )


def _of_turn(
    actual: Invocation, expected: Invocation | None, verdict: InvocationVerdict
) -> PerInvocationResult:
    details: Mapping[str, Any] = verdict.details or {}
    known = ("token_usage_details", "duration_details")
    return PerInvocationResult(
        actual_invocation=actual,
        expected_invocation=expected,
        score=verdict.score,
        eval_status=verdict.status,
        rubric_scores=rubric_scores(details),
        **{name: details.get(name) for name in known},
    )
