"""OpenTelemetry spans of a turn, stored with the trial if the agent was traced."""

from enum import StrEnum
from typing import Any

from pydantic import Field

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
