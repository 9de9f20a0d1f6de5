"""Conversations with an agent under test, for the conformance checks."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, field
from typing import Any

from proctor.agents.base import Agent, Session
from proctor.common.async_tools import settle
from proctor.common.safe_text import cut_text
from proctor.engine.trial.conversation import DEFAULT_APP, DEFAULT_USER, new_session
from proctor.engine.trial.event_recorder import copy_message, new_turn, record_turn
from proctor.engine.trial.evidence_limits import EvidenceLimiter, TurnCaps
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.case import EvalCase, SessionInput
from proctor.schema.format.content import Content, text_of, user_text
from proctor.schema.format.invocation import Invocation

KEY = "proctor_check"
"""The key of the session state that holds a unique token in every conversation."""


class ConformanceError(Exception):
    """The agent breaks the rule of a check; the message is the evidence."""


class NotApplicableError(Exception):
    """A check does not apply; the message has the reason."""


@dataclass(frozen=True, slots=True)
class Subject:
    """An open agent, and the conversations to have with it."""

    agent: Agent
    cases: Sequence[EvalCase]
    """At least one, each with a conversation."""
    timeout: float
    """Seconds that one turn may take."""
    failing: str | None = None
    """A message that makes the agent fail."""

    def case(self, number: int = 0) -> EvalCase:
        """Return the conversation with this number; the given ones repeat."""
        return self.cases[number % len(self.cases)]


@dataclass(slots=True)
class ConversationRecord:
    """The record of one conversation."""

    session: Session
    token: str
    turns: list[Turn] = field(default_factory=list)
    final_state: Any = None

    @property
    def events(self) -> list[Event]:
        """All events of all turns."""
        return [event for turn in self.turns for event in turn.events]


def case_with_messages(messages: Sequence[str]) -> EvalCase:
    """Return a case whose user sends these messages."""
    turns = [Invocation(user_content=user_text(text)) for text in messages]
    return EvalCase(eval_id="conformance", conversation=turns)


def new_conversation(case: EvalCase) -> tuple[EvalCase, ConversationRecord]:
    """Return a copy of a case and a new conversation for it, with a unique token in the session state."""
    token = f"token-{uuid.uuid4().hex}"
    session_input = case.session_input or SessionInput(app_name=DEFAULT_APP, user_id=DEFAULT_USER)
    state = {**(session_input.state or {}), KEY: token}
    own = session_input.model_copy(update={"state": state, "session_id": None})
    case = case.model_copy(update={"session_input": own})
    return case, ConversationRecord(new_session(case, f"conformance-{uuid.uuid4().hex}"), token)


async def hold_conversation(subject: Subject, case: EvalCase) -> ConversationRecord:
    """Hold a whole conversation with the agent.

    Raises:
        ConformanceError: a turn took too long.
        AgentError, ReportedError: the agent failed.
    """
    case, conversation = new_conversation(case)
    agent, session = subject.agent, conversation.session
    await call_optional(agent, "begin", session, case)
    try:
        for number, invocation in enumerate(case.conversation or (), 1):
            turn = new_turn(invocation.user_content)
            conversation.turns.append(turn)
            answer = agent.answer(copy_message(invocation.user_content), session)
            try:
                async with asyncio.timeout(subject.timeout):
                    await record_turn(answer, turn, session, EvidenceLimiter(TurnCaps(), []))
            except TimeoutError:
                raise ConformanceError(f"turn {number} took more than {subject.timeout:g} s") from None
            except Exception as error:
                error.add_note(f"in turn {number} ({short_text(invocation.user_content)})")
                raise
        conversation.final_state = await call_optional(agent, "final_state", session, otherwise=session.state)
    finally:
        await call_optional(agent, "end", session)
    return conversation


async def call_optional(agent: Agent, name: str, *arguments: Any, otherwise: Any = None) -> Any:
    """Call an optional method; return `otherwise` if the agent does not have it."""
    method = getattr(agent, name, None)
    return otherwise if method is None else await settle(method(*arguments))


async def first_event(events: Any, *, leave: bool) -> int:
    """Read the first event (`leave`) or all events; return how many were read."""
    count = 0
    async with aclosing(events) if hasattr(events, "aclose") else nullcontext():
        async for _ in events:
            count += 1
            if leave:
                break
    return count


def short_text(content: Content | None, most: int = 80) -> str:
    """Return the text of a message, shortened."""
    return repr(cut_text(text_of(content), most))
