"""As `google.adk.evaluation.local_eval_service`: runs agents in this process, and scores what they did."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from proctor.common.async_tools import settle
from proctor.compat.adk.argument_errors import a_model, set_up, setup_error, unexpected_argument
from proctor.compat.adk.errors.not_found_error import NotFoundError
from proctor.compat.adk.evaluation.base_eval_service import (
    BaseEvalService,
    EvaluateRequest,
    InferenceRequest,
    InferenceResult,
)
from proctor.compat.adk.evaluation.eval_set_results_manager import EvalSetResultsManager
from proctor.compat.adk.evaluation.eval_sets_manager import EvalSetsManager
from proctor.compat.adk.evaluation.metric_evaluator_registry import MetricEvaluatorRegistry
from proctor.compat.adk.evaluation.simulation.llm_backed_user_simulator import LlmBackedUserSimulatorConfig
from proctor.compat.adk.evaluation.simulation.user_simulator_provider import UserSimulatorProvider
from proctor.compat.adk.initial_session import load_with_services
from proctor.compat.adk.results import as_taken_by, case_results_of
from proctor.compat.adk.user_simulators import ProvidedUsers
from proctor.errors import did_you_mean
from proctor.runs.infer import Metrics, infer, judge
from proctor.schema.evidence.convert_events import events_of
from proctor.schema.evidence.trial import Failure, Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.config import CodeConfig, CustomMetricConfig, EvalConfig
from proctor.schema.format.criterion import EFFICIENCY_METRICS, EvalMetric
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.result import EvalCaseResult, InferenceStatus
from proctor.schema.format.wire_model import plain_data

__all__ = ["EVAL_SESSION_ID_PREFIX", "LocalEvalService"]

EVAL_SESSION_ID_PREFIX = "adk-eval-session-"


class LocalEvalService(BaseEvalService):
    """Runs agents in this process, and scores what they did.

    `root_agent` is any agent that `proctor.evaluate` takes. What is wrong with a request is a ValueError before
    anything is run or scored. Services of google-adk are for its agents: what is in them all cases see and change. An
    `app` of google-adk adds its plug-ins and settings to the root agent. `user_simulator_provider` provides the simulated
    users of scenarios; Proctor itself sends recorded messages.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - google-adk's signature
        self,
        root_agent: Any,
        eval_sets_manager: EvalSetsManager,
        metric_evaluator_registry: MetricEvaluatorRegistry | None = None,
        session_service: Any = None,
        artifact_service: Any = None,
        eval_set_results_manager: EvalSetResultsManager | None = None,
        session_id_supplier: Any = None,
        user_simulator_provider: Any = None,
        memory_service: Any = None,
        app: Any = None,
    ) -> None:
        self._services = {
            name: service
            for name, service in (
                ("session_service", session_service),
                ("artifact_service", artifact_service),
                ("memory_service", memory_service),
            )
            if service is not None
        }
        if session_id_supplier is not None:
            raise setup_error("session_id_supplier: Proctor names sessions itself; leave it out")
        if user_simulator_provider is not None and not hasattr(user_simulator_provider, "provide"):
            raise unexpected_argument(
                "user_simulator_provider", "a UserSimulatorProvider", user_simulator_provider
            )
        self._provider = user_simulator_provider
        self._agent = root_agent if app is None else app.model_copy(update={"root_agent": root_agent})
        if not hasattr(eval_sets_manager, "get_eval_set"):
            raise unexpected_argument("eval_sets_manager", "an EvalSetsManager", eval_sets_manager)
        self._sets = eval_sets_manager
        self._keeper = eval_set_results_manager
        self._own = metric_evaluator_registry.factories if metric_evaluator_registry is not None else {}
        self._recorded: dict[tuple[str, str, str], Trial] = {}
        """Evidence of this service's own inferences: by set, case and session."""

    async def perform_inference(
        self, inference_request: InferenceRequest
    ) -> AsyncGenerator[InferenceResult, None]:
        """Run the cases; yields the result of each as it ends.

        Raises:
            ValueError: the set or a case is not there or cannot be run, or the agent cannot be loaded.
        """
        request = a_model(InferenceRequest, inference_request, "inference_request")
        eval_set = self._load_set(request)
        with set_up():
            agent = load_with_services(self._agent, None, self._services)
        parallelism = request.inference_config.parallelism
        trials = infer(
            agent,
            request.app_name,
            eval_set,
            only=request.eval_case_ids or (),
            concurrency=parallelism,
            **_playing(self._provider),
        )
        with set_up():
            async for trial in trials:
                self._recorded[trial.eval_set_id, trial.eval_id, trial.session_id] = trial
                yield _inference_of(trial, request.app_name)

    async def evaluate(self, evaluate_request: EvaluateRequest) -> AsyncGenerator[EvalCaseResult, None]:
        """Evaluate the inferences; yields each result when it is available. Stores the results of each set at the end.

        Raises:
            ValueError: a metric does not exist or does not fit, or a case is not there.
        """
        request = a_model(EvaluateRequest, evaluate_request, "evaluate_request")
        if not request.inference_results:
            raise setup_error("inference_results: there are none, so there is nothing to score")
        config = _config_of(request.evaluate_config.eval_metrics)
        with set_up():
            metrics = Metrics.of(config, self._own)
        recorded = [(self._case(one), self._trial(one)) for one in request.inference_results]
        results_by_set: dict[tuple[str, str], list[EvalCaseResult]] = {}
        parallelism = request.evaluate_config.parallelism
        async for position, verdict in judge(recorded, metrics, concurrency=parallelism):
            inference = request.inference_results[position]
            (result,) = case_results_of(verdict, recorded[position][0], config.criteria)
            results_by_set.setdefault((inference.app_name, inference.eval_set_id), []).append(result)
            yield result
        await self._keep(results_by_set)

    def _load_set(self, request: InferenceRequest) -> EvalSet:
        eval_set = self._sets.get_eval_set(request.app_name, request.eval_set_id)
        if eval_set is None:
            raise NotFoundError(f"no eval set {request.eval_set_id!r} of the app {request.app_name!r}")
        eval_set = EvalSet.model_validate(plain_data(eval_set))  # a manager of google-adk has its own models
        there = [case.eval_id for case in eval_set.eval_cases]
        for eval_id in request.eval_case_ids or ():
            if eval_id not in there:
                hint = did_you_mean(eval_id, there)
                raise NotFoundError(f"eval set {request.eval_set_id!r} has no case {eval_id!r}.{hint}")
        if not there:
            raise setup_error(f"the eval set {request.eval_set_id!r} has no cases")
        return eval_set

    def _case(self, inference: InferenceResult) -> EvalCase:
        where = inference.app_name, inference.eval_set_id, inference.eval_case_id
        case = self._sets.get_eval_case(*where)
        if case is None:
            raise NotFoundError("no case {2!r} in the eval set {1!r} of the app {0!r}".format(*where))
        return EvalCase.model_validate(plain_data(case))

    def _trial(self, inference: InferenceResult) -> Trial:
        """Return the evidence of an inference: as recorded here, otherwise the content of the inference itself."""
        where = inference.eval_set_id, inference.eval_case_id, inference.session_id or ""
        known = self._recorded.get(where)
        if known is not None and (known.failure or known.invocations == inference.inferences):
            return known
        return _trial_of(inference)

    async def _keep(self, results_by_set: dict[tuple[str, str], list[EvalCaseResult]]) -> None:
        if self._keeper is None:
            return
        for (app_name, eval_set_id), results in results_by_set.items():
            adk_results = as_taken_by(self._keeper, results)
            await settle(self._keeper.save_eval_set_result(app_name, eval_set_id, adk_results))


def _playing(provider: Any) -> dict[str, Any]:
    """Return the user simulator for scenarios: Proctor's own with the provider's config, or that of the provider."""
    if provider is None:
        return {}
    if type(provider) is UserSimulatorProvider and type(provider.config) is LlmBackedUserSimulatorConfig:
        return {"simulator": provider.config}
    return {"users": ProvidedUsers(provider)}


# --- Inference results and metrics of google-adk's shape, as evidence and as a config ---------------------------------


_ALWAYS_COMPUTED = frozenset(name.value for name in EFFICIENCY_METRICS)
"""Metrics that are always computed and never decide."""


def _inference_of(trial: Trial, app_name: str) -> InferenceResult:
    """Return what an agent did as an inference result."""
    broken = trial.failure
    return InferenceResult(
        app_name=app_name,
        eval_set_id=trial.eval_set_id,
        eval_case_id=trial.eval_id,
        inferences=None if broken else trial.invocations,
        session_id=trial.session_id,
        status=InferenceStatus.FAILURE if broken else InferenceStatus.SUCCESS,
        error_message=(broken.message or broken.cause) if broken else None,
    )


def _trial_of(inference: InferenceResult) -> Trial:
    """Return an inference result as evidence; what it does not have (the final state) is unknown."""
    failure = None
    if inference.status == InferenceStatus.FAILURE or inference.inferences is None:
        failure = Failure(
            where="agent", message=inference.error_message or "the inference has no invocations"
        )
    return Trial(
        eval_set_id=inference.eval_set_id,
        eval_id=inference.eval_case_id,
        session_id=inference.session_id or "",
        app_name=inference.app_name,
        turns=[_turn(one) for one in inference.inferences or ()],
        failure=failure,
    )


def _turn(invocation: Invocation) -> Turn:
    return Turn(
        user_content=invocation.user_content,
        events=events_of(invocation),
        started_at=invocation.creation_timestamp,
        duration=invocation.duration,
        model_duration=invocation.model_duration,
        tool_duration=invocation.tool_duration,
        app_details=invocation.app_details.model_dump() if invocation.app_details else None,
    )


def _config_of(metrics: Sequence[EvalMetric]) -> EvalConfig:
    """Return the config that asks for these metrics."""
    criteria, custom = {}, {}
    for metric in metrics:
        if metric.criterion is not None or metric.threshold is not None:
            criteria[metric.metric_name] = metric.criterion or metric.threshold
        elif metric.metric_name not in _ALWAYS_COMPUTED:
            raise setup_error(f"{metric.metric_name}: expected a criterion or a threshold")
        if metric.custom_function_path:
            code = CodeConfig(name=metric.custom_function_path)
            custom[metric.metric_name] = CustomMetricConfig(code_config=code)
    return EvalConfig(criteria=criteria, custom_metrics=custom or None)
