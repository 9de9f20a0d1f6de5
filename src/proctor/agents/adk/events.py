"""Events of google-adk read as ours: its objects, and the JSON that its servers send."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic_core import to_jsonable_python

from proctor.agents.frameworks.framework_events import incomplete_event
from proctor.common.secrets import HIDDEN
from proctor.schema.evidence.event import Event
from proctor.schema.format.wire_model import either, plain_data, to_camel

if TYPE_CHECKING:
    from google.adk.events import Event as AdkEvent

    from proctor.common.json_values import Json

T = TypeVar("T")

_OF_ACTIONS = frozenset({"state_delta", "skip_summarization"})
_KEPT = (*(name for name in Event.model_fields if name not in _OF_ACTIONS), "output")
"""Fields at the top of google-adk's events. The two other fields of Proctor are under `actions`."""
_ONLY_OF_WHOLES = ("usage_metadata", "model_version", "long_running_tool_ids")

CREDENTIAL = "adk_request_credential"
"""The call with which google-adk requests a credential; its arguments contain the configuration of the app."""
_SECRETS = frozenset(
    "client_secret access_token refresh_token id_token api_key password token auth_code code_verifier private_key"
    " private_key_id auth_response_uri nonce".split()
)
_SECRET_KEYS = _SECRETS | {to_camel(name) for name in _SECRETS}


def event_of(event: AdkEvent) -> Event:
    """Convert an event of google-adk: the content, and the state changes and flags of its actions."""
    actions = event.actions
    return _event(
        lambda name: plain_data(getattr(event, name, None)),
        lambda name: None if actions is None else plain_data(getattr(actions, name, None)),
    )


def event_of_json(event: Mapping[str, object]) -> Event:
    """Read the JSON of such an event, in either spelling.

    Raises:
        pydantic.ValidationError: a field has the wrong type.
    """
    actions = either(event, "actions")
    known = actions if isinstance(actions, Mapping) else {}
    return _event(lambda name: either(event, name), lambda name: either(known, name))


class LastAnswer:
    """Whether the last answer of a model in a turn is whole, by why it ended."""

    def __init__(self) -> None:
        self._finish: object = None
        self._author = ""

    def note(self, event: Event, finish: object) -> None:
        """Take one event of the turn, and google-adk's `finish_reason` of it."""
        if finish is not None and not event.partial:
            self._finish, self._author = getattr(finish, "value", finish), event.author
        if event.error_code:  # google-adk reports the error itself
            self._finish = None

    def incomplete_event(self) -> Event | None:
        """Return the event that ends a turn with an incomplete answer; `None` if it is complete."""
        return incomplete_event(self._finish, self._author)


def finish_reason_of(event: Mapping[str, Json]) -> Json:
    """Return the finish reason in the JSON of an event; `None` if there is none."""
    return either(event, "finish_reason")


def lasting(state: Mapping[str, T]) -> dict[str, T]:
    """Return a session's state without the keys of a single turn."""
    return {key: value for key, value in state.items() if not key.startswith("temp:")}


def _event(get: Callable[[str], Any], act: Callable[[str], Any]) -> Event:
    fields = {name: value for name in _KEPT if (value := get(name)) is not None}
    if (waiting := fields.pop("long_running_tool_ids", None)) and isinstance(waiting, set | list | tuple):
        fields["long_running_tool_ids"] = sorted(waiting)  # a set there
    if changed := lasting(act("state_delta") or {}):
        fields["state_delta"] = changed
    if act("skip_summarization"):
        fields["skip_summarization"] = True
    if artifacts := act("artifact_delta"):
        fields["artifact_delta"] = artifacts  # names and versions of saved artifacts
    if "output" in fields:  # the output of a workflow node
        fields["output"] = to_jsonable_python(fields["output"], serialize_unknown=True)
    return Event.model_validate(_as_piece(fields))


def _as_piece(fields: dict[str, Any]) -> dict[str, Any]:
    """Hide credentials; of a piece of an answer, leave out what the whole answer repeats."""
    if isinstance(content := fields.get("content"), dict):
        fields["content"] = _content(content, is_piece=bool(fields.get("partial")))
    if fields.get("partial"):
        for name in _ONLY_OF_WHOLES:
            fields.pop(name, None)
    return fields


def _content(content: dict[str, Any], *, is_piece: bool) -> dict[str, Any]:
    """Leave out pieces of calls, for the whole call follows and would count again; hide credentials."""
    if not (all_parts := content.get("parts")):
        return content
    parts = [_without_credentials(part) for part in all_parts]
    if is_piece:
        parts = [part for part in parts if not (isinstance(part, dict) and either(part, "function_call"))]
    return {**content, "parts": parts}


def _without_credentials(part: object) -> object:
    if not isinstance(part, dict):
        return part
    for name in ("function_call", "function_response", "functionCall", "functionResponse"):
        inside = part.get(name)
        if isinstance(inside, dict) and inside.get("name") == CREDENTIAL:
            return {**part, name: _hidden(inside)}
    return part


def without_secrets(document: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of an event, or of a session, without the credentials in it: of their calls, requests and answers."""
    result = dict(document)
    if isinstance(content := result.get("content"), dict):
        result["content"] = _content(content, is_piece=False)
    if isinstance(actions := result.get("actions"), dict):
        result["actions"] = {
            name: _hidden(value) if name in _OF_CREDENTIALS else value for name, value in actions.items()
        }
    return result


_OF_CREDENTIALS = frozenset(("requestedAuthConfigs", "requested_auth_configs"))


def _hidden(value: object) -> object:
    if isinstance(value, dict):
        return {
            key: HIDDEN
            if key in _SECRET_KEYS and item and not isinstance(item, dict | list)
            else _hidden(item)
            for key, item in value.items()
        }
    return [_hidden(item) for item in value] if isinstance(value, list) else value
