"""The contract of user simulators: the conversation so far in, the user's next message out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from proctor.common.quick_dataclasses import dataclass
from proctor.errors import SetupError, SimulatorError
from proctor.schema.evidence.played_user import NextStatus, PlayedUser, UserReply
from proctor.schema.evidence.simulator_fault import UserFault
from proctor.schema.evidence.trial import Failure, FailureKind
from proctor.schema.format.case import EvalCase
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.content import Content
from proctor.schema.format.invocation import Invocation

__all__ = ["WHERE", "NextUserMessage", "NoMessageError", "UserSimulator", "Users", "failed"]

WHERE = "simulator"
"""The border that failures of simulators are attributed to."""


@dataclass(frozen=True, slots=True)
class NextUserMessage:
    """What the user says next, or why nothing."""

    message: Content | None
    status: NextStatus
    reply: UserReply | None = None
    """What was asked for it and answered; `None` where nobody was asked."""

    def __post_init__(self) -> None:
        """Make sure that there is a message exactly where the status says so."""
        if (self.message is not None) is not (self.status is NextStatus.SUCCESS):
            raise ValueError(
                f"there is a message if, and only if, the status is success; it is {self.status}"
            )


class NoMessageError(SimulatorError):
    """A user simulator gave no message that can be used: nobody's fault but its own."""

    def __init__(self, failure: Failure, reply: UserReply | None = None) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.reply = reply
        """What it answered all the same."""


def failed(
    message: str,
    *,
    kind: FailureKind = FailureKind.RAISED,
    type: str = "",  # noqa: A002 - the field's name
    infrastructure: bool = False,
    reply: UserReply | None = None,
) -> NoMessageError:
    """Return the error for a simulator that gave no message."""
    return NoMessageError(
        Failure(where=WHERE, kind=kind, type=type, message=message, infrastructure=infrastructure), reply
    )


class UserSimulator(Protocol):
    """Plays the user of one conversation."""

    @property
    def played(self) -> PlayedUser | None:
        """Who plays; its replies are added by whoever asks it. `None` where the messages are recorded."""
        ...

    async def next_message(self, so_far: Sequence[Invocation]) -> NextUserMessage:
        """Return what the user says next. `so_far` is the whole conversation; it only ever grows.

        Raises:
            SimulatorError: it failed.
        """
        ...

    def look_back(
        self, conversation: Sequence[Invocation], final_state: Mapping[str, Any] | None
    ) -> Sequence[UserFault]:
        """Return what the user got wrong in a conversation that is over. Asks nobody."""
        ...


class Users(Protocol):
    """All played users of a run."""

    def problems(self, case: EvalCase, config: EvalConfig) -> list[SetupError]:
        """Say why nobody can play the user of a case; empty when somebody can."""
        ...

    def doubts(self, config: EvalConfig) -> list[str]:
        """Say what a person should know about who plays."""
        ...

    def play(self, case: EvalCase, config: EvalConfig) -> UserSimulator:
        """Return a simulator for one conversation of a case that has no problems."""
        ...

    async def close(self) -> None:
        """Let go of connections, when the run is over."""
        ...
