"""Convert spans of google-adk, which have its own names and attributes (`google.adk.telemetry`), in both of its schemas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from proctor.common.limits import MAX_TEXT
from proctor.schema.evidence.trial import Span, SpanKind

_OPERATIONS = {
    "invoke_agent": SpanKind.AGENT,
    "invoke_workflow": SpanKind.AGENT,
    "generate_content": SpanKind.MODEL,
    "execute_tool": SpanKind.TOOL,
}
_NAMES = {"invocation": SpanKind.AGENT, "call_llm": SpanKind.MODEL}
_MERGED = "(merged tools)"
_ADK = "gcp.vertex.agent"
_REQUEST = {
    SpanKind.MODEL: (f"{_ADK}.llm_request",),
    SpanKind.TOOL: (f"{_ADK}.tool_call_args", "gen_ai.tool.call.arguments"),
}
_RESPONSE = {
    SpanKind.MODEL: (f"{_ADK}.llm_response", "gen_ai.output.messages"),
    SpanKind.TOOL: (f"{_ADK}.tool_response", "gen_ai.tool.call.result"),
}
_ASKED = {
    "instructions": "gen_ai.system_instructions",
    "messages": "gen_ai.input.messages",
    "tools": "gen_ai.tool.definitions",
}
"""The attributes with the input of a model in the current schema; each is JSON."""
_TABLES = (_REQUEST, _RESPONSE)
_CONTENTS = {*_ASKED.values(), *(name for table in _TABLES for names in table.values() for name in names)}
_ALL_TEXTS = 4 * MAX_TEXT
"""Characters of all texts of a turn: more is cut here already, so that the answer of a worker is never too long a line."""
_ALWAYS = 1_000


def told_spans(spans: Iterable[Any]) -> list[Span]:
    """Convert spans of OpenTelemetry's SDK, which may not all have ended, to stored spans."""
    room, agents, stored = _Room(), dict[str, str](), list[Span]()
    for span in spans:
        one = _stored_span(span, room)
        if one.kind is SpanKind.AGENT and one.agent:
            agents[one.id] = one.agent
        elif one.parent_id in agents:
            one.agent = one.agent or agents[one.parent_id]
            agents[one.id] = one.agent
        stored.append(one)
    return stored


def _stored_span(span: Any, room: _Room) -> Span:
    raw: Mapping[str, Any] = span.attributes or {}
    attributes, context, kind = dict(raw), span.context, _kind(span.name, raw)
    began, ended = span.start_time, span.end_time
    its_call = str(attributes.get("gen_ai.tool.call.id", ""))
    return Span(
        id=f"{context.span_id:016x}",
        trace_id=f"{context.trace_id:032x}",
        parent_id=f"{span.parent.span_id:016x}" if span.parent is not None else None,
        name=room.clip(span.name),
        kind=kind,
        agent=str(attributes["gen_ai.agent.name"]) if "gen_ai.agent.name" in attributes else None,
        started_at=began / 1e9 if began is not None else None,
        duration=(ended - began) / 1e9 if began is not None and ended is not None else None,
        error=_error(span, room),
        call_id=its_call if its_call and kind is SpanKind.TOOL and its_call != "<not specified>" else None,
        input_tokens=_count(attributes.get("gen_ai.usage.input_tokens")),
        output_tokens=_count(attributes.get("gen_ai.usage.output_tokens")),
        request=_content(attributes, _REQUEST.get(kind, ()), room) or _model_input(attributes, room),
        response=_content(attributes, _RESPONSE.get(kind, ()), room),
        attributes={name: room.fit(value) for name, value in attributes.items() if name not in _CONTENTS},
    )


def _kind(name: str, attributes: Mapping[str, Any]) -> SpanKind:
    if attributes.get("gen_ai.tool.name") == _MERGED:
        return SpanKind.STEP
    kind = _OPERATIONS.get(str(attributes.get("gen_ai.operation.name"))) or _NAMES.get(name)
    return kind or SpanKind.STEP


def _content(attributes: Mapping[str, Any], names: Iterable[str], room: _Room) -> str | None:
    """Return the first attribute that exists; google-adk writes `{}` if contents are not captured."""
    found = (str(attributes[name]) for name in names if attributes.get(name))
    return next((room.clip(text) for text in found if text != "{}"), None)


def _model_input(attributes: Mapping[str, Any], room: _Room) -> str | None:
    """Return one JSON text with all inputs of a model."""
    found = ((name, str(attributes[spelled])) for name, spelled in _ASKED.items() if attributes.get(spelled))
    pieces = [f'"{name}": {text}' for name, text in found]
    return room.clip(f"{{{', '.join(pieces)}}}") if pieces else None


def _error(span: Any, room: _Room) -> str | None:
    if getattr(span.status.status_code, "value", 0) != _STATUS_ERROR:
        return None
    raised = next(
        (dict(event.attributes or {}) for event in reversed(span.events) if event.name == "exception"), {}
    )
    details = [raised.get("exception.type"), raised.get("exception.message")]
    return room.clip(": ".join(str(each) for each in details if each) or span.status.description or "error")


_STATUS_ERROR = 2


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


class _Room:
    """What is left for the texts of a turn."""

    def __init__(self) -> None:
        self._left = _ALL_TEXTS

    def clip(self, text: str) -> str:
        """Return a text, or its beginning if the limit does not suffice for all of it."""
        most = max(self._left, _ALWAYS)
        self._left -= min(len(text), most)
        return text if len(text) <= most else f"{text[:most]}… [cut: {len(text):,} characters in all]"

    def fit(self, value: Any) -> Any:
        """Return an attribute: a plain value, or a list of them."""
        if isinstance(value, str):
            return self.clip(value)
        return [self.fit(one) for one in value] if isinstance(value, list | tuple) else value
