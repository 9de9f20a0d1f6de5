"""Cases of an eval set: list, read, change, delete."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException, Response
from pydantic import ValidationError

from proctor.web.server.adk import eval_files
from proctor.web.server.adk.adk_route import LOCAL, AdkRoute, body_error
from proctor.web.server.adk.app_state import AdkDep
from proctor.web.server.adk.wire import answer, wire

router = APIRouter(route_class=AdkRoute, tags=["ADK: cases"])
_ONE = "/dev/apps/{app_name}/eval-sets/{eval_set_id}/eval-cases/{eval_case_id}"
_ONE_OLD = "/dev/apps/{app_name}/eval_sets/{eval_set_id}/evals/{eval_case_id}"


@router.get("/dev/apps/{app_name}/eval_sets/{eval_set_id}/evals", response_model=None)
@router.get("/dev/apps/{app_name}/eval-sets/{eval_set_id}/eval-cases", response_model=None)
def adk_list_cases(adk: AdkDep, app_name: str, eval_set_id: str) -> Response:
    """List the ids of a set's cases, sorted."""
    try:
        return answer(sorted(eval_files.open_set(adk.app(app_name), eval_set_id).ids()))
    except eval_files.MissingEvalError as error:
        raise HTTPException(400, str(error)) from None  # as google-adk's server responds


@router.get(_ONE, response_model=None)
@router.get(_ONE_OLD, response_model=None, include_in_schema=False)
def adk_get_case(adk: AdkDep, app_name: str, eval_set_id: str, eval_case_id: str) -> Response:
    """Return a case."""
    return answer(wire(eval_files.case_of(adk.app(app_name), eval_set_id, eval_case_id)))


@router.put(_ONE, dependencies=LOCAL)
@router.put(_ONE_OLD, dependencies=LOCAL, include_in_schema=False)
def adk_update_case(
    adk: AdkDep, app_name: str, eval_set_id: str, eval_case_id: str, case: dict[str, Any]
) -> None:
    """Change a case. Fields that the request does not mention stay: see docs/adk-rest.md."""
    stated_id = next((case[key] for key in ("evalId", "eval_id", "id") if key in case), eval_case_id)
    if stated_id != eval_case_id:
        raise HTTPException(
            400,
            f"Eval id in EvalCase should match the eval id in the API route: {stated_id!r} is not {eval_case_id!r}",
        )
    try:
        eval_files.update_case(adk.app(app_name), eval_set_id, eval_case_id, case)
    except ValidationError as error:
        raise body_error(error) from None


@router.delete(_ONE, dependencies=LOCAL)
@router.delete(_ONE_OLD, dependencies=LOCAL, include_in_schema=False)
def adk_delete_case(adk: AdkDep, app_name: str, eval_set_id: str, eval_case_id: str) -> None:
    """Remove a case from its set."""
    eval_files.delete_case(adk.app(app_name), eval_set_id, eval_case_id)
