"""Turns over a web socket: text in, events out. Audio and video are not supported."""

from __future__ import annotations

import json
from contextlib import suppress

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from pydantic import ValidationError

from proctor.agents.chat_host import TurnRequest
from proctor.common.error_text import safe_str
from proctor.common.secrets import hide_secrets
from proctor.errors import SetupError
from proctor.schema.format.content import Content
from proctor.web.server.adk.app_state import AdkDep, AdkState
from proctor.web.server.adk.requests import AdkRequest
from proctor.web.server.adk.wire import json_bytes

router = APIRouter()

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
        await _talk(socket, adk, app_name, user_id, session_id)
    except WebSocketDisconnect:
        return
    except _RefusedError as refused:
        await _close(socket, refused.code, refused.reason)
    except SetupError as error:
        await _close(socket, _POLICY, safe_str(error))
    except Exception as error:  # noqa: BLE001 - the client receives any exception of an agent
        await _close(socket, _BROKEN, f"{type(error).__name__}: {hide_secrets(safe_str(error))}")


async def _talk(socket: WebSocket, adk: AdkState, app_name: str, user_id: str, session_id: str) -> None:
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
    raise _RefusedError(
        _UNSUPPORTED,
        _TEXT_ONLY,
    )


async def _close(socket: WebSocket, code: int, reason: str) -> None:
    short = reason.encode()[:_LONGEST_REASON].decode(errors="ignore")
    with suppress(RuntimeError):  # the client has already closed it
        await socket.close(code, short)
