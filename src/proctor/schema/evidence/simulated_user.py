"""The simulated user of a trial, as evidence: its replies, and the faults in them."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from proctor.schema.format.wire_model import WireModel

USER_FAULTS = "user_faults"
"""The key in the `details` of a metric's score that lists the faults of the simulated user."""


class FaultKind(StrEnum):
    """The kind of a simulated user's fault."""

    LEFT_PLAN = "left_plan"
    """It dropped its role, asked for something outside the plan, or used what the plan forbids."""
    LEAKED_ANSWER = "leaked_answer"
    """It gave the agent the answer that the agent has to find."""
    STOPPED_EARLY = "stopped_early"
    """It ended the conversation although parts of the plan were open."""
    INVENTED_FACT = "invented_fact"
    """It stated something that is not in its instructions: a number, a date, a name."""
    REPEATED_ITSELF = "repeated_itself"
    """It repeated a message without a reason."""
    IGNORED_QUESTION = "ignored_question"
    """It did not answer a question, or repeated a question that the agent had answered."""
    NO_MESSAGE = "no_message"
    """It gave no message, was cut off, timed out or raised: there is no conversation to score."""

    @property
    def words(self) -> str:
        """The kind as text for people."""
        return _WORDS[self]


_WORDS = {
    FaultKind.LEFT_PLAN: "left the plan",
    FaultKind.LEAKED_ANSWER: "leaked the expected answer",
    FaultKind.STOPPED_EARLY: "stopped early",
    FaultKind.INVENTED_FACT: "invented a fact",
    FaultKind.REPEATED_ITSELF: "repeated itself",
    FaultKind.IGNORED_QUESTION: "ignored a question",
    FaultKind.NO_MESSAGE: "gave no message",
}


class UserFault(WireModel):
    """One fault of a simulated user."""

    kind: FaultKind
    turn: int
    """The turn that the faulty message begins, from 0; for a premature end, the turn that would have followed."""
    evidence: str = ""
    """The message verbatim, or its relevant part; for a premature end, what was open."""
    why: str = ""
    """Why it is a fault, in one sentence."""
    found_by: Literal["rule", "judge"] = "rule"


def faults_in(details: dict[str, Any] | None) -> list[UserFault]:
    """Return the faults in the details of a metric's score; empty if there are none."""
    faults = (details or {}).get(USER_FAULTS)
    return [UserFault.model_validate(fault) for fault in faults] if isinstance(faults, list) else []


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


class SimulatedUser(WireModel):
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
