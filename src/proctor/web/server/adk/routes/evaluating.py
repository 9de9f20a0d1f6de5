"""Evaluations: run them, read their results, list the metrics."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException, Response
from pydantic import Field

from proctor.agents.chat_host import Json
from proctor.runs.metric_facts import metric_infos
from proctor.schema.format.criterion import EvalMetric, Interval
from proctor.web.server.adk.adk_route import LOCAL, AdkRequest, AdkRoute
from proctor.web.server.adk.app_state import AdkDep, AdkState
from proctor.web.server.adk.eval_files import MissingEvalError
from proctor.web.server.adk.evaluations import (
    config_of_request,
    read_result,
    result_ids,
    result_json,
    run_evaluation,
    run_result_json,
)
from proctor.web.server.adk.wire import answer, wire

router = APIRouter(route_class=AdkRoute, tags=["ADK: evaluations"])
_OF_APP = "/dev/apps/{app_name}"
_COUNTS = Interval(min_value=0, max_value=2**53 - 1)
"""The interval of counts and durations, which have no upper bound: up to the largest count that JavaScript holds exactly."""


class RunEval(AdkRequest):
    """The cases to run, and the metrics."""

    eval_metrics: list[EvalMetric]
    eval_case_ids: list[str] = Field(default_factory=list)
    eval_ids: list[str] = Field(default_factory=list)
    """An older spelling."""
    live_model_config: dict[str, Any] | None = None
    user_simulator_config: dict[str, Any] | None = None


@router.post(f"{_OF_APP}/eval-sets/{{eval_set_id}}/run", response_model=None, dependencies=LOCAL)
async def adk_run_eval(adk: AdkDep, app_name: str, eval_set_id: str, request: RunEval) -> Response:
    """Run cases of a set (by default all), and return the verdicts at the end."""
    return answer({"runEvalResults": await _run(adk, app_name, eval_set_id, request)})


@router.post(f"{_OF_APP}/eval_sets/{{eval_set_id}}/run_eval", response_model=None, dependencies=LOCAL)
async def adk_run_eval_bare(adk: AdkDep, app_name: str, eval_set_id: str, request: RunEval) -> Response:
    """Return the same as a bare list."""
    return answer(await _run(adk, app_name, eval_set_id, request))


@router.get(f"{_OF_APP}/eval-results", response_model=None)
def adk_list_eval_results(adk: AdkDep, app_name: str) -> Response:
    """List the ids of an app's results, oldest first."""
    return answer({"evalResultIds": _ids(adk, app_name)})


@router.get(f"{_OF_APP}/eval_results", response_model=None)
def adk_list_eval_results_bare(adk: AdkDep, app_name: str) -> Response:
    """Return the same as a bare list."""
    return answer(_ids(adk, app_name))


@router.get(f"{_OF_APP}/eval-results/{{eval_result_id}}", response_model=None)
@router.get(f"{_OF_APP}/eval_results/{{eval_result_id}}", response_model=None, include_in_schema=False)
def adk_get_eval_result(adk: AdkDep, app_name: str, eval_result_id: str) -> Response:
    """Return a result with the sessions of its cases."""
    app = adk.app(app_name)
    result = read_result(app, eval_result_id)
    if result is None:
        raise HTTPException(404, f"Eval result `{eval_result_id}` not found.")
    return answer(result_json(result, app))


@router.get(f"{_OF_APP}/metrics-info", response_model=None)
def adk_metrics_info(adk: AdkDep, app_name: str) -> Response:
    """List the metrics for evaluations, which are the same for every app."""
    adk.app(app_name)
    return answer({"metricsInfo": [_with_interval(wire(info)) for info in metric_infos()]})


def _with_interval(info: Json) -> Json:
    """Add an interval if a metric has none, because pages read `metricValueInfo.interval` of each metric."""
    info["metricValueInfo"].setdefault("interval", wire(_COUNTS))
    return info


async def _run(adk: AdkState, app_name: str, eval_set_id: str, request: RunEval) -> list[Json]:
    app = adk.app(app_name)
    config = config_of_request(request.eval_metrics, request.user_simulator_config, request.live_model_config)
    if request.eval_case_ids and request.eval_ids and set(request.eval_case_ids) != set(request.eval_ids):
        raise HTTPException(
            400, "evalCaseIds and evalIds (its older name) name different cases: send one of them"
        )
    eval_ids = request.eval_case_ids or request.eval_ids
    try:
        results = await adk.on_loop(run_evaluation(adk.context, app, eval_set_id, eval_ids, config))
    except MissingEvalError as error:
        raise HTTPException(400, str(error)) from None  # as google-adk's server responds for a set
    return [run_result_json(case) for case in results]


def _ids(adk: AdkState, app_name: str) -> list[str]:
    app = adk.apps().get(app_name)
    return [] if app is None else result_ids(app)
