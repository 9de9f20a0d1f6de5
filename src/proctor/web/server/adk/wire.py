"""google-adk's JSON for its clients: events, sessions and models in camelCase, without nulls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import HTTPException, Response
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json, to_jsonable_python

from proctor.agents.chat_host import Json
from proctor.schema.evidence.event import Event
from proctor.schema.format.wire_model import to_camel

_ACTIONS = ("stateDelta", "artifactDelta", "requestedAuthConfigs", "requestedToolConfirmations")
"""The keys that google-adk always writes under `actions`."""
_DEEPEST = 200
"""The most levels of a value that are written; pydantic writes 255."""


def answer(content: object, status_code: int = 200) -> Response:
    """Return a JSON response; see `json_bytes`."""
    return Response(json_bytes(content), status_code, media_type="application/json")


def require_found(value: Json | None, message: str) -> Json:
    """Return a value. Raises HTTPException (404) with `message`: it is `None`."""
    if value is None:
        raise HTTPException(404, message)
    return value


def json_bytes(content: object) -> bytes:
    """Return JSON as UTF-8; NaN and infinity become null, lone surrogates U+FFFD, other objects their text."""
    try:
        return to_json(content, inf_nan_mode="null", serialize_unknown=True)
    except ValueError:
        return _whole(json.dumps(jsonable(content), ensure_ascii=False)).encode()


def jsonable(content: object) -> Any:
    """Return JSON values as `json_bytes` does, but texts (not keys) keep their lone surrogates."""
    try:
        return to_jsonable_python(content, serialize_unknown=True)
    except ValueError:  # a lone surrogate in a key, a cycle, or too many levels
        return to_jsonable_python(_with_whole_keys(content, ()), serialize_unknown=True)


def _with_whole_keys(value: object, parents: tuple[int, ...]) -> object:
    if id(value) in parents or len(parents) == _DEEPEST:
        return "(a cycle, or too many levels)"
    inside = (*parents, id(value))
    if isinstance(value, dict):
        return {_whole(str(key)): _with_whole_keys(item, inside) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_whole_keys(item, inside) for item in value]
    return value


def _whole(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def wire(model: BaseModel) -> Json:
    """Return a model of the format as JSON."""
    document: Json = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return document


def event_json(event: Event, **identity: Any) -> Json:
    """Return an event of an agent; `identity`: its id, invocation and time."""
    return _event(wire(event), identity)


def stored_event_json(event: Mapping[str, Any]) -> Json:
    """Return an event of a result file or of a client, in either spelling."""
    actions = event.get("actions")
    known = {name: value for name, value in event.items() if name != "actions" and value is not None}
    try:
        document = wire(Event.model_validate(known))
    except ValidationError:
        document = known  # of another release, or edited: show it unchanged
    event_document = {
        name: value if to_camel(name) in _DATA or name in Event.model_fields else _camel(value)
        for name, value in document.items()
    }
    return _event(event_document, {}, actions if isinstance(actions, Mapping) else {})


_DATA = frozenset(("content", "customMetadata", "output", "stateDelta", "artifactDelta", "groundingMetadata"))
"""Values whose keys stay: they are already converted, or they are custom data."""


def _camel(value: object) -> object:
    if isinstance(value, dict):
        return {to_camel(str(key)): _camel(item) for key, item in value.items() if item is not None}
    return [_camel(item) for item in value] if isinstance(value, list) else value


def _event(document: Json, identity: Mapping[str, Any], actions: Mapping[str, Any] | None = None) -> Json:
    """Return an event with the action keys under `actions` and all others at the top level."""
    top = {to_camel(name): value for name, value in document.items()}
    lifted = {
        name: top.pop(name) for name in ("stateDelta", "artifactDelta", "skipSummarization") if name in top
    }
    own_actions = {to_camel(name): value for name, value in (actions or {}).items() if value is not None}
    top["actions"] = {**{name: {} for name in _ACTIONS}, **lifted, **own_actions}
    if "longRunningToolIds" not in top and _calls(top):
        top["longRunningToolIds"] = []
    author = top.get("author", "")
    top.setdefault("nodeInfo", {"path": "" if author == "user" else f"{author}@1"})
    return {**top, **identity}


def _calls(event: Mapping[str, Any]) -> bool:
    return any("functionCall" in part for part in parts_of(event))


def parts_of(event: Mapping[str, Any]) -> list[Json]:
    """Return the parts of an event's content; invalid content has none."""
    content = event.get("content")
    parts = content.get("parts") if isinstance(content, Mapping) else None
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def stored_session_json(session: Mapping[str, Any], app_name: str) -> Json:
    """Return a session of a result file as one of `app_name`."""
    return {
        "id": session.get("id") or "",
        "appName": app_name,
        "userId": session.get("user_id") or session.get("userId") or "",
        "state": session.get("state") or {},
        "events": [
            stored_event_json(event) for event in session.get("events") or () if isinstance(event, Mapping)
        ],
        "lastUpdateTime": session.get("last_update_time") or session.get("lastUpdateTime") or 0.0,
    }
