"""What was timed inside of a turn, where somebody traced it: OpenTelemetry spans, as they are kept with a trial."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from proctor.schema.format.wire_model import WireModel


class SpanKind(StrEnum):
    """What a span is about."""

    AGENT = "agent"
    MODEL = "model"
    TOOL = "tool"
    STEP = "step"
    """Anything else that was traced."""


class Span(WireModel):
    """One timed thing of a turn. Texts are bounded and without secrets once they are evidence."""

    id: str
    trace_id: str | None = None
    """Both as the tracing itself has them, in hex."""
    parent_id: str | None = None
    """The span around it; `None`, or one that is not there, for the outermost of the turn."""
    name: str = ""
    kind: SpanKind = SpanKind.STEP
    agent: str | None = None
    """The agent that it belongs to, where the span says it."""
    started_at: float | None = None
    """Unix seconds."""
    duration: float | None = None
    """Seconds; `None` where it never ended, or its clock was set meanwhile."""
    error: str | None = None
    """The error that it ended in; `None` where it ended well."""
    call_id: str | None = None
    """Of a tool: the id of the call that it was executed for."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    request: str | None = None
    """What a model was asked, or a tool called with: JSON, or text."""
    response: str | None = None
    attributes: dict[str, Any] = Field(default_factory=dict)
    """What else it says."""


class TurnTrace(WireModel):
    """The spans of one turn, in order of time."""

    spans: list[Span] = Field(default_factory=list)
    left_out: int = 0
    """Spans beyond those that are kept."""
    notes: list[str] = Field(default_factory=list)
    """What was cut or replaced in them; nothing of it touches what is judged."""
