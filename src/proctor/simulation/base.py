"""The contract of user simulators: they get the conversation so far and return the user's next message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from proctor.errors import SetupError, SimulatorError
from proctor.schema.evidence.simulated_user import NextStatus, SimulatedUser, UserFault, UserReply
from proctor.schema.evidence.trial import Failure, FailureKind
from proctor.schema.format.case import EvalCase
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.content import Content
from proctor.schema.format.invocation import Invocation

WHERE = "simulator"
"""The component that failures of simulators are attributed to (`Failure.where`)."""


@dataclass(frozen=True, slots=True)
class NextUserMessage:
    """The user's next message, or the reason why there is none."""

    message: Content | None
    status: NextStatus
    reply: UserReply | None = None
    """The record of the simulator's call; `None` if the message comes from the case."""

    def __post_init__(self) -> None:
        """Require a message if, and only if, the status is success."""
        if (self.message is not None) is not (self.status is NextStatus.SUCCESS):
            raise ValueError(
                f"there is a message if, and only if, the status is success; it is {self.status}"
            )


class NoMessageError(SimulatorError):
    """A user simulator returned no usable message. The failure is the simulator's, not the agent's."""

    def __init__(self, failure: Failure, reply: UserReply | None = None) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.reply = reply
        """The record of the call, with the unusable reply."""


def simulator_error(
    message: str,
    *,
    kind: FailureKind = FailureKind.RAISED,
    type: str = "",  # noqa: A002 - the field's name
    infrastructure: bool = False,
    reply: UserReply | None = None,
) -> NoMessageError:
    """Return the error for a simulator that returned no usable message."""
    return NoMessageError(
        Failure(where=WHERE, kind=kind, type=type, message=message, infrastructure=infrastructure), reply
    )


class UserSimulator(Protocol):
    """Plays the user of one conversation."""

    @property
    def simulated_user(self) -> SimulatedUser:
        """The record of this user in the trial; the engine adds the replies."""
        ...

    async def next_message(self, so_far: Sequence[Invocation]) -> NextUserMessage:
        """Return the user's next message. `so_far` is the whole conversation; it grows from call to call.

        Raises:
            SimulatorError: the simulator failed.
        """
        ...

    async def find_faults(
        self, conversation: Sequence[Invocation], final_state: Mapping[str, object] | None
    ) -> Sequence[UserFault]:
        """Return the faults of the user in a finished conversation. Calls no model."""
        ...


class Users(Protocol):
    """The simulated users of a run."""

    def problems(self, case: EvalCase, config: EvalConfig) -> list[SetupError]:
        """Return the reasons why the user of a case cannot be simulated; empty if it can."""
        ...

    def warnings(self, config: EvalConfig) -> list[str]:
        """Return warnings about the configuration of the simulator."""
        ...

    def play(self, case: EvalCase, config: EvalConfig) -> UserSimulator:
        """Return a simulator for one conversation of a case that has no problems."""
        ...

    async def close(self) -> None:
        """Close connections at the end of the run."""
        ...
