"""Extensions of the public protocol for Proctor's own workers: whole events, and exceptions with all their details.

An isolated run must have the same evidence as a run in this process.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from proctor import errors
from proctor.common.error_text import safe_repr, safe_str, traceback_text
from proctor.common.infrastructure_errors import is_infrastructure
from proctor.common.limits import MAX_DEPTH
from proctor.errors import AgentError, AgentRaisedError
from proctor.schema.evidence.event import Event

_LONGEST_NUMBER = 13_000  # bits, about 4,000 digits: Python writes no longer ones


def event_data(event: object) -> dict[str, Any]:
    """Return an agent's event as JSON, as `wire.read_answer` parses it.

    Raises:
        AgentError: it is not an event, or part of it is not JSON.
    """
    if not isinstance(event, Event):
        raise AgentError(f"the agent yielded {safe_repr(event)}; an agent yields proctor.Event objects")
    fields = event.model_dump(mode="python", exclude_none=True, warnings=False)
    for part in (fields.get("content") or {}).get("parts") or ():
        _write_bytes(part)
    return {"type": "event", "event": json_value(fields)}


def _write_bytes(part: dict[str, Any]) -> None:
    """Write media as text; bytes anywhere else are no JSON."""
    if isinstance(part.get("thought_signature"), bytes):
        part["thought_signature"] = _as_text(part["thought_signature"])
    blob = part.get("inline_data")
    if isinstance(blob, dict) and isinstance(blob.get("data"), bytes):
        blob["data"] = _as_text(blob["data"])
    for inside in (part.get("function_response") or {}).get("parts") or ():
        _write_bytes(inside)


def _as_text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode()


def json_value(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON; NaN and Infinity stay, as Python reads and writes them.

    Raises:
        AgentError: it is not JSON, nested too deep or in a circle, or too long a number.
    """
    if value is None or isinstance(value, bool | float | str):
        return value
    if isinstance(value, int):
        if value.bit_length() > _LONGEST_NUMBER:
            raise AgentError(
                "a tool argument, tool response or state value is a whole number of more than 4000 digits"
            )
        return int(value)
    if depth > MAX_DEPTH + 10:  # the engine reports smaller excesses
        raise AgentError(
            f"a tool argument, tool response or state value is nested deeper than {MAX_DEPTH} levels"
        )
    if isinstance(value, Mapping):
        return {
            key if isinstance(key, str) else str(key): json_value(item, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(item, depth + 1) for item in value]
    if isinstance(value, BaseModel):
        return json_value(value.model_dump(mode="json"), depth + 1)
    raise AgentError(f"{safe_repr(value)} in a tool argument, tool response or state value is not JSON")


# --- exceptions ------------------------------------------------------------------------------------------------------

_OURS = ("AgentError", "AgentUnreachableError", "AgentTruncatedError", "AgentCrashedError")


def error_data(error: BaseException) -> dict[str, Any]:
    """Return an exception as JSON: an `error` of the protocol, with further fields for `raised_from`."""
    told = isinstance(error, AgentError | errors.SetupError)
    raised = error if isinstance(error, AgentRaisedError) else None
    type_of = raised.type if raised else type(error).__name__
    traceback = raised.traceback if raised else None if told else traceback_text(error)
    return {
        "type": "error",
        "code": type_of,
        "message": safe_str(error),
        "ours": type(error).__name__ if type(error).__name__ in _OURS else "",
        "traceback": traceback,
        "infrastructure": is_infrastructure(error),
    }


def raised_from(data: Mapping[str, Any]) -> AgentError:
    """Return an exception of a worker in this process; its description equals that of the original."""
    message, ours = str(data.get("message", "")), data.get("ours")
    if ours in _OURS:
        found: AgentError = getattr(errors, str(ours))(message)
        return found
    return AgentRaisedError(
        message,
        type=str(data.get("code", "")),
        traceback=data.get("traceback"),
        infrastructure=bool(data.get("infrastructure")),
    )
