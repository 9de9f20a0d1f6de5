"""Talking to an agent that is on trial itself: conversations of its own, watched from outside."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, field
from typing import Any

from proctor.agents.base import Agent, Session
from proctor.common.async_tools import settle
from proctor.engine.trial.conversation import DEFAULT_APP, DEFAULT_USER, new_session
from proctor.engine.trial.event_recorder import copy_message, new_turn, record_turn
from proctor.engine.trial.evidence_limits import Caps, EvidenceLimiter
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Turn
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content, text_of, user_text
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.session import SessionInput

KEY = "proctor_check"
"""The key of the session's state under which every conversation has a text of its own."""


class ConformanceError(Exception):
    """The agent does not do what a check is about; the message is the evidence."""


class NotApplicableError(Exception):
    """A check has nothing to look at; the message says why."""


@dataclass(frozen=True, slots=True)
class Subject:
    """An agent, open, and what to say to it."""

    agent: Agent
    cases: Sequence[EvalCase]
    """At least one, each with a conversation."""
    timeout: float
    """Seconds of one turn."""
    failing: str | None = None
    """A message that makes the agent fail."""

    def case(self, number: int = 0) -> EvalCase:
        """One of the conversations; there are as many as are asked for, the same again."""
        return self.cases[number % len(self.cases)]


@dataclass(slots=True)
class Talk:
    """One conversation, as it was had."""

    session: Session
    token: str
    turns: list[Turn] = field(default_factory=list)
    final_state: Any = None

    @property
    def events(self) -> list[Event]:
        """All events of all turns."""
        return [event for turn in self.turns for event in turn.events]


def case_of(messages: Sequence[str]) -> EvalCase:
    """Return a case in which the user says these."""
    turns = [Invocation(user_content=user_text(text)) for text in messages]
    return EvalCase(eval_id="conformance", conversation=turns)


def begun(case: EvalCase) -> tuple[EvalCase, Talk]:
    """Return a conversation of its own for a case, with a token in its state that no other one has."""
    token = f"token-{uuid.uuid4().hex}"
    given = case.session_input or SessionInput(app_name=DEFAULT_APP, user_id=DEFAULT_USER)
    state = {**(given.state or {}), KEY: token}
    own = given.model_copy(update={"state": state, "session_id": None})
    case = case.model_copy(update={"session_input": own})
    return case, Talk(new_session(case, f"conformance-{uuid.uuid4().hex}"), token)


async def talk_through(subject: Subject, case: EvalCase) -> Talk:
    """Have a whole conversation.

    Raises:
        ConformanceError: a turn took too long.
        AgentError, ReportedError: whatever broke it off.
    """
    case, talk = begun(case)
    agent, session = subject.agent, talk.session
    await ask(agent, "begin", session, case)
    try:
        for number, invocation in enumerate(case.conversation or (), 1):
            turn = new_turn(invocation.user_content)
            talk.turns.append(turn)
            answer = agent.answer(copy_message(invocation.user_content), session)
            try:
                async with asyncio.timeout(subject.timeout):
                    await record_turn(answer, turn, session, EvidenceLimiter(Caps(), []))
            except TimeoutError:
                raise ConformanceError(f"turn {number} took more than {subject.timeout:g} s") from None
            except Exception as error:
                error.add_note(f"in turn {number} ({shown(invocation.user_content)})")
                raise
        talk.final_state = await ask(agent, "final_state", session, otherwise=session.state)
    finally:
        await ask(agent, "end", session)
    return talk


async def ask(agent: Agent, name: str, *arguments: Any, otherwise: Any = None) -> Any:
    """Call an optional method; `otherwise` where there is none."""
    method = getattr(agent, name, None)
    return otherwise if method is None else await settle(method(*arguments))


async def first_event(events: Any, *, leave: bool) -> int:
    """Take events: only the first one (`leave`), or all; returns how many there were."""
    count = 0
    async with aclosing(events) if hasattr(events, "aclose") else nullcontext():
        async for _ in events:
            count += 1
            if leave:
                break
    return count


def shown(content: Content | None, most: int = 80) -> str:
    """What a message says, short."""
    text = text_of(content)
    return repr(text if len(text) <= most else f"{text[: most - 1]}…")
