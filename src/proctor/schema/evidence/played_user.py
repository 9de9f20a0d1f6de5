"""The replies of the user simulator in a trial, as evidence."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from proctor.schema.evidence.simulator_fault import UserFault
from proctor.schema.format.wire_model import WireModel


class NextStatus(StrEnum):
    """The status of one request to a user simulator."""

    SUCCESS = "success"
    """The simulator gave a message."""
    TURN_LIMIT_REACHED = "turn_limit_reached"
    STOP_SIGNAL_DETECTED = "stop_signal_detected"
    """The simulator ends the conversation."""
    NO_MESSAGE_GENERATED = "no_message_generated"


class UserReply(WireModel):
    """One reply of the user simulator."""

    turn: int
    """The turn that its message begins, or would have begun, from 0."""
    status: NextStatus = NextStatus.NO_MESSAGE_GENERATED
    text: str = ""
    """The unprocessed reply."""
    model: str = ""
    """The model that answered, by its provider's name."""
    prompt: str = ""
    """The hash of the complete prompt: the instructions with the conversation history filled in."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    """US dollars; `None` if the price is unknown."""
    seconds: float = 0.0


class PlayedUser(WireModel):
    """The simulated user of a trial, with every reply."""

    simulator: str
    """`llm_backed` or `function`."""
    model: str = ""
    """The name of the model in the config; for a function, the name of the function."""
    prompt: str = ""
    """The hash of the template of the instructions."""
    instructions: str = ""
    """The instructions for the model; `{{ conversation_history }}` is kept in place of the conversation, which the turns
    contain."""
    opening: int | None = None
    """The number of recorded opening turns, sent verbatim before the simulation starts; `None`: none."""
    replies: list[UserReply] = Field(default_factory=list)
    """The replies in order. The starting prompt is not a reply: it is given, not simulated."""
    faults: list[UserFault] = Field(default_factory=list)
    """The faults that rules detect; searched for at the end of the conversation."""
