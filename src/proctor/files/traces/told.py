"""What the spans of one turn tell, as it is being put together."""

from __future__ import annotations

from typing import Any

from proctor.common.quick_dataclasses import dataclass, field
from proctor.schema.evidence.event import Event


@dataclass(slots=True, eq=False)
class Call:
    """A tool call that was told."""

    part: dict[str, Any]
    """The call in its event; its arguments may come later, from the span of the tool."""
    author: str
    by_model: bool
    is_executed: bool = False
    is_answered: bool = False


@dataclass(slots=True)
class Told:
    """What the spans of one turn tell."""

    events: list[dict[str, Any]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    """What is missing without which nothing can be judged."""
    endless: str = ""
    """The name of a span that never ended."""
    failed: int = 0
    """How many events there were when a tool had failed last."""
    heard: int = 0
    """Calls that only messages tell which were handed on, to a later model call or out of the agent."""
    altered: list[str] = field(default_factory=list)
    """Tools that were executed with other arguments than the model asked for."""
    is_bare: bool = False
    """Whether of an agent only what it was given and gave is told."""
    survived: list[tuple[str, str]] = field(default_factory=list)
    """Agents inside that failed: name and message."""
    errors: list[tuple[str, str] | None] = field(default_factory=list)
    """How each model call ended, in order: class and message of its error, or `None`."""
    spoke: bool = False
    """Whether a model, or an agent's own span, told what was answered, be it nothing."""
    model_seconds: float = 0.0
    tool_seconds: float = 0.0
    agents: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Instructions and tools by the agent's name."""

    def hear(self, call: Call, content: dict[str, Any], at: int) -> None:
        """Take a call that no span tells, as the event `at`."""
        self.heard += 1
        self.calls.append(call)
        self.events.insert(at, {"author": call.author, "content": content})
        self.failed += self.failed > at

    def made(self) -> list[Event]:
        """Return the events."""
        return [Event.model_validate(event) for event in self.events]
