"""Read a model's input and output from one span, wherever the instrumentation put it: attributes, events, log records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.files.traces.messages import (
    CUT,
    ELIDED,
    TraceMessage,
    decode_json_text,
    has_gaps,
    of_openinference,
    read_message,
    read_messages,
    unflattened,
)
from proctor.files.traces.semantic_conventions import TraceSpanKind, kind_of
from proctor.files.traces.span_tree import TraceSpan

Messages = list[TraceMessage] | None


@dataclass(slots=True)
class Contents:
    """The part of a conversation that a span contains; `None` means "not stated"."""

    input: Messages = None
    """The messages that the model, or the agent, received."""
    output: Messages = None
    """The messages that it answered with."""
    instructions: str = ""
    tools: list[object] = field(default_factory=list)
    """The tool declarations that the model received."""
    is_dropped: bool = False
    """Whether attributes or events that may have been messages were dropped before the export."""

    def filled(self, other: Contents) -> Contents:
        """Return the same, with missing parts taken from `other`."""
        is_dropped = self.is_dropped or other.is_dropped
        return Contents(
            self.input if self.input is not None else other.input,
            self.output if self.output is not None else other.output,
            self.instructions or other.instructions,
            self.tools or other.tools,
            is_dropped,
        )


def contents_of(span: TraceSpan) -> Contents:
    """Read the contents of a span from the first source that has each part."""
    contents = Contents()
    for source in _SOURCES:
        if contents.input is None or contents.output is None or not contents.instructions:
            more = source(span)
            if span.dropped and source in _IN_PIECES and (more.input is not None or more.output is not None):
                more.is_dropped = True
            contents = contents.filled(more)
    _move_instructions(contents)
    return contents


def _move_instructions(contents: Contents) -> None:
    """Move instructions that are among the messages to `instructions`."""
    if contents.input is None:
        return
    system = [message for message in contents.input if message.role == "system"]
    contents.input = [message for message in contents.input if message.role != "system"]
    contents.instructions = contents.instructions or "\n".join(text for one in system if (text := one.text))


# --- where messages are ----------------------------------------------------------------------------------------------


def _read_attributes(span: TraceSpan) -> Contents:
    """Read the present conventions: attributes of the span, or of its event with all details."""
    details = [event.attributes for event in span.events if event.name == _DETAILS]
    contents = Contents()
    for attributes in (span.attributes, *details):
        contents = contents.filled(
            Contents(
                read_messages(attributes.get("gen_ai.input.messages")),
                read_messages(attributes.get("gen_ai.output.messages"), "model"),
                _instructions(attributes.get("gen_ai.system_instructions")),
                _declared(attributes.get("gen_ai.tool.definitions")),
            )
        )
    return contents


_DETAILS = "gen_ai.client.inference.operation.details"


def _instructions(value: object) -> str:
    messages = read_messages(value, "system")
    if messages is None:
        return ""
    # a list of parts instead of messages: each part was read as a message
    try:
        value = decode_json_text(value)
    except ValueError:
        return ""
    if isinstance(value, list) and all(isinstance(one, Mapping) and "type" in one for one in value):
        return read_message({"role": "system", "parts": value}).text
    return "\n".join(text for one in messages if (text := one.text))


def _declared(value: object) -> list[object]:
    try:
        value = decode_json_text(value)
    except ValueError:
        return []
    if not isinstance(value, list):
        return []
    return [_declaration(one) for one in value if isinstance(one, Mapping)]


def _declaration(tool: Mapping[str, object]) -> dict[str, object]:
    function = tool.get("function")
    declaration = function if isinstance(function, Mapping) else tool
    keys = ("name", "description", "parameters")
    return {key: declaration[key] for key in keys if declaration.get(key) is not None}


def _read_events(span: TraceSpan) -> Contents:
    """Read the former conventions: an event, or a log record, for each message."""
    events = [(event.name, event.attributes, event.body) for event in span.events]
    events += [(str(one.get("event.name")), one, None) for one in _listed_json(span.attributes.get("events"))]
    input_messages: list[TraceMessage] = []
    output_messages: list[TraceMessage] = []
    has_input = has_output = False
    for name, attributes, body in events:
        if (role := _EVENTS.get(name)) is None:
            continue
        messages = _read_event(attributes, body, role)
        if name in ("gen_ai.choice", "gen_ai.content.completion"):
            has_output, output_messages = True, output_messages + messages
        else:
            has_input, input_messages = True, input_messages + messages
    return Contents(input_messages if has_input else None, output_messages if has_output else None)


_EVENTS = {
    "gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.assistant.message": "model",
    "gen_ai.tool.message": "tool", "gen_ai.choice": "model",
    "gen_ai.content.prompt": "user", "gen_ai.content.completion": "model",
}  # fmt: skip
_WHOLE = ("gen_ai.event.content", "gen_ai.prompt", "gen_ai.completion")


def _read_event(attributes: Mapping[str, object], body: object, role: str) -> list[TraceMessage]:
    whole = next((attributes[name] for name in _WHOLE if name in attributes), body)
    if whole is not None:
        messages = read_messages(whole, role)
        return [TraceMessage(role, lost="its contents were not captured")] if messages is None else messages
    fields: dict[str, Any] = {}
    for name in ("role", "content", "tool_calls", "message", "id", "name", "tool_call_id"):
        if name in attributes:
            try:
                fields[name] = attributes[name] if name == "content" else decode_json_text(attributes[name])
            except ValueError:
                return [TraceMessage(role, lost=CUT)]
    if isinstance(fields.get("message"), str):
        fields["content"] = fields.pop("message")
    return [read_message({"role": role, **fields})]


def _listed_json(value: object) -> list[Any]:
    try:
        value = decode_json_text(value)
    except ValueError:
        return []
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _read_adk(span: TraceSpan) -> Contents:
    """Read google-adk's attributes from before it followed the conventions: whole requests and responses as JSON."""
    request, response = (
        span.attributes.get(f"gcp.vertex.agent.llm_{name}") for name in ("request", "response")
    )
    input_messages = output_messages = None
    instructions = ""
    if isinstance(document := _json(request), Mapping) and document.get("contents") is not None:
        input_messages = read_messages(document["contents"])
        config = document.get("config")
        instruction = config.get("system_instruction") if isinstance(config, Mapping) else None
        instructions = instruction if isinstance(instruction, str) else ""
    elif document is _CUT:
        input_messages = [TraceMessage("user", lost=CUT)]
    if isinstance(document := _json(response), Mapping) and isinstance(document.get("content"), Mapping):
        output_messages = [read_message(document["content"], "model")]
    elif document is _CUT:
        output_messages = [TraceMessage("model", lost=CUT)]
    return Contents(input_messages, output_messages, instructions)


_CUT = object()


def _json(value: object) -> Any:
    try:
        return decode_json_text(value)
    except ValueError:
        return _CUT


def _read_openinference(span: TraceSpan) -> Contents:
    inputs = unflattened(span.attributes, "llm.input_messages")
    outputs = unflattened(span.attributes, "llm.output_messages")
    return Contents(
        None if inputs is None else of_openinference(inputs),
        None if outputs is None else _answered(of_openinference(outputs)),
        is_dropped=has_gaps(inputs) or has_gaps(outputs),
    )


def _read_openllmetry(span: TraceSpan) -> Contents:
    inputs = unflattened(span.attributes, "gen_ai.prompt")
    outputs = unflattened(span.attributes, "gen_ai.completion")
    return Contents(
        None if inputs is None else [read_message(one) for one in inputs],
        None if outputs is None else _answered([read_message(one, "model") for one in outputs]),
        is_dropped=has_gaps(inputs) or has_gaps(outputs),
    )


def _answered(messages: Iterable[TraceMessage]) -> list[TraceMessage]:
    """Give the answers of a model the role of the model, whatever role they state."""
    conversation = list(messages)
    for message in conversation:
        message.role = "model"
    return conversation


def _read_langfuse(span: TraceSpan) -> Contents:
    inputs, outputs = (span.attributes.get(f"langfuse.observation.{side}") for side in ("input", "output"))
    return Contents(read_messages(inputs), read_messages(outputs, "model"))


def _read_values(span: TraceSpan) -> Contents:
    """Read the input and output of an agent or a step that has no messages."""
    inputs = span.first("input.value", "traceloop.entity.input", "langfuse.trace.input")
    outputs = span.first("final_result", "output.value", "traceloop.entity.output", "langfuse.trace.output")
    return Contents(_plain(inputs, "user"), _plain(outputs, "model"))


def _plain(value: object, role: str) -> Messages:
    """Return the messages of a value; any other value is one message with its text."""
    if value is None or value in ("", ELIDED):
        return None
    try:
        document = decode_json_text(value)
    except ValueError:
        return [TraceMessage(role, [{"text": value}])]
    if isinstance(document, Mapping) and isinstance(document.get("messages"), list):
        return read_messages(document, role)
    return [TraceMessage(role, [{"text": value if isinstance(value, str) else str(value)}])]


def _read_pydantic_ai(span: TraceSpan) -> Contents:
    """Read all messages of a run of pydantic-ai: the input ends with the last message of the user."""
    messages = read_messages(span.attributes.get("pydantic_ai.all_messages"))
    if messages is None:
        return Contents()
    user_messages = [index for index, one in enumerate(messages) if one.role == "user" and one.has_content]
    end = user_messages[-1] + 1 if user_messages else 0
    return Contents(messages[:end], messages[end:] or None)


_SOURCES: tuple[Callable[[TraceSpan], Contents], ...] = (
    _read_attributes,
    _read_events,
    _read_adk,
    _read_pydantic_ai,
    _read_openinference,
    _read_openllmetry,
    _read_langfuse,
    _read_values,
)
_IN_PIECES = (_read_events, _read_openinference, _read_openllmetry)
"""Sources in which a message, or a call in it, may be missing if an attribute or event was dropped."""


# --- reading each span once ---------------------------------------------------------------------------------------------


class Reader:
    """Reads the contents of spans, each once."""

    def __init__(self) -> None:
        self._read: dict[int, Contents] = {}
        self._around: dict[int, bool] = {}

    def of(self, span: TraceSpan) -> Contents:
        """Return the contents of one span; a model's span is completed from inner spans of the same call."""
        if (contents := self._read.get(id(span))) is None:
            contents = contents_of(span)
            if kind_of(span) is TraceSpanKind.MODEL:
                for inner in same_call(span) if not self.encloses_calls(span) else ():
                    contents = contents.filled(contents_of(inner))
            self._read[id(span)] = contents
        return contents

    def encloses_calls(self, span: TraceSpan) -> bool:
        """Whether a model's span contains several calls, as that of a client that calls tools itself."""
        if kind_of(span) is not TraceSpanKind.MODEL or not span.children:
            return False
        if (known := self._around.get(id(span))) is None:
            known = self._around[id(span)] = len(list(self._answering(span))) > 1
        return known

    def _answering(self, span: TraceSpan) -> Iterator[TraceSpan]:
        """Return the outermost inner spans of a model that contain an answer."""
        waiting = list(span.children)
        while waiting:
            inner = waiting.pop()
            kind = kind_of(inner)
            if kind is TraceSpanKind.MODEL and self.of(inner).output is not None:
                yield inner
            elif kind in (TraceSpanKind.MODEL, TraceSpanKind.OTHER):
                waiting += inner.children


def same_call(span: TraceSpan) -> Iterator[TraceSpan]:
    """Return the inner spans of a model's span that describe the same call."""
    waiting = list(reversed(span.children))
    while waiting:
        inner = waiting.pop()
        kind = kind_of(inner)
        if kind is TraceSpanKind.MODEL:
            yield inner
        if kind in (TraceSpanKind.MODEL, TraceSpanKind.OTHER):
            waiting += reversed(inner.children)
