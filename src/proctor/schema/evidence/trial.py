"""A trial's evidence: what one attempt at one case did. Written once, never changed."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from proctor.schema.evidence.event import Event
from proctor.schema.evidence.played_user import PlayedUser
from proctor.schema.evidence.span import TurnTrace
from proctor.schema.format.content import Content
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.wire_model import WireModel


class FailureKind(StrEnum):
    """What went wrong at a border."""

    RAISED = "raised"
    TIMED_OUT = "timed_out"
    BROKE_CONTRACT = "broke_contract"
    """It answered with something that is not an answer."""
    NOT_CONNECTED = "not_connected"
    """An agent elsewhere could not be reached, or its server was too busy."""
    TRUNCATED = "truncated"
    """An answer from elsewhere broke off before its end."""
    CRASHED = "crashed"
    """The process that an agent runs in ended before its answer did."""
    NOT_LOADED = "not_loaded"
    CANCELLED = "cancelled"
    UNUSABLE_ANSWER = "unusable_answer"
    NO_REPLY = "no_reply"
    """A model could not be asked, or its provider failed; `Failure.type` says how."""
    REFUSED = "refused"
    """A model would not answer."""
    FILTERED = "filtered"
    """A provider's content filter kept the answer back."""
    CUT_OFF = "cut_off"
    """A model's answer reached its greatest length before its end."""
    EMPTY = "empty"
    """A model answered nothing."""
    NOT_ASKED = "not_asked"
    """A cap on calls or cost was reached before."""
    SPOILED = "spoiled"
    """The played user did not do what it was to do: the conversation says nothing about the agent."""
    HOOK = "hook"
    """The set-up or tear-down of the case raised."""


CONFIGURATION = "configuration"
"""Where a failure is that ended a run before the first call."""


class Failure(WireModel):
    """Why something could not be computed, attributed once, at the border it crossed."""

    where: str
    """`agent`, `metric`, `judge`, `simulator`, `setup` or `teardown` (the hooks), `file`, `store` or `configuration`."""
    kind: FailureKind = FailureKind.RAISED
    type: str = ""
    """The class of the exception."""
    message: str = ""
    traceback: str | None = None
    turn: int | None = None
    """The turn it happened in, counted from 0."""
    infrastructure: bool = False
    """About connections, rate limits, servers or time, so that another attempt may end better."""

    @property
    def cause(self) -> str:
        """One line: what failed and why."""
        if self.where == CONFIGURATION:
            return f"configuration error: {self.message}"
        what = f"{self.type}: {self.message}" if self.type and self.message else self.type or self.message
        turn = f" in turn {self.turn + 1}" if self.turn is not None else ""
        where = "user simulator" if self.where == "simulator" else self.where
        return f"{where} {self.kind.value.replace('_', ' ')}{turn}: {what}"


class Turn(WireModel):
    """One user message and everything the agent emitted in answer to it."""

    user_content: Content
    events: list[Event] = Field(default_factory=list)
    started_at: float = 0.0
    """Unix seconds."""
    duration: float | None = None
    """Seconds on the clock, rounded to milliseconds."""
    model_duration: float | None = None
    tool_duration: float | None = None
    app_details: dict[str, Any] | None = None
    """Instructions and tools of the agents that answered, where the framework tells them turn by turn."""
    trace: TurnTrace | None = None
    """What was timed inside, where it was traced."""


class Attempt(WireModel):
    """An earlier attempt at the same trial, kept when an infrastructure error was retried."""

    turns: list[Turn] = Field(default_factory=list)
    failure: Failure | None = None
    duration: float = 0.0
    played_user: PlayedUser | None = None


class Trial(WireModel):
    """One attempt at one case (case × repeat) and its evidence."""

    eval_set_id: str
    eval_id: str
    number: int = 0
    """The repeat, counted from 0."""
    session_id: str = ""
    app_name: str = ""
    user_id: str = ""
    turns: list[Turn] = Field(default_factory=list)
    final_state: dict[str, Any] | None = None
    """Session state after the last turn; `None` when the agent could not tell or did not get there."""
    failure: Failure | None = None
    app_details: dict[str, Any] | None = None
    """What the agent said about itself: instructions and tools by agent name."""
    started_at: float = 0.0
    duration: float = 0.0
    attempts: list[Attempt] = Field(default_factory=list)
    played_user: PlayedUser | None = None
    """Who played the user, and what it said; `None` where the messages were recorded."""
    notes: list[str] = Field(default_factory=list)
    """What a reader should know about this evidence, for example that it was truncated."""

    @property
    def invocations(self) -> list[Invocation]:
        """What the agent did, one invocation per turn, derived from the events."""
        from proctor.schema.evidence.to_invocations import invocation_of

        return [
            invocation_of(turn, invocation_id=f"e-{index}", app_details=turn.app_details or self.app_details)
            for index, turn in enumerate(self.turns)
        ]
