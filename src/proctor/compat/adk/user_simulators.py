"""Adapter for user simulators of google-adk's interface: a custom provider can simulate the users of scenarios."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.common.error_text import safe_str
from proctor.errors import SetupError, SimulatorError
from proctor.schema.evidence.convert_events import events_of, invocation_of
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.simulated_user import NextStatus, SimulatedUser, UserFault, UserReply
from proctor.schema.evidence.trial import FailureKind
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.case import EvalCase
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.content import Content
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.wire_model import plain_data
from proctor.simulation.base import NextUserMessage, simulator_error

__all__ = ["PATIENCE", "ProvidedUsers", "events_so_far", "turns_of"]

PATIENCE = 120.0
"""Seconds that a simulator may take for a message."""


def events_so_far(so_far: Sequence[Invocation]) -> list[Event]:
    """Return a conversation as google-adk's simulators get it: the events of all turns, each behind the user's own."""
    events: list[Event] = []
    for invocation in so_far:
        message = Event(
            author="user", content=invocation.user_content, invocation_id=invocation.invocation_id
        )
        events += [message, *events_of(invocation)]
    return events


def turns_of(events: Sequence[Any]) -> list[Invocation]:
    """Return the turns of a conversation that is given as events: each message of the user begins one."""
    turns: list[Turn] = []
    for item in events:
        event = item if isinstance(item, Event) else Event.model_validate(plain_data(item))
        if event.author == "user" and event.content is not None and not _is_response(event.content):
            turns.append(Turn(user_content=event.content, events=[]))
        elif turns:
            turns[-1].events.append(event)
    return [invocation_of(turn, invocation_id=f"e-{index}") for index, turn in enumerate(turns)]


def _is_response(content: Content) -> bool:
    return any(part.function_response is not None for part in content.parts or ())


class ProvidedUsers:
    """The users of a run, as a provider of google-adk's shape makes them (see `Users`)."""

    def __init__(self, provider: Any) -> None:
        """Take the provider: something with `provide(eval_case)`."""
        self._provider = provider

    def problems(self, case: EvalCase, config: EvalConfig) -> list[SetupError]:
        """Return the reason why the user of a case cannot be simulated: the provider returns nothing, or raises."""
        try:
            simulator = self._provider.provide(case)
        except SetupError as problem:
            return [problem]
        except Exception as error:  # noqa: BLE001 - custom code: its exception is the problem
            return [SetupError(f"user_simulator_provider: {type(error).__name__}: {safe_str(error)}")]
        if callable(getattr(simulator, "get_next_user_message", None)):
            return []
        return [
            SetupError(
                f"user_simulator_provider: provide() returned {type(simulator).__name__}, no user simulator"
            )
        ]

    def warnings(self, config: EvalConfig) -> list[str]:
        """Nothing is known of it."""
        return []

    def play(self, case: EvalCase, config: EvalConfig) -> SimulatorConversation:
        """Return a simulator for one conversation."""
        return SimulatorConversation(self._provider.provide(case), case)

    async def close(self) -> None:
        """Do nothing: the provider is its owner's."""


class SimulatorConversation:
    """One conversation, played by a simulator of google-adk's shape (see `UserSimulator` of `proctor.simulation`)."""

    def __init__(self, simulator: Any, case: EvalCase) -> None:
        self._simulator = simulator
        self._opening = [turn.user_content for turn in case.opening or ()]
        self._events: list[Event] = []
        self._heard = 0
        """Turns of which the events are there: those of the others are put behind them, and nothing is copied again."""
        name = type(simulator).__name__
        self.simulated_user = SimulatedUser(
            simulator="provided", model=name, opening=len(self._opening) or None
        )

    async def next_message(self, so_far: Sequence[Invocation]) -> NextUserMessage:
        """Ask the simulator; what it raises, and that it has no message, is its own failure.

        Raises:
            SimulatorError: it failed.
        """
        if len(so_far) < len(self._opening):
            return NextUserMessage(self._opening[len(so_far)], NextStatus.SUCCESS)
        reply, began = UserReply(turn=len(so_far)), time.monotonic()
        answer = await self._request_message(so_far, reply)
        reply.seconds = round(time.monotonic() - began, 3)
        try:
            status = NextStatus(getattr(answer.status, "value", answer.status))
            message = answer.user_message
            content = None if message is None else Content.model_validate(plain_data(message))
            result = NextUserMessage(content, status, reply)
        except (AttributeError, ValueError) as error:
            raise simulator_error(
                f"{self.simulated_user.model} returned an invalid NextUserMessage: {safe_str(error)}",
                kind=FailureKind.BROKE_CONTRACT,
                reply=reply,
            ) from error
        if status is NextStatus.NO_MESSAGE_GENERATED:
            raise simulator_error(
                f"{self.simulated_user.model} generated no message", kind=FailureKind.EMPTY, reply=reply
            )
        reply.status, reply.text = status, "" if content is None else content.joined_text()
        return result

    async def find_faults(
        self, conversation: Sequence[Invocation], final_state: Mapping[str, Any] | None
    ) -> Sequence[UserFault]:
        """Detect no faults: the instructions of the simulator are not known."""
        return ()

    async def _request_message(self, so_far: Sequence[Invocation], reply: UserReply) -> Any:
        name = self.simulated_user.model
        try:
            async with asyncio.timeout(PATIENCE):
                self._events += events_so_far(so_far[self._heard :])
                self._heard = len(so_far)
                return await self._simulator.get_next_user_message(self._events)
        except SimulatorError:
            raise
        except TimeoutError as error:
            message = f"{name} did not answer within {PATIENCE:g} s"
            raise simulator_error(
                message, kind=FailureKind.TIMED_OUT, infrastructure=True, reply=reply
            ) from error
        except Exception as error:
            raise simulator_error(safe_str(error), type=type(error).__name__, reply=reply) from error
