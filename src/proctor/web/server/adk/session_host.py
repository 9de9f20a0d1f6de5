"""Sessions of agents of other frameworks than google-adk, in memory, with events in google-adk's JSON."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import OrderedDict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any

from proctor.agents.base import Agent, AgentInfo, Session
from proctor.agents.chat_host import (
    MOST_SESSIONS,
    Artifacts,
    Json,
    NotPossibleError,
    SessionExistsError,
    TurnRequest,
    tools_of,
)
from proctor.common.async_tools import settle
from proctor.common.error_text import safe_str
from proctor.common.process_exit import contained_exits
from proctor.engine.trial.event_recorder import copy_message, new_turn, record_turn
from proctor.engine.trial.evidence_limits import EvidenceLimiter, TurnCaps
from proctor.engine.trial.failure_attribution import ReportedError
from proctor.errors import AgentRaisedError
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.turn import Span, Turn
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content
from proctor.web.server.adk.wire import event_json, jsonable, stored_event_json

_CASE = EvalCase(eval_id="chat", conversation=[])
"""The empty case for agents that require a case at the start of a conversation."""


@dataclass(slots=True)
class _HostedSession:
    """One session."""

    session: Session
    events: list[Json] = field(default_factory=list)
    updated: float = field(default_factory=time.time)
    has_begun: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def note(self, event: Json) -> Json:
        """Store an event, except parts of an answer, because the complete answer follows."""
        if not event.get("partial"):
            self.events.append(event)
            self.updated = event["timestamp"]
        return event


class SessionHost:
    """Serves one agent through the contract that evaluations use."""

    artifacts: Artifacts | None = None

    def __init__(self, app_name: str, agent: Agent) -> None:
        """`agent`: it is open."""
        self._app_name, self._agent = app_name, agent
        self._hosted: OrderedDict[tuple[str, str], _HostedSession] = OrderedDict()

    async def create(
        self, user_id: str, session_id: str | None, state: Json | None, events: Sequence[Json]
    ) -> Json:
        """Create a session; initial events are shown, but not sent to the agent."""
        session_id = (session_id or "").strip() or str(uuid.uuid4())
        if (user_id, session_id) in self._hosted:
            raise SessionExistsError(session_id)
        hosted = _HostedSession(Session(session_id, self._app_name, user_id, dict(state or {})))
        for event in events:
            document = stored_event_json(event)
            identity = {
                "id": document.get("id") or str(uuid.uuid4()),
                "timestamp": document.get("timestamp") or time.time(),
            }
            hosted.note({**document, **identity})
        while len(self._hosted) >= MOST_SESSIONS:
            await self._end_session(self._hosted.popitem(last=False)[1])
        self._hosted[user_id, session_id] = hosted
        return self._json(hosted)

    async def get(self, user_id: str, session_id: str) -> Json | None:
        """Return a session with its events."""
        hosted = self._find(user_id, session_id)
        return None if hosted is None else self._json(hosted)

    async def list(self, user_id: str) -> list[Json]:
        """Return a user's sessions, without their events."""
        hosted_sessions = [hosted for (owner, _), hosted in self._hosted.items() if owner == user_id]
        return [{**self._json(hosted), "events": []} for hosted in hosted_sessions]

    async def keys(self) -> Sequence[tuple[str, str]]:
        """Return user and id of each session."""
        return list(self._hosted)

    async def patch(self, user_id: str, session_id: str, delta: Json) -> Json | None:
        """Change the state of a session."""
        hosted = self._find(user_id, session_id)
        if hosted is None:
            return None
        hosted.session.state.update(delta)
        hosted.note(_new_event(Event(author="user", state_delta=delta), f"p-{uuid.uuid4()}"))
        return self._json(hosted)

    async def delete(self, user_id: str, session_id: str) -> None:
        """Forget a session."""
        if (hosted := self._hosted.pop((user_id, session_id), None)) is not None:
            await self._end_session(hosted)

    async def remember(self, user_id: str, session_id: str) -> None:
        """Refuse: only agents of google-adk have a memory service."""
        raise NotPossibleError("Memory service is not configured.")

    async def check(self, turn: TurnRequest) -> None:
        """Refuse to resume an invocation: only google-adk's agents can."""
        if turn.message is None:
            raise NotPossibleError("this agent cannot resume an invocation: send it a newMessage")

    async def run(self, turn: TurnRequest) -> AsyncGenerator[Json, None]:
        """Yield the events of one turn."""
        hosted = self._find(turn.user_id, turn.session_id)
        if hosted is None or turn.message is None:
            raise NotPossibleError("the session was deleted")
        async with hosted.lock:  # a session is one conversation: concurrent messages wait
            invocation_id = f"e-{uuid.uuid4()}"
            self._note_user(hosted, turn, turn.message, invocation_id)
            try:
                await self._begin(hosted)
                async with aclosing(record_events(self._agent, turn.message, hosted.session)) as events:
                    async for event in events:
                        document = hosted.note(_new_event(event, invocation_id, turn))
                        if turn.streaming or not event.partial:
                            yield document
            except Exception as error:
                yield hosted.note(_new_event(await self._broken(error), invocation_id, turn))
                raise

    async def spans(self, user_id: str, session_id: str) -> Mapping[str, Sequence[Span]]:
        """Return nothing: traces are stored for evaluations only."""
        return {}

    async def describe(self) -> AgentInfo:
        """Return the agent's description of itself."""
        describe = getattr(self._agent, "describe", None)
        info: AgentInfo = AgentInfo(self._app_name) if describe is None else await settle(describe())
        return info

    async def tree(self) -> Json:
        """Return the agents of its description: the one with its name as the root, the others below it."""
        info = await self.describe()
        details: dict[str, Any] = (info.app_details or {}).get("agent_details") or {}
        below = [_node(name, "", agent) for name, agent in details.items() if name != info.name]
        return {**_node(info.name, info.description, details.get(info.name) or {}), "sub_agents": below}

    async def close(self) -> None:
        """End every session, and close the agent."""
        while self._hosted:
            await self._end_session(self._hosted.popitem()[1])
        if (close := getattr(self._agent, "close", None)) is not None:
            await settle(close())

    def _find(self, user_id: str, session_id: str) -> _HostedSession | None:
        hosted = self._hosted.get((user_id, session_id))
        if hosted is not None:
            self._hosted.move_to_end((user_id, session_id))
        return hosted

    def _note_user(
        self, hosted: _HostedSession, turn: TurnRequest, message: Content, invocation_id: str
    ) -> None:
        delta = dict(turn.state_delta or {}) or None
        hosted.session.state.update(delta or {})
        hosted.note(_new_event(Event(author="user", content=message, state_delta=delta), invocation_id))

    async def _begin(self, hosted: _HostedSession) -> None:
        if not hosted.has_begun and (begin := getattr(self._agent, "begin", None)) is not None:
            await settle(begin(hosted.session, _CASE))
        hosted.has_begun = True

    async def _end_session(self, hosted: _HostedSession) -> None:
        end = getattr(self._agent, "end", None)
        if hosted.has_begun and end is not None:
            with suppress(Exception):  # a failure at the end of a session must not affect other sessions
                await settle(end(hosted.session))

    async def _broken(self, error: BaseException) -> Event:
        info = await self.describe()
        return Event(author=info.name, error_code=type(error).__name__, error_message=safe_str(error))

    def _json(self, hosted: _HostedSession) -> Json:
        return {
            "id": hosted.session.id,
            "appName": self._app_name,
            "userId": hosted.session.user_id,
            "state": jsonable(hosted.session.state),
            "events": list(hosted.events),
            "lastUpdateTime": hosted.updated,
        }


def _new_event(event: Event, invocation_id: str, turn: TurnRequest | None = None) -> Json:
    identity: Json = {"invocationId": invocation_id, "id": str(uuid.uuid4()), "timestamp": time.time()}
    if turn is not None and turn.custom_metadata:
        identity["customMetadata"] = dict(turn.custom_metadata)
    return event_json(event, **identity)


def _node(name: str, description: str, details: Json) -> Json:
    return {
        "name": name,
        "description": description,
        "instruction": details.get("instructions") or "",
        "tools": list(tools_of(details)),
        "sub_agents": [],
    }


# --- one turn of an agent, recorded as in evaluations: checked, bounded, detached from the agent ---


TURN_TIMEOUT = 300.0
"""The time limit of one answer in seconds, as in an evaluation."""


async def record_events(agent: Agent, message: Content, session: Session) -> AsyncGenerator[Event, None]:
    """Yield the agent's events, each after it was recorded and its state changes were applied to the session.

    An error that the agent reports as its last event raises no exception.

    Raises:
        AgentError: the agent emitted something else than an event, or did not stop.
        TimeoutError: the answer took too long.
        Exception: any exception of the agent.
    """
    turn, arrived = new_turn(message), asyncio.Event()
    work = asyncio.create_task(_record(agent, session, turn, arrived))
    work.add_done_callback(lambda _: arrived.set())
    position = 0
    try:
        while not work.done() or position < len(turn.events):
            while position < len(turn.events):
                position += 1
                yield turn.events[position - 1]
            if not work.done():
                await arrived.wait()
                arrived.clear()
        await work
    except ReportedError:
        return
    finally:
        work.cancel()


async def _record(agent: Agent, session: Session, turn: Turn, arrived: asyncio.Event) -> None:
    async def events() -> AsyncGenerator[Event, None]:
        async for event in agent.answer(copy_message(turn.user_content), session):
            yield event
            arrived.set()  # the recorder requests the next event, so this one is recorded

    try:
        with contained_exits():
            async with asyncio.timeout(TURN_TIMEOUT):
                await record_turn(events(), turn, session, EvidenceLimiter(TurnCaps(), []))
    except SystemExit as error:  # it would end the loop of all agents
        raise AgentRaisedError(f"the agent called sys.exit({error.code!r})", type="SystemExit") from None
    except KeyboardInterrupt:  # not a user's Ctrl-C, which reaches only the main thread
        raise AgentRaisedError("the agent raised KeyboardInterrupt", type="KeyboardInterrupt") from None
