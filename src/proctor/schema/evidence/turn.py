"""One turn of a trial: the user's message, the events of the agent's answer, and its spans."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field

from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content
from proctor.schema.format.wire_model import WireModel


class SpanKind(StrEnum):
    """The kind of operation that a span describes."""

    AGENT = "agent"
    MODEL = "model"
    TOOL = "tool"
    STEP = "step"
    """Any other operation."""


class Span(WireModel):
    """One span of a turn. Texts are truncated and redacted when they become evidence."""

    id: str
    trace_id: str | None = None
    """The ids from the trace, in hex."""
    parent_id: str | None = None
    """The parent span; `None`, or the id of a missing span, for a root span of the turn."""
    name: str = ""
    kind: SpanKind = SpanKind.STEP
    agent: str | None = None
    """The agent, if the span names it."""
    started_at: float | None = None
    """Unix seconds."""
    duration: float | None = None
    """Seconds; `None` if the span did not end, or its clock was set during the span."""
    error: str | None = None
    """The error of the span; `None` if it succeeded."""
    call_id: str | None = None
    """For a tool span: the id of the function call."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    request: str | None = None
    """What a model was asked, or a tool called with: JSON, or text."""
    response: str | None = None
    attributes: dict[str, Any] = Field(default_factory=dict)
    """Further attributes of the span."""


class TurnTrace(WireModel):
    """The spans of one turn, ordered by start time."""

    spans: list[Span] = Field(default_factory=list)
    left_out: int = 0
    """Spans beyond those that are kept."""
    notes: list[str] = Field(default_factory=list)
    """What was truncated or replaced in the spans; this does not affect scores."""


class Turn(WireModel):
    """One user message and all events of the agent's answer."""

    user_content: Content
    events: list[Event] = Field(default_factory=list)
    started_at: float = 0.0
    """Unix seconds."""
    duration: float | None = None
    """Seconds by a monotonic clock, rounded to milliseconds."""
    model_duration: float | None = None
    tool_duration: float | None = None
    app_details: dict[str, Any] | None = None
    """Instructions and tools of the agents that answered, if the framework reports them by turn."""
    trace: TurnTrace | None = None
    """The spans of the turn, if it was traced."""
