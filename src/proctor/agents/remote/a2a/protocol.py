"""The A2A protocol: agent cards, and the two dialects of its JSON-RPC: 1.0 (JSON of protocol buffers) and 0.3 with its predecessors.

Requests differ in names; responses of all versions are converted to one form.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from proctor.agents.base import AgentInfo
from proctor.agents.remote.http.address import Address
from proctor.agents.remote.http.client import HttpClient
from proctor.common.error_text import safe_repr
from proctor.common.json_values import Json, JsonObject
from proctor.errors import AgentError, AgentLoadError
from proctor.schema.format.content import Content, Part

_ADK_PARTS = ("function_call", "function_response", "executable_code", "code_execution_result")
"""Data parts of google-adk: their metadata has the type of the data."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one generation of the protocol names things."""

    version: str
    send: str
    stream: str
    get: str
    cancel: str
    role: str
    is_tagged: bool
    """Whether objects have a field `kind`."""

    def is_version(self, version: str) -> bool:
        """Whether this is the dialect of a version."""
        return version.startswith("1.") if self.version == "1.0" else version.startswith("0.")

    @property
    def headers(self) -> dict[str, str]:
        """What goes along with each request."""
        return {"A2A-Version": self.version}

    def message(self, content: Content, ids: Mapping[str, str]) -> JsonObject:
        """Return a user's message; `ids` are those of message, context and task.

        Raises:
            AgentError: the protocol has no form for a part of it.
        """
        parts: list[Json] = [self._part(part) for part in content.parts or ()]
        tag = {"kind": "message"} if self.is_tagged else {}
        return {**tag, "role": self.role, "parts": parts, **ids}

    def _part(self, part: Part) -> JsonObject:
        if part.text is not None:
            return {**self._tag("text"), "text": part.text}
        if part.function_response is not None:
            data = part.function_response.model_dump(mode="json", exclude_none=True)
            return {**self._tag("data"), "data": data, "metadata": {"adk_type": "function_response"}}
        if (blob := part.inline_data) is not None:
            raw = base64.b64encode(blob.data or b"").decode()
            if self.is_tagged:
                return {"kind": "file", "file": {"bytes": raw, "mimeType": blob.mime_type}}
            return {"raw": raw, "mediaType": blob.mime_type}
        if (file := part.file_data) is not None:
            if self.is_tagged:
                return {"kind": "file", "file": {"uri": file.file_uri, "mimeType": file.mime_type}}
            return {"url": file.file_uri, "mediaType": file.mime_type}
        kind = next(iter(part.model_dump(exclude_none=True)), "nothing")
        raise AgentError(f"the user's message has a part with {kind}, for which A2A has no form")

    def _tag(self, kind: str) -> dict[str, str]:
        return {"kind": kind} if self.is_tagged else {}


DIALECTS = (
    Dialect("1.0", "SendMessage", "SendStreamingMessage", "GetTask", "CancelTask", "ROLE_USER", is_tagged=False),
    Dialect("0.3", "message/send", "message/stream", "tasks/get", "tasks/cancel", "user", is_tagged=True),
)  # fmt: skip


def kind_of(result: Json) -> tuple[str, JsonObject | None]:
    """Return the kind of a result (`task`, `message`, `status-update` or `artifact-update`) and the result itself."""
    if not isinstance(result, dict):
        return "", None
    if isinstance(kind := result.get("kind"), str):
        return kind, result
    for name, kind in _KINDS.items():
        if isinstance(inner := result.get(name), dict):
            return kind, inner
    return "", None


_KINDS = {
    "task": "task",
    "message": "message",
    "statusUpdate": "status-update",
    "artifactUpdate": "artifact-update",
}


def task_state(status: Json) -> str:
    """Return the state of a task in the words of 0.3: `working`, `input-required`."""
    state = status.get("state") if isinstance(status, Mapping) else None
    if not isinstance(state, str):
        return ""
    return state.removeprefix("TASK_STATE_").lower().replace("_", "-")


def part_of(fields: Json) -> tuple[Part | None, bool]:
    """Read one part; whether it is the call of a long-running tool.

    Raises:
        pydantic.ValidationError: its content is invalid.
    """
    if not isinstance(fields, dict):
        return None, False
    metadata = adk_metadata(fields)
    if isinstance(text := fields.get("text"), str):
        return Part(text=text, thought=True if metadata.get("thought") else None), False
    if "data" in fields:
        return _data_part(fields["data"], metadata), bool(metadata.get("is_long_running"))
    return _file_part(fields), False


def _file_part(fields: JsonObject) -> Part | None:
    file = inner if isinstance(inner := fields.get("file"), dict) else fields  # 1.0 has its fields at the top
    kind = file.get("mediaType") or file.get("mimeType")
    if raw := file.get("raw") or file.get("bytes"):
        return Part.model_validate({"inline_data": {"data": raw, "mime_type": kind}})
    if uri := file.get("url") or file.get("uri"):
        return Part.model_validate({"file_data": {"file_uri": uri, "mime_type": kind}})
    return None


def _data_part(data: Json, metadata: Mapping[str, Json]) -> Part:
    data = whole(data)
    if metadata.get("type") in _ADK_PARTS:
        return Part.model_validate({metadata["type"]: data})
    return Part(text=json.dumps(data, ensure_ascii=False))


def adk_metadata(document: Mapping[str, Json]) -> JsonObject:
    """Return google-adk's metadata of an object, by its names: `author`, `usage_metadata`, `actions`."""
    metadata = document.get("metadata")
    if not isinstance(metadata, Mapping):
        return {}
    return {
        key.removeprefix("adk_"): whole(value) for key, value in metadata.items() if key.startswith("adk_")
    }


def whole(value: Json) -> Json:
    """Return JSON with whole numbers as such: protocol buffers know floats only, and `2` has become `2.0`."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {key: whole(item) for key, item in value.items()}
    return [whole(item) for item in value] if isinstance(value, list) else value


# --- The agent card of A2A: the address of an agent and its version of the protocol -----------------------------------


_KIND = "a2a+http"
_PLACES = (".well-known/agent-card.json", ".well-known/agent.json")
"""Where the card is; the second in versions before 0.3."""


@dataclass(frozen=True, slots=True)
class Card:
    """The content of a card."""

    rpc: Address
    """The URL for JSON-RPC. Always on the user's host: only the path comes from the card."""
    dialect: Dialect
    streams: bool
    name: str
    info: AgentInfo


async def read_card(address: Address) -> Card:
    """Fetch and parse the card of the agent at an address, or the card at that address.

    Raises:
        AgentLoadError: the server does not answer, has no card, or supports no known protocol.
    """
    card = await _fetch(address)
    if not isinstance(card, Mapping):
        raise AgentLoadError(
            f"The agent {_KIND}:{address.shown} has no agent card at {address.shown.rstrip('/')}/{_PLACES[0]}. "
            "Is it an A2A server? The address may also be that of its card."
        )
    interfaces = [*_interfaces(card)]
    for url, transport, version in interfaces:
        dialect = next((one for one in DIALECTS if one.is_version(version)), None)
        if transport.upper() == "JSONRPC" and dialect is not None:
            info = _info(address.hide_in_answer(card))
            return Card(
                rpc=address.at(urlsplit(url).path or "/"),
                dialect=dialect,
                streams=bool((_object(card, "capabilities")).get("streaming")),
                name=info.name,
                info=info,
            )
    known = ", ".join(f"{transport} {version}".strip() for _, transport, version in interfaces) or "nothing"
    raise AgentLoadError(
        f"The agent {_KIND}:{address.shown} speaks {known}; understood are JSONRPC in versions 0.2, 0.3 and 1."
    )


async def _fetch(address: Address) -> Json:
    places = [""] if address.path.endswith(".json") else [*_PLACES]
    if not address.path.endswith(".json") and address.path:
        places += [f"/{place}" for place in _PLACES]
    for place in places:
        http = HttpClient(address.at("") if place.startswith("/") else address)
        try:
            if isinstance(card := await http.glance(place), Mapping):
                return card
        finally:
            await http.close()
    return None


def _interfaces(card: Mapping[str, Json]) -> Iterator[tuple[str, str, str]]:
    """Yield URL, transport and version of an agent's interfaces, in the form of 1.0 and of 0.3."""
    version = _text(card, "protocolVersion") or "0.3"
    for interface in objects_of(card.get("supportedInterfaces")):
        interface_version = _text(interface, "protocolVersion") or version
        yield _text(interface, "url"), _text(interface, "protocolBinding"), interface_version
    if card.get("url"):
        yield _text(card, "url"), _text(card, "preferredTransport") or "JSONRPC", version
    for interface in objects_of(card.get("additionalInterfaces")):
        yield _text(interface, "url"), _text(interface, "transport"), version


def _text(fields: Mapping[str, Json], name: str) -> str:
    return str(fields.get(name) or "")


def _info(card: Mapping[str, Json]) -> AgentInfo:
    version = card.get("version")
    return AgentInfo(
        name=str(card.get("name") or "agent"),
        description=str(card.get("description") or ""),
        version=version if isinstance(version, str) else None,
        has_more_tools=True,  # skills are no tools
    )


def parts_of(message: Mapping[str, Json]) -> list[Json]:
    """Return the parts of a message or of an artifact, as JSON."""
    parts = message.get("parts")
    return parts if isinstance(parts, list) else []


def _object(card: Mapping[str, Json], key: str) -> Mapping[str, Json]:
    value = card.get(key)
    if value is not None and not isinstance(value, Mapping):
        raise AgentLoadError(
            f"The agent card of {card.get('name')!r}: {key} is {safe_repr(value)}; expected an object."
        )
    return value or {}


def objects_of(value: object) -> list[Mapping[str, Json]]:
    """Return the objects in a list; empty for any other value."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
