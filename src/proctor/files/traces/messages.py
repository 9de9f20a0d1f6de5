"""Messages of every spelling as contents of the format: role and parts.

Read: the GenAI conventions' `{role, parts: [{type, …}]}`, google-genai's contents, OpenAI's chat messages, OpenInference's and
OpenLLMetry's flattened attributes. What a message should have and has not (contents are not captured by default, and long
attributes are cut) is recorded in `TraceMessage.lost`, never guessed.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

ELIDED = "<elided>"
"""What google-adk writes in place of contents that are not captured."""

NOT_CAPTURED = "its contents were not captured"
CUT = "its contents were cut on the way"


@dataclass(slots=True)
class TraceMessage:
    """One message; parts in the format's own words."""

    role: str
    """`user`, `model`, `system` or `tool`."""
    parts: list[dict[str, Any]] = field(default_factory=list)
    lost: str = ""
    """Why something in it is missing."""
    finish: str = ""
    """The finish reason, if it is stated."""

    @property
    def has_content(self) -> bool:
        """Whether it has content other than tool responses."""
        return any("function_response" not in part for part in self.parts)

    @property
    def text(self) -> str:
        """Its texts, thoughts left out."""
        return "\n".join(part["text"] for part in self.parts if part.get("text") and not part.get("thought"))


def decode_json_text(value: object) -> Any:
    """Return what a JSON text holds, and anything else as it is.

    Raises:
        ValueError: it begins like JSON and does not go on so: it was cut.
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    return from_json(value)


def read_messages(value: object, role: str = "user") -> list[TraceMessage] | None:
    """Read messages from what an attribute holds: a list, one message, a text. `None`: nothing was captured."""
    try:
        value = decode_json_text(value)
    except ValueError:
        return [TraceMessage(role, lost=CUT)]
    if value is None or value in ("", ELIDED):
        return None
    if isinstance(value, Mapping) and isinstance(value.get("messages"), list):
        value = value["messages"]
    if not isinstance(value, list):
        return [read_message(value, role)]
    return [read_message(one, role) for one in value]


def read_message(value: object, role: str = "user") -> TraceMessage:
    """Read one message of any spelling; `role` is its role where it has none."""
    if isinstance(value, str):
        return TraceMessage(role, [{"text": value}])
    if not isinstance(value, Mapping):
        return TraceMessage(role, lost=NOT_CAPTURED)
    inner = value.get("message")
    if isinstance(inner, Mapping):  # as `gen_ai.choice` and OpenAI's choices have it
        return read_message({**value, **inner, "message": None}, role)
    return _message(value, role)


def _message(fields: Mapping[str, object], role: str) -> TraceMessage:
    stated_role = fields.get("role") or _LANGCHAIN.get(str(fields.get("type")))
    content, role = _content_and_role(fields, _role(stated_role, role))
    finish = fields.get("finish_reason")
    message = TraceMessage(role, finish=finish if isinstance(finish, str) else "")
    calls = _calls_in(fields)
    if content is None and not calls and ("content" not in fields or message.role in ("user", "tool")):
        message.lost = NOT_CAPTURED
    _read_content(message, content, fields)
    for call in calls:
        _read_call(message, call)
    if message.role == "user" and any("function_call" in part for part in message.parts):
        message.role = "model"  # users do not call tools, whichever role is stated
    return message


def _content_and_role(fields: Mapping[str, object], role: str) -> tuple[object, str]:
    """Return the content of a message, and its role, which a nested content may replace."""
    content = fields.get("content")
    if content is None:
        return fields.get("parts"), role
    if isinstance(content, Mapping) and "parts" in content:  # google-genai's content inside of a message
        return content["parts"], _role(content.get("role"), role)
    return content, role


def _calls_in(fields: Mapping[str, object]) -> list[object]:
    """Return the calls outside of the content: in the present form, the former one, and that of LangChain."""
    more = fields.get("additional_kwargs")
    for one in (fields, more if isinstance(more, Mapping) else {}):
        if calls := listed(one.get("tool_calls")) or listed(one.get("function_call")):
            return calls
    return []


_ROLES = {
    "assistant": "model",
    "model": "model",
    "ai": "model",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}


_LANGCHAIN = {"human": "user", "ai": "model", "system": "system", "tool": "tool"}
"""LangChain's message types, which replace roles."""


def _role(role: object, otherwise: str) -> str:
    return _ROLES.get(str(role).lower(), "user") if role else otherwise


def _read_content(message: TraceMessage, content: object, fields: Mapping[str, object]) -> None:
    if content == ELIDED:
        message.lost = NOT_CAPTURED
    elif message.role == "tool" and not _has_parts(content):
        if content is not None:
            name, its_id = fields.get("name"), fields.get("tool_call_id", fields.get("id"))
            message.parts.append(response_part(name, its_id, content))
    elif isinstance(content, str):
        message.parts += [{"text": content}] if content else []
    else:
        for part in listed(content):
            _read_part(message, part)


def _has_parts(content: object) -> bool:
    """Whether a tool response consists of parts; any other list is the response itself."""
    return isinstance(content, list) and any(
        isinstance(one, Mapping)
        and (one.get("type") in _ANSWERS or one.keys() & {"function_response", "functionResponse"})
        for one in content
    )


_ANSWERS = ("tool_call_response", "tool_result")


def listed(value: object) -> list[object]:
    """Return a list unchanged, and any other value as the only item of a list."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _read_part(message: TraceMessage, part: object) -> None:
    if isinstance(part, str):
        message.parts.append({"text": part})
        return
    if not isinstance(part, Mapping):
        message.lost = message.lost or NOT_CAPTURED
        return
    kind = part.get("type")
    reader = _BY_TYPE.get(kind) if isinstance(kind, str) else _add_genai_part
    if reader is None and (isinstance(part.get("function"), Mapping) or _is_call(part)):
        _read_call(message, part)
        return
    if reader is None:  # a kind that the conventions do not define
        message.parts.append({"part_metadata": {"type": kind}})
        return
    reader(message, part)


def _is_call(part: Mapping[str, object]) -> bool:
    return "name" in part and any(name in part for name in _ARGUMENTS)


def _add_text(message: TraceMessage, part: Mapping[str, object]) -> None:
    text = part.get("content", part.get("text"))
    if not isinstance(text, str) or text == ELIDED:
        message.lost = message.lost or NOT_CAPTURED
        return
    thought = {"thought": True} if part["type"] in ("reasoning", "thinking") else {}
    message.parts.append({"text": text, **thought})


def _read_call(message: TraceMessage, call: object) -> None:
    if not isinstance(call, Mapping):
        message.lost = message.lost or NOT_CAPTURED
        return
    inner = call.get("tool_call", call)
    inner = inner if isinstance(inner, Mapping) else {}
    function = inner.get("function")
    fields = {**inner, **function} if isinstance(function, Mapping) else inner
    _add_call(message, fields)


def _add_call(message: TraceMessage, part: Mapping[str, object]) -> None:
    """A call; `args` is null where they were not captured, which the span of its tool may make good."""
    name, its_id = part.get("name"), part.get("id")
    args, lost = read_arguments(next((part[key] for key in _ARGUMENTS if key in part), _ABSENT))
    if lost == CUT:
        message.lost = CUT
    call = {"id": str(its_id) if its_id else None, "name": str(name or ""), "args": args}
    message.parts.append({"function_call": call})


_ABSENT = object()
_ARGUMENTS = ("arguments", "args", "input")


def read_arguments(value: object) -> tuple[dict[str, Any] | None, str]:
    """Return the arguments of a call, and why they are not known where they are not."""
    if value is _ABSENT or value == ELIDED:
        return None, NOT_CAPTURED
    try:
        value = decode_json_text(value)
    except ValueError:
        return None, CUT
    if value is None or value == "":
        return {}, ""
    if isinstance(value, Mapping):
        return dict(value), ""
    return {"value": value}, ""


def _add_response(message: TraceMessage, part: Mapping[str, object]) -> None:
    answer = next((part[name] for name in ("response", "result", "content") if name in part), _ABSENT)
    if answer is _ABSENT or answer == ELIDED:
        return  # the tool's own span contains its response, too
    message.parts.append(response_part(part.get("name"), part.get("id", part.get("tool_call_id")), answer))


def response_part(name: object, its_id: object, response: object) -> dict[str, object]:
    """Return a tool response as a part; a value that is not an object becomes `result`, as in google-adk."""
    identity = {"id": str(its_id) if its_id else None, "name": str(name) if name else None}
    return {"function_response": {**identity, "response": read_response(response)}}


def read_response(value: object) -> dict[str, object]:
    """Return what a tool answered as an object."""
    with suppress(ValueError):  # a text that begins like JSON
        value = decode_json_text(value)
    return dict(value) if isinstance(value, Mapping) else {"result": value}


def _add_media(message: TraceMessage, part: Mapping[str, object]) -> None:
    """Media, inline or by address; of such whose bytes were not kept, the kind remains."""
    mime = part.get("mime_type") or part.get("media_type") or part.get("modality")
    mime = str(mime) if mime else None
    uri = next((part[name] for name in ("uri", "file_uri", "url", "file_id") if part.get(name)), None)
    data = part.get("content", part.get("data"))
    if isinstance(data, str) and _is_base64(data):
        message.parts.append({"inline_data": {"data": data, "mime_type": mime}})
    else:
        message.parts.append({"file_data": {"file_uri": str(uri) if uri else None, "mime_type": mime}})


def _is_base64(data: str) -> bool:
    try:
        return bool(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError):
        return False


_BY_TYPE = {
    "text": _add_text, "input_text": _add_text, "output_text": _add_text, "reasoning": _add_text, "thinking": _add_text,
    "tool_call": _add_call, "tool_use": _add_call, "function_call": _add_call,
    "tool_call_response": _add_response, "tool_result": _add_response,
    "blob": _add_media, "file": _add_media, "uri": _add_media, "file_data": _add_media, "image_url": _add_media,
}  # fmt: skip


def _add_genai_part(message: TraceMessage, part: Mapping[str, object]) -> None:
    """A part in google-genai's words, in either spelling of the keys."""
    call = part.get("function_call", part.get("functionCall"))
    answer = part.get("function_response", part.get("functionResponse"))
    if isinstance(call, Mapping):
        _add_call(message, {"args": {}, **call})
    elif isinstance(answer, Mapping):
        message.parts.append(response_part(answer.get("name"), answer.get("id"), answer.get("response")))
    elif isinstance(text := part.get("text"), str):
        message.parts.append(
            {"text": text, "thought": True} if part.get("thought") is True else {"text": text}
        )
    elif part.keys() & {"inline_data", "inlineData", "file_data", "fileData"}:
        inner = next(
            value
            for key, value in part.items()
            if key in ("inline_data", "inlineData", "file_data", "fileData")
        )
        _add_media(message, inner if isinstance(inner, Mapping) else {})
    else:
        message.lost = message.lost or NOT_CAPTURED


# --- messages with an attribute for each part (OpenInference, OpenLLMetry) --------------------------------------------


def unflattened(attributes: Mapping[str, object], prefix: str) -> list[object] | None:
    """Return the list that `prefix.0.x`, `prefix.1.y` … spell; `None` where there is none of these."""
    tree: dict[str, object] = {}
    for name, value in attributes.items():
        if name.startswith(f"{prefix}."):
            _plant(tree, name[len(prefix) + 1 :].split(".")[:_DEEPEST], value)
    return _as_lists(tree, 0) if tree and _is_list(tree) else None


_DEEPEST = 12


def _plant(tree: dict[str, object], steps: list[str], value: object) -> None:
    for step in steps[:-1]:
        below = tree.setdefault(step, {})
        if not isinstance(below, dict):
            return  # two attributes that contradict each other
        tree = below
    tree.setdefault(steps[-1], value)


def _is_list(tree: dict[str, object]) -> bool:
    return all(key.isascii() and key.isdigit() and len(key) < _DEEPEST for key in tree)


def _as_lists(tree: object, depth: int) -> Any:
    if not isinstance(tree, dict) or depth > _DEEPEST or not tree:
        return tree
    if _is_list(tree):
        return list(_items(tree, depth))
    return {key: _as_lists(value, depth + 1) for key, value in tree.items()}


def _items(tree: dict[str, object], depth: int) -> Iterator[object]:
    """The items of a list, in order, and one `None` for those that are missing before an item."""
    before = -1
    for key in sorted(tree, key=int):
        if int(key) > before + 1:
            yield None
        before = int(key)
        yield _as_lists(tree[key], depth + 1)


def has_gaps(unflat: object) -> bool:
    """Whether an item is missing in a list that was spelled by attributes, however deep."""
    inner = unflat.values() if isinstance(unflat, dict) else unflat if isinstance(unflat, list) else ()
    return any(one is None or has_gaps(one) for one in inner)


def of_openinference(items: Iterable[object]) -> list[TraceMessage]:
    """Read OpenInference's messages: `message.content`, `message.tool_calls.0.tool_call.function.name` …"""
    messages = []
    for one in items:
        inner = one.get("message") if isinstance(one, dict) else None
        fields: dict[str, object] = dict(inner) if isinstance(inner, dict) else {}
        contents = fields.pop("contents", None)
        if contents and not fields.get("content"):
            parts = [part.get("message_content") for part in listed(contents) if isinstance(part, dict)]
            fields["content"] = [{**part, "type": _kind(part)} for part in parts if isinstance(part, dict)]
        messages.append(read_message(fields))
    return messages


def _kind(part: Mapping[str, object]) -> str:
    return "text" if "text" in part else "image_url"
