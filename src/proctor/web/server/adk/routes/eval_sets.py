"""Eval sets of an app: list, create, read, delete; their cases; and add sessions as cases."""

from __future__ import annotations

import json
import logging
import re
import time
from typing import Any

from fastapi import APIRouter, HTTPException, Response
from pydantic import ValidationError

from proctor.agents.chat_host import Json
from proctor.common.safe_text import clean
from proctor.errors import SetupError
from proctor.files.eval_sets.selectors import require_new_case_id
from proctor.schema.evidence.convert_events import to_invocations
from proctor.schema.evidence.event import Event
from proctor.schema.format.case import EvalCase, EvalSet, SessionInput
from proctor.schema.format.invocation import IntermediateData, Invocation, InvocationEvents
from proctor.web.server.adk import eval_files
from proctor.web.server.adk.adk_route import LOCAL, AdkRequest, AdkRoute, body_error
from proctor.web.server.adk.app_state import AdkDep, AdkState
from proctor.web.server.adk.evaluations import find_session
from proctor.web.server.adk.wire import answer, wire

router = APIRouter(route_class=AdkRoute, tags=["ADK: eval sets"])
_OF_APP = "/dev/apps/{app_name}"


class CreateSet(AdkRequest):
    """The new set."""

    eval_set: dict[str, Any]


class AddSession(AdkRequest):
    """The session to add as a case."""

    eval_id: str
    session_id: str
    user_id: str


@router.get(f"{_OF_APP}/eval-sets", response_model=None)
def adk_list_eval_sets(adk: AdkDep, app_name: str) -> Response:
    """List the ids of an app's eval sets; an unknown app has none."""
    return answer({"evalSetIds": _ids(adk, app_name)})


@router.get(f"{_OF_APP}/eval_sets", response_model=None)
def adk_list_eval_sets_bare(adk: AdkDep, app_name: str) -> Response:
    """Return the same as a bare list."""
    return answer(_ids(adk, app_name))


@router.post(f"{_OF_APP}/eval-sets", response_model=None, dependencies=LOCAL)
def adk_create_eval_set(adk: AdkDep, app_name: str, request: CreateSet) -> Response:
    """Create an eval set with its cases."""
    known = {name: value for name, value in request.eval_set.items() if value is not None}
    if "evalCases" not in known:
        known.setdefault("eval_cases", [])
    try:
        eval_set = EvalSet.model_validate(known)
    except ValidationError as error:
        raise body_error(error, "evalSet") from None
    return answer(wire(eval_files.create_set(adk.app(app_name), eval_set)))


@router.post(f"{_OF_APP}/eval_sets/{{eval_set_id}}", dependencies=LOCAL)
def adk_create_eval_set_bare(adk: AdkDep, app_name: str, eval_set_id: str) -> None:
    """Create an empty eval set."""
    eval_files.create_set(adk.app(app_name), EvalSet(eval_set_id=eval_set_id, eval_cases=[]))


@router.get(f"{_OF_APP}/eval-sets/{{eval_set_id}}", response_model=None)
@router.get(f"{_OF_APP}/eval_sets/{{eval_set_id}}", response_model=None, include_in_schema=False)
def adk_get_eval_set(adk: AdkDep, app_name: str, eval_set_id: str) -> Response:
    """Return a whole eval set."""
    return answer(wire(eval_files.open_set(adk.app(app_name), eval_set_id).eval_set()))


@router.delete(f"{_OF_APP}/eval-sets/{{eval_set_id}}", dependencies=LOCAL)
def adk_delete_eval_set(adk: AdkDep, app_name: str, eval_set_id: str) -> None:
    """Delete an eval set with all its cases. Its results stay."""
    eval_files.delete_set(adk.app(app_name), eval_set_id)


@router.post(f"{_OF_APP}/eval-sets/{{eval_set_id}}/add-session", dependencies=LOCAL)
@router.post(f"{_OF_APP}/eval_sets/{{eval_set_id}}/add_session", dependencies=LOCAL, include_in_schema=False)
async def adk_add_session(
    adk: AdkDep, app_name: str, eval_set_id: str, request: AddSession, response: Response
) -> None:
    """Add a session to an eval set, as a case that expects the agent's behaviour.

    The header `Proctor-Warnings` is a JSON list of a run's warnings about the case: that it asserts nothing, or is negative
    only.
    """
    app = adk.app(app_name)
    eval_files.path_of(app, eval_set_id)
    session = await find_session(adk, app_name, request.user_id, request.session_id)
    state = placeholders(await adk.ask(app_name, "tree"))
    case = case_of_session(request.eval_id, session, state)
    if warnings := eval_files.add_case(app, eval_set_id, case):
        response.headers[WARNINGS] = json.dumps(warnings)  # in ASCII, as headers require
        for warning in warnings:
            _log.warning("eval set %s: %s", eval_set_id, clean(warning))


WARNINGS = "Proctor-Warnings"
"""The header for warnings, because google-adk's clients expect null as the body."""
_log = logging.getLogger("proctor.web.server")


def _ids(adk: AdkState, app_name: str) -> list[str]:
    app = adk.apps().get(app_name)
    return [] if app is None else eval_files.set_ids(app)


# --- the case of a session, as google-adk makes it ----------------------------------------------------------------------


_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}")


def case_of_session(eval_id: str, session: Json, state: dict[str, Any]) -> EvalCase:
    """Return the case of a session; `state`: its initial state.

    Turns without a user message (a change of the state alone) are left out, because they cannot be repeated.

    Raises:
        SetupError: the id could not be written on a command line, or the session has no user message.
    """
    require_new_case_id(eval_id)
    turns = to_invocations(Event.from_adk(event) for event in session["events"])
    turns = [_writable(turn) for turn in turns if turn.user_content.parts]
    if not turns:
        raise SetupError(
            f"the session {session['id']!r} has no message of a user: there is nothing to repeat"
        )
    return EvalCase(
        eval_id=eval_id,
        conversation=turns,
        session_input=SessionInput(app_name=session["appName"], user_id=session["userId"], state=state),
        creation_timestamp=time.time(),
    )


def _writable(turn: Invocation) -> Invocation:
    """Return a turn without events in a form that a file can contain, because an empty list of events is not written."""
    data = turn.intermediate_data
    if isinstance(data, InvocationEvents) and not data.invocation_events:
        return turn.model_copy(update={"intermediate_data": IntermediateData()})
    return turn


def placeholders(agent: Json) -> dict[str, Any]:
    """Return a state with an empty text for each `{word}` in the instructions of an agent and its sub-agents."""
    state = dict.fromkeys(_PLACEHOLDER.findall(str(agent.get("instruction") or "")), "")
    for below in agent.get("sub_agents") or ():
        state |= placeholders(below)
    return state


# --- cases ------------------------------------------------------------------------------------------------------------


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
    """Change a case. Fields that the request does not mention stay: see docs/reference/adk/rest.md."""
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
