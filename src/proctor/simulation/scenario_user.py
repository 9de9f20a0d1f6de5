"""The simulated user of one scenario: recorded messages first, then messages from a user model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.schema.evidence.simulated_user import NextStatus, PlayedUser, UserFault, UserReply
from proctor.schema.evidence.trial import FailureKind
from proctor.schema.format.case import ConversationScenario, EvalCase
from proctor.schema.format.content import user_text
from proctor.schema.format.invocation import Invocation
from proctor.simulation.base import NextUserMessage, simulator_error
from proctor.simulation.user_models import STOP_SIGNAL, UserModel

__all__ = ["LONGEST", "ScenarioUser"]

LONGEST = 100_000
"""Characters: a longer message is a fault of the simulator."""


class ScenarioUser:
    """Plays the user of one conversation; see `UserSimulator`."""

    def __init__(
        self,
        case: EvalCase,
        scenario: ConversationScenario,
        user_model: UserModel,
        *,
        max_turns: int,
        with_calls: bool,
    ) -> None:
        """Take the case with its scenario, the source of the messages, and the maximum number of turns (negative: no limit).

        The messages of the case's opening come first and do not count towards the maximum. If `with_calls`, the user sees the
        agent's tool calls.
        """
        self._case, self._scenario, self._user_model = case, scenario, user_model
        self._max_turns, self._with_calls = max_turns, with_calls
        self._opening = [turn.user_content for turn in case.opening or ()]
        self.patience = user_model.patience
        self.simulated_user: PlayedUser = user_model.describe()
        self.simulated_user.opening = len(self._opening) or None

    async def next_message(self, so_far: Sequence[Invocation]) -> NextUserMessage:
        """Return the recorded messages, the starting prompt, then the user model's messages until it ends the conversation.

        After an opening the starting prompt may be empty; the user model then writes all messages.

        Raises:
            SimulatorError: the user model failed, or its message cannot be used.
        """
        turn, opening = len(so_far), self._opening
        if turn < len(opening):
            return NextUserMessage(opening[turn], NextStatus.SUCCESS)
        if 0 <= self._max_turns <= turn - len(opening):
            return NextUserMessage(None, NextStatus.TURN_LIMIT_REACHED)
        if turn == len(opening) and (self._scenario.starting_prompt.strip() or not opening):
            return NextUserMessage(user_text(self._scenario.starting_prompt), NextStatus.SUCCESS)
        reply = UserReply(turn=turn)
        return self._checked_message(await self._user_model.next_message(so_far, reply), reply)

    def _checked_message(self, text: str | None, reply: UserReply) -> NextUserMessage:
        if text is None or STOP_SIGNAL in text.lower():
            reply.status = NextStatus.STOP_SIGNAL_DETECTED
            return NextUserMessage(None, reply.status, reply)
        if not text.strip():
            raise simulator_error("the message is empty", kind=FailureKind.EMPTY, reply=reply)
        if len(text) > LONGEST:
            reply.text = text[:LONGEST]
            message = f"the message has {len(text):,} characters; expected {LONGEST:,} at most"
            raise simulator_error(message, kind=FailureKind.BROKE_CONTRACT, reply=reply)
        reply.status = NextStatus.SUCCESS
        return NextUserMessage(user_text(text), reply.status, reply)

    def find_faults(
        self, conversation: Sequence[Invocation], final_state: Mapping[str, object] | None
    ) -> Sequence[UserFault]:
        """Return the faults that the rules find in the user's messages."""
        if not self.simulated_user.replies:
            return ()  # every message came from the case
        from proctor.simulation.faults.conversation import user_conversation
        from proctor.simulation.faults.detect import find_faults

        return find_faults(
            user_conversation(
                self._case,
                self._scenario,
                self.simulated_user,
                conversation,
                final_state,
                with_calls=self._with_calls,
            )
        )
