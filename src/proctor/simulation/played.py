"""A user who is played from a plan: the first message word for word, the others by a voice."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.schema.content import Content, user_text
from proctor.schema.invocation import Invocation
from proctor.schema.played import NextStatus, PlayedUser, UserReply
from proctor.schema.scenario import ConversationScenario
from proctor.schema.trial import FailureKind
from proctor.simulation.base import NextUserMessage, failed
from proctor.simulation.voices import STOP_SIGNAL, Voice

__all__ = ["PlayedBy"]


class PlayedBy:
    """Plays the user of one conversation; see `UserSimulator`."""

    def __init__(
        self, scenario: ConversationScenario, voice: Voice, *, most: int, opening: Sequence[Content] = ()
    ) -> None:
        """Take the scenario, who speaks, and the turns before the conversation just ends (negative: no limit).

        `opening` are messages that were recorded: they are said first, and are not among those turns.
        """
        self._scenario, self._voice, self._most, self._opening = scenario, voice, most, opening
        self.played: PlayedUser = voice.played()
        self.played.opening = len(opening) or None

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
        text = said.strip()
        if not text:
            raise failed("it said nothing", kind=FailureKind.EMPTY, reply=reply)
        reply.status = NextStatus.SUCCESS
        return NextUserMessage(user_text(text), reply.status, reply)
