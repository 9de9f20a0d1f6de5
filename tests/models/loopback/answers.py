"""What a test may have the server answer, and what it sees of each request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Protocol = Literal["openai-chat", "openai-responses", "gemini", "anthropic", "bedrock"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request, as it arrived."""

    number: int
    """From 0, in the order of arrival."""
    protocol: Protocol
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Mapping[str, Any]
    model: str
    text: str
    """All messages to the model, the system's instructions first, joined by line breaks."""
    schema: Mapping[str, Any] | None
    """The JSON Schema of the answer wanted, by whichever way it was asked for."""
    tool: str | None
    """The name of the tool through which the answer is wanted; `None` where a schema or plain text is."""
    at: float
    """When it arrived, by the monotonic clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A proper answer of the protocol that was asked."""

    text: str = ""
    data: Any = None
    """The answer as data: sent the way it was asked for (schema or tool call); goes before `text`."""
    finish: Literal["stop", "length", "content_filter", "refusal", "blocked"] = "stop"
    """`blocked`: a filter refused the prompt itself, and there is no candidate (Gemini's word)."""
    model: str = ""
    """The model named in the answer; by default the requested one."""
    tokens: tuple[int, int] | None = (10, 5)
    """Input and output; `None`: not reported."""
    cached_tokens: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Any other status."""

    code: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """The raw body; `None`: an error in the form of the protocol."""
    message: str = "scripted"
    error: str = ""
    """The provider's own code for the error, such as `insufficient_quota`."""
    delay: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaks:
    """What no protocol foresees.

    - `reset`: the connection is reset instead of an answer;
    - `closed`: it is closed without one;
    - `truncated`: a proper answer that ends in the middle, and the connection with it;
    - `half_json`: status 200 and half of a JSON document, complete as HTTP;
    - `html`: status 200 and a page; `garbage`: status 200 and bytes that are no JSON, under JSON's content type;
    - `other_json`: status 200 and a JSON object that is not an answer; `nothing`: status 200 and no body;
    - `hangs`: the request is read, and nothing ever comes; `trickles`: one byte a second.
    """

    how: Literal[
        "reset",
        "closed",
        "truncated",
        "half_json",
        "html",
        "garbage",
        "other_json",
        "nothing",
        "hangs",
        "trickles",
    ]
    delay: float = 0.0


Answer = Completion | Status | Breaks
