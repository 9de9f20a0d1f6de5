"""Turns with an agent: the complete answer, a stream of its events, or a web socket (text only)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response, WebSocket, WebSocketDisconnect
from fastapi.responses import StreamingResponse
from pydantic import ValidationError

from proctor.agents.chat_host import Json, TurnRequest
from proctor.common.error_text import safe_str
from proctor.common.secrets import hide_secrets
from proctor.errors import SetupError
from proctor.schema.format.content import Content
from proctor.web.server.adk.adk_route import AdkRequest, AdkRoute, status_of
from proctor.web.server.adk.app_state import AdkDep, AdkState
from proctor.web.server.adk.wire import answer, json_bytes, parts_of

_LOOKS_EVERY = 0.5
"""Seconds between two checks whether the client is still connected."""
_CLIENT_LEFT = 499
"""The status of google-adk's server in this case; no client receives it."""

router = APIRouter(route_class=AdkRoute, tags=["ADK: run"])


class RunAgent(AdkRequest):
    """One message to an agent, in an existing session."""

    app_name: str | None = None
    user_id: str
    session_id: str
    new_message: Content | None = None
    streaming: bool = False
    state_delta: dict[str, Any] | None = None
    function_call_event_id: str | None = None
    invocation_id: str | None = None
    custom_metadata: dict[str, Any] | None = None
    service_tier: str | None = None


@router.post("/run", response_model=None)
async def adk_run(adk: AdkDep, request: RunAgent, connection: Request) -> Response:
    """Run one turn of an agent, and return all events."""
    app_name, turn = await _check_request(adk, request, streaming=False)
    try:
        events = adk.run(app_name, turn)
        return await _until_disconnect(connection, events)
    except Exception as error:
        if status_of(error) is not None:
            raise
        return answer({"detail": error_json(error)["error"]}, status_code=500)


@router.post("/run_sse", response_model=None)
async def adk_run_sse(adk: AdkDep, request: RunAgent) -> StreamingResponse:
    """Run one turn of an agent, and stream its events (`data: EVENT`); an exception of the agent is the last one."""
    app_name, turn = await _check_request(adk, request, streaming=request.streaming)
    events = adk.run(app_name, turn)
    splits = not request.function_call_event_id
    return StreamingResponse(_lines(events, splits=splits), media_type="text/event-stream")


async def _until_disconnect(connection: Request, events: AsyncGenerator[Json, None]) -> Response:
    """Return all events; stop the agent if the client disconnects."""
    work = asyncio.ensure_future(_all(events))
    try:
        while not work.done():
            await asyncio.wait([work], timeout=_LOOKS_EVERY)
            if not work.done() and await connection.is_disconnected():
                return Response(status_code=_CLIENT_LEFT)
        return answer(work.result())
    finally:
        work.cancel()


async def _all(events: AsyncGenerator[Json, None]) -> list[Json]:
    async with aclosing(events) as stream:
        return [event async for event in stream]


async def _check_request(adk: AdkState, request: RunAgent, *, streaming: bool) -> tuple[str, TurnRequest]:
    """Return the app and the turn; report their problems before the response starts."""
    if not request.app_name:
        raise HTTPException(
            400, f"appName is missing: it names one of the apps {', '.join(adk.apps()) or '(none)'}"
        )
    if await adk.ask(request.app_name, "get", request.user_id, request.session_id) is None:
        raise HTTPException(404, f"Session not found: {request.session_id}")
    if request.new_message is None and request.invocation_id is None:
        raise HTTPException(400, "newMessage is missing: the user's message, as {role, parts: [{text}]}")
    if request.new_message is not None and not request.new_message.parts:
        raise HTTPException(400, "newMessage has no parts: send at least one, such as {text}")
    turn = _turn(request, streaming=streaming)
    await adk.ask(request.app_name, "check", turn)
    return request.app_name, turn


def _turn(request: RunAgent, *, streaming: bool) -> TurnRequest:
    message = request.new_message
    if message is not None and not message.role:
        message = message.model_copy(update={"role": "user"})
    return TurnRequest(
        user_id=request.user_id,
        session_id=request.session_id,
        message=message,
        streaming=streaming,
        state_delta=request.state_delta,
        invocation_id=request.invocation_id,
        custom_metadata=request.custom_metadata,
    )


async def _lines(events: AsyncGenerator[Json, None], *, splits: bool) -> AsyncGenerator[bytes, None]:
    try:
        async with aclosing(events) as stream:
            async for event in stream:
                for one in split_artifacts(event) if splits else (event,):
                    yield b"data: " + json_bytes(one) + b"\n\n"
    except Exception as error:  # noqa: BLE001 - the response has started, so it has to contain the agent's exception
        yield b"data: " + json_bytes(error_json(error)) + b"\n\n"


def split_artifacts(event: Json) -> list[Json]:
    """Split an event with content and new artifacts into two, because the page shows artifacts only of events without content."""
    delta = event["actions"].get("artifactDelta")
    if not delta or not parts_of(event):
        return [event]
    content = {**event, "actions": {**event["actions"], "artifactDelta": {}}}
    return [content, {name: value for name, value in event.items() if name != "content"}]


def error_json(error: BaseException) -> Json:
    """Return the last event of a turn in which the agent raised an exception."""
    details = {"error_type": _kind(error), "error_message": safe_str(error), "timestamp": time.time()}
    return {"error": f"{_kind(error)}: {safe_str(error)}", "error_details": details}


def _kind(error: BaseException) -> str:
    return getattr(error, "type", "") or type(error).__name__


# --- turns over a web socket: text in, events out ---------------------------------------------------------------------


_POLICY, _PROTOCOL, _UNSUPPORTED, _BROKEN = 1008, 1002, 1003, 1011
_TEXT_ONLY = "this server takes text only: send {content}, not audio or video (google-adk's own server does)"
_LONGEST_REASON = 123
"""The most bytes of a web socket's closing reason."""


class LiveRequest(AdkRequest):
    """A client's message, or the end of the conversation. Other content (audio) is refused."""

    content: Content | None = None
    close: bool = False
    blob: object = None
    activity_start: object = None
    activity_end: object = None


class _RefusedError(Exception):
    """The conversation ends with a code and a reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


@router.websocket("/run_live")
async def adk_run_live(
    socket: WebSocket, adk: AdkDep, user_id: str, session_id: str, app_name: str | None = None
) -> None:
    """Receive messages, and send the events of each answer, until the client disconnects."""
    if not app_name:
        await socket.close(_POLICY, "app_name query parameter is required")
        return
    await socket.accept()
    try:
        await _serve_live(socket, adk, app_name, user_id, session_id)
    except WebSocketDisconnect:
        return
    except _RefusedError as refused:
        await _close(socket, refused.code, refused.reason)
    except SetupError as error:
        await _close(socket, _POLICY, safe_str(error))
    except Exception as error:  # noqa: BLE001 - the client receives any exception of an agent
        await _close(socket, _BROKEN, f"{type(error).__name__}: {hide_secrets(safe_str(error))}")


async def _serve_live(socket: WebSocket, adk: AdkState, app_name: str, user_id: str, session_id: str) -> None:
    if await adk.ask(app_name, "get", user_id, session_id) is None:
        raise _RefusedError(_PROTOCOL, "Session not found")
    while (message := _message(await _text(socket))) is not None:
        turn = TurnRequest(user_id=user_id, session_id=session_id, message=message, streaming=True)
        async for event in adk.run(app_name, turn):
            await socket.send_text(json_bytes(event).decode())
        await socket.send_text(json_bytes({"turnComplete": True, "author": "", "actions": {}}).decode())
    await _close(socket, 1000, "")


async def _text(socket: WebSocket) -> str:
    """Return the client's next message. google-adk's own server takes a binary frame as audio."""
    try:
        text: str = await socket.receive_text()
    except KeyError:
        raise _RefusedError(_UNSUPPORTED, _TEXT_ONLY) from None
    return text


def _message(text: str) -> Content | None:
    """Return the user's message; `None` if the client ends the conversation."""
    try:
        request = LiveRequest.model_validate(json.loads(text))
    except (ValueError, ValidationError) as error:
        raise _RefusedError(_PROTOCOL, f"expected {{content}} or {{close: true}} as JSON: {error}") from None
    if request.close:
        return None
    if request.content is not None and request.content.parts:
        role = request.content.role or "user"
        return request.content.model_copy(update={"role": role})
    if request.content is not None:
        raise _RefusedError(_PROTOCOL, "content has no parts: send at least one, such as {text}")
    raise _RefusedError(_UNSUPPORTED, _TEXT_ONLY)


async def _close(socket: WebSocket, code: int, reason: str) -> None:
    short = reason.encode()[:_LONGEST_REASON].decode(errors="ignore")
    with suppress(RuntimeError):  # the client has already closed it
        await socket.close(code, short)
