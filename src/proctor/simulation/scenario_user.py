"""A user who is played from a plan: the first message word for word, the others by a voice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.schema.evidence.played_user import NextStatus, PlayedUser, UserReply
from proctor.schema.evidence.simulator_fault import UserFault
from proctor.schema.evidence.trial import FailureKind
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import user_text
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.scenario import ConversationScenario
from proctor.simulation.base import NextUserMessage, failed
from proctor.simulation.user_models import STOP_SIGNAL, Voice

__all__ = ["LONGEST", "PlayedBy"]

LONGEST = 100_000
"""Characters of a message: nobody who is a user says more."""


class PlayedBy:
    """Plays the user of one conversation; see `UserSimulator`."""

    def __init__(
        self, case: EvalCase, scenario: ConversationScenario, voice: Voice, *, most: int, with_calls: bool
    ) -> None:
        """Take the case with its scenario, who speaks, and the turns before the conversation just ends (negative: no limit).

        The messages of the case's opening are recorded: they are said first, and are not among those turns. `with_calls`
        says whether the user is shown what the agent calls.
        """
        self._case, self._scenario, self._voice = case, scenario, voice
        self._most, self._with_calls = most, with_calls
        self._opening = [turn.user_content for turn in case.opening or ()]
        self.patience = voice.patience
        self.played: PlayedUser = voice.played()
        self.played.opening = len(self._opening) or None

    async def next_message(self, so_far: Sequence[Invocation]) -> NextUserMessage:
        """Return what is recorded, the starting prompt, then what the voice says, until it wants to end or has to.

        Behind an opening the starting prompt may be empty: then the voice says all there is.

        Raises:
            SimulatorError: it failed, or said nothing.
        """
        turn, opening = len(so_far), self._opening
        if turn < len(opening):
            return NextUserMessage(opening[turn], NextStatus.SUCCESS)
        if 0 <= self._most <= turn - len(opening):
            return NextUserMessage(None, NextStatus.TURN_LIMIT_REACHED)
        if turn == len(opening) and (self._scenario.starting_prompt.strip() or not opening):
            return NextUserMessage(user_text(self._scenario.starting_prompt), NextStatus.SUCCESS)
        reply = UserReply(turn=turn)
        said = await self._voice.say(so_far, reply)
        if said is None or STOP_SIGNAL in said.lower():
            reply.status = NextStatus.STOP_SIGNAL_DETECTED
            return NextUserMessage(None, reply.status, reply)
        if not said.strip():
            raise failed("it said nothing", kind=FailureKind.EMPTY, reply=reply)
        if len(said) > LONGEST:
            reply.text = said[:LONGEST]
            message = f"it said {len(said):,} characters; expected a message of {LONGEST:,} at most"
            raise failed(message, kind=FailureKind.BROKE_CONTRACT, reply=reply)
        reply.status = NextStatus.SUCCESS
        return NextUserMessage(user_text(said), reply.status, reply)

    def look_back(
        self, conversation: Sequence[Invocation], final_state: Mapping[str, Any] | None
    ) -> Sequence[UserFault]:
        """Return what rules find to be at fault in what was said."""
        from proctor.simulation.faults.detect import find_faults, heard_in

        if not self.played.replies:
            return ()  # nobody was asked for anything
        heard = heard_in(
            self._case, self._scenario, self.played, conversation, final_state, with_calls=self._with_calls
        )
        return find_faults(heard)
