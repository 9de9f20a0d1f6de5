"""A conversation with an agent on the page, as a list of entries that grows while the agent answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator

from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Part
from proctor.schema.format.wire_model import PageModel

MOST_TEXT = 100_000
"""The characters of one entry that the page shows; the evidence has the rest."""


def shorten_text(text: str) -> str:
    """Return a text, or the part of it that the page shows."""
    if len(text) <= MOST_TEXT:
        return text
    return f"{text[:MOST_TEXT]}… ({len(text) - MOST_TEXT:,} more characters)"


def shorten_value(value: object) -> object:
    """Return a value; one that is too long becomes the beginning of its JSON text."""
    if value is None:
        return None
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return shorten_text(f"{type(value).__name__}, which cannot be written as JSON")
    return value if len(text) <= MOST_TEXT else shorten_text(text)


class ChatEntry(PageModel):
    """One entry of a conversation. Long texts and values are shortened."""

    number: int
    """Counted from 1; a stream resumes after a number."""
    exchange: int
    """The user's message to which it belongs, counted from 0."""
    kind: str
    """`user`, `text`, `thought`, `call`, `response`, `state`, `usage`, `media`, `note`, `failure`, `session`, `end`."""
    author: str = ""
    text: Annotated[str, AfterValidator(shorten_text)] = ""
    """The text of a message, of a failure or of a note."""
    partial: bool = False
    """A part of a text; the complete text follows."""
    name: str = ""
    """The tool's name."""
    call_id: str = ""
    value: Annotated[Any, AfterValidator(shorten_value)] = None
    """Arguments, a response, changed state, token counts, or the whole state of the session."""
    waits: bool = False
    """A call of a long-running tool, which a person can answer."""
    seconds: float | None = None
    """The time since the message was sent."""


class ChatPage(PageModel):
    """One conversation, as far as it has come."""

    id: str
    agent: str
    state: str
    """`ready`, `answering`, or `broken` (the agent lost its session: replay the messages, or start a new conversation)."""
    turns: int
    """The number of turns that a case would contain."""
    entries: list[ChatEntry]
    session_state: dict[str, Any]
    """The state after the last turn."""
    initial_state: dict[str, Any]
    idle_seconds: float
    """The idle time after which the conversation is closed."""


class ChatSummary(PageModel):
    """One of the open conversations."""

    id: str
    agent: str
    state: str
    turns: int
    begins: str
    """The beginning of its first message."""


class ChatList(PageModel):
    """The open conversations."""

    items: list[ChatSummary]
    most: int
    """The most open conversations."""


class ChatSaved(PageModel):
    """A conversation that was saved as a case."""

    eval_set: str
    path: str
    eval_id: str
    turns: int
    command: str
    """The equivalent command."""
    warnings: list[str]
    """The case asserts nothing, so that a run would refuse it; or it is negative only."""


def entries_of(event: Event) -> Iterator[dict[str, Any]]:
    """Yield the entries of an event (their fields, with `kind`): one for each part, state change, usage and error."""
    waiting = set(event.long_running_tool_ids or ())
    for part in (event.content.parts or ()) if event.content is not None else ():
        if (fields := _part_fields(part, waiting)) is not None:
            yield {"author": event.author, "partial": bool(event.partial), **fields}
    if event.state_delta:
        yield {"kind": "state", "author": event.author, "value": event.state_delta}
    if event.usage_metadata is not None:
        usage = event.usage_metadata.model_dump(mode="json", exclude_none=True)
        yield {"kind": "usage", "author": event.author, "value": usage, "text": event.model_version or ""}
    if error := ": ".join(filter(None, (event.error_code, event.error_message))):
        yield {"kind": "failure", "author": event.author, "text": error}


def _part_fields(part: Part, waiting: set[str]) -> dict[str, Any] | None:
    if (call := part.function_call) is not None:
        fields: dict[str, Any] = {"name": call.name or "", "call_id": call.id or "", "value": call.args or {}}
        return {"kind": "call", **fields, "waits": call.id in waiting}
    if (answer := part.function_response) is not None:
        fields = {"name": answer.name or "", "call_id": answer.id or "", "value": answer.response}
        return {"kind": "response", **fields}
    if part.text:
        return {"kind": "thought" if part.thought else "text", "text": part.text}
    rest = part.model_dump(mode="json", exclude_none=True, exclude={"text", "thought", "thought_signature"})
    return {"kind": "media", "name": next(iter(rest)), "value": rest} if rest else None
