"""`openai+http:URL?model=NAME`: an agent behind chat completions of OpenAI's API (or its responses), on any server.

The protocol is stateless: each request repeats the conversation, so the history is kept here for each trial. Tools
belong to the agent and run on its server. Extensions of the protocol are read if they are present: a
`tool` message (or delta) for a tool's result, `messages` with all messages of the answer, `state_delta`, a message's `name` as
the agent that speaks. A call that is not answered ends its turn: it is the last one of the trajectory.
"""

from __future__ import annotations

import base64
import os
from collections.abc import AsyncIterator
from contextlib import aclosing
from urllib.parse import urlsplit

from proctor.agents.base import AgentInfo, Session
from proctor.agents.json_protocol import parse_agent_json
from proctor.agents.remote.http.address import Address, read_address
from proctor.agents.remote.http.client import HttpClient
from proctor.agents.remote.http.response_reader import EVENTS, JSON, HttpResponse
from proctor.agents.remote.openai.chat_completions import (
    ChatCompletion,
    completion_events,
    items_for_next_request,
    read_completion,
    read_response,
)
from proctor.common.json_values import Json, JsonObject
from proctor.errors import AgentError, AgentLoadError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content, Part

_KIND = "openai+http"
_HISTORY = "openai+http history"
_NOT_RUN = "This tool was not run."
"""The result of a call without one in the next request: servers reject a history with open calls."""


class OpenAIAgent:
    """Asks one model of one server, each turn with the whole conversation."""

    def __init__(
        self, http: HttpClient, *, model: str, stream: bool = False, responses: bool = False
    ) -> None:
        """Take the client of the address above `chat/completions`, the model (`""`: the only one), and the options."""
        self._http = http
        self._model = model
        self._stream = stream
        self._responses = responses

    async def open(self) -> None:
        """Check that the server answers, and which models it has.

        Raises:
            AgentLoadError: the server does not answer; or no model was named, and there is not exactly one.
        """
        models = _models(await self._http.glance("models"))
        if self._model:
            return
        if len(models) != 1:
            has = f"It has: {', '.join(models[:20])}" if models else "It does not list its models"
            raise AgentLoadError(
                f"The agent {_KIND}:{self._http.address.shown} names no model. {has}. "
                f"Write {_KIND}:{self._http.address.shown}?model=NAME."
            )
        self._model = models[0]

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()

    def describe(self) -> AgentInfo:
        """Return its address and model; the protocol does not list its tools."""
        suffix = f" ({self._model})" if self._model else ""
        return AgentInfo(name=f"{_KIND}:{self._http.address.shown}{suffix}", has_more_tools=True)

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Send the whole conversation, and yield the answer.

        Raises:
            AgentError: there was no answer, an incomplete one, or no chat completion; or the server reported a failure.
        """
        history: list[Json] = session.memory.setdefault(_HISTORY, [])
        history.append({"role": "user", "content": _content(message, responses=self._responses)})
        headers = {"X-Session-Id": session.id} if session.id.isascii() and session.id.isprintable() else {}
        if self._responses:
            completion, more = await self._respond(history, session, headers)
        else:
            completion = await self._complete(history, session, headers)
            more = _history_messages(completion)
        for event in completion_events(completion):
            yield event
        history += more

    async def _complete(
        self, history: list[Json], session: Session, headers: dict[str, str]
    ) -> ChatCompletion:
        request = self._request({"messages": history}, session)
        if self._stream:
            request |= {"stream": True, "stream_options": {"include_usage": True}}
        accept = EVENTS if self._stream else JSON
        async with self._http.send("chat/completions", request, accept=accept, headers=headers) as reply:
            return await _read_stream(reply) if reply.is_stream else read_completion(await reply.answer())

    async def _respond(
        self, history: list[Json], session: Session, headers: dict[str, str]
    ) -> tuple[ChatCompletion, list[Json]]:
        request = self._request({"input": history}, session)
        async with self._http.send("responses", request, headers=headers) as reply:
            data = await reply.answer()
        return read_response(data), items_for_next_request(data, _NOT_RUN)

    def _request(self, fields: JsonObject, session: Session) -> JsonObject:
        request: JsonObject = {"model": self._model, **fields, "user": session.user_id}
        if session.state:
            import json

            request["metadata"] = {"state": json.dumps(session.state, ensure_ascii=False)}
        return request


async def _read_stream(reply: HttpResponse) -> ChatCompletion:
    completion = ChatCompletion()
    async with aclosing(reply.events()) as events:
        async for event in events:
            if event.data.strip() == "[DONE]":
                await reply.wait_for_stream_end(events)
                break
            completion.add(reply.hide(parse_agent_json(event.data, "the data of an event")))
    if not completion.finish:
        raise reply.truncation_error("ended its stream without a finish_reason: its answer is truncated")
    completion.hide_in_whole(reply.hide)
    return completion


def _history_messages(completion: ChatCompletion) -> list[Json]:
    """Return an answer for the next request, with a result for each unanswered call."""
    answered = {message.answers for message in completion.messages if message.role == "tool"}
    history: list[Json] = []
    for message in completion.messages:
        history.append(message.as_history())
        history += [
            {"role": "tool", "tool_call_id": call.id or "", "content": _NOT_RUN}
            for call in message.calls
            if (call.id or "") not in answered
        ]
    return history


# --- the user's message ------------------------------------------------------------------------------------------------


def _content(message: Content, *, responses: bool = False) -> Json:
    """Return a message as the protocol has it: its text, with images a list of parts."""
    parts = message.parts or []
    if all(part.inline_data is None and part.file_data is None for part in parts):
        return message.joined_text()
    return [_part(part, responses=responses) for part in parts]


def _part(part: Part, *, responses: bool) -> JsonObject:
    """Return a part as chat completions spell it, or as the Responses API does."""
    if part.text is not None:
        return {"type": "input_text" if responses else "text", "text": part.text}
    url = _image_url(part)
    if responses:
        return {"type": "input_image", "image_url": url}
    return {"type": "image_url", "image_url": {"url": url}}


def _image_url(part: Part) -> str:
    if (blob := part.inline_data) is not None and (blob.mime_type or "").startswith("image/"):
        return f"data:{blob.mime_type};base64,{base64.b64encode(blob.data or b'').decode()}"
    if (file := part.file_data) is not None and (file.mime_type or "").startswith("image/"):
        return file.file_uri or ""
    raise AgentError(f"{_KIND} supports texts and images; the user's message has another part")


# --- making one --------------------------------------------------------------------------------------------------------


def openai_agent(text: str) -> OpenAIAgent:
    """Create the agent of `openai+http:URL?model=NAME`; `&stream=true` requests the answer in pieces, `&api=responses` the
    Responses API in place of chat completions.

    The key is PROCTOR_AGENT_TOKEN; otherwise OPENAI_API_KEY if the host is OpenAI's own or that of OPENAI_BASE_URL: AGENT
    may come from a file.

    Raises:
        AgentLoadError: the URL or an option is invalid.
        MissingExtraError: httpx is not installed.
    """
    options, address = read_address(text, kind=_KIND).take("model", "stream", "api")
    stream = (
        _choose_model(options.get("stream", "false").lower(), "stream", ("true", "false"), address) == "true"
    )
    responses = (
        _choose_model(options.get("api", "chat"), "api", ("chat", "responses"), address) == "responses"
    )
    if stream and responses:
        raise AgentLoadError(f"The agent {_KIND}:{address.shown}: api=responses is not asked for in pieces.")
    if _is_openais(address):
        address = address.as_asker(os.environ.get("OPENAI_API_KEY", "").strip())
    return OpenAIAgent(
        HttpClient(address), model=options.get("model", ""), stream=stream, responses=responses
    )


def _choose_model(value: str, name: str, choices: tuple[str, str], address: Address) -> str:
    if value not in choices:
        expected = " or ".join(choices)
        raise AgentLoadError(f"The agent {_KIND}:{address.shown} has {name}={value}; expected {expected}.")
    return value


def _is_openais(address: Address) -> bool:
    base = urlsplit(os.environ.get("OPENAI_BASE_URL", ""))
    origin = (base.scheme, base.hostname, base.port)
    url = urlsplit(address.url)
    return (url.scheme, address.host) == ("https", "api.openai.com") or (
        bool(base.hostname) and origin == (url.scheme, url.hostname, url.port)
    )


def _models(document: Json) -> list[str]:
    """Parse `{"data": [{"id": …}]}`; empty for anything else."""
    items = document.get("data") if isinstance(document, dict) else None
    ids = [one.get("id") for one in items if isinstance(one, dict)] if isinstance(items, list) else []
    return [name for name in ids if isinstance(name, str)]
