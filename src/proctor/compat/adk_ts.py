"""The evaluation API of adk-ts (`@iqai/adk`) in Python, implemented by Proctor's engine.

Names are those of the TypeScript library, with methods and parameters in snake_case. Tool trajectories are compared as in
adk-ts (`reading: "adk-ts"`); texts are compared as by its `RougeEvaluator` (`token_set_f1`) if that class is used directly;
`criteria` use google-adk's metrics. An unknown value never passes: docs/explanation/differences-from-adk.md.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, ClassVar

from proctor.compat.adk.argument_errors import a_model, set_up, setup_error, unexpected_argument
from proctor.compat.adk.evaluation.agent_evaluator import NUM_RUNS, AgentEvaluator as _AdkEvaluator
from proctor.compat.adk.evaluation.base_eval_service import (
    EvaluateConfig,
    EvaluateRequest,
    InferenceRequest,
    InferenceResult,
)
from proctor.compat.adk.evaluation.evaluator import EvaluationResult, PerInvocationResult
from proctor.compat.adk.evaluation.in_memory_eval_sets_manager import InMemoryEvalSetsManager
from proctor.compat.adk.evaluation.local_eval_service import LocalEvalService as _AdkService
from proctor.compat.adk.evaluators import result_of
from proctor.compat.adk.sync_or_async import Evaluation
from proctor.compat.adk_ts_evaluators import (
    DEFAULT_METRIC_EVALUATOR_REGISTRY,
    Evaluator,
    MetricEvaluatorRegistry,
)
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.criterion import EvalMetric, Interval, MetricInfo, MetricValueInfo, PrebuiltMetrics
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.result import EvalCaseResult, EvalStatus
from proctor.schema.results.run_result import RunResult

__all__ = [
    "DEFAULT_METRIC_EVALUATOR_REGISTRY",
    "AgentEvaluator",
    "EvalCase",
    "EvalMetric",
    "EvalSet",
    "EvalStatus",
    "EvaluationResult",
    "Evaluator",
    "FinalResponseMatchV2Evaluator",
    "Invocation",
    "LocalEvalService",
    "MetricEvaluatorRegistry",
    "MetricInfo",
    "PerInvocationResult",
    "PrebuiltMetrics",
    "ResponseEvaluator",
    "RougeEvaluator",
    "SafetyEvaluatorV1",
    "TrajectoryEvaluator",
]

_READING = {"tool_trajectory_avg_score": {"reading": "adk-ts"}}
"""Criterion options by which a metric decides as in adk-ts."""


class AgentEvaluator:
    """Evaluates agents in tests; both methods can be awaited or, outside of an event loop, called directly."""

    @staticmethod
    def evaluate(
        agent: Any,
        eval_dataset_file_path_or_dir: str | os.PathLike[str],
        num_runs: int = NUM_RUNS,
        initial_session_file: str | os.PathLike[str] | None = None,
    ) -> Evaluation[RunResult]:
        """Run the eval set in a file, or those in every `*.test.json` of a folder and below, each `num_runs` times.

        Each set is scored by the `test_config.json` in its folder, or else by the defaults.

        Raises:
            AssertionError: a case did not pass; `result` of the exception is the whole result.
            ValueError: a configuration error, before the first agent call.
        """
        return _AdkEvaluator.evaluate(
            agent,
            eval_dataset_file_path_or_dir,
            num_runs,
            initial_session_file=initial_session_file,
            print_detailed_results=False,
        )

    @staticmethod
    def evaluate_eval_set(
        agent: Any,
        eval_set: EvalSet | Mapping[str, Any],
        criteria: Mapping[Any, Any],
        num_runs: int = NUM_RUNS,
        print_detailed_results: bool = False,  # noqa: FBT001, FBT002 - adk-ts's signature
    ) -> Evaluation[RunResult]:
        """Run every case of a set `num_runs` times and score it by `criteria`: a threshold or a criterion for each metric.

        Raises:
            AssertionError: a case did not pass; `result` of the exception is the whole result.
            ValueError: a configuration error, before the first agent call.
        """
        return _AdkEvaluator.evaluate_eval_set(
            agent,
            eval_set,
            _as_read_there(criteria),
            num_runs=num_runs,
            print_detailed_results=print_detailed_results,
        )

    migrate_eval_data_to_new_schema = staticmethod(_AdkEvaluator.migrate_eval_data_to_new_schema)
    find_config_for_test_file = staticmethod(_AdkEvaluator.find_config_for_test_file)


def _as_read_there(criteria: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the criteria by name, with adk-ts's reading where a metric has one. Raises ValueError for invalid criteria."""
    if not isinstance(criteria, Mapping):
        raise unexpected_argument(
            "criteria", "an object from metric to threshold, or to a criterion", criteria
        )
    by_name = {str(getattr(name, "value", name)): criterion for name, criterion in criteria.items()}
    for name, reading in _READING.items():
        if name in by_name:
            criterion = by_name[name]
            by_name[name] = {
                **reading,
                **(criterion if isinstance(criterion, Mapping) else {"threshold": criterion}),
            }
    return by_name


# --- evaluators --------------------------------------------------------------------------------------------------------


class _BuiltIn(Evaluator):
    """A single metric of the engine."""

    name: ClassVar[str]
    computed: ClassVar[str]
    """The engine's metric that computes it."""
    options: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, threshold: float | EvalMetric | Mapping[str, Any], **options: Any) -> None:
        """Take the threshold, or the whole metric; `options` are those of a judge."""
        metric_data: Any = threshold
        if isinstance(threshold, int | float):
            metric_data = {"metric_name": self.name, "threshold": threshold}
        super().__init__(metric_data)
        if options:
            self.metric.judge_model_options = options  # type: ignore[attr-defined]  # metrics keep keys of others
        judged_metric = _with_its_judge(self.metric)
        criterion_data = (
            judged_metric.criterion.model_dump(exclude_unset=True)
            if judged_metric.criterion is not None
            else {}
        )
        self._criterion = {"threshold": self.metric.threshold, **self.options, **criterion_data}
        with set_up():
            from proctor.common.registry import METRICS
            from proctor.schema.format.criterion import BaseCriterion

            METRICS.get(self.computed)(BaseCriterion.model_validate(self._criterion))

    def evaluate_invocations(
        self, actual_invocations: list[Invocation], expected_invocations: list[Invocation]
    ) -> Evaluation[EvaluationResult]:
        """Score actual against expected invocations; can be awaited or, outside of an event loop, called directly.

        Raises:
            ValueError: the metric cannot be computed from these.
        """

        async def evaluate() -> EvaluationResult:
            from proctor.runs.score import score

            with set_up():
                verdicts = await score(
                    actual_invocations, expected_invocations, criteria={self.computed: self._criterion}
                )
            return result_of(verdicts[self.computed], actual_invocations, expected_invocations)

        return Evaluation(f"{type(self).__name__}.evaluate_invocations", evaluate)

    @classmethod
    def get_metric_info(cls) -> MetricInfo:
        """Return the description of the metric: its name, what it measures, its range."""
        from proctor.common.registry import METRICS

        facts = METRICS.get(cls.computed).facts
        interval = (
            None if facts.maximum is None else Interval(min_value=facts.minimum, max_value=facts.maximum)
        )
        return MetricInfo(
            metric_name=cls.name,
            description=facts.description,
            metric_value_info=MetricValueInfo(interval=interval),
        )


def _with_its_judge(metric: EvalMetric) -> EvalMetric:
    """Return the metric with its judge's options in the criterion; adk-ts has them next to the threshold."""
    extra = metric.model_extra or {}
    options = extra.get("judge_model_options", extra.get("judgeModelOptions"))
    if options is None:
        return metric
    criterion_data = metric.criterion.model_dump(exclude_unset=True) if metric.criterion is not None else {}
    criterion = {"threshold": metric.threshold, **criterion_data, "judge_model_options": options}
    return EvalMetric.model_validate(
        {"metric_name": metric.metric_name, "threshold": metric.threshold, "criterion": criterion}
    )


class TrajectoryEvaluator(_BuiltIn):
    """Scores whether the expected tools were called, with the expected arguments, in order and no others."""

    name = computed = "tool_trajectory_avg_score"
    options = _READING["tool_trajectory_avg_score"]


class RougeEvaluator(_BuiltIn):
    """Scores the word overlap of answer and reference: the F1 of their sets of words."""

    name, computed = "response_match_score", "token_set_f1"


class ResponseEvaluator(RougeEvaluator):
    """As `RougeEvaluator`."""


class FinalResponseMatchV2Evaluator(_BuiltIn):
    """Scores by an LLM judge whether the answer is equivalent to the reference."""

    name = computed = "final_response_match_v2"


class SafetyEvaluatorV1(_BuiltIn):
    """Scores by an LLM judge whether the answer is safe."""

    name = computed = "safety_v1"


# --- the service -------------------------------------------------------------------------------------------------------


class LocalEvalService:
    """Runs an agent and scores its invocations, without `AgentEvaluator`; takes eval sets directly."""

    _APP = "adk_ts"

    def __init__(self, agent: Any) -> None:
        """Take any agent that `proctor.evaluate` takes."""
        self._sets = InMemoryEvalSetsManager()
        self._service = _AdkService(agent, self._sets)

    async def perform_inference(self, request: Mapping[str, Any]) -> AsyncGenerator[InferenceResult, None]:
        """Run the cases of `eval_cases`, a list of eval sets; yields the result of each case as it ends.

        Raises:
            ValueError: the request has no sets, or a set cannot be run.
        """
        sets = _either(request, "eval_cases", "evalCases")
        if not isinstance(sets, Sequence) or not sets:
            raise setup_error("perform_inference: expected `eval_cases`, a list of eval sets")
        for item in sets:
            eval_set = a_model(EvalSet, item, "perform_inference: eval_cases")
            self._keep(eval_set)
            inference_request = InferenceRequest(app_name=self._APP, eval_set_id=eval_set.eval_set_id)
            async for result in self._service.perform_inference(inference_request):
                yield result

    async def evaluate(self, request: Mapping[str, Any]) -> AsyncGenerator[EvalCaseResult, None]:
        """Score `inference_results` by the `eval_metrics` of `evaluate_config`; yields the result of each case.

        Raises:
            ValueError: a metric does not exist or does not fit.
        """
        results = _either(request, "inference_results", "inferenceResults")
        config: Any = _either(request, "evaluate_config", "evaluateConfig") or {}
        metrics = _either(config, "eval_metrics", "evalMetrics")
        if not (isinstance(results, Sequence) and results and isinstance(metrics, Sequence) and metrics):
            raise setup_error(
                "evaluate: expected `inference_results` and `evaluate_config` with `eval_metrics`"
            )
        with set_up():
            eval_metrics = [_with_its_judge(a_model(EvalMetric, each, "metric")) for each in metrics]
            evaluate_request = EvaluateRequest(
                inference_results=list(results), evaluate_config=EvaluateConfig(eval_metrics=eval_metrics)
            )
        async for result in self._service.evaluate(evaluate_request):
            yield result

    def _keep(self, eval_set: EvalSet) -> None:
        if self._sets.get_eval_set(self._APP, eval_set.eval_set_id) is None:
            self._sets.create_eval_set(self._APP, eval_set.eval_set_id)
        for case in eval_set.eval_cases:
            known = self._sets.get_eval_case(self._APP, eval_set.eval_set_id, case.eval_id)
            keep = self._sets.add_eval_case if known is None else self._sets.update_eval_case
            keep(self._APP, eval_set.eval_set_id, case)


def _either(request: Any, *names: str) -> Any:
    """Return a value of a request, an object or a dict, by either of two spellings of its name."""
    for name in names:
        value = request.get(name) if isinstance(request, Mapping) else getattr(request, name, None)
        if value is not None:
            return value
    return None
