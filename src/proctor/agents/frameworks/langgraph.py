"""Graphs of LangGraph, among them LangChain's agents (`create_agent`), and other runnables of LangChain (extra `langgraph`)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from proctor.agents.base import AgentInfo, Session
from proctor.agents.frameworks.framework_events import (
    Pump,
    TurnTimings,
    as_json,
    as_text,
    details_of,
    tool_declaration,
)
from proctor.agents.frameworks.langchain_messages import (
    MessageReader,
    human_message,
    text_of_message,
    watching,
)
from proctor.agents.frameworks.state_objects import state_object, state_of
from proctor.common.optional_packages import import_extra
from proctor.errors import AgentError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content

_MEMORY = "langgraph"
_FRAMEWORK = "langgraph"
_FEATURE = "A graph of LangGraph"
MESSAGES = "messages"
"""The key of a graph's state with the conversation."""


class LangGraphAgent:
    """A compiled graph. All trials share it; each has its own checkpointer, in memory, and its own thread.

    **State.** Keys of the session's state that the graph's state has are set with the first message. If the
    graph has a `context_schema`, its context is created from the state; other keys are in `config["configurable"]`, as are
    `thread_id` (the session's id), `user_id` and `app_name`. The graph's state after the last turn, without its messages, is
    the final state.

    **Interrupts** end the turn: the value of the interrupt is the answer (JSON if it is not text). The next user message
    resumes it: with its text, or with the response of a `function_response` part.
    """

    def __init__(
        self,
        graph: Any,
        *,
        message_key: str = MESSAGES,
        answer_key: str = "",
        context: Callable[[Session], Any] | None = None,
    ) -> None:
        """Take the graph, and the function (plain or async) that creates a trial's context if the state does not suffice.

        A graph without messages names the key that gets the user's text, and the one that has the answer.

        Raises:
            AgentLoadError: the graph has no such key.
        """
        import_extra("langgraph", extra="langgraph", feature=_FEATURE)
        self._graph = graph
        self._message_key, self._answer_key = message_key, answer_key
        self._context = context
        self._name = graph.name if graph.name and graph.name != "LangGraph" else ""
        self._keys = _keys_of(graph)
        _check_keys(self._keys, [message_key, *([answer_key] if answer_key else [])])

    def describe(self) -> AgentInfo:
        """Return the name and the tools of the graph's own tool nodes; the tools of other nodes are unknown."""
        name = self._name or "agent"
        details = details_of(name, "", [*_tools_of(self._graph)])
        return AgentInfo(name=name, app_details={"agent_details": {name: details}}, has_more_tools=True)

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Run one turn; exceptions of nodes, tools, models and LangGraph pass through.

        Raises:
            AgentError: the graph does not accept the message, or its context cannot be created from the session's state.
        """
        conversation: _Conversation = session.memory.get(_MEMORY) or await self._begin(session)
        watch = TurnTimings()
        graph_input = self._input(message, session, conversation)
        conversation.interrupts = []
        config = {**conversation.config, "callbacks": [watching(watch, self._name)]}
        steps = conversation.graph.astream(
            graph_input,
            config,
            context=conversation.context,
            stream_mode="updates",
            subgraphs=True,
            durability="exit",
        )
        try:
            async with aclosing(steps):
                async for namespace, update in steps:
                    for event in self._events(namespace, update, conversation):
                        yield event
            async for event in self._final_events(conversation):
                yield event
        finally:
            watch.report(session.memory)

    async def final_state(self, session: Session) -> dict[str, Any]:
        """Return the graph's state without its messages, and the keys of the session's state that the graph does not have."""
        conversation: _Conversation | None = session.memory.get(_MEMORY)
        if conversation is None:
            return session.state
        values = (await conversation.graph.aget_state(conversation.config)).values
        own = {key: value for key, value in values.items() if key != self._message_key} if values else {}
        return {**state_of(conversation.context, session.state), **as_json(own)}

    async def _begin(self, session: Session) -> _Conversation:
        memory = import_extra("langgraph.checkpoint.memory", extra="langgraph", feature=_FEATURE)
        source = self._context or getattr(self._graph, "context_schema", None)
        context = (
            None
            if source is None
            else await state_object(source, session, framework=_FRAMEWORK, what="context")
        )
        graph = self._graph.copy({"checkpointer": memory.InMemorySaver()})
        elsewhere = {key: value for key, value in session.state.items() if key not in self._keys}
        ids = {"thread_id": session.id, "user_id": session.user_id, "app_name": session.app_name}
        conversation = _Conversation(
            graph, context, {"configurable": {**elsewhere, **ids}}, MessageReader(self._name)
        )
        session.memory[_MEMORY] = conversation
        return conversation

    def _input(self, message: Content, session: Session, conversation: _Conversation) -> Any:
        if conversation.interrupts:
            return _resuming(message, conversation.interrupts)
        first = (
            {}
            if conversation.has_begun
            else {key: session.state[key] for key in self._keys if key in session.state}
        )
        conversation.has_begun = True
        if self._answer_key:
            return {**first, self._message_key: text_of_message(message, _FRAMEWORK)}
        user_message = human_message(message)
        conversation.reader.skip(user_message)
        return {**first, self._message_key: [user_message]}

    def _events(
        self, namespace: tuple[str, ...], update: Any, conversation: _Conversation
    ) -> Iterator[Event]:
        for node, change in update.items() if isinstance(update, Mapping) else ():
            if node == "__interrupt__":
                if not namespace:
                    conversation.interrupts += change
                continue
            for one in change if isinstance(change, list) else [change]:  # a node may return several commands
                messages = one.get(self._message_key) if isinstance(one, Mapping) else None
                yield from conversation.reader.events(messages, node=node, namespace=namespace)

    async def _final_events(self, conversation: _Conversation) -> AsyncIterator[Event]:
        for interrupt in conversation.interrupts:
            yield Event.said(as_text(interrupt.value), author=self._name or "agent")
        if conversation.interrupts:
            return
        values = (await conversation.graph.aget_state(conversation.config)).values
        if self._answer_key:
            yield Event.said(as_text(values.get(self._answer_key)), author=self._name or "agent")
        elif isinstance(values, Mapping) and values.get("structured_response") is not None:
            yield Event.said(as_text(values["structured_response"]), author=conversation.reader.last_author)
        if (broken := conversation.reader.incomplete_event()) is not None:
            yield broken


@dataclass(slots=True)
class _Conversation:
    """One trial's conversation."""

    graph: Any
    context: Any
    config: dict[str, Any]
    reader: MessageReader
    has_begun: bool = False
    interrupts: list[Any] = field(default_factory=list)
    """Those that wait for the next message."""


def _resuming(message: Content, interrupts: list[Any]) -> Any:
    """Return the command that resumes after interrupts: answers in their order, or one answer for a single one."""
    types = import_extra("langgraph.types", extra="langgraph", feature=_FEATURE)
    answers = [
        part.function_response.response or {} for part in message.parts or () if part.function_response
    ]
    values = [answer["result"] if set(answer) == {"result"} else answer for answer in answers]
    if not values:
        values = [text_of_message(message, _FRAMEWORK)] * len(interrupts)
    if len(values) != len(interrupts):
        raise AgentError(
            f"langgraph: the graph waits at {len(interrupts)} interrupts, and the user's message answers {len(values)}; "
            "give one function_response part for each, in their order"
        )
    if len(interrupts) == 1:
        return types.Command(resume=values[0])
    return types.Command(
        resume={interrupt.id: answer for interrupt, answer in zip(interrupts, values, strict=True)}
    )


# --- the description of a graph ------------------------------------------------------------------------------------------


def _keys_of(graph: Any) -> list[str]:
    """Return the keys of a graph's input; empty if its input is not an object."""
    try:
        schema = graph.get_input_jsonschema()
    except Exception:  # noqa: BLE001 - a state that has no JSON schema (arrays, clients) still has its channels
        schema = {}
    properties = schema.get("properties")
    return (
        [*properties]
        if properties
        else [key for key in graph.channels if not key.startswith(("__", "branch:"))]
    )


def _check_keys(known: Iterable[str], keys: Iterable[str]) -> None:
    from proctor.errors import AgentLoadError

    known_keys = [*known]
    for key in keys:
        if key not in known_keys:
            raise AgentLoadError(
                f"The graph has no {key!r} in its state; it has: {', '.join(known_keys) or 'none'}. Name the key that takes the "
                "user's text and the one that has the answer: "
                "proctor.agents.frameworks.langgraph.LangGraphAgent(graph, message_key='question', answer_key='answer')"
            )


def _tools_of(graph: Any) -> Iterator[dict[str, Any]]:
    for node in graph.nodes.values():
        tools = getattr(getattr(node, "bound", None), "tools_by_name", None) or {}
        for tool in tools.values():
            yield tool_declaration(tool.name, tool.description, _schema_of(tool))


def _schema_of(tool: Any) -> Any:
    try:
        return tool.tool_call_schema.model_json_schema()
    except Exception:  # noqa: BLE001 - a tool whose arguments have no JSON schema is known by its name
        return None


# --- other runnables -------------------------------------------------------------------------------------------------------


_TEXT_KEYS = ("input", "question", "query", "text", "human_input")
_HISTORY_KEYS = ("chat_history", "history", "messages")
_ANSWER_KEYS = ("output", "answer", "result", "text", "response")


class RunnableAgent:
    """A runnable of LangChain: a chat model, a chain, an agent executor. Each trial has its own history.

    A chat model gets the conversation's messages. A chain that takes an object gets the user's text under `input`,
    `question`, `query` or `text` (or its only key), the messages before under `chat_history`, `history` or `messages`, and the
    session's state under the keys that are left; one that takes a text gets the text.
    """

    def __init__(self, runnable: Any) -> None:
        """Take the runnable."""
        import_extra("langchain_core", extra="langgraph", feature="A runnable of LangChain")
        self._runnable = runnable
        self._name = runnable.get_name() or "agent"

    def describe(self) -> AgentInfo:
        """Return the name; the tools of a chain are unknown before it runs."""
        return AgentInfo(name=self._name, has_more_tools=True)

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Run one turn; exceptions of models, tools and the chain pass through."""
        history: list[Any] = session.memory.setdefault("langchain", [])
        watch = TurnTimings()
        user_message = human_message(message)
        reader = MessageReader(self._name)
        pump: Pump[Any] = Pump()
        ids = {"session_id": session.id, "user_id": session.user_id, "app_name": session.app_name}
        config = {"callbacks": [watching(watch, self._name, pump.post)], "configurable": ids}
        chain_input = self._input(message, user_message, history, session)
        try:
            async for heard in pump.run(self._runnable.ainvoke(chain_input, config)):
                for event in reader.events(heard, node=self._name, namespace=()):
                    yield event
        finally:
            watch.report(session.memory)
        output = _answer_in(pump.result)
        for event in self._final_events(output, reader):
            yield event
        if isinstance(output, str):
            feature = "A runnable of LangChain"
            output = import_extra("langchain_core.messages", extra="langgraph", feature=feature).AIMessage(
                output
            )
        history += [user_message, output]

    def _final_events(self, output: Any, reader: MessageReader) -> Iterator[Event]:
        if hasattr(output, "tool_calls"):
            yield from reader.events([output], node=self._name, namespace=())
        elif output != reader.last_text:
            yield Event.said(output, author=self._name)
        if (broken := reader.incomplete_event()) is not None:
            yield broken

    def _input(self, message: Content, user_message: Any, history: list[Any], session: Session) -> Any:
        if hasattr(self._runnable, "bind_tools"):  # a chat model
            return [*history, user_message]
        schema = self._runnable.get_input_jsonschema()
        # a graph within `with_retry()` has a reference in place of its schema
        name = str(schema.get("$ref") or "").rpartition("/")[2]
        schema = (schema.get("$defs") or {}).get(name, schema)
        keys = [*(schema.get("properties") or {})]
        if not keys:
            return (
                text_of_message(message, _FRAMEWORK)
                if schema.get("type") == "string"
                else [*history, user_message]
            )
        return self._fill(keys, message, user_message, history, session)

    def _fill(
        self, keys: list[str], message: Content, user_message: Any, history: list[Any], session: Session
    ) -> dict[str, Any]:
        """Return the input object of a chain: the state, the messages before and the user's text, each under its key."""
        chain_input = {key: session.state[key] for key in keys if key in session.state}
        past = next((key for key in _HISTORY_KEYS if key in keys), "")
        left = [key for key in keys if key not in chain_input and key != past]
        text_key = _text_key(left, may_guess=past != MESSAGES)
        if past:
            chain_input[past] = [*history] if text_key else [*history, user_message]
        if text_key:
            chain_input[text_key] = text_of_message(message, _FRAMEWORK)
        elif not past:
            raise AgentError(
                f"langchain: {self._name} takes {', '.join(keys)}; Proctor does not know which of them is the user's text. "
                "Call it from a function: def agent(text): ..."
            )
        return chain_input


def _text_key(keys: list[str], *, may_guess: bool) -> str:
    """Return the key of the user's text: one of the usual names, or the only key."""
    only = keys[0] if len(keys) == 1 and may_guess else ""
    return next((key for key in _TEXT_KEYS if key in keys), only)


def _answer_in(output: Any) -> Any:
    """Return the text of a runnable's output, which is a message or a text."""
    if isinstance(output, Mapping):
        if output.get(MESSAGES):
            return output[MESSAGES][-1]
        output = next((output[key] for key in _ANSWER_KEYS if key in output), output)
    return output if hasattr(output, "tool_calls") else as_text(output)
