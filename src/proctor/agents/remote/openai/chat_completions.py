"""Chat completions of OpenAI's API, read: the messages of one answer, whole or in pieces, and the events they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from proctor.agents.json_protocol import parse_agent_json
from proctor.common.error_text import safe_repr
from proctor.common.json_values import Json, JsonObject
from proctor.errors import AgentError, AgentRaisedError
from proctor.schema.evidence.event import Event, incomplete_answer_reason
from proctor.schema.format.content import UsageMetadata

Data = Mapping[str, Json]


@dataclass(slots=True)
class StreamedCall:
    """A tool call as it comes: pieces of a stream add to its arguments, JSON text."""

    id: str | None = None
    index: int | None = None
    """Its index in a stream; some servers begin at 1, and some send 0 for all."""
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        """Its arguments so far."""
        return "".join(self.pieces)

    def add(self, piece: Data) -> None:
        """Take a piece of it, or all."""
        function = piece.get("function")
        function = function if isinstance(function, Mapping) else {}
        self.id = _text(piece.get("id")) or self.id
        if (name := _text(function.get("name"))) != self.name:  # some servers repeat it in every piece
            self.name += name
        arguments = function.get("arguments")
        if isinstance(arguments, dict):  # servers that are kind
            import json

            arguments = json.dumps(arguments)
        self.pieces.append(_text(arguments))

    def args(self) -> JsonObject:
        """Return its arguments.

        Raises:
            AgentError: they are no JSON object.
        """
        what = f"the arguments of the agent's call of {self.name or 'a tool without a name'}"
        arguments = self.arguments
        args = parse_agent_json(arguments, what) if arguments.strip() else {}
        if not isinstance(args, dict):
            raise AgentError(f"{what} are {safe_repr(args)}; expected a JSON object")
        return args


@dataclass(slots=True)
class CompletionMessage:
    """One message of an answer: the assistant's, or a tool's that the server has run itself."""

    role: str = "assistant"
    texts: list[str] = field(default_factory=list)
    """Its content, in pieces: a stream may have a hundred thousand."""
    author: str = "agent"
    calls: list[StreamedCall] = field(default_factory=list)
    answers: str = ""
    """The id of the call that a tool's message answers."""

    @property
    def content(self) -> str:
        """The text so far."""
        return "".join(self.texts)

    def add(self, piece: Data) -> None:
        """Add a piece or the whole message; a refusal counts as text."""
        self.texts += (_content_text(piece.get("content")), _text(piece.get("refusal")))
        self.author = _text(piece.get("name")) or self.author
        self.answers = _text(piece.get("tool_call_id")) or self.answers
        known = list(self.calls)  # two calls of one list are never one
        for position, call in enumerate(_list(piece.get("tool_calls"), "tool_calls")):
            if not isinstance(call, Mapping):
                raise AgentError(
                    f"a tool call of the agent's answer is {safe_repr(call)}; expected an object"
                )
            self._call(call, position, known).add(call)
        if isinstance(called := piece.get("function_call"), Mapping):  # the older form of tool calls
            self._call({}, 0, known).add({"function": called})

    def _call(self, piece: Data, position: int, known: list[StreamedCall]) -> StreamedCall:
        """Return the call that a piece continues: by its index, its id or its position; or a new one."""
        index, its_id = piece.get("index"), _text(piece.get("id"))
        if isinstance(index, int):
            matches = [one for one in known if one.index == index and its_id in ("", one.id)]
        elif its_id:
            matches = [one for one in known if one.id == its_id]
        else:
            matches = known[position : position + 1]
        if not matches:
            matches = [StreamedCall(index=index if isinstance(index, int) else None)]
            self.calls += matches
        return matches[-1]

    def as_history(self) -> JsonObject:
        """Return it as the next request repeats it."""
        if self.role == "tool":
            return {"role": "tool", "tool_call_id": self.answers, "content": self.content}
        message: JsonObject = {"role": "assistant", "content": self.content or None}
        if self.calls:
            message["tool_calls"] = [
                {"id": call.id or "", "type": "function", "function": {"name": call.name, "arguments": call.arguments or "{}"}}
                for call in self.calls
            ]  # fmt: skip
        return message


@dataclass(slots=True)
class ChatCompletion:
    """One answer: its messages in order, and its metadata."""

    messages: list[CompletionMessage] = field(default_factory=list)
    finish: str = ""
    """`stop`, `length`, `tool_calls`, `content_filter` …; empty: it has not ended."""
    model: str | None = None
    usage: UsageMetadata | None = None
    state_delta: JsonObject | None = None

    def add(self, data: object) -> None:
        """Take a chunk of a stream, or the whole.

        Raises:
            AgentError: it is neither.
            AgentRaisedError: it is an error.
        """
        if not isinstance(data, Mapping):
            raise AgentError(f"the agent's answer is {safe_repr(data)}; expected a chat completion")
        if (error := error_in_response(data)) is not None:
            raise error
        choices = _list(data.get("choices"), "choices")
        self.model = _text(data.get("model")) or self.model
        self.usage = usage_of(data.get("usage")) or self.usage
        if isinstance(data.get("state_delta"), dict):
            self.state_delta = {**(self.state_delta or {}), **data["state_delta"]}
        for message in _list(data.get("messages"), "messages"):
            self._begin(message)
        if choices:
            self._add_choice(choices[0])

    def hide_in_whole(self, hide: Callable[[str], str]) -> None:
        """Hide secrets in texts that came in pieces, each with only a part of one."""
        for message in self.messages:
            message.texts = [hide(message.content)]
            for call in message.calls:
                call.pieces = [hide(call.arguments)]

    def _add_choice(self, choice: object) -> None:
        if not isinstance(choice, Mapping):
            raise AgentError(f"a choice of the agent's answer is {safe_repr(choice)}; expected an object")
        if "message" in choice:
            self._begin(choice["message"])
        elif isinstance(piece := choice.get("delta"), Mapping):
            self._add_piece(piece)
        self.finish = _text(choice.get("finish_reason")) or self.finish

    def _add_piece(self, piece: Data) -> None:
        """Add a piece of a stream to the last message, or begin a message with it."""
        last = self.messages[-1] if self.messages else None
        role = _text(piece.get("role"))
        if last is None or (role and (role != last.role or role == "tool")):
            self._begin(piece)
        elif last.role == "tool" and not role and "tool_call_id" not in piece:
            self._begin({"role": "assistant", **piece})
        else:
            last.add(piece)

    def _begin(self, piece: object) -> None:
        if not isinstance(piece, Mapping):
            raise AgentError(f"a message of the agent's answer is {safe_repr(piece)}; expected an object")
        message = CompletionMessage(role=_text(piece.get("role")) or "assistant")
        message.add(piece)
        self.messages.append(message)


def read_completion(data: object) -> ChatCompletion:
    """Read an answer that came in one piece.

    Raises:
        AgentError: it is not a chat completion.
        AgentRaisedError: it is an error.
    """
    completion = ChatCompletion()
    completion.add(data)
    if not completion.messages:
        raise AgentError(f"the agent's chat completion has no choices: {safe_repr(data, 200)}")
    return completion


def completion_events(completion: ChatCompletion) -> Iterator[Event]:
    """Yield an answer's events: calls, results of tools, state, texts; an error comes last.

    Raises:
        AgentError: the arguments of a call are no JSON object.
    """
    names = {call.id: call.name for message in completion.messages for call in message.calls}
    events = [event for message in completion.messages for event in _message_events(message, names)]
    if completion.state_delta:
        changed = Event.changed(completion.state_delta, author=completion.messages[-1].author)
        events.insert(max(0, len(events) - 1), changed)
    last_event = next((event for event in reversed(events) if event.content), None)
    if last_event is not None:  # the sum of all model calls: their shares are unknown
        last_event.usage_metadata, last_event.model_version = completion.usage, completion.model
    yield from events
    if (broken := _incomplete_reason(completion.finish)) is not None:
        yield Event(error_code=completion.finish, error_message=broken, model_version=completion.model)


_WHOLE = frozenset(
    "stop tool_calls tool_call tool_use function_call end_turn stop_sequence eos eos_token complete completed".split()
)


def _incomplete_reason(finish: str) -> str | None:
    """Return why an answer is not complete, by its finish reason; `None` if it is complete or unknown."""
    if not finish or finish.lower() in _WHOLE:
        return None
    return (
        incomplete_answer_reason(finish)
        or f"the answer did not end as a whole one does (finish_reason: {finish})"
    )


def _message_events(message: CompletionMessage, names: Mapping[str | None, str]) -> Iterator[Event]:
    if message.role == "tool":
        name = names.get(message.answers) or "unknown"
        yield Event.returned(
            name, _response(message.content), id=message.answers or None, author=message.author
        )
        return
    if content := message.content:
        yield Event.said(content, author=message.author)
    for call in message.calls:
        yield Event.called(call.name, call.args(), id=call.id, author=message.author)


def _response(content: str) -> JsonObject:
    """Return a tool's result: its JSON object, anything else under `result`."""
    import json

    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = content
    return value if isinstance(value, dict) else {"result": value}


def error_in_response(data: Data) -> AgentRaisedError | None:
    """Return the error in place of an answer, `{"error": {"message", "type", "code"}}`; `None` if there is none."""
    error = data.get("error")
    if not error:
        return None
    fields = error if isinstance(error, Mapping) else {"message": error}
    kind = next((str(fields[key]) for key in ("code", "type") if fields.get(key)), "")
    return AgentRaisedError(_text(fields.get("message")) or safe_repr(error, 200), type=kind)


def usage_of(usage: object) -> UsageMetadata | None:
    """Convert `usage`; `completion_tokens` includes the tokens of reasoning, which are separate here."""
    if not isinstance(usage, Mapping):
        return None
    cached = _count(usage.get("prompt_tokens_details"), "cached_tokens")
    thoughts = _count(usage.get("completion_tokens_details"), "reasoning_tokens")
    completion = _count(usage, "completion_tokens")
    return UsageMetadata(
        prompt_token_count=_count(usage, "prompt_tokens"),
        candidates_token_count=completion if completion is None else max(0, completion - (thoughts or 0)),
        total_token_count=_count(usage, "total_tokens"),
        cached_content_token_count=cached,
        thoughts_token_count=thoughts,
    )


def _count(usage: object, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _content_text(content: object) -> str:
    """Return a content's text: it is one, or a list of parts."""
    if isinstance(content, list):
        return "".join(
            _text(part.get("text")) or _text(part.get("refusal"))
            for part in content
            if isinstance(part, Mapping)
        )
    return _text(content)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _list(value: object, name: str) -> list[Json]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise AgentError(f"'{name}' of the agent's answer is {safe_repr(value)}; expected a list")
    return value


# --- The Responses API of OpenAI, read as the messages of a chat completion: its answer is a list of items ------------


def read_response(data: object) -> ChatCompletion:
    """Convert a whole response: texts, calls, and the results of tools that the server ran.

    Raises:
        AgentError: it is none.
        AgentRaisedError: it has failed.
    """
    fields = data if isinstance(data, dict) else {}
    if (error := error_in_response(fields)) is not None:
        raise error
    items = _output_items(data)
    state_delta = fields.get("state_delta")
    return ChatCompletion(
        messages=[message for item in items for message in _item_messages(item)],
        finish=_response_finish(fields, items),
        model=_text(fields.get("model")) or None,
        usage=_response_usage(fields.get("usage")),
        state_delta=state_delta if isinstance(state_delta, dict) else None,
    )


def _output_items(data: object) -> list[JsonObject]:
    output = data.get("output") if isinstance(data, dict) else None
    if not isinstance(output, list):
        raise AgentError(f"the agent's answer is {safe_repr(data, 200)}; expected a response with its output")
    for item in output:
        if not isinstance(item, dict):
            raise AgentError(f"an item of the agent's response is {safe_repr(item)}; expected an object")
    return output


def items_for_next_request(data: object, not_run: str) -> list[Json]:
    """Return the items of a response as the next request repeats them, with `not_run` for each call left open."""
    items = _output_items(data)
    answered = [item.get("call_id") for item in items if item.get("type") == "function_call_output"]
    return [
        *items,
        *(
            {"type": "function_call_output", "call_id": item.get("call_id", ""), "output": not_run}
            for item in items
            if item.get("type") == "function_call" and item.get("call_id") not in answered
        ),
    ]


def _item_messages(item: Data) -> list[CompletionMessage]:
    kind = str(item.get("type", "message"))
    if kind == "message":
        return [_message(item)]
    if kind == "function_call_output":
        return [
            _message({"tool_call_id": item.get("call_id"), "content": _as_text(item.get("output"))}, "tool")
        ]
    if not kind.endswith("_call"):
        return []  # reasoning, lists of tools
    call_id = item.get("call_id") or item.get("id")
    name = item.get("name") or kind.removesuffix("_call")  # web_search_call and similar types have no name
    arguments = item.get("arguments", item.get("action", {}))
    call = {"id": call_id, "function": {"name": name, "arguments": arguments}}
    messages = [_message({"tool_calls": [call]})]
    output = item.get("error") or item.get("output")
    if kind == "mcp_call" and output is not None:
        messages.append(_message({"tool_call_id": call_id, "content": _as_text(output)}, "tool"))
    return messages


def _message(piece: Data, role: str = "assistant") -> CompletionMessage:
    message = CompletionMessage(role=role)
    message.add(piece)
    return message


def _as_text(output: object) -> str:
    return output if isinstance(output, str) else json.dumps(output)


def _response_finish(data: Data, items: list[JsonObject]) -> str:
    """Return the finish reason by the names of chat completions; any other end than `completed` is returned unchanged."""
    details = data.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    statuses = [item.get("status") for item in items if item.get("type", "message") == "message"]
    if "incomplete" in (data.get("status"), *statuses):
        return "content_filter" if reason == "content_filter" else "length"
    return str(data.get("status") or "stop")


def _response_usage(usage: object) -> UsageMetadata | None:
    if not isinstance(usage, Mapping):
        return None
    return usage_of(
        {
            "prompt_tokens": usage.get("input_tokens"),
            "completion_tokens": usage.get("output_tokens"),
            "total_tokens": usage.get("total_tokens"),
            "prompt_tokens_details": usage.get("input_tokens_details"),
            "completion_tokens_details": usage.get("output_tokens_details"),
        }
    )
