"""What the page of a trial over time is made of."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from proctor.schema.results.page_model import PageModel
from proctor.web.pages.case.texts import Clip

__all__ = ["AgentPart", "AttributePart", "SpanPart", "SpansPage", "Timing"]

Timing = Literal["clock", "events", "span", "none"]
"""`clock`: measured; `events`: between the times of two events; `span`: traced; `none`: not recorded."""


class AttributePart(PageModel):
    """What a span says besides what was asked and answered."""

    name: str
    value: Clip


class SpanPart(PageModel):
    """One bar of the waterfall."""

    kind: Literal["turn", "agent", "model", "tool", "step", "event"]
    """`step`: whatever else was traced."""
    name: str
    depth: int
    """0: a turn."""
    turn: int
    call: int | None
    """The place of a tool's call in the turn, from 0, as the steps of the conversation have it; of a traced model that of
    the first call that it asked for."""
    author: str
    start: float | None
    """Seconds since the trial began."""
    seconds: float | None
    timing: Timing
    failed: bool
    input_tokens: int | None
    output_tokens: int | None
    request: Clip | None
    """What was new to whoever was asked: the user's message, answers of tools; of a tool its call. Where it was traced, all
    that was asked."""
    response: Clip | None
    error: Clip | None = None
    attributes: list[AttributePart] = Field(default_factory=list)
    """Of what was traced."""


class AgentPart(PageModel):
    """What an agent was told and had."""

    name: str
    instructions: Clip | None
    tools: list[str]


class SpansPage(PageModel):
    """A trial over time."""

    run_id: str
    position: int
    number: int
    seconds: float | None
    """From the beginning of the trial to its end."""
    told: str
    """What is known of the times, in a sentence."""
    spans: list[SpanPart]
    cut: list[str] = Field(default_factory=list)
    """What of the traced spans is not kept, or not as it was."""
    agents: list[AgentPart]
    """As the agent described itself; empty where it did not."""
