"""`adk+http:URL/APP`: an app on a REST server of ADK, in any language (extra `http`).

Google-adk's `adk api_server` and `adk web` are such servers, and those of its sisters in TypeScript, Go, Java. Their
protocol is documented by google-adk under "API Server"; sessions are created with the case's state, each turn is a
`run_sse` (or a `run`), the final state is the session's, and sessions that were created here are deleted again.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from pydantic import ValidationError

from proctor.agents.adk.events import LastAnswer, event_of_json, finish_reason_of, lasting
from proctor.agents.base import AgentInfo, Session
from proctor.agents.frameworks.long_running_calls import PendingCalls
from proctor.agents.function_results import first_problem
from proctor.agents.remote.adk_server.sessions import RemoteSession, Sessions
from proctor.agents.remote.http.address import Address, read_address
from proctor.agents.remote.http.client import HttpClient
from proctor.agents.remote.http.response_reader import EVENTS, HttpResponse
from proctor.common.error_text import safe_repr
from proctor.common.json_values import Json, JsonObject
from proctor.errors import AgentError, AgentLoadError, AgentRaisedError, did_you_mean
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content

KIND = "adk+http"
_MEMORY = "adk+http"
_WAYS = ("run_sse", "run")


def adk_server_agent(rest: str) -> AdkServerAgent:
    """Return the agent that `adk+http:REST` names.

    The last segment of the URL's path is the app; without it, the only app of the server. Options are in
    the query: `via=run` requests each turn in one piece, `streaming=true` pieces of answers as well.

    Raises:
        AgentLoadError: the URL or an option is invalid.
        MissingExtraError: httpx is not installed.
    """
    options, address = read_address(rest, kind=KIND).take("via", "streaming")
    via, streaming = options.get("via", "run_sse"), options.get("streaming", "false").lower()
    if via not in _WAYS or streaming not in ("true", "false"):
        raise AgentLoadError(
            f"The agent {KIND}:{address.shown} has an option that is none; expected via=run_sse or via=run, "
            f"streaming=true or streaming=false, got via={via}, streaming={streaming}."
        )
    return AdkServerAgent(address, via=via, streaming=streaming == "true")


@dataclass(slots=True)
class _Conversation:
    """One trial's conversation with the server."""

    session: RemoteSession
    pending: PendingCalls = field(default_factory=PendingCalls)


class AdkServerAgent:
    """One app of an ADK server. Each trial has its own session there, under the user of the case.

    All trials share the data that a server keeps for a user or an app (`user:`, `app:` state, memory).
    """

    def __init__(self, address: Address, *, via: str = "run_sse", streaming: bool = False) -> None:
        """Take the address of the app; see `adk_server_agent`."""
        self._given = address
        self._via = via
        self._streaming = streaming
        self._open(
            ServerApp(address.at(address.path.rpartition("/")[0]), unquote(address.path.rpartition("/")[2]))
        )

    def _open(self, place: ServerApp) -> None:
        self._place = place
        self._http = HttpClient(place.server)
        self._sessions = Sessions(self._http, place.app)

    async def open(self) -> None:
        """Find the app among those that the server has.

        Raises:
            AgentLoadError: the server does not answer, or has no such app; the message lists its apps.
        """
        place = await find_app(self._given)
        await self._http.close()
        self._open(place)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()

    async def describe(self) -> AgentInfo:
        """Return the server's description of the app; its name if there is none."""
        info: Json = None
        with suppress(AgentError):  # not every server has it
            info = await self._http.ask(f"apps/{quote(self._place.app, safe='')}/app-info")
        return read_info(self._place.app, self._http.address.hide_in_answer(info))

    async def begin(self, session: Session, case: object) -> None:
        """Wait for a pinned session that another trial uses."""
        await self._sessions.acquire(session)

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Let the app answer one message.

        Raises:
            AgentError: the server is unreachable, rejects the request, breaks off, or reports an exception of the agent.
        """
        conversation: _Conversation | None = session.memory.get(_MEMORY)
        if conversation is None:
            conversation = session.memory[_MEMORY] = _Conversation(await self._sessions.create(session))
        answered = conversation.pending.with_call_ids(message)
        request = {
            "appName": self._place.app,
            "userId": session.user_id,
            "sessionId": conversation.session.id,
            "newMessage": {
                "role": "user",
                **answered.model_dump(mode="json", by_alias=True, exclude_none=True),
            },
            "streaming": self._streaming,
        }
        if self._via == "run":
            del request["streaming"]
        accept = EVENTS if self._via == "run_sse" else "application/json"
        async with self._http.send(self._via, request, accept=accept) as reply:
            reading = _Reading(reply)
            async with aclosing(_documents(reply)) as documents:
                async for data in documents:
                    event = reading.event(data)
                    conversation.pending.note(event)
                    yield event
            reading.end()
            if (broken := reading.answer.incomplete_event()) is not None:
                yield broken

    async def final_state(self, session: Session) -> JsonObject:
        """Return the state of the server's session, or the state from the events if the server does not return it."""
        conversation: _Conversation | None = session.memory.get(_MEMORY)
        state = None if conversation is None else await self._sessions.state(conversation.session)
        return session.state if state is None else lasting(self._http.address.hide_in_answer(state))

    async def end(self, session: Session) -> None:
        """Delete the session on the server if it was created here."""
        conversation: _Conversation | None = session.memory.get(_MEMORY)
        await self._sessions.release(session, None if conversation is None else conversation.session)


async def _documents(reply: HttpResponse) -> AsyncGenerator[Json, None]:
    """Yield the events of a turn as JSON, as they come; of a server without streams, those of its list."""
    if reply.is_stream:
        async with aclosing(reply.events()) as events:
            async for sent in events:
                yield reply.data_of(sent)
        return
    whole = await reply.answer()
    if not isinstance(whole, list):
        raise reply.broke(f"answered with {safe_repr(whole)} where a list of events was expected")
    for one in whole:
        yield one


class _Reading:
    """Reads the events of one turn, and whether they are all there."""

    def __init__(self, reply: HttpResponse) -> None:
        self._reply = reply
        self._id = ""
        self._last: Event | None = None
        self.answer = LastAnswer()

    def event(self, data: Json) -> Event:
        """Read one event.

        Raises:
            AgentRaisedError: it reports an exception of the agent.
            AgentError: it is not an event.
        """
        if not isinstance(data, dict):
            raise self._reply.broke(f"sent {safe_repr(data)} where an event was expected")
        if "error" in data and not ({"author", "content"} & data.keys()):
            raise _agent_exception(data)
        try:
            event = event_of_json(data)
        except ValidationError as error:
            raise self._reply.broke(f"sent an event that does not fit: {first_problem(error)}") from None
        if data.get("id") and data.get("id") == self._id and event.content is None:
            event.usage_metadata = event.model_version = (
                None  # the same event again, with the saved artifacts
            )
        self._id = str(data.get("id") or "")
        self._last = event
        self.answer.note(event, finish_reason_of(data))
        return event

    def end(self) -> None:
        """Look at the end of a stream that nothing but the end of the connection has ended.

        Raises:
            AgentTruncatedError: it broke off within an answer.
        """
        if {"transfer-encoding", "content-length"} & {name.lower() for name in self._reply.headers}:
            return
        if (last := self._last) is None:
            raise self._reply.truncation_error("closed the connection before it answered")
        calls = any(part.function_call for part in (last.content and last.content.parts) or ())
        if last.partial or (calls and not last.long_running_tool_ids):
            raise self._reply.truncation_error("closed the connection within an answer")


def _agent_exception(data: Mapping[str, Json]) -> AgentRaisedError:
    value = data.get("error_details") or data.get("errorDetails")
    details = value if isinstance(value, dict) else {}
    kind = details.get("error_type")
    message = data["error"] if isinstance(data["error"], str) else json.dumps(data["error"])
    name, colon, rest = message.partition(": ")
    if kind:
        return AgentRaisedError(str(details.get("error_message") or message), type=str(kind))
    return AgentRaisedError(rest, type=name) if colon and name.isidentifier() else AgentRaisedError(message)


# --- The app of an ADK server: its selection by an address, and its description ---------------------------------------


@dataclass(frozen=True, slots=True)
class ServerApp:
    """The address of a server, and an app of it."""

    server: Address
    app: str


async def find_app(address: Address) -> ServerApp:
    """Request the apps of the server, and select one by an address.

    The last segment of the address's path is the name of an app if there is such an app; the path may also be that of
    the server if it has only one app. For a server that does not list its apps, the named one is assumed to exist.

    Raises:
        AgentLoadError: the server does not answer, or has no such app.
    """
    above, _, last = address.path.rpartition("/")
    place = ServerApp(address.at(above), unquote(last))
    apps = await _apps(place.server)
    if apps is None and last and (apps := await _apps(address)) is not None:
        return ServerApp(address, _only_app(address, apps))
    if not last:
        if apps is None:
            raise AgentLoadError(
                f"The agent {KIND}:{address.shown} names no app, and {address.shown.rstrip('/')}/list-apps does not name its "
                f"apps. Is it an ADK server? Name the app: {KIND}:{_app_url(address, 'APP')}"
            )
        return ServerApp(address, _only_app(address, apps))
    if apps is not None and place.app not in apps:
        raise AgentLoadError(
            f"The agent {KIND}:{address.shown}: its server has no app {place.app!r}."
            f"{did_you_mean(place.app, apps)} It has: {_app_names(apps)}."
        )
    return place


async def _apps(server: Address) -> list[str] | None:
    """Return the apps of a server; none of one that does not list them."""
    http = HttpClient(server)
    try:
        answer = await http.glance("list-apps")
    finally:
        await http.close()
    if isinstance(answer, Mapping):
        answer = answer.get("apps")
    if not isinstance(answer, list):
        return None
    names = [one.get("name") if isinstance(one, Mapping) else one for one in answer]
    return [name for name in names if isinstance(name, str)]


def _only_app(address: Address, apps: list[str]) -> str:
    if len(apps) == 1:
        return apps[0]
    if not apps:
        raise AgentLoadError(f"The agent {KIND}:{address.shown}: its server has no app.")
    raise AgentLoadError(
        f"The agent {KIND}:{address.shown} names no app, and its server has {len(apps)}: {_app_names(apps)}. "
        f"Name one: {KIND}:{_app_url(address, apps[0])}"
    )


def _app_names(apps: list[str]) -> str:
    names = ", ".join(apps[:20])
    return f"{names} and {len(apps) - 20} more" if len(apps) > 20 else names or "none"


def _app_url(address: Address, app: str) -> str:
    return f"{address.shown.rstrip('/')}/{app}"


def read_info(app: str, info: Json) -> AgentInfo:
    """Return the result of `app-info`: instructions and tools by agent, if the server supports it."""
    if not isinstance(info, Mapping):
        return AgentInfo(name=app)
    agents = info.get("agents")
    details = (
        {name: _agent_details(one) for name, one in agents.items()} if isinstance(agents, Mapping) else None
    )
    return AgentInfo(
        name=str(info.get("rootAgentName") or app),
        description=str(info.get("description") or ""),
        app_details={"agent_details": details} if details else None,
        has_more_tools=True,  # toolsets, and agents that the server does not look into
    )


def _agent_details(agent: Json) -> JsonObject:
    fields = agent if isinstance(agent, Mapping) else {}
    tools = fields.get("tools")
    instruction = str(fields.get("instruction") or "")
    return {
        "name": str(fields.get("name") or ""),
        "instructions": ""
        if instruction.startswith("<InstructionProvider")
        else instruction,  # created in each turn
        "tool_declarations": tools if isinstance(tools, list) else [],
    }
