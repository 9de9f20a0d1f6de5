"""Sessions: create, read, change and delete them, and add them to an agent's memory."""

from __future__ import annotations

import math
from typing import Any

from fastapi import APIRouter, HTTPException, Response
from pydantic import ValidationError

from proctor.engine.trial.conversation import SESSION_PREFIX
from proctor.schema.evidence.event import Event
from proctor.web.server.adk.adk_route import AdkRequest, AdkRoute, body_error
from proctor.web.server.adk.app_state import AdkDep, AdkState
from proctor.web.server.adk.evaluations import find_session
from proctor.web.server.adk.wire import answer, require_found

router = APIRouter(route_class=AdkRoute, tags=["ADK: sessions"])
_ALL = "/apps/{app_name}/users/{user_id}/sessions"
_ONE = f"{_ALL}/{{session_id}}"
_NOT_FOUND = "Session not found"
_OF_EVALS = (SESSION_PREFIX, "___eval___session___")
_RESERVED = frozenset(("adk_request_credential", "adk_request_confirmation", "adk_request_input"))
"""Calls that only google-adk itself may add to a session."""


class CreateSession(AdkRequest):
    """A new session. All fields are optional."""

    session_id: str | None = None
    state: dict[str, Any] | None = None
    events: list[dict[str, Any]] | None = None
    options: dict[str, Any] | None = None


class PatchSession(AdkRequest):
    """A change of a session's state."""

    state_delta: dict[str, Any]


class Remember(AdkRequest):
    """The session to add to the memory."""

    session_id: str


@router.get(_ALL, response_model=None)
async def adk_list_sessions(adk: AdkDep, app_name: str, user_id: str) -> Response:
    """List a user's sessions without their events, except those of evaluations."""
    sessions = await adk.ask(app_name, "list", user_id)
    return answer([session for session in sessions if not session["id"].startswith(_OF_EVALS)])


@router.post(_ALL, response_model=None)
async def adk_create_session(
    adk: AdkDep, app_name: str, user_id: str, request: CreateSession | None = None
) -> Response:
    """Create a session."""
    form = request or CreateSession()
    if form.options:
        raise HTTPException(
            400, "Session options are not supported by the configured session service: leave `options` out."
        )
    for index, event in enumerate(form.events or ()):
        _check_event(index, event)
    return await _create(adk, app_name, user_id, form)


@router.get(_ONE, response_model=None)
async def adk_get_session(adk: AdkDep, app_name: str, user_id: str, session_id: str) -> Response:
    """Return a session with its events, including a session of an evaluation."""
    return answer(await find_session(adk, app_name, user_id, session_id))


@router.post(_ONE, response_model=None, deprecated=True)
async def adk_create_session_with_id(
    adk: AdkDep,
    app_name: str,
    user_id: str,
    session_id: str,
    state: dict[str, Any] | None = None,
) -> Response:
    """Create a session with that id; the body is its state."""
    try:
        form = CreateSession(session_id=session_id, state=state)
    except ValidationError as error:
        raise body_error(error) from None
    return await _create(adk, app_name, user_id, form)


@router.patch(_ONE, response_model=None)
async def adk_patch_session(
    adk: AdkDep, app_name: str, user_id: str, session_id: str, request: PatchSession
) -> Response:
    """Change keys of a session's state."""
    return answer(
        require_found(await adk.ask(app_name, "patch", user_id, session_id, request.state_delta), _NOT_FOUND)
    )


@router.delete(_ONE)
async def adk_delete_session(adk: AdkDep, app_name: str, user_id: str, session_id: str) -> None:
    """Delete a session; if there is none, nothing happens."""
    await adk.ask(app_name, "delete", user_id, session_id)


@router.patch("/apps/{app_name}/users/{user_id}/memory")
async def adk_remember_session(adk: AdkDep, app_name: str, user_id: str, request: Remember) -> None:
    """Add a session to the memory of an agent of google-adk."""
    require_found(await adk.ask(app_name, "get", user_id, request.session_id), _NOT_FOUND)
    await adk.ask(app_name, "remember", user_id, request.session_id)


async def _create(adk: AdkState, app_name: str, user_id: str, form: CreateSession) -> Response:
    return answer(await adk.ask(app_name, "create", user_id, form.session_id, form.state, form.events or []))


def _check_event(index: int, data: dict[str, Any]) -> None:
    """Refuse an invalid event, and one that only an agent may make."""
    try:
        event = Event.model_validate({name: value for name, value in data.items() if name != "actions"})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, ("events", index, *first["loc"])))
        raise HTTPException(422, f"{place}: {first['msg']}") from None
    if not isinstance(data.get("id"), str | None):
        raise HTTPException(422, f"events.{index}.id: expected a text")
    if event.timestamp is not None and not math.isfinite(event.timestamp):
        raise HTTPException(422, f"events.{index}.timestamp: expected a finite number")
    _refuse_agent_parts(index, event, data.get("actions"))


def _refuse_agent_parts(index: int, event: Event, actions: object) -> None:
    parts = (event.content and event.content.parts) or ()
    names = {call.name for part in parts for call in (part.function_call, part.function_response) if call}
    for what, value in (
        ("long-running tool IDs", event.long_running_tool_ids),
        ("event actions", any(actions.values()) if isinstance(actions, dict) else actions),
        ("ADK protocol function calls", names & _RESERVED),
    ):
        if value:
            raise HTTPException(400, f"Session initialization event {index} cannot include {what}.")
