"""What a user simulator said in a trial: evidence, as what the agent did is."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from proctor.schema.evidence.simulator_fault import UserFault
from proctor.schema.format.wire_model import WireModel


class NextStatus(StrEnum):
    """What asking a user simulator came to."""

    SUCCESS = "success"
    """There is a message."""
    TURN_LIMIT_REACHED = "turn_limit_reached"
    STOP_SIGNAL_DETECTED = "stop_signal_detected"
    """It wants to end the conversation."""
    NO_MESSAGE_GENERATED = "no_message_generated"


class UserReply(WireModel):
    """What came of asking the simulator once."""

    turn: int
    """The turn that its message begins, or would have begun, from 0."""
    status: NextStatus = NextStatus.NO_MESSAGE_GENERATED
    text: str = ""
    """Its reply as it came."""
    model: str = ""
    """The model that answered, as its provider names it."""
    prompt: str = ""
    """Hash of all that the model was told: the instructions, with the conversation so far in its place."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    """US dollars; `None` where the price is not known."""
    seconds: float = 0.0


class PlayedUser(WireModel):
    """Who played the user, and every reply."""

    simulator: str
    """`llm_backed` or `function`."""
    model: str = ""
    """As users name it; of a function, its name."""
    prompt: str = ""
    """Hash of the template of the instructions."""
    instructions: str = ""
    """What the model was told each time; the conversation so far, which the turns have, stands for
    `{{ conversation_history }}`."""
    opening: int | None = None
    """How many turns were recorded and said word for word before anybody played; `None`: none."""
    replies: list[UserReply] = Field(default_factory=list)
    """In order. The starting prompt is no reply: nobody was asked for it."""
    faults: list[UserFault] = Field(default_factory=list)
    """What it got wrong, as far as rules can tell; looked for when the conversation was over."""
