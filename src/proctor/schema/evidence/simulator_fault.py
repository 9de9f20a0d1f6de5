"""Faults of a played user: what was found when a conversation was over, as data."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from proctor.schema.format.wire_model import WireModel

__all__ = ["USER_FAULTS", "FaultKind", "UserFault", "faults_in"]

USER_FAULTS = "user_faults"
"""The key in the `details` of a metric's score under which it tells the faults of the played user that it found."""


class FaultKind(StrEnum):
    """What a played user can get wrong."""

    LEFT_PLAN = "left_plan"
    """It fell out of its role, asked for something that is not in the plan, or said what the plan forbids."""
    LEAKED_ANSWER = "leaked_answer"
    """It gave the agent what the agent was to find out."""
    STOPPED_EARLY = "stopped_early"
    """It ended the conversation while something of the plan was open."""
    INVENTED_FACT = "invented_fact"
    """It stated what nobody told it: a number, a date, a name."""
    REPEATED_ITSELF = "repeated_itself"
    """It said again what it had said, without a reason."""
    IGNORED_QUESTION = "ignored_question"
    """It did not answer what was asked, or asked again what was answered."""
    NO_MESSAGE = "no_message"
    """It said nothing, was cut off, took too long or raised: there is no conversation that could be judged."""

    @property
    def words(self) -> str:
        """How it is told to people."""
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
    """One fault of a played user."""

    kind: FaultKind
    turn: int
    """The turn that the message at fault begins, from 0; after an end that came too early the one that would have come."""
    evidence: str = ""
    """What it said, word for word, or the part that matters; of an end, what was open."""
    why: str = ""
    """Why that is a fault, in a sentence."""
    found_by: Literal["rule", "judge"] = "rule"


def faults_in(details: dict[str, Any] | None) -> list[UserFault]:
    """Return the faults that a metric tells in the details of its score; empty where it tells none."""
    told = (details or {}).get(USER_FAULTS)
    return [UserFault.model_validate(one) for one in told] if isinstance(told, list) else []
