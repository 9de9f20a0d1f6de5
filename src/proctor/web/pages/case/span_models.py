"""The models of the page that shows a trial over time."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from proctor.schema.format.wire_model import PageModel
from proctor.web.pages.case.texts import Clip

__all__ = ["AgentPart", "AttributePart", "SpanPart", "SpansPage", "Timing"]

Timing = Literal["clock", "events", "span", "none"]
"""`clock`: measured; `events`: between the times of two events; `span`: traced; `none`: not recorded."""


class AttributePart(PageModel):
    """An attribute of a span other than request and response."""

    name: str
    value: Clip


class SpanPart(PageModel):
    """One bar of the waterfall."""

    kind: Literal["turn", "agent", "model", "tool", "step", "event"]
    """`step`: any other traced operation."""
    name: str
    depth: int
    """0: a turn."""
    turn: int
    call: int | None
    """The index of a tool's call among the calls of the turn, from 0; for a traced model that of the first call that it
    requested."""
    author: str
    start: float | None
    """Seconds since the trial began."""
    seconds: float | None
    timing: Timing
    failed: bool
    input_tokens: int | None
    output_tokens: int | None
    request: Clip | None
    """The new part of the request: the user's message, responses of tools; for a tool its call. A traced request is
    complete."""
    response: Clip | None
    error: Clip | None = None
    attributes: list[AttributePart] = Field(default_factory=list)
    """The attributes of a traced span."""


class AgentPart(PageModel):
    """An agent's instructions and tools."""

    name: str
    instructions: Clip | None
    tools: list[str]


class SpansPage(PageModel):
    """A trial over time."""

    run_id: str
    position: int
    number: int
    seconds: float | None
    """The duration of the trial."""
    told: str
    """A sentence about the source of the times."""
    spans: list[SpanPart]
    cut: list[str] = Field(default_factory=list)
    """Notes about traced spans that are missing or shortened."""
    agents: list[AgentPart]
    """The agent's description of itself; empty if there is none."""
