"""Agents of the OpenAI Agents SDK (extra `openai-agents`), run by its own Runner, watched by its run hooks."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from proctor.agents.base import AgentInfo, Session
from proctor.agents.frameworks.framework_events import (
    Pump,
    TimedCall,
    TurnTimings,
    as_json,
    as_response,
    as_text,
    call_part,
    details_of,
    model_answer_event,
    no_place_for,
    reasoning_part,
    response_from_text,
    tokens,
    tool_declaration,
)
from proctor.agents.frameworks.long_running_calls import PendingCalls
from proctor.agents.frameworks.state_objects import state_object, state_of
from proctor.common.optional_packages import import_extra
from proctor.errors import AgentError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content, Part, UsageMetadata

_MEMORY = "openai_agents"
_FRAMEWORK = "openai-agents"
_FEATURE = "An agent of openai-agents"


class OpenAiAgent:
    """An agent of the OpenAI Agents SDK. It is shared by all trials; each has its own conversation and context.

    **State.** The session's state, a dict, is the context of the run, and the final state contains the changes of tools.
    `context` replaces it: a class that is created from the state (a pydantic model, a data class), or a function that gets
    the session and returns the context, plain or async.

    **Hand-overs** are calls of `transfer_to_agent(agent_name)`, as google-adk has them, so that one eval set serves both; the
    next turn begins with the agent that answered last.

    **Approvals** of tools end the turn. The case's next user message answers them by a `function_response` part of the
    tool's name: `{"confirmed": true}` or `{"confirmed": false}`.
    """

    def __init__(
        self,
        agent: Any,
        *,
        context: type | Callable[[Session], Any] | None = None,
        max_turns: int | None = None,
        run_config: Any = None,
    ) -> None:
        """Take the agent, its context's type or maker, and `max_turns` and `run_config` of `Runner.run`."""
        self._sdk = import_extra("agents", extra="openai-agents", feature=_FEATURE)
        self._agent = agent
        self._context = context
        self._given = {
            name: value for name, value in (("max_turns", max_turns), ("run_config", run_config)) if value
        }

    def describe(self) -> AgentInfo:
        """Return the name, and of each agent that can be handed over to its instructions and function tools."""
        tree = list(_tree(self._agent))
        details = {one.name: _agent_details(one) for one in tree}
        return AgentInfo(
            name=self._agent.name,
            description=self._agent.handoff_description or "",
            app_details={"agent_details": details},
            # a server lists further tools, and a hand-over without its agent hides them
            has_more_tools=any(
                one.mcp_servers or not all(hasattr(each, "handoffs") for each in one.handoffs) for one in tree
            ),
        )

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Run one turn; exceptions of tools, guardrails, models and the SDK pass through.

        Raises:
            AgentError: the message does not answer the waiting calls, or the context cannot be created.
        """
        conversation: _Conversation = session.memory.get(_MEMORY) or await self._begin(session)
        watch = TurnTimings()
        run_input = self._input(conversation.pending.with_call_ids(message), conversation)
        pump: Pump[Event] = Pump()
        hooks = _hooks()(watch, pump.post, conversation.calls)
        options: dict[str, Any] = {"hooks": hooks, **self._given}
        if isinstance(run_input, list):
            options["context"] = conversation.context
        try:
            async for event in pump.run(self._sdk.Runner.run(conversation.agent, run_input, **options)):
                yield event
            for event in self._final_events(pump.result, hooks, conversation):
                yield event
        finally:
            watch.report(session.memory)

    def final_state(self, session: Session) -> dict[str, Any]:
        """Return the current content of the context."""
        conversation: _Conversation | None = session.memory.get(_MEMORY)
        return session.state if conversation is None else state_of(conversation.context, session.state)

    async def _begin(self, session: Session) -> _Conversation:
        context = await state_object(self._context, session, framework=_FRAMEWORK, what="context")
        session.memory[_MEMORY] = conversation = _Conversation(self._agent, context)
        return conversation

    def _input(self, message: Content, conversation: _Conversation) -> Any:
        """Return the input of a run: the conversation with the user's message, or the run that waits for answers."""
        answers = {
            part.function_response.id: part.function_response
            for part in message.parts or ()
            if part.function_response
        }
        if conversation.waiting is None:
            if answers:
                raise AgentError(
                    "openai-agents: the user's message answers a call, and none waits for an answer"
                )
            return [*conversation.history, {"role": "user", "content": _user_content(message)}]
        state = conversation.waiting.to_state()
        for item in conversation.waiting.interruptions:
            answer = answers.get(item.call_id)
            confirmed = (answer.response or {}).get("confirmed") if answer else None
            if confirmed is True:
                state.approve(item)
            elif confirmed is False:
                state.reject(item)
            else:
                raise AgentError(
                    f"openai-agents: the call of {item.name!r} waits for an approval; expected a function_response part "
                    f'of that name with {{"confirmed": true}} or {{"confirmed": false}} in the user\'s message'
                )
        return state

    def _final_events(self, result: Any, hooks: Any, conversation: _Conversation) -> Iterator[Event]:
        yield from hooks.new_responses(item.raw_item for item in result.new_items)
        conversation.agent, conversation.history = result.last_agent, result.to_input_list()
        conversation.waiting = result if result.interruptions else None
        if result.interruptions:
            yield self._waiting_event(result, conversation)
            return
        output = result.final_output
        text = as_text(output)
        if (isinstance(output, str) and output != hooks.last_text) or not hooks.last_text:
            yield Event.said(text, author=result.last_agent.name)
        if _is_incomplete(result):
            yield Event(author=result.last_agent.name, error_code="incomplete", error_message=_INCOMPLETE)

    def _waiting_event(self, result: Any, conversation: _Conversation) -> Event:
        items = result.interruptions
        ids = [item.call_id for item in items]
        parts = [call_part(item.name, json.loads(item.arguments or "{}"), item.call_id) for item in items]
        conversation.pending.note(
            model_answer_event(result.last_agent.name, parts, long_running_tool_ids=ids)
        )
        return Event(author=result.last_agent.name, long_running_tool_ids=ids)


_INCOMPLETE = "the model's answer ends before its end (status: incomplete)"


def _is_incomplete(result: Any) -> bool:
    """Whether the last answer of a model is incomplete. The Responses API reports it; chat completions do not."""
    items = [item for response in result.raw_responses[-1:] for item in response.output]
    return any(getattr(item, "status", None) == "incomplete" for item in items)


@dataclass(slots=True)
class _Conversation:
    """One trial's conversation."""

    agent: Any
    """Who has the floor."""
    context: Any
    history: list[Any] = field(default_factory=list)
    waiting: Any = None
    """The result of a run that waits for approvals."""
    pending: PendingCalls = field(default_factory=PendingCalls)
    calls: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By their ids the calls that have no response yet: the tool and its caller."""


# --- what the user says --------------------------------------------------------------------------------------------------


def _user_content(message: Content) -> Any:
    parts = message.parts or []
    if all(part.text is not None for part in parts):
        return message.joined_text()
    return [_input_part(part) for part in parts]


def _input_part(part: Part) -> dict[str, Any]:
    import base64

    if part.text is not None:
        return {"type": "input_text", "text": part.text}
    mime = ""
    if (blob := part.inline_data) is not None and blob.data is not None:
        mime = blob.mime_type or "application/octet-stream"
        where = f"data:{mime};base64,{base64.b64encode(blob.data).decode()}"
        if not mime.startswith("image/"):
            return {"type": "input_file", "filename": blob.display_name or "file", "file_data": where}
    elif (file := part.file_data) is not None and file.file_uri:
        mime, where = file.mime_type or "", file.file_uri
        if not mime.startswith("image/"):
            return {"type": "input_file", "file_url": where}
    else:
        raise no_place_for(part, _FRAMEWORK)
    return {"type": "input_image", "image_url": where, "detail": "auto"}


# --- the description of an agent -----------------------------------------------------------------------------------------


def _tree(agent: Any, known_ids: set[int] | None = None) -> Iterator[Any]:
    known_ids = set() if known_ids is None else known_ids
    if id(agent) in known_ids:  # agents may hand over in a circle
        return
    known_ids.add(id(agent))
    yield agent
    for other in agent.handoffs:
        if hasattr(other, "handoffs"):
            yield from _tree(other, known_ids)


def _agent_details(agent: Any, instructions: str | None = None) -> dict[str, Any]:
    own = agent.instructions if isinstance(agent.instructions, str) else ""
    tools = [
        tool_declaration(
            tool.name, getattr(tool, "description", ""), getattr(tool, "params_json_schema", None)
        )
        for tool in agent.tools
    ]
    if agent.handoffs:
        tools.append(tool_declaration(TRANSFER, "Hands over to another agent.", None))
    return details_of(agent.name, own if instructions is None else instructions, tools)


def _handovers(agent: Any) -> dict[str, str]:
    """The names of an agent's hand-over tools, and of the agents they lead to."""
    handoffs = import_extra("agents.handoffs", extra="openai-agents", feature=_FEATURE)
    return {
        getattr(one, "tool_name", None) or handoffs.Handoff.default_tool_name(one): getattr(
            one, "agent_name", None
        )
        or one.name
        for one in agent.handoffs
    }


class _Listener:
    """Posts the events of each model and tool call of one turn, without changes."""

    def __init__(
        self, watch: TurnTimings, post: Callable[[Event], None], calls: dict[str, tuple[str, str]]
    ) -> None:
        self.watch, self.post, self.calls = watch, post, calls
        self.last_text = ""
        self.inside = (0, 0)

    async def on_llm_start(self, context: Any, agent: Any, system_prompt: Any, input_items: Any) -> None:
        for event in self.new_responses(input_items):  # no other hook reports rejected calls
            self.post(event)
        self.watch.details[agent.name] = _agent_details(agent, system_prompt or "")
        self.watch.models.append(TimedCall(agent.name))

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        self.watch.end(agent.name)
        for event in answer_events(agent, response, _handovers(agent)):
            self._note(event)
            self.post(event)
        _, self.inside = _usage_so_far(context, self.inside)

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        self.watch.tools.append(TimedCall(getattr(context, "tool_call_id", tool.name)))

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        call_id = getattr(context, "tool_call_id", None)
        self.watch.end(call_id or tool.name)
        if call_id in self.calls:
            self.post(self._response(call_id, result, context))

    async def on_handoff(self, context: Any, from_agent: Any, to_agent: Any) -> None:
        transfer = (TRANSFER, from_agent.name)
        call_id = next((its_id for its_id, call in self.calls.items() if call == transfer), None)
        if call_id is not None:
            self.post(self._response(call_id, None, context))

    def new_responses(self, items: Iterable[Any]) -> Iterator[Event]:
        """Return the responses among a run's items that have not been posted, of calls that have."""
        for item in items:
            if isinstance(item, Mapping) and item.get("call_id") in self.calls and "output" in item:
                name, author = self.calls.pop(item["call_id"])
                yield tool_response(name, item["output"], item["call_id"], author)

    def _note(self, event: Event) -> None:
        parts = (event.content and event.content.parts) or ()
        for part in parts:
            if (call := part.function_call) is not None and call.id:
                self.calls[call.id] = (call.name or "", event.author)
        if event.content is not None:
            self.last_text = event.content.joined_text(thoughts=False)

    def _response(self, call_id: str, result: Any, context: Any) -> Event:
        name, author = self.calls.pop(call_id)
        usage, self.inside = _usage_so_far(context, self.inside)
        return tool_response(name, result, call_id, author, usage=usage)


@cache
def _hooks() -> type[Any]:
    lifecycle = import_extra("agents.lifecycle", extra="openai-agents", feature=_FEATURE)

    class Listener(_Listener, lifecycle.RunHooks):  # type: ignore[misc,name-defined]  # known when it runs
        """Part of the framework's interface."""

    return Listener


def _usage_so_far(context: Any, before: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the tokens that a run has used since `before`, and all of them: agents within tools count on it, too."""
    now = (context.usage.input_tokens, context.usage.output_tokens)
    return (now[0] - before[0], now[1] - before[1]), now


# --- What models answer in the OpenAI Agents SDK, item by item, as events ---------------------------------------------


TRANSFER = "transfer_to_agent"
"""What a hand-over is called in eval sets, as google-adk calls it; the SDK has a tool for each agent."""


def answer_events(agent: Any, response: Any, handovers: Mapping[str, str]) -> Iterator[Event]:
    """Return the events of one model answer: calls of the provider's own tools, then texts and calls.

    `handovers` are the names of the tools that hand over, and of the agents that they hand over to.
    """
    parts: list[Part] = []
    for item in response.output:
        fields = item if isinstance(item, Mapping) else item.model_dump(exclude_none=True)
        kind = fields.get("type", "")
        if kind == "message":
            parts += _texts(fields)
        elif kind == "reasoning":
            parts += [reasoning_part(one["text"]) for one in fields.get("summary") or () if one.get("text")]
        elif kind == "function_call":
            parts.append(_call(fields, handovers))
        elif kind.endswith("_call"):
            yield from _hosted_call_events(agent.name, kind, fields)
    yield model_answer_event(agent.name, parts, usage=_usage_of(response.usage), model=_model_of(agent))


def tool_response(
    name: str, result: Any, call_id: str, author: str, *, usage: tuple[int, int] = (0, 0)
) -> Event:
    """Return the result of a tool; `usage` are the tokens (in, out) of agents that the tool called."""
    spent = tokens(*usage)
    fields: dict[str, Any] = {} if spent is None else {"usage_metadata": spent}
    return Event.returned(name, response_from_text(result), id=call_id, author=author, **fields)


def _texts(message: Mapping[str, Any]) -> Iterable[Part]:
    for piece in message.get("content") or ():
        text = piece.get("text") or piece.get("refusal")
        if text:
            yield Part(text=text)


def _call(fields: Mapping[str, Any], handovers: Mapping[str, str]) -> Part:
    name, call_id = fields["name"], fields["call_id"]
    args = _arguments(fields.get("arguments"))
    if name in handovers:
        arguments = args if isinstance(args, dict) else {}
        return call_part(TRANSFER, {"agent_name": handovers[name], **arguments}, call_id)
    return call_part(name, args, call_id)


def _arguments(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text or "{}")
    except (
        ValueError
    ):  # the model's arguments are not JSON: the SDK reports it to the model, evidence keeps the text
        return text


def _hosted_call_events(author: str, kind: str, fields: Mapping[str, Any]) -> Iterator[Event]:
    """Return a call of a tool that the provider runs (a search, code, an MCP server), with its response if it is reported."""
    call_id = fields.get("call_id") or fields.get("id")
    name = fields.get("name") if kind == "mcp_call" else kind.removesuffix("_call")
    plain = as_json({key: value for key, value in fields.items() if key not in _NOT_ARGUMENTS})
    args = _arguments(fields.get("arguments")) if kind == "mcp_call" else plain
    yield model_answer_event(author, [call_part(str(name), args, call_id)])
    output = next(
        (fields[key] for key in ("output", "results", "outputs") if fields.get(key) is not None), None
    )
    if output is not None:
        yield Event.returned(str(name), as_response(output), id=call_id, author=author)


_NOT_ARGUMENTS = frozenset({"id", "call_id", "type", "status", "output", "outputs", "results"})


def _usage_of(used: Any) -> UsageMetadata | None:
    return tokens(
        used.input_tokens,
        used.output_tokens,
        total=used.total_tokens,
        cached=getattr(used.input_tokens_details, "cached_tokens", None),
        thoughts=getattr(used.output_tokens_details, "reasoning_tokens", None),
    )


def _model_of(agent: Any) -> str | None:
    model = agent.model
    name = model if isinstance(model, str) else getattr(model, "model", None)
    return name if isinstance(name, str) else None
