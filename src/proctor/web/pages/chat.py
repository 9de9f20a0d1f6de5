"""A conversation with an agent: what was said and done, entry by entry, as it happens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content, Part
from proctor.schema.results.page_model import PageModel

MOST_TEXT = 100_000
"""Characters of one entry that are shown; the evidence has the rest."""


class ChatEntry(PageModel):
    """One thing in a conversation."""

    number: int
    """Counted from 1; what a stream goes on from."""
    exchange: int
    """The message that it belongs to, counted from 0."""
    kind: str
    """`user`, `text`, `thought`, `call`, `response`, `state`, `usage`, `media`, `note`, `failure`, `session`, `end`."""
    author: str
    text: str
    """What was said; the cause of a failure; what a note says."""
    partial: bool
    """A piece of a text whose whole follows."""
    name: str
    """Of the tool."""
    call_id: str
    value: Any
    """Arguments, a response, changed state, counts of tokens, the whole state of the session."""
    waits: bool
    """A call of a tool that takes long: it can be answered by hand."""
    seconds: float | None
    """Since the message was sent."""


class ChatPage(PageModel):
    """One conversation, as far as it is."""

    id: str
    agent: str
    state: str
    """`ready`, `answering`, `broken` (the agent lost its session: say all again, or begin anew)."""
    turns: int
    """Turns that would be kept in a case."""
    entries: list[ChatEntry]
    session_state: dict[str, Any]
    """As it was after the last turn."""
    initial_state: dict[str, Any]
    idle_seconds: float
    """After which nobody hears of it any more."""


class ChatSummary(PageModel):
    """One of the conversations that are open."""

    id: str
    agent: str
    state: str
    turns: int
    begins: str
    """The beginning of its first message."""


class ChatList(PageModel):
    """The conversations that are open."""

    items: list[ChatSummary]
    most: int
    """How many there may be."""


class ChatSaved(PageModel):
    """A conversation that has become a case."""

    eval_set: str
    path: str
    eval_id: str
    turns: int
    command: str
    """Does the same in a terminal."""
    warnings: list[str]
    """That a run would refuse the case because it asserts nothing, or that it is negative only."""


def chat_entry(number: int, exchange: int, kind: str, **more: Any) -> ChatEntry:
    """Return an entry; what is not given is empty."""
    given = {
        "author": "",
        "text": "",
        "partial": False,
        "name": "",
        "call_id": "",
        "value": None,
        "waits": False,
    }
    fields: dict[str, Any] = {**given, "seconds": None, **more}
    fields["text"], fields["value"] = shortened(fields["text"]), shortened_value(fields["value"])
    return ChatEntry(number=number, exchange=exchange, kind=kind, **fields)


def shortened(text: str) -> str:
    """Return a text as it is shown."""
    if len(text) <= MOST_TEXT:
        return text
    return f"{text[:MOST_TEXT]}… ({len(text) - MOST_TEXT:,} more characters)"


def shortened_value(value: Any) -> Any:
    """Return a value as it is shown: one that is too long, as the beginning of its text."""
    if value is None:
        return None
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return shortened(f"{type(value).__name__}, which is no JSON")
    return value if len(text) <= MOST_TEXT else shortened(text)


def entries_of(event: Event) -> Iterator[dict[str, Any]]:
    """Return what one event of an agent shows: the fields of an entry for each of its parts, with their `kind`."""
    waiting = set(event.long_running_tool_ids or ())
    for part in _parts(event.content):
        found = _of_part(part, waiting)
        if found is not None:
            yield {"author": event.author, "partial": bool(event.partial), **found}
    if event.state_delta:
        yield {"kind": "state", "author": event.author, "value": event.state_delta}
    if event.usage_metadata is not None:
        usage = event.usage_metadata.model_dump(mode="json", exclude_none=True)
        yield {"kind": "usage", "author": event.author, "value": usage, "text": event.model_version or ""}
    if event.error_code or event.error_message:
        said = ": ".join(text for text in (event.error_code, event.error_message) if text)
        yield {"kind": "failure", "author": event.author, "text": said}


def _parts(content: Content | None) -> list[Part]:
    return (content.parts if content is not None else None) or []


def _of_part(part: Part, waiting: set[str]) -> dict[str, Any] | None:
    if (call := part.function_call) is not None:
        name, its_id = call.name or "", call.id or ""
        return {
            "kind": "call",
            "name": name,
            "call_id": its_id,
            "value": call.args or {},
            "waits": its_id in waiting,
        }
    if (answer := part.function_response) is not None:
        return {
            "kind": "response",
            "name": answer.name or "",
            "call_id": answer.id or "",
            "value": answer.response,
        }
    if part.text:
        return {"kind": "thought" if part.thought else "text", "text": part.text}
    rest = part.model_dump(mode="json", exclude_none=True, exclude={"text", "thought", "thought_signature"})
    return {"kind": "media", "name": next(iter(rest)), "value": rest} if rest else None
