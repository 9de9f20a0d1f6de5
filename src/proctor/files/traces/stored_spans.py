"""The spans of a turn as its evidence stores them: requests and responses under one set of names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from proctor.files.traces.contents import Messages, Reader
from proctor.files.traces.events import ARGUMENTS, RESULTS
from proctor.files.traces.semantic_conventions import (
    TraceSpanKind,
    agent_name,
    call_id,
    error_of,
    kind_of,
    usage_of,
)
from proctor.files.traces.span_tree import SECOND, TraceSpan
from proctor.schema.evidence.turn import Span, SpanKind

_KINDS = {
    TraceSpanKind.AGENT: SpanKind.AGENT,
    TraceSpanKind.MODEL: SpanKind.MODEL,
    TraceSpanKind.TOOL: SpanKind.TOOL,
}

_REQUEST = "gcp.vertex.agent.llm_request"
_RESPONSE = "gcp.vertex.agent.llm_response"
_ASKED = (
    _REQUEST,
    "gen_ai.input.messages",
    "gen_ai.system_instructions",
    "gen_ai.tool.definitions",
    "pydantic_ai.all_messages",
    "events",
    *ARGUMENTS,
)
_ANSWERED = (_RESPONSE, "gen_ai.output.messages", "final_result", *RESULTS)
_ASKED_IN_PIECES = ("llm.input_messages.", "gen_ai.prompt.")
_ANSWERED_IN_PIECES = ("llm.output_messages.", "gen_ai.completion.")


def stored_spans(roots: Iterable[TraceSpan], reader: Reader) -> Iterator[Span]:
    """Yield the spans of a turn with all that is inside of them, each before what it encloses."""
    waiting = [(root, "") for root in reversed(list(roots))]
    while waiting:
        span, around = waiting.pop()
        agent = (agent_name(span) if kind_of(span) is TraceSpanKind.AGENT else "") or around
        yield _stored_span(span, agent, reader)
        waiting += [(one, agent) for one in reversed(span.children)]


def _stored_span(span: TraceSpan, agent: str, reader: Reader) -> Span:
    request, response = _request_and_response(span, reader)
    usage = usage_of(span) or {}
    error = error_of(span)
    return Span(
        id=span.span_id,
        trace_id=span.trace_id or None,
        parent_id=span.parent_id or None,
        name=span.name,
        kind=_KINDS.get(kind_of(span), SpanKind.STEP),
        agent=agent or None,
        started_at=span.start / SECOND if span.start else None,
        duration=None if (seconds := span.seconds) is None else round(seconds, 6),
        error=None if error is None else ": ".join(filter(None, error)),
        call_id=call_id(span),
        input_tokens=usage.get("prompt_token_count"),
        output_tokens=usage.get("candidates_token_count"),
        request=request,
        response=response,
        attributes=_attributes(span, is_asked=request is not None, is_answered=response is not None),
    )


def _request_and_response(span: TraceSpan, reader: Reader) -> tuple[str | None, str | None]:
    """What was asked and answered: of a tool its arguments and its result, of all else the messages."""
    if kind_of(span) not in (TraceSpanKind.MODEL, TraceSpanKind.AGENT):
        return _plain(span.first(*ARGUMENTS)), _plain(span.first(*RESULTS))
    contents = reader.of(span)
    output_messages, input_messages = _messages(contents.output), _messages(contents.input)
    fields = {"instructions": contents.instructions, "messages": input_messages, "tools": contents.tools}
    request = {name: one for name, one in fields.items() if one}
    return (
        _whole(span, _REQUEST) or (json_text(request) if request else _plain(span.first(*_ASKED))),
        _whole(span, _RESPONSE)
        or (json_text(output_messages) if output_messages else _plain(span.first(*_ANSWERED))),
    )


def _whole(span: TraceSpan, name: str) -> str:
    """Return the values that google-adk wrote as a whole; it writes `{}` if contents are not captured."""
    return text if (text := span.text(name)) != "{}" else ""


def _messages(messages: Messages) -> list[dict[str, object]]:
    """Return messages as plain data; nothing if one was not captured completely, because the raw value contains more."""
    if not messages or any(message.lost for message in messages):
        return []
    return [{"role": message.role, "parts": message.parts} for message in messages]


def _plain(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json_text(value)


def json_text(value: object) -> str:
    """Return a value as JSON, characters as they are."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _attributes(span: TraceSpan, *, is_asked: bool, is_answered: bool) -> dict[str, object]:
    """Return the content other than input and answer."""
    attributes = {
        name: value
        for name, value in span.attributes.items()
        if not (is_asked and (name in _ASKED or name.startswith(_ASKED_IN_PIECES)))
        and not (is_answered and (name in _ANSWERED or name.startswith(_ANSWERED_IN_PIECES)))
    }
    if span.scope:
        attributes["otel.scope.name"] = span.scope
    return attributes
