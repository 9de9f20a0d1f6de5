"""`http+sse:URL`: a server in any language that speaks the JSON of docs/reference/agent-protocol.md over HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from proctor.agents.base import AgentInfo, Session
from proctor.agents.function_results import first_problem
from proctor.agents.json_protocol import Answer, parse_agent_json, read_answer, read_body, turn_request
from proctor.agents.remote.http.address import read_address
from proctor.agents.remote.http.client import HttpClient
from proctor.agents.remote.http.response_reader import EVENTS, HttpResponse
from proctor.common.json_values import Json, JsonObject
from proctor.errors import AgentError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content

_KIND = "http+sse"
_TURN = "http+sse turn"


class SseAgent:
    """Posts each turn to one URL, and reads the answers as they come; see `proctor.agents.json_protocol` for their form."""

    def __init__(self, http: HttpClient) -> None:
        """Take the client of its address."""
        self._http = http
        self._description: Json = None

    async def open(self) -> None:
        """Check that the server answers, and request its description with a GET, which it need not support.

        Raises:
            AgentLoadError: nothing is there.
        """
        self._description = self._http.address.hide_in_answer(await self._http.glance())

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()

    def describe(self) -> AgentInfo:
        """Return the server's description, if it has one."""
        return info_of(self._description, f"{_KIND}:{self._http.address.shown}")

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Post the turn, and yield the server's answers.

        Raises:
            AgentError: there was no answer, an incomplete or an invalid one; or the agent reported a failure.
        """
        turn = session.memory.get(_TURN, 0)
        session.memory[_TURN] = turn + 1
        request = turn_request(message, session, turn)
        async with self._http.send("", request, accept=EVENTS) as reply:
            answers = _stream_answers(reply) if reply.is_stream else _read_json_reply(reply)
            async with aclosing(answers):
                async for answer in answers:
                    answer.keep(session)
                    for event in answer.events:
                        yield event


async def _read_json_reply(reply: HttpResponse) -> AsyncGenerator[Answer, None]:
    """Read an answer that is one JSON document, and whole by itself."""
    data = await reply.answer()
    if data is None:
        raise reply.broke("answered with nothing where an event stream or JSON was expected")
    yield read_body(data)


async def _stream_answers(reply: HttpResponse) -> AsyncGenerator[Answer, None]:
    """Read one answer after the other up to `done`."""
    async with aclosing(reply.events()) as events:
        async for event in events:
            data = reply.hide(parse_agent_json(event.data, "the data of an event")) if event.data else None
            answer = read_answer(data, kind=event.name)
            yield answer
            if answer.done:
                await reply.wait_for_stream_end(events)
                return
    raise reply.truncation_error("ended its stream without 'done': its answer is truncated")


def info_of(description: Json, name: str) -> AgentInfo:
    """Parse a server's description: `{"name", "description", "version", "app_details"}`, all optional.

    `app_details` has the shape of AppDetails; with it all tools count as declared, unless `"has_more_tools": true`.
    Other values are ignored.
    """
    fields = description if isinstance(description, dict) else {}
    texts = {key: value for key, value in fields.items() if isinstance(value, str)}
    details = fields.get("app_details")
    return AgentInfo(
        name=texts.get("name") or name,
        description=texts.get("description", ""),
        version=texts.get("version"),
        app_details=_valid_details(details) if details is not None else None,
        has_more_tools=details is None or fields.get("has_more_tools") is True,
    )


def _valid_details(details: Json) -> JsonObject:
    from pydantic import ValidationError

    from proctor.schema.format.invocation import AppDetails

    try:
        return AppDetails.model_validate(details).model_dump(mode="json", exclude_none=True)
    except ValidationError as error:
        raise AgentError(
            f"'app_details' in the agent's description is invalid: {first_problem(error)}"
        ) from None


def sse_agent(address: str) -> SseAgent:
    """Make the agent of `http+sse:URL`.

    Raises:
        AgentLoadError: the URL is invalid.
        MissingExtraError: httpx is not installed.
    """
    return SseAgent(HttpClient(read_address(address, kind=_KIND)))
