"""Messages of LangChain, as graphs and runnables hand them over, and the callbacks that watch their models and tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from proctor.agents.frameworks.framework_events import (
    TimedCall,
    TurnTimings,
    as_json,
    call_part,
    details_of,
    incomplete_event,
    model_answer_event,
    no_place_for,
    reasoning_part,
    response_from_text,
    tokens,
)
from proctor.common.optional_packages import import_extra
from proctor.errors import AgentError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content, Part, UsageMetadata

_FEATURE = "An agent of LangChain"


_ENDS = ("finish_reason", "stop_reason", "done_reason")
"""The keys of the finish reason in the models of providers: OpenAI and Gemini, Anthropic, Ollama."""


class MessageReader:
    """Reads the messages of one conversation as events, each once: graphs hand them over again and again."""

    def __init__(self, name: str) -> None:
        """Take the name of the whole agent, if it has one."""
        self._name = name
        self._seen: dict[int, Any] = {}
        self._ids: set[str] = set()
        self._without_id: list[Any] = []
        self._callers: dict[str, str] = {}
        self.last_author = name or "agent"
        self.last_text = ""
        self._finish: object = None

    def skip(self, message: Any) -> None:
        """Mark a message as known: the user's own."""
        self._seen[id(message)] = message
        self._without_id.append(message)

    def events(self, update: Any, *, node: str, namespace: tuple[str, ...]) -> Iterator[Event]:
        """Return the new messages in `update` (a message, or several) of `node` in the graphs of `namespace`."""
        for message in update if isinstance(update, list | tuple) else [update]:
            kind = getattr(message, "type", "")
            if kind not in {"ai", "AIMessageChunk", "tool"} or self._is_known(message):
                continue
            self.skip(message)
            if kind == "tool":
                yield self._response(message)
            else:
                yield self._answer(message, message.name or author_of(node, namespace, self._name))

    def incomplete_event(self) -> Event | None:
        """Return the event that ends a turn with an incomplete last answer; `None` if it is complete or unknown."""
        return incomplete_event(self._finish, self.last_author)

    def _is_known(self, message: Any) -> bool:
        """Match by the object or by its id, which a graph may set after the message was read here."""
        self._ids |= {one.id for one in self._without_id if one.id}
        self._without_id = [one for one in self._without_id if not one.id]
        return id(message) in self._seen or message.id in self._ids

    def _answer(self, message: Any, author: str) -> Event:
        self.last_author = author
        self.last_text = _text_of(message)
        parts = [reasoning_part(text) for text in _reasoning(message)]
        if self.last_text:
            parts.append(Part(text=self.last_text))
        for call in [*message.tool_calls, *message.invalid_tool_calls]:
            self._callers[call["id"] or ""] = author
            parts.append(call_part(call["name"] or "", call["args"], call["id"]))
        metadata = message.response_metadata
        self._finish = next((metadata[key] for key in _ENDS if metadata.get(key)), None)
        model = metadata.get("model_name") or metadata.get("model")
        return model_answer_event(author, parts, usage=_usage_of(message), model=model)

    def _response(self, message: Any) -> Event:
        call_id = message.tool_call_id
        content = message.content
        if message.status == "error":
            response = {"error": content if isinstance(content, str) else as_json(content)}
        else:  # LangChain has objects, and nothing at all, as JSON text
            response = {"result": None} if content == "null" else response_from_text(content)
        author = self._callers.get(call_id, self.last_author)
        return Event.returned(message.name or "", response, id=call_id, author=author)


def author_of(node: str, namespace: tuple[str, ...], name: str) -> str:
    """Return the author of a node's messages: the inner graph of the node, the whole agent or the node."""
    if namespace:
        return namespace[-1].partition(":")[0]
    return name or node


def _text_of(message: Any) -> str:
    text = message.text
    return str(text() if callable(text) and not isinstance(text, str) else text)


def _reasoning(message: Any) -> Iterator[str]:
    for block in message.content if isinstance(message.content, list) else ():
        if isinstance(block, Mapping) and block.get("type") in {"thinking", "reasoning"}:
            text = block.get("thinking") or block.get("reasoning")
            if isinstance(text, str) and text:
                yield text


def _usage_of(message: Any) -> UsageMetadata | None:
    used = message.usage_metadata
    if not used:
        return None
    return tokens(
        used["input_tokens"],
        used["output_tokens"],
        total=used.get("total_tokens"),
        cached=(used.get("input_token_details") or {}).get("cache_read"),
        thoughts=(used.get("output_token_details") or {}).get("reasoning"),
    )


# --- what the user says --------------------------------------------------------------------------------------------------


def text_of_message(message: Content, framework: str) -> str:
    """Return a user's message that is nothing but text.

    Raises:
        AgentError: it is more than that.
    """
    for part in message.parts or ():
        if part.text is None:
            raise no_place_for(part, framework)
    return message.joined_text()


def human_message(message: Content) -> Any:
    """Return a user's message as LangChain's; media as its content blocks.

    Raises:
        AgentError: it has something that LangChain has no place for.
    """
    messages = import_extra("langchain_core.messages", extra="langgraph", feature=_FEATURE)
    parts = message.parts or []
    if all(part.text is not None for part in parts):
        return messages.HumanMessage(message.joined_text())
    return messages.HumanMessage(content=[_block(part) for part in parts])


def _block(part: Part) -> dict[str, Any]:
    import base64

    if part.text is not None:
        return {"type": "text", "text": part.text}
    if (blob := part.inline_data) is not None and blob.data is not None:
        data = base64.b64encode(blob.data).decode()
        return {"type": _media(blob.mime_type), "base64": data, "mime_type": blob.mime_type}
    if (file := part.file_data) is not None and file.file_uri:
        return {"type": _media(file.mime_type), "url": file.file_uri, "mime_type": file.mime_type}
    if part.function_response is not None:
        raise AgentError(
            f"langgraph: the user's message answers {part.function_response.name!r}, and nothing waits for an answer"
        )
    raise no_place_for(part, "langchain")


def _media(mime_type: str | None) -> str:
    kind = (mime_type or "").partition("/")[0]
    return kind if kind in {"image", "audio", "video"} else "file"


# --- watching ----------------------------------------------------------------------------------------------------------------


def watching(watch: TurnTimings, name: str, hear: Callable[[Any], None] | None = None) -> Any:
    """Return callbacks that record durations and inputs of models and tools, and pass their messages to `hear`."""
    return _handler()(watch, name, hear)


def system_text(messages: Iterable[Any]) -> str:
    """Return the system messages of one model call."""
    return "\n\n".join(_text_of(message) for message in messages if message.type == "system")


def _ignore(_message: Any) -> None:
    """Messages that the graph's own stream brings, too."""


class _Listener:
    """Sees each model and tool call of one turn, and changes none."""

    run_inline = True

    def __init__(self, watch: TurnTimings, name: str, hear: Callable[[Any], None] | None) -> None:
        self.watch, self.name, self.hear = watch, name, hear

    def on_chat_model_start(
        self, serialized: Any, messages: Any, *, run_id: Any, metadata: Any = None, **kwargs: Any
    ) -> None:
        name = _agent_of(metadata or {}, self.name)
        tools = (kwargs.get("invocation_params") or {}).get("tools") or ()
        instructions = system_text(messages[0]) if messages else ""
        self.watch.details[name] = details_of(name, instructions, [_tool(tool) for tool in tools])
        self.watch.models.append(TimedCall(run_id))

    def on_llm_end(self, response: Any, *, run_id: Any, **kwargs: Any) -> None:
        self.watch.end(run_id)
        hear = self.hear or _ignore
        for batch in response.generations:
            for one in batch:
                if hasattr(one, "message"):
                    hear(one.message)

    def on_tool_end(self, output: Any, *, run_id: Any, **kwargs: Any) -> None:
        self.watch.end(run_id)
        (self.hear or _ignore)(output)

    def on_llm_error(self, error: Any, *, run_id: Any, **kwargs: Any) -> None:
        self.watch.end(run_id)

    def on_tool_start(self, serialized: Any, input_str: str, *, run_id: Any, **kwargs: Any) -> None:
        self.watch.tools.append(TimedCall(run_id))

    def on_tool_error(self, error: Any, *, run_id: Any, **kwargs: Any) -> None:
        self.watch.end(run_id)


@cache
def _handler() -> type[Any]:
    callbacks = import_extra("langchain_core.callbacks", extra="langgraph", feature=_FEATURE)

    class Listener(_Listener, callbacks.BaseCallbackHandler):  # type: ignore[misc,name-defined]  # known when it runs
        """Part of the framework's interface."""

    return Listener


def _agent_of(metadata: Mapping[str, Any], name: str) -> str:
    """Return the agent of this model, as `author_of` names it, by the position in the graph."""
    places = [
        place.partition(":")[0] for place in str(metadata.get("langgraph_checkpoint_ns") or "").split("|")
    ]
    if agent_name := metadata.get("lc_agent_name"):
        return str(agent_name)
    return places[-2] if len(places) > 1 else name or places[-1] or "agent"


def _tool(tool: Any) -> dict[str, Any]:
    """Return the declaration of a tool, in OpenAI's form or in another form of the provider."""
    function = tool.get("function", tool) if isinstance(tool, Mapping) else {}
    declaration = {
        "name": str(function.get("name", "")),
        "description": str(function.get("description") or ""),
    }
    schema = function.get("parameters") or function.get("input_schema")
    if schema:
        declaration["parameters_json_schema"] = as_json(schema)
    return {"function_declarations": [declaration]}
