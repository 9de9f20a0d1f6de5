"""The two dialects of A2A's JSON-RPC: 1.0 (JSON of protocol buffers), and 0.3 with all before it.

Requests differ in names; responses of all versions are converted to one form.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proctor.errors import AgentError
from proctor.schema.format.content import Content, Part
from proctor.schema.format.wire_model import to_camel

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

    def speaks(self, version: str) -> bool:
        """Whether this is the dialect of a version."""
        return version.startswith("1.") if self.version == "1.0" else version.startswith("0.")

    @property
    def headers(self) -> dict[str, str]:
        """What goes along with each request."""
        return {"A2A-Version": self.version}

    def message(self, content: Content, ids: Mapping[str, str]) -> dict[str, Any]:
        """Return a user's message; `ids` are those of message, context and task.

        Raises:
            AgentError: the protocol has no form for a part of it.
        """
        parts = [self._part(part) for part in content.parts or ()]
        tag = {"kind": "message"} if self.is_tagged else {}
        return {**tag, "role": self.role, "parts": parts, **ids}

    def _part(self, part: Part) -> dict[str, Any]:
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


def kind_of(result: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the kind of a result (`task`, `message`, `status-update` or `artifact-update`) and the result itself."""
    if isinstance(kind := result.get("kind"), str):
        return kind, result
    for name, kind in _KINDS.items():
        if name in result:
            return kind, result[name]
    return "", None


_KINDS = {
    "task": "task",
    "message": "message",
    "statusUpdate": "status-update",
    "artifactUpdate": "artifact-update",
}


def state_of(status: Any) -> str:
    """Return the state of a task in the words of 0.3: `working`, `input-required`."""
    said = status.get("state") if isinstance(status, Mapping) else None
    if not isinstance(said, str):
        return ""
    return said.removeprefix("TASK_STATE_").lower().replace("_", "-")


def part_of(given: Any) -> tuple[Part | None, bool]:
    """Read one part; whether it is the call of a long-running tool.

    Raises:
        pydantic.ValidationError: its content is invalid.
    """
    if not isinstance(given, Mapping):
        return None, False
    told = adk_metadata(given)
    if isinstance(text := given.get("text"), str):
        return Part(text=text, thought=True if told.get("thought") else None), False
    if "data" in given:
        return _of_data(given["data"], told), bool(told.get("is_long_running"))
    file = given.get("file")
    file = file if isinstance(file, Mapping) else given
    kind = file.get("mediaType") or file.get("mimeType")
    if raw := file.get("raw") or file.get("bytes"):
        return Part.model_validate({"inline_data": {"data": raw, "mime_type": kind}}), False
    if uri := file.get("url") or file.get("uri"):
        return Part.model_validate({"file_data": {"file_uri": uri, "mime_type": kind}}), False
    return None, False


def _of_data(data: Any, told: Mapping[str, Any]) -> Part:
    data = whole(data)
    if told.get("type") in _ADK_PARTS:
        return Part.model_validate({told["type"]: data})
    return Part(text=json.dumps(data, ensure_ascii=False))


def adk_metadata(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return google-adk's metadata of an object, by its names: `author`, `usage_metadata`, `actions`."""
    metadata = given.get("metadata")
    if not isinstance(metadata, Mapping):
        return {}
    return {
        key.removeprefix("adk_"): whole(value) for key, value in metadata.items() if key.startswith("adk_")
    }


def whole(value: Any) -> Any:
    """Return JSON with whole numbers as such: protocol buffers know floats only, and `2` has become `2.0`."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {key: whole(item) for key, item in value.items()}
    return [whole(item) for item in value] if isinstance(value, list) else value


def either(given: Mapping[str, Any], name: str) -> Any:
    """Return a field by either spelling of its name."""
    found = given.get(to_camel(name))
    return given.get(name) if found is None else found
