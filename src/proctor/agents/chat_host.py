"""What serves an agent to many users, as a server does: its sessions, and turns in them, in google-adk's JSON."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from proctor.agents.base import AgentInfo
from proctor.schema.evidence.turn import Span
from proctor.schema.format.content import Content
from proctor.schema.format.wire_model import to_camel

Json = dict[str, Any]
"""A document in google-adk's JSON: camelCase, nulls left out."""

MOST_SESSIONS = 1_000
"""The maximum number of sessions of one app; the least recently used one is dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """One message to an agent, in a session that is there."""

    user_id: str
    session_id: str
    message: Content | None
    """`None` continues a waiting invocation, if the agent supports that."""
    streaming: bool = False
    """Whether pieces of answers are sent, too."""
    state_delta: Mapping[str, Any] | None = None
    invocation_id: str | None = None
    custom_metadata: Mapping[str, Any] | None = None


class SessionExistsError(Exception):
    """There is a session of that id."""


class NotPossibleError(Exception):
    """The agent does not support the request; the message has the reason."""


class Artifacts(Protocol):
    """The files that agents and users keep in sessions, by name, in versions from 0. Parts are google-adk's JSON."""

    async def names(self, user_id: str, session_id: str) -> list[str]:
        """Return the names of a session's artifacts."""
        ...

    async def load(self, user_id: str, session_id: str, name: str, version: int | None) -> Json | None:
        """Return the requested or the last version of an artifact."""
        ...

    async def save(self, user_id: str, session_id: str, name: str, part: Json, metadata: Json | None) -> Json:
        """Save a further version and return its metadata."""
        ...

    async def versions(self, user_id: str, session_id: str, name: str) -> list[int]:
        """Return the versions of one."""
        ...

    async def artifact_metadata(self, user_id: str, session_id: str, name: str) -> list[Json]:
        """Return the metadata of each version."""
        ...

    async def delete(self, user_id: str, session_id: str, name: str) -> None:
        """Forget one, with all its versions."""
        ...


class Host(Protocol):
    """Everything is called on the loop of the agents."""

    artifacts: Artifacts | None
    """`None`: the agent has no use for any."""

    async def create(
        self, user_id: str, session_id: str | None, state: Json | None, events: Sequence[Json]
    ) -> Json:
        """Make a session. Raises SessionExistsError, ValueError: the id or an event will not do."""
        ...

    async def get(self, user_id: str, session_id: str) -> Json | None:
        """Return a session with its events."""
        ...

    async def list(self, user_id: str) -> list[Json]:
        """Return a user's sessions, without their events."""
        ...

    async def keys(self) -> Sequence[tuple[str, str]]:
        """Return user and id of each session, the last used at the end."""
        ...

    async def patch(self, user_id: str, session_id: str, delta: Json) -> Json | None:
        """Change the state of a session; `None` if it does not exist."""
        ...

    async def delete(self, user_id: str, session_id: str) -> None:
        """Forget a session, also one that is not there."""
        ...

    async def remember(self, user_id: str, session_id: str) -> None:
        """Put a session into the agent's memory. Raises NotPossibleError: it has none."""
        ...

    async def check(self, turn: TurnRequest) -> None:
        """Check that a turn is possible. Raises NotPossibleError: it is not; the agent was not called."""
        ...

    def run(self, turn: TurnRequest) -> AsyncGenerator[Json, None]:
        """Yield the events of one turn. An exception of the agent passes through after an error event."""
        ...

    async def spans(self, user_id: str, session_id: str) -> Mapping[str, Sequence[Span]]:
        """Return the spans of a session by invocation; unknown turns are missing."""
        ...

    async def describe(self) -> AgentInfo:
        """Return the description of the agent."""
        ...

    async def tree(self) -> Json:
        """Return the root agent with its sub-agents: name, description, instruction, tools, sub_agents."""
        ...

    async def close(self) -> None:
        """Let the agent go."""
        ...


def tools_of(details: Json) -> Iterator[Json]:
    """Yield the declared tools of an agent: name, description, and the schema of the arguments if it is known."""
    for declared in details.get("tool_declarations") or ():
        for one in (declared.get("function_declarations") or ()) if isinstance(declared, dict) else ():
            tool = {"name": one.get("name"), "description": one.get("description") or ""}
            yield tool | {to_camel(name): one[name] for name in _PARAMETERS if one.get(name)}


_PARAMETERS = ("parameters", "parameters_json_schema")
