"""Agents of pydantic-ai (extra `pydantic-ai`), run step by step with `Agent.iter`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from proctor.agents.base import AgentInfo, Session
from proctor.agents.frameworks.framework_events import (
    TurnTimings,
    as_response,
    as_text,
    call_part,
    details_of,
    incomplete_event,
    measure,
    model_answer_event,
    no_place_for,
    reasoning_part,
    tokens,
    tool_declaration,
)
from proctor.agents.frameworks.long_running_calls import PendingCalls
from proctor.agents.frameworks.state_objects import state_object, state_of
from proctor.common.optional_packages import import_extra
from proctor.errors import AgentError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Blob, Content, FunctionResponse, Part

_MEMORY = "pydantic_ai"
_FRAMEWORK = "pydantic-ai"


class PydanticAiAgent:
    """An agent of pydantic-ai. It is shared by all trials; each has its own message history and deps.

    **State.** The session's state is the agent's `deps`: the dict itself if `deps_type` is `dict` or missing, otherwise
    an object of `deps_type` that is created from it (a pydantic model, a data class), or the result of the function `deps`
    for the session. What tools write into it is the final state.

    **Answer.** Text as it is; structured output as JSON. Its output tools do not count as tool calls.

    **Calls that wait** (deferred tools, approvals) end the turn. The case's next user message answers them by
    `function_response` parts: the result of a deferred call, `{"confirmed": true}` for an approval.
    """

    def __init__(self, agent: Any, *, deps: Callable[[Session], Any] | None = None) -> None:
        """Take the agent, and the function (plain or async) that creates a trial's deps if the state does not suffice."""
        import_extra("pydantic_ai", extra="pydantic-ai", feature="An agent of pydantic-ai")
        self._agent = agent
        self._deps = deps
        self._name = agent.name or "agent"

    def describe(self) -> AgentInfo:
        """Return the name, the instructions that are plain text, and the tools that are functions."""
        functions = [*_functions(self._agent.toolsets)]
        others = [one for one in self._agent.toolsets if not hasattr(one, "tools")]
        details = details_of(self._name, _instructions(self._agent), functions)
        description = getattr(self._agent, "description", None)
        return AgentInfo(
            name=self._name,
            description=description if isinstance(description, str) else "",
            app_details={"agent_details": {self._name: details}},
            has_more_tools=bool(others),
        )

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Run one turn; exceptions of tools, models and pydantic-ai pass through.

        Raises:
            AgentError: the message does not answer the waiting calls, or the deps cannot be created.
        """
        conversation: _Conversation = session.memory.get(_MEMORY) or await self._begin(session)
        watch = TurnTimings()
        prompt = prompt_of(conversation.pending.with_call_ids(message), conversation.approvals)
        try:
            async with self._agent.iter(
                **prompt,
                message_history=conversation.history,
                deps=conversation.deps,
                capabilities=[_capability()(watch, self._name)],
            ) as run:
                turn = _Turn(self._name, run, conversation.history or ())
                async for node in run:
                    for event in turn.events(node):
                        yield event
                for event in turn.final_events(conversation):
                    yield event
                conversation.history = run.all_messages()
        finally:
            watch.report(session.memory)

    def final_state(self, session: Session) -> dict[str, Any]:
        """Return the current content of the deps."""
        conversation: _Conversation | None = session.memory.get(_MEMORY)
        return session.state if conversation is None else state_of(conversation.deps, session.state)

    async def _begin(self, session: Session) -> _Conversation:
        source = self._deps or getattr(self._agent, "deps_type", None)
        deps = await state_object(source, session, framework=_FRAMEWORK, what="deps")
        conversation = _Conversation(deps)
        session.memory[_MEMORY] = conversation
        return conversation


@dataclass(slots=True)
class _Conversation:
    """One trial's conversation."""

    deps: Any
    history: list[Any] | None = None
    pending: PendingCalls = field(default_factory=PendingCalls)
    approvals: set[str] = field(default_factory=set)
    """Ids of the calls that wait for a yes or a no."""


# --- a turn ------------------------------------------------------------------------------------------------------------


class _Turn:
    """Reads the steps of one run."""

    def __init__(self, author: str, run: Any, before: Sequence[Any]) -> None:
        self._author, self._run = author, run
        self._can_converse_again = True
        """Whether no model was called yet: the first response, if calls waited, is the one that made them."""
        self._returned = _returned_since_the_last_answer(before)
        self._said = ""
        self._finish: object = None
        """Return the finish reason of the model's last answer, if it is known."""
        self._answers_by_tool = False
        self._tokens_in = self._tokens_out = 0

    def events(self, node: Any) -> Iterator[Event]:
        """Return the new events before a step."""
        kind = type(node).__name__
        if kind == "CallToolsNode":
            if not self._can_converse_again:
                yield from self._response(node.model_response)
        elif kind == "ModelRequestNode":
            self._can_converse_again = False
            yield from self._returns(node.request)

    def final_events(self, conversation: _Conversation) -> Iterator[Event]:
        """Return the events of the end: responses that no model received, waiting calls, structured output."""
        messages = self._run.all_messages()
        if messages and messages[-1].kind == "request":
            yield from self._returns(messages[-1])
        output = self._run.result.output
        if type(output).__name__ == "DeferredToolRequests":
            yield self._waiting_event(output, conversation)
        elif isinstance(output, str):
            if output != self._said:
                yield Event.said(output, author=self._author)
        elif self._answers_by_tool or not self._said:
            yield Event.said(as_text(output), author=self._author)
        if (broken := incomplete_event(self._finish, self._author)) is not None:
            yield broken

    def _response(self, response: Any) -> Iterator[Event]:
        self._finish = response.finish_reason
        output_tools = self._output_tools()
        calls = [part for part in response.parts if part.part_kind == "tool-call"]
        self._answers_by_tool = any(call.tool_name in output_tools for call in calls)
        yield from self._native(response)
        parts = [*words_of(response.parts)]
        self._said = "\n".join(part.text for part in parts if part.text and not part.thought)
        parts += [
            call_part(call.tool_name, call.args_as_dict(), call.tool_call_id)
            for call in calls
            if call.tool_name not in output_tools
        ]
        used = response.usage
        self._tokens_in += used.input_tokens
        self._tokens_out += used.output_tokens
        usage = tokens(
            used.input_tokens,
            used.output_tokens,
            cached=used.cache_read_tokens,
            thoughts=used.details.get("reasoning_tokens"),
        )
        yield model_answer_event(self._author, parts, usage=usage, model=response.model_name)

    def _output_tools(self) -> set[str]:
        manager = getattr(self._run.ctx.deps, "tool_manager", None)
        tools = getattr(manager, "tools", None) or {}
        return {name for name, tool in tools.items() if tool.tool_def.kind == "output"}

    def _native(self, response: Any) -> Iterator[Event]:
        """Return calls of tools that the provider runs, each with its response, before the text."""
        for part in response.parts:
            kind = part.part_kind
            if kind in {"builtin-tool-call", "native-tool-call"}:
                yield model_answer_event(
                    self._author, [call_part(part.tool_name, part.args_as_dict(), part.tool_call_id)]
                )
            elif kind in {"builtin-tool-return", "native-tool-return"}:
                yield self._return(part.tool_name, part.content, part.tool_call_id)

    def _returns(self, request: Any) -> Iterator[Event]:
        output_tools = self._output_tools()
        for part in request.parts:
            name = getattr(part, "tool_name", None)
            if name is None or name in output_tools or part.tool_call_id in self._returned:
                continue
            if part.part_kind == "tool-return":
                yield self._return(name, part.content, part.tool_call_id)
            elif part.part_kind == "retry-prompt":
                yield self._return(name, {"error": part.model_response()}, part.tool_call_id)

    def _return(self, name: str, content: Any, call_id: str) -> Event:
        self._returned.add(call_id)
        # the tokens of agents that tools called, if they were counted on this run (`usage=ctx.usage`)
        used = self._run.usage
        inside = tokens(used.input_tokens - self._tokens_in, used.output_tokens - self._tokens_out)
        self._tokens_in, self._tokens_out = used.input_tokens, used.output_tokens
        usage = {} if inside is None else {"usage_metadata": inside}
        return Event.returned(name, as_response(content), id=call_id, author=self._author, **usage)

    def _waiting_event(self, requests: Any, conversation: _Conversation) -> Event:
        calls = [*requests.calls, *requests.approvals]
        conversation.approvals |= {call.tool_call_id for call in requests.approvals}
        ids = [call.tool_call_id for call in calls]
        parts = [call_part(call.tool_name, call.args_as_dict(), call.tool_call_id) for call in calls]
        conversation.pending.note(model_answer_event(self._author, parts, long_running_tool_ids=ids))
        return Event(author=self._author, long_running_tool_ids=ids)


def _returned_since_the_last_answer(messages: Sequence[Any]) -> set[str]:
    """Return the ids of calls with responses in the previous turn: those that ran next to waiting calls."""
    ids: set[str] = set()
    for message in reversed(messages):
        if message.kind == "response":
            break
        ids |= {
            part.tool_call_id for part in message.parts if part.part_kind in {"tool-return", "retry-prompt"}
        }
    return ids


# --- the description of an agent ---------------------------------------------------------------------------------------


def _functions(toolsets: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for toolset in toolsets:
        for tool in (getattr(toolset, "tools", None) or {}).values():
            definition = tool.tool_def
            yield tool_declaration(definition.name, definition.description, definition.parameters_json_schema)


def _instructions(agent: Any) -> str:
    """The instructions that are plain text: those that functions make are known turn by turn only."""
    instructions = [getattr(one, "instruction", one) for one in getattr(agent, "_instructions", ())]
    texts = [*getattr(agent, "_system_prompts", ()), *instructions]
    return "\n\n".join(text for text in texts if isinstance(text, str))


class _Listener:
    """Sees each model and tool call of one turn, and changes none."""

    def __init__(self, watch: TurnTimings, name: str) -> None:
        self.watch, self.name = watch, name

    async def wrap_model_request(self, ctx: Any, *, request_context: Any, handler: Any) -> Any:
        parameters = request_context.model_request_parameters
        self.watch.details[self.name] = details_of(
            self.name,
            _instructions_in(request_context.messages, parameters),
            [
                tool_declaration(one.name, one.description, one.parameters_json_schema)
                for one in parameters.function_tools
            ],
        )
        with measure(self.watch.models):
            return await handler(request_context)

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        with measure(self.watch.tools):
            return await handler(args)


@cache
def _capability() -> type[Any]:
    capabilities = import_extra(
        "pydantic_ai.capabilities", extra="pydantic-ai", feature="An agent of pydantic-ai"
    )

    class Listener(_Listener, capabilities.AbstractCapability):  # type: ignore[misc,name-defined]  # known when it runs
        """Part of the framework's interface."""

    return Listener


def _instructions_in(messages: Iterable[Any], parameters: Any) -> str:
    """Instructions and system prompts of one model call, as the model got them."""
    requests = [message for message in messages if message.kind == "request"]
    prompts = [
        part.content for request in requests for part in request.parts if part.part_kind == "system-prompt"
    ]
    parts = [part.content for part in getattr(parameters, "instruction_parts", None) or ()]
    if not parts:
        parts = [request.instructions for request in requests if request.instructions][-1:]
    return "\n\n".join([*prompts, *parts])


# --- Conversion of messages between pydantic-ai's parts and Proctor's -------------------------------------------------


def words_of(parts: Iterable[Any]) -> Iterator[Part]:
    """Return the parts of a model's answer: texts, reasoning, files."""
    for part in parts:
        if part.part_kind == "text" and part.content:
            yield Part(text=part.content)
        elif part.part_kind == "thinking" and part.content:
            yield reasoning_part(part.content)
        elif part.part_kind == "file":
            yield Part(inline_data=Blob(data=part.content.data, mime_type=part.content.media_type))


def prompt_of(message: Content, approvals: Collection[str]) -> dict[str, Any]:
    """Return a user's message as arguments of a run; `approvals` are the calls that wait for a yes or a no.

    Raises:
        AgentError: it has something that pydantic-ai has no place for, or no clear answer to an approval.
    """
    parts = message.parts or []
    answers = [part.function_response for part in parts if part.function_response]
    words = [_user_part(part) for part in parts if not part.function_response]
    prompt = words[0] if len(words) == 1 and isinstance(words[0], str) else words or None
    if not answers:
        return {"user_prompt": prompt if prompt is not None else ""}
    return {"user_prompt": prompt, "deferred_tool_results": _results(answers, approvals)}


def _results(answers: Sequence[FunctionResponse], approvals: Collection[str]) -> Any:
    tools = import_extra("pydantic_ai.tools", extra="pydantic-ai", feature="A deferred tool")
    results = tools.DeferredToolResults()
    for answer in answers:
        response = answer.response or {}
        if answer.id not in approvals:
            results.calls[answer.id] = response["result"] if set(response) == {"result"} else response
        elif response.get("confirmed") is True:
            results.approvals[answer.id] = True
        elif response.get("confirmed") is False:
            denied = response.get("message")
            results.approvals[answer.id] = tools.ToolDenied(str(denied)) if denied else False
        else:
            raise AgentError(
                f"the user's message answers the approval of {answer.name!r} with {response}; expected "
                '{"confirmed": true} or {"confirmed": false}'
            )
    return results


def _user_part(part: Part) -> Any:
    if part.text is not None:
        return part.text
    messages = import_extra("pydantic_ai.messages", extra="pydantic-ai", feature="Media in a message")
    if (blob := part.inline_data) is not None and blob.data is not None:
        return messages.BinaryContent(blob.data, media_type=blob.mime_type or "application/octet-stream")
    if (file := part.file_data) is not None and file.file_uri:
        kind = (file.mime_type or "").partition("/")[0]
        name = {"image": "ImageUrl", "audio": "AudioUrl", "video": "VideoUrl"}.get(kind, "DocumentUrl")
        return getattr(messages, name)(url=file.file_uri)
    raise no_place_for(part, "pydantic-ai")
