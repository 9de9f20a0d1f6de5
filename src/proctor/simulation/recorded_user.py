"""A user who says what is recorded, whatever the agent answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.schema.evidence.played_user import NextStatus
from proctor.schema.evidence.simulator_fault import UserFault
from proctor.schema.format.content import Content
from proctor.schema.format.invocation import Invocation
from proctor.simulation.base import NextUserMessage

__all__ = ["RecordedUser"]


class RecordedUser:
    """Says messages in turn, then stops. (Runs of recorded cases need nobody for that: the engine goes through them.)"""

    played = None

    def __init__(self, messages: Sequence[Content]) -> None:
        """Take what the user says."""
        self._messages = messages

    async def next_message(self, so_far: Sequence[Invocation]) -> NextUserMessage:
        """Return the message of this turn."""
        if len(so_far) >= len(self._messages):
            return NextUserMessage(None, NextStatus.STOP_SIGNAL_DETECTED)
        return NextUserMessage(self._messages[len(so_far)], NextStatus.SUCCESS)

    def look_back(
        self, conversation: Sequence[Invocation], final_state: Mapping[str, Any] | None
    ) -> Sequence[UserFault]:
        """What is recorded is as it was meant."""
        return ()
