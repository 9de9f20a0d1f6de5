"""`a2a+http:URL`: an agent that speaks A2A, JSON-RPC over HTTP, in versions 1.0 and 0.3 (extra `http`).

The protocol: https://a2a-protocol.org. The card contains the agent's address. Each trial has its own context,
each turn is a message, and the next turn continues a task that asks for more input.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field

from pydantic import ValidationError

from proctor.agents.adk.events import event_of_json
from proctor.agents.base import AgentInfo, Session
from proctor.agents.frameworks.long_running_calls import PendingCalls
from proctor.agents.function_results import first_problem
from proctor.agents.remote.a2a.protocol import (
    Card,
    adk_metadata,
    kind_of,
    objects_of,
    part_of,
    parts_of,
    read_card,
    task_state,
)
from proctor.agents.remote.http.address import Address, read_address
from proctor.agents.remote.http.client import HttpClient
from proctor.agents.remote.http.response_reader import EVENTS, JSON, HttpResponse
from proctor.common.error_text import safe_repr
from proctor.common.json_values import Json, JsonObject
from proctor.errors import AgentError, AgentLoadError, AgentRaisedError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content, Part
from proctor.schema.format.wire_model import either

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
class _Conversation:
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
        conversation: _Conversation | None = session.memory.get(_MEMORY)
        if conversation is None:
            context_id = "" if session.id.startswith(_OURS) else session.id
            conversation = session.memory[_MEMORY] = _Conversation(context_id)
        message_id = str(uuid.uuid4())
        params = _params(card, conversation.pending.with_call_ids(message), session, conversation, message_id)
        if conversation.turn is not None:
            conversation.context_id = conversation.turn.context_id or conversation.context_id
        turn = conversation.turn = A2ATurn(card.name, message_id)
        async with aclosing(self._events(card, params, turn)) as events:
            async for event in events:
                conversation.pending.note(event)
                yield event

    async def end(self, session: Session) -> None:
        """Cancel the unfinished task of a trial."""
        conversation: _Conversation | None = session.memory.get(_MEMORY)
        if conversation is None or self._card is None or not conversation.open_task:
            return
        with suppress(AgentError, TimeoutError):
            async with asyncio.timeout(_CLEANUP):
                dialect = self._card.dialect
                request = _request(dialect.cancel, {"id": conversation.open_task})
                async with self._http.send("", request, headers=dialect.headers) as reply:
                    result_of(await reply.answer(), reply)

    async def _open_card(self) -> Card:
        if self._card is None:
            await self.open()
        if self._card is None:
            raise AgentError(f"the agent at {self._given.shown} is not open")
        return self._card

    async def _events(self, card: Card, params: JsonObject, turn: A2ATurn) -> AsyncGenerator[Event, None]:
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
        async with aclosing(self._poll(card, turn)) as events:
            async for event in events:
                yield event

    async def _poll(self, card: Card, turn: A2ATurn) -> AsyncGenerator[Event, None]:
        """Request a task that was not done at once until it is over."""
        while not turn.is_over:
            await asyncio.sleep(_ASK_AGAIN)
            request = _request(card.dialect.get, {"id": turn.task_id})
            async with self._http.send("", request, headers=card.dialect.headers) as reply:
                task = result_of(await reply.answer(), reply)
                for event in turn.take({"result": {"task": task}}, reply):
                    yield event


async def _answers(reply: HttpResponse) -> AsyncGenerator[Json, None]:
    """Yield the JSON-RPC responses of a stream, or the only response."""
    if not reply.is_stream:
        yield await reply.answer()
        return
    async with aclosing(reply.events()) as events:
        async for sent in events:
            yield reply.data_of(sent)


async def _ending(answers: AsyncGenerator[Json, None]) -> None:
    """Wait briefly for the end of a stream, so that its connection can be reused."""
    with suppress(TimeoutError, StopAsyncIteration, AgentError):
        async with asyncio.timeout(_AFTER_END):
            await anext(answers)


def _request(method: str, params: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "id": str(uuid.uuid4()), "method": method, "params": params}


def _params(
    card: Card, message: Content, session: Session, conversation: _Conversation, message_id: str
) -> JsonObject:
    ids = {"messageId": message_id}
    if context_id := (conversation.turn.context_id if conversation.turn else "") or conversation.context_id:
        ids["contextId"] = context_id
    if conversation.open_task:
        ids["taskId"] = conversation.open_task
    params: JsonObject = {"message": card.dialect.message(message, ids)}
    if conversation.turn is None:
        identity = {"app_name": session.app_name, "user_id": session.user_id, "session_id": session.id}
        params["metadata"] = {"proctor": {**identity, "state": session.state}}
    if card.dialect.is_tagged:
        params["configuration"] = {"blocking": True}
    return params


# --- One turn of A2A, read into events: a message, or a task with its updates, from a stream or in one piece ----------


_UNDER_WAY = ("submitted", "working")
_ANSWERED = ("completed", "input-required")
_FAILED = ("failed", "rejected", "canceled", "auth-required")


class A2ATurn:
    """Receives the results for one message, and returns their events.

    The answer is the content of the task's artifacts; without artifacts, the agent's last message. google-adk's servers
    send each event of the agent as a separate message or artifact, with calls, author and tokens in metadata.
    """

    def __init__(self, name: str, message_id: str) -> None:
        """Take the agent's name, and the id of the message that is answered."""
        self._name = name
        self._message_id = message_id
        self._reply: HttpResponse | None = None
        self._seen: set[str] = set()
        self._held: dict[str, list[Json]] = {}
        self._last_parts: list[Part] = []
        self._error = ""
        self.context_id = ""
        self.task_id = ""
        self.state = ""
        """The state of the task by the names of 0.3; `message` if a message was the whole answer."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come for this message."""
        return self.state not in ("", *_UNDER_WAY)

    def take(self, answer: Json, reply: HttpResponse) -> Iterator[Event]:
        """Read one JSON-RPC response.

        Raises:
            AgentError: it is invalid, or reports a failure of the agent.
        """
        self._reply = reply
        result = result_of(answer, reply)
        kind, thing = kind_of(result)
        if thing is None:
            raise reply.broke(f"sent {safe_repr(result)} where a task, a message or an update was expected")
        handler = {"message": self._direct, "task": self._task, "status-update": self._status}.get(kind)
        if handler is None and kind != "artifact-update":
            raise reply.broke(f"sent an object of the unknown kind {kind!r}")
        try:
            yield from (handler or self._artifact_update)(thing)
        except ValidationError as error:
            raise reply.broke(f"sent something that does not fit: {first_problem(error)}") from None

    # --- results

    def _direct(self, message: Mapping[str, Json]) -> Iterator[Event]:
        self._note_ids(message)
        yield from self._message(message, {})
        self.state = "message"

    def _task(self, task: Mapping[str, Json]) -> Iterator[Event]:
        self._note_ids({**task, "taskId": task.get("id")})
        since = self._new_messages(task.get("history"))
        last = len(since) - 1
        for number, message in enumerate(since):
            yield from self._message(message, task if number == last else {})
        for artifact in objects_of(task.get("artifacts")):
            self._held[str(either(artifact, "artifact_id"))] = parts_of(artifact)
        yield from self._end(task.get("status"), {})

    def _new_messages(self, history: Json) -> list[Mapping[str, Json]]:
        """Return the agent's messages after the answered one; a continued task has older ones."""
        messages = objects_of(history)
        ids = [either(one, "message_id") for one in messages]
        if self._message_id in ids:
            messages = messages[ids.index(self._message_id) + 1 :]
        return [one for one in messages if not str(one.get("role", "")).lower().endswith("user")]

    def _status(self, update: Mapping[str, Json]) -> Iterator[Event]:
        self._note_ids(update)
        yield from self._end(update.get("status"), update)

    def _artifact_update(self, update: Mapping[str, Json]) -> Iterator[Event]:
        self._note_ids(update)
        artifact = update.get("artifact")
        if not isinstance(artifact, Mapping):
            return
        parts = parts_of(artifact)
        metadata = adk_metadata(update)
        its_id = str(either(artifact, "artifact_id"))
        is_last = bool(either(update, "last_chunk"))
        if "event_id" in metadata and is_last:  # a complete event of google-adk; its pieces came before
            self._held.pop(its_id, None)
            yield from self._event(parts, update)
            return
        self._held[its_id] = [*self._held.get(its_id, ()), *parts] if update.get("append") else parts
        if not is_last:
            yield from self._event(parts, update, is_piece=True)

    def _end(self, status: Json, update: Mapping[str, Json]) -> Iterator[Event]:
        """Process a status: its message and, if it ends the turn, the pending messages."""
        state = task_state(status)
        message = status.get("message") if isinstance(status, Mapping) else None
        if state in _FAILED:
            raise self._failure(state, message)
        if isinstance(message, Mapping):
            yield from self._message(message, update)
        if state in _ANSWERED:
            pending_parts = [part for parts in self._held.values() for part in parts]
            self._held = {}
            yield from self._event(pending_parts, {})
        elif state not in _UNDER_WAY and self._reply is not None:
            raise self._reply.broke(f"reports the unknown state {state!r} of the task")
        self.state = state

    # --- into events

    def _message(self, message: Mapping[str, Json], update: Mapping[str, Json]) -> Iterator[Event]:
        message_id = str(either(message, "message_id") or "")
        if message_id and message_id in self._seen:
            return
        self._seen.add(message_id)
        about = update if adk_metadata(update) else message
        yield from self._event(parts_of(message), about)

    def _event(
        self, raw_parts: list[Json], about: Mapping[str, Json], *, is_piece: bool = False
    ) -> Iterator[Event]:
        metadata = adk_metadata(about)
        converted = [(part, waits) for part, waits in map(part_of, raw_parts) if part is not None]
        parts = [part for part, _ in converted]
        if not is_piece and parts:
            if parts == self._last_parts:  # the same message again, as an artifact
                return
            self._last_parts = parts
        if not (parts or metadata.get("actions") or metadata.get("error_code")):
            return
        waiting = [part.function_call.id for part, waits in converted if waits and part.function_call]
        yield event_of_json(
            {
                **self._event_fields(parts, metadata),
                "author": metadata.get("author") or self._name,
                "long_running_tool_ids": waiting or None,
                "partial": is_piece or None,
            }
        )

    def _event_fields(self, parts: list[Part], metadata: Mapping[str, Json]) -> JsonObject:
        """Return google-adk's fields of an event, and its content or its error."""
        fields: JsonObject = {name: metadata[name] for name in _KEPT if name in metadata}
        if metadata.get("error_code"):
            self._error = str(metadata["error_code"])
            fields["error_message"] = "\n".join(part.text for part in parts if part.text)
        elif parts:
            content = Content(role="model", parts=parts)
            fields["content"] = content.model_dump(mode="json", exclude_none=True)
        return fields

    def _failure(self, state: str, message: Json) -> AgentError:
        fields = message if isinstance(message, dict) else {}
        parts = [part for part, _ in map(part_of, parts_of(fields)) if part is not None]
        text = "\n".join(part.text for part in parts if part.text)
        self._error = str(adk_metadata(fields).get("error_code") or self._error)
        self.state = state
        return AgentRaisedError(text or f"its task ended as {state}", type=self._error or state)

    def _note_ids(self, fields: Mapping[str, Json]) -> None:
        self.context_id = str(either(fields, "context_id") or self.context_id)
        self.task_id = str(either(fields, "task_id") or self.task_id)


_KEPT = ("usage_metadata", "grounding_metadata", "error_code", "actions", "model_version")
_REFUSALS = range(-32602, -32599)
"""JSON-RPC's own errors about the request; those of A2A are -32001 and below."""


def result_of(answer: Json, reply: HttpResponse) -> Json:
    """Return the result of a JSON-RPC response.

    Raises:
        AgentRaisedError: it is an internal error of the server.
        AgentError: it rejects the request, or is not a response.
    """
    if not isinstance(answer, Mapping) or not ({"result", "error"} & answer.keys()):
        raise reply.broke(f"sent {safe_repr(answer)} where a JSON-RPC response was expected")
    error = answer.get("error")
    if error is None:
        return answer.get("result")
    details = error if isinstance(error, Mapping) else {"message": error}
    code, message = details.get("code"), str(details.get("message") or "no message")
    if isinstance(code, int) and (code in _REFUSALS or -32099 <= code <= -32001):
        raise reply.broke(f"refuses the message: {message} (code {code})")
    raise AgentRaisedError(message, type="" if code is None else str(code))
