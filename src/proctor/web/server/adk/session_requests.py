"""One turn of an agent as it happens, taken in as evaluations take it in: checked, bounded, detached from the agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from proctor.agents.base import Agent, Session
from proctor.common.process_exit import contained_exits
from proctor.engine.trial.event_recorder import copy_message, new_turn, record_turn
from proctor.engine.trial.evidence_limits import Caps, Intake
from proctor.engine.trial.failure_attribution import ReportedError
from proctor.errors import AgentRaisedError
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Turn
from proctor.schema.format.content import Content

TURN_TIMEOUT = 300.0
"""Seconds that an agent gets for one answer, as in an evaluation."""


async def recorded(agent: Agent, message: Content, session: Session) -> AsyncGenerator[Event, None]:
    """Yield what the agent emits, each event when it has been taken in; state changes are in the session by then.

    An error that the agent reports as its last event is no exception: the event says it.

    Raises:
        AgentError: something came that is no event, or never ended.
        TimeoutError: the answer took too long.
        Exception: whatever the agent raises.
    """
    turn, arrived = new_turn(message), asyncio.Event()
    work = asyncio.create_task(_record(agent, session, turn, arrived))
    work.add_done_callback(lambda _: arrived.set())
    seen = 0
    try:
        while not work.done() or seen < len(turn.events):
            while seen < len(turn.events):
                seen += 1
                yield turn.events[seen - 1]
            if not work.done():
                await arrived.wait()
                arrived.clear()
        await work
    except ReportedError:
        return
    finally:
        work.cancel()


async def _record(agent: Agent, session: Session, turn: Turn, arrived: asyncio.Event) -> None:
    async def told() -> AsyncGenerator[Event, None]:
        async for event in agent.answer(copy_message(turn.user_content), session):
            yield event
            arrived.set()  # asked for the next one: this one has been taken in

    try:
        with contained_exits():
            async with asyncio.timeout(TURN_TIMEOUT):
                await record_turn(told(), turn, session, Intake(Caps(), []))
    except SystemExit as error:  # it would end the loop that all agents live on
        raise AgentRaisedError(f"the agent called sys.exit({error.code!r})", type="SystemExit") from None
    except KeyboardInterrupt:  # nobody's Ctrl-C: that reaches the main thread only
        raise AgentRaisedError("the agent raised KeyboardInterrupt", type="KeyboardInterrupt") from None
