"""`a2a+http:URL`: an agent that speaks A2A, JSON-RPC over HTTP, in versions 1.0 and 0.3 (extra `http`).

The protocol: https://a2a-protocol.org. The card contains the agent's address. Each trial has its own context,
each turn is a message, and the next turn continues a task that asks for more input.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any

from proctor.agents.base import AgentInfo, Session
from proctor.agents.frameworks.long_running_calls import PendingCalls
from proctor.agents.remote.a2a.card import Card, read_card
from proctor.agents.remote.a2a.turn import A2ATurn, result_of
from proctor.agents.remote.http.address import Address, read_address
from proctor.agents.remote.http.client import EVENTS, JSON, HttpClient, Reply
from proctor.errors import AgentError, AgentLoadError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content

KIND = "a2a+http"
_MEMORY = "a2a+http"
_OURS = "adk-eval-session-"
"""How ids of sessions begin that no case pins: no server knows them, and some refuse contexts that they did not make."""
_ASK_AGAIN = 0.2
"""Seconds between two questions after a task that was not done at once."""
_CLEANUP = 5.0
_AFTER_END = 0.05


def a2a_agent(rest: str) -> A2AAgent:
    """Return the agent that `a2a+http:REST` names: the URL of an agent, or that of its card.

    `via=send` in the query requests each turn in one piece, `via=stream` updates as they come; without it, the card
    decides.

    Raises:
        AgentLoadError: the URL or an option is invalid.
        MissingExtraError: httpx is not installed.
    """
    options, address = read_address(rest, kind=KIND).take("via")
    via = options.get("via", "")
    if via not in ("", "send", "stream"):
        raise AgentLoadError(
            f"The agent {KIND}:{address.shown} has via={via}; expected via=send or via=stream."
        )
    return A2AAgent(address, via=via)


@dataclass(slots=True)
class _Talk:
    """One trial's conversation with the agent."""

    context_id: str
    turn: A2ATurn | None = None
    """The last task; it may be unfinished."""
    pending: PendingCalls = field(default_factory=PendingCalls)

    @property
    def open_task(self) -> str:
        """The id of the task that is unfinished or asked for more input."""
        turn = self.turn
        return turn.task_id if turn and (not turn.is_over or turn.state == "input-required") else ""


class A2AAgent:
    """One agent that speaks A2A.

    The first message carries the state of the case as metadata `proctor`, because A2A has no session state.
    The changes of the state that google-adk's servers report are read.
    """

    def __init__(self, address: Address, *, via: str = "") -> None:
        """Take the address; see `a2a_agent`."""
        self._given = address
        self._via = via
        self._http = HttpClient(address)
        self._card: Card | None = None

    async def open(self) -> None:
        """Read the agent's card.

        Raises:
            AgentLoadError: the server does not answer, or has no valid card.
        """
        self._card = await read_card(self._given)
        self._http = HttpClient(self._card.rpc)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()

    def describe(self) -> AgentInfo:
        """Return the content of the card."""
        return self._card.info if self._card else AgentInfo(name=f"{KIND}:{self._given.shown}")

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Send one message, and yield the events of the answer.

        Raises:
            AgentError: the server cannot be reached, refuses, breaks off, or the agent failed.
        """
        card = await self._open_card()
        talk: _Talk | None = session.memory.get(_MEMORY)
        if talk is None:
            context_id = "" if session.id.startswith(_OURS) else session.id
            talk = session.memory[_MEMORY] = _Talk(context_id)
        message_id = str(uuid.uuid4())
        params = _params(card, talk.pending.with_call_ids(message), session, talk, message_id)
        if talk.turn is not None:
            talk.context_id = talk.turn.context_id or talk.context_id
        turn = talk.turn = A2ATurn(card.name, message_id)
        async with aclosing(self._events(card, params, turn)) as events:
            async for event in events:
                talk.pending.note(event)
                yield event

    async def end(self, session: Session) -> None:
        """Cancel the unfinished task of a trial."""
        talk: _Talk | None = session.memory.get(_MEMORY)
        if talk is None or self._card is None or not talk.open_task:
            return
        with suppress(AgentError, TimeoutError):
            async with asyncio.timeout(_CLEANUP):
                await self._call(self._card, self._card.dialect.cancel, {"id": talk.open_task})

    async def _open_card(self) -> Card:
        if self._card is None:
            await self.open()
        if self._card is None:
            raise AgentError(f"the agent at {self._given.shown} is not open")
        return self._card

    async def _events(self, card: Card, params: dict[str, Any], turn: A2ATurn) -> AsyncGenerator[Event, None]:
        stream = self._via == "stream" or (card.streams and self._via != "send")
        request = _request(card.dialect.stream if stream else card.dialect.send, params)
        accept = EVENTS if stream else JSON
        async with self._http.send("", request, accept=accept, headers=card.dialect.headers) as reply:
            async with aclosing(_answers(reply)) as answers:
                async for answer in answers:
                    for event in turn.take(answer, reply):
                        yield event
                    if turn.is_over:
                        await _ending(answers)
                        break
            if not turn.is_over and (stream or not turn.task_id):
                raise reply.truncation_error("ended its answer before its task was done")
        while not turn.is_over:
            await asyncio.sleep(_ASK_AGAIN)
            async with self._http.send(
                "", _request(card.dialect.get, {"id": turn.task_id}), headers=card.dialect.headers
            ) as reply:
                task = result_of(await reply.answer(), reply)
                for event in turn.take({"result": {"task": task}}, reply):
                    yield event

    async def _call(self, card: Card, method: str, params: dict[str, Any]) -> Any:
        async with self._http.send("", _request(method, params), headers=card.dialect.headers) as reply:
            return result_of(await reply.answer(), reply)


async def _answers(reply: Reply) -> AsyncGenerator[Any, None]:
    """Yield the JSON-RPC responses of a stream, or the only response."""
    if not reply.is_stream:
        yield await reply.answer()
        return
    async with aclosing(reply.events()) as events:
        async for sent in events:
            yield reply.data_of(sent)


async def _ending(answers: AsyncGenerator[Any, None]) -> None:
    """Wait briefly for the end of a stream, so that its connection can be reused."""
    with suppress(TimeoutError, StopAsyncIteration, AgentError):
        async with asyncio.timeout(_AFTER_END):
            await anext(answers)


def _request(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": str(uuid.uuid4()), "method": method, "params": params}


def _params(card: Card, message: Content, session: Session, talk: _Talk, message_id: str) -> dict[str, Any]:
    ids = {"messageId": message_id}
    if context_id := (talk.turn.context_id if talk.turn else "") or talk.context_id:
        ids["contextId"] = context_id
    if talk.open_task:
        ids["taskId"] = talk.open_task
    params: dict[str, Any] = {"message": card.dialect.message(message, ids)}
    if talk.turn is None:
        told = {"app_name": session.app_name, "user_id": session.user_id, "session_id": session.id}
        params["metadata"] = {"proctor": {**told, "state": session.state}}
    if card.dialect.is_tagged:
        params["configuration"] = {"blocking": True}
    return params
