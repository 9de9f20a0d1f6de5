"""As `google.adk.evaluation.simulation.static_user_simulator`: sends the recorded messages."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.compat.adk.evaluation.simulation.user_simulator import (
    BaseUserSimulatorConfig,
    NextUserMessage,
    Status,
    UserSimulator,
)
from proctor.schema.evidence.event import Event
from proctor.schema.format.invocation import Invocation

__all__ = ["StaticUserSimulator"]


class StaticUserSimulator(UserSimulator):
    """Sends the messages of a recorded conversation, independent of the agent's answers."""

    def __init__(self, *, static_conversation: Sequence[Invocation]) -> None:
        super().__init__(BaseUserSimulatorConfig(), config_type=BaseUserSimulatorConfig)
        self.static_conversation = static_conversation
        self.invocation_idx = 0

    async def get_next_user_message(self, events: Sequence[Event]) -> NextUserMessage:
        """Return the next message of the conversation; after the last one the status reports the end."""
        if self.invocation_idx >= len(self.static_conversation):
            return NextUserMessage(status=Status.STOP_SIGNAL_DETECTED)
        message = self.static_conversation[self.invocation_idx].user_content
        self.invocation_idx += 1
        return NextUserMessage(status=Status.SUCCESS, user_message=message)

    def get_simulation_evaluator(self) -> None:
        """Return nothing: there is nothing to evaluate."""
        return
