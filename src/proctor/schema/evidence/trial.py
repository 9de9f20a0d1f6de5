"""The evidence (transcript) of a trial: one attempt at one case. It is written once and never changed."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from pydantic import Field

from proctor.schema.evidence.convert_events import invocations_of
from proctor.schema.evidence.simulated_user import SimulatedUser, UserFault
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.wire_model import WireModel


class FailureKind(StrEnum):
    """The kind of a failure at an external boundary."""

    RAISED = "raised"
    TIMED_OUT = "timed_out"
    BROKE_CONTRACT = "broke_contract"
    """The agent returned something that is not an answer."""
    NOT_CONNECTED = "not_connected"
    """A remote agent was unreachable, or its server was too busy."""
    TRUNCATED = "truncated"
    """A remote answer ended prematurely."""
    CRASHED = "crashed"
    """The agent's process exited before the answer was complete."""
    NOT_LOADED = "not_loaded"
    CANCELLED = "cancelled"
    UNUSABLE_ANSWER = "unusable_answer"
    NO_REPLY = "no_reply"
    """The request to a model failed, or its provider did; `Failure.type` has the details."""
    REFUSED = "refused"
    """A model refused to answer."""
    FILTERED = "filtered"
    """A provider's content filter blocked the answer."""
    CUT_OFF = "cut_off"
    """A model's answer was cut off at the maximum length."""
    EMPTY = "empty"
    """A model returned an empty answer."""
    NOT_ASKED = "not_asked"
    """The model was not called: a limit on calls or cost was reached."""
    SPOILED = "spoiled"
    """The simulated user went off script: the conversation is not evidence about the agent."""
    HOOK = "hook"
    """The set-up or tear-down hook of the case raised."""


CONFIGURATION = "configuration"
"""The `where` of a failure that ended a run before the first call."""


class Failure(WireModel):
    """Why something could not be computed, attributed once, at the boundary where it occurred."""

    where: str
    """`agent`, `metric`, `judge`, `simulator`, `setup` or `teardown` (the hooks), `file`, `store` or `configuration`."""
    kind: FailureKind = FailureKind.RAISED
    type: str = ""
    """The class of the exception."""
    message: str = ""
    traceback: str | None = None
    turn: int | None = None
    """The turn in which it happened, from 0."""
    infrastructure: bool = False
    """About connections, rate limits, servers or time, so that another attempt may end better."""

    @property
    def cause(self) -> str:
        """The cause in one line."""
        if self.where == CONFIGURATION:
            return f"configuration error: {self.message}"
        what = f"{self.type}: {self.message}" if self.type and self.message else self.type or self.message
        turn = f" in turn {self.turn + 1}" if self.turn is not None else ""
        where = "user simulator" if self.where == "simulator" else self.where
        return f"{where} {self.kind.value.replace('_', ' ')}{turn}: {what}"


class Attempt(WireModel):
    """An earlier attempt at the same trial, preserved after a retry of an infrastructure error."""

    turns: list[Turn] = Field(default_factory=list)
    failure: Failure | None = None
    duration: float = 0.0
    played_user: SimulatedUser | None = None


class Mutation(WireModel):
    """What makes a conversation a mutant: an audit planted a fault into the recorded one. No agent was called."""

    operator: str
    label: str
    """The class of the fault in words: `wrong numbers`."""
    fault: str
    """The planted fault: `'42' → '17'`."""
    turn: int | None = None
    """The turn of the fault, from 0; `None`: every turn, or the final state."""
    fate: str
    """`caught`, `survived`, or `error` if it could not be scored."""
    metrics: list[str] = Field(default_factory=list)
    """The metrics that failed it."""
    reason: str = ""
    """Why it could not be scored."""


class Trial(WireModel):
    """A trial, one repeat of a case, with its evidence."""

    eval_set_id: str
    eval_id: str
    number: int = 0
    """The number of the repeat, from 0."""
    session_id: str = ""
    app_name: str = ""
    user_id: str = ""
    turns: list[Turn] = Field(default_factory=list)
    final_state: dict[str, Any] | None = None
    """The session state after the last turn; `None` if the agent does not report it or the trial ended earlier."""
    failure: Failure | None = None
    app_details: dict[str, Any] | None = None
    """What the agent said about itself: instructions and tools by agent name."""
    started_at: float = 0.0
    duration: float = 0.0
    attempts: list[Attempt] = Field(default_factory=list)
    played_user: SimulatedUser | None = None
    """The simulated user and its replies; `None` if the user's messages are recorded ones."""
    notes: list[str] = Field(default_factory=list)
    """Notes on this evidence, for example that it was truncated."""
    mutation: Mutation | None = None
    """The planted fault if this is a mutant of an audit, not a trial of an agent. The turns of a caught one are not kept."""

    @property
    def invocations(self) -> list[Invocation]:
        """The invocations, one per turn, built from the events."""
        return invocations_of(self.turns, self.app_details)


def simulator_failure(faults: Sequence[UserFault]) -> Failure:
    """Return the failure that describes the first of `faults`. Without faults, the failure names none."""
    if not faults:
        return Failure(where="simulator", kind=FailureKind.SPOILED, message="the simulated user was at fault")
    first = min(faults, key=lambda fault: fault.turn)
    by = " (found by a judge)" if first.found_by == "judge" else ""
    quoted = f": {first.evidence!r}" if first.evidence else ""
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    message = f"{first.why}{by}{quoted}{more}"
    return Failure(
        where="simulator", kind=FailureKind.SPOILED, type=first.kind.words, message=message, turn=first.turn
    )
