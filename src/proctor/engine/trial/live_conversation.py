"""A live conversation with an agent: one message at a time, each turn recorded as evidence."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from proctor.agents.base import Agent, Session
from proctor.common.async_tools import settle
from proctor.common.process_exit import contained_exits
from proctor.engine.trial.conversation import SESSION_PREFIX, new_session
from proctor.engine.trial.event_recorder import copy_json, copy_message, new_turn, record_turn
from proctor.engine.trial.evidence_limits import EvidenceLimiter, TurnCaps
from proctor.engine.trial.failure_attribution import failure_from, timed_out
from proctor.schema.evidence.convert_events import invocation_of
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Failure
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.case import EvalCase, SessionInput
from proctor.schema.format.content import Content, user_text
from proctor.schema.format.invocation import Invocation

Heard = Callable[[Event], None]


class Conversation:
    """Talks to an agent in its own session. Call `open` first and `close` at the end."""

    def __init__(
        self, agent: Agent, *, session_input: SessionInput | None = None, timeout: float | None = None
    ) -> None:
        """Take the agent, the session to start in, and the seconds that a turn may take."""
        self.session_input = session_input
        self._agent = agent
        self._timeout = timeout
        self._case = EvalCase(eval_id="recording", conversation=[], session_input=session_input)
        self.session: Session = self._new_session()
        self.turns: list[Turn] = []
        self.notes: list[str] = []
        """The changes that limits made to the agent's events."""

    async def open(self) -> None:
        """Make the agent ready."""
        await self._call("open")
        await self._call("begin", self.session, self._case)

    async def close(self) -> None:
        """Leave the session, and let the agent go."""
        await self._call("end", self.session)
        await self._call("close")

    async def send(self, text: str | Content, heard: Heard) -> Failure | None:
        """Send a message; `heard` gets each event as it comes. Where the answer fails the turn is not kept, and why is returned."""
        message = user_text(text) if isinstance(text, str) else text
        turn = new_turn(message)
        try:
            with contained_exits():
                async with asyncio.timeout(self._timeout):
                    events = self._with_listener(
                        self._agent.answer(copy_message(message), self.session), heard
                    )
                    await record_turn(events, turn, self.session, EvidenceLimiter(TurnCaps(), self.notes))
        except TimeoutError:
            return timed_out("no answer within the time of one turn", self._timeout, turn=len(self.turns))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - any error of an agent is shown to its user
            return failure_from(error, where="agent", turn=len(self.turns))
        self.turns.append(turn)
        return None

    async def undo(self, heard: Heard) -> Failure | None:
        """Take the last turn back: begin a new session, and send the messages before it again.

        Only a new session makes the agent forget the last turn; its answers to the other messages may differ.
        """
        return await self.again(heard, [turn.user_content for turn in self.turns[:-1]])

    async def again(self, heard: Heard, messages: Sequence[Content]) -> Failure | None:
        """Begin a new session, and send these messages in it."""
        await self._call("end", self.session)
        self.session, self.turns = self._new_session(), []
        await self._call("begin", self.session, self._case)
        for message in messages:
            if (failure := await self.send(message, heard)) is not None:
                return failure
        return None

    @property
    def invocations(self) -> list[Invocation]:
        """The turns so far, as the format has them."""
        return [invocation_of(turn, invocation_id=f"e-{index}") for index, turn in enumerate(self.turns)]

    async def final_state(self) -> dict[str, Any]:
        """Return the state that the session has now."""
        known = getattr(self._agent, "final_state", None)
        state = self.session.state if known is None else await settle(known(self.session))
        return dict(copy_json(state))

    def _new_session(self) -> Session:
        return new_session(self._case, f"{SESSION_PREFIX}{uuid.uuid4()}")

    async def _call(self, name: str, *arguments: Any) -> None:
        method = getattr(self._agent, name, None)
        if method is not None:
            await settle(method(*arguments))

    @staticmethod
    async def _with_listener(events: AsyncIterator[Event], heard: Heard) -> AsyncIterator[Event]:
        async for event in events:
            heard(event)
            yield event
