"""The contract of an agent under test: it answers one user message at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content


@dataclass(slots=True)
class Session:
    """One trial's conversation with the agent. Each trial has its own, with a copy of the case's state."""

    id: str
    app_name: str
    user_id: str
    state: dict[str, Any] = field(default_factory=dict)
    """The agent may change it; `state_delta` of an event is applied to it as the event arrives."""
    memory: dict[str, Any] = field(default_factory=dict)
    """Free room for an adapter: its own session object, its history. Three keys are read after each turn: `durations`
    (`{"model": seconds, "tool": seconds}`), `app_details` (the agents that answered, in the shape of AppDetails) and
    `spans` (the traced spans of the turn, each a `proctor.schema.evidence.turn.Span` or its JSON)."""
    trial: int = 0
    """The number of the trial of this case, from 0, also in a worker and in a resumed run; usable as a seed."""


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """The description of an agent."""

    name: str
    description: str = ""
    version: str | None = None
    app_details: dict[str, Any] | None = None
    """Instructions and tool declarations by agent name, in the shape of AppDetails."""
    has_more_tools: bool = False
    """Whether there may be undeclared tools, for example those that only a server lists."""


class Agent(Protocol):
    """Anything that answers one user message at a time.

    Optional methods, used when they are there; each may be plain or async:

    * `open()` / `close()`: once per run, before the first and after the last trial;
    * `begin(session, case)` / `end(session)`: once per trial, before its first and after its last turn;
    * `describe() -> AgentInfo`;
    * `final_state(session) -> dict`: session state after the last turn (default: `session.state`).
    """

    def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Yield the events of the answer to `message`."""
        ...
