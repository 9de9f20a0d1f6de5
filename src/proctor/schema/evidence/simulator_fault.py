"""Faults of a simulated user, detected at the end of a conversation."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from proctor.schema.format.wire_model import WireModel

__all__ = ["USER_FAULTS", "FaultKind", "UserFault", "faults_in"]

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
    told = (details or {}).get(USER_FAULTS)
    return [UserFault.model_validate(one) for one in told] if isinstance(told, list) else []
