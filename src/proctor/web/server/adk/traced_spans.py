"""Spans that google-adk made by itself, as its page reads them: one that it cannot read would cost it all others."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.agents.chat_host import Json
from proctor.engine.trial.span_limits import trace_of
from proctor.schema.evidence.span import Span, SpanKind

_ADK = "gcp.vertex.agent"
_TEXTS = {
    SpanKind.MODEL: (f"{_ADK}.llm_request", f"{_ADK}.llm_response"),
    SpanKind.TOOL: (f"{_ADK}.tool_call_args", f"{_ADK}.tool_response"),
}
"""Where the page finds what was asked and answered."""
_HOLDS = 2**53
"""Numbers below this are what a page can tell apart."""


def told_spans(spans: Sequence[Span], session_id: str, invocation_id: str) -> list[Json]:
    """Return the spans of one turn, bounded and without secrets, in the order in which they began."""
    kept = trace_of(spans).spans
    known = {span.id for span in kept}
    first = next((span.started_at for span in kept if span.started_at is not None), 0.0)
    return [_told(span, known, first, session_id, invocation_id) for span in kept]


def _told(span: Span, known: set[str], first: float, session_id: str, invocation_id: str) -> Json:
    began = first if span.started_at is None else span.started_at
    return {
        "name": span.name,
        "span_id": _number(span.id),
        "trace_id": _number(span.trace_id or ""),
        "parent_span_id": _number(span.parent_id) if span.parent_id in known and span.parent_id else None,
        "start_time": int(began * 1e9),
        "end_time": int((began + (span.duration or 0.0)) * 1e9),
        "attributes": _attributes(span, session_id, invocation_id),
        "logs": [],
    }


def _attributes(span: Span, session_id: str, invocation_id: str) -> Json:
    told: Json = {
        **span.attributes,
        "gen_ai.conversation.id": session_id,
        f"{_ADK}.session_id": session_id,
        f"{_ADK}.invocation_id": invocation_id,
    }
    if span.kind is SpanKind.MODEL:  # the page wants one of each; a call that failed came to no event
        told.setdefault(f"{_ADK}.event_id", span.id)
    texts = zip(_TEXTS.get(span.kind, ()), (span.request, span.response), strict=False)
    told |= {name: text for name, text in texts if text is not None}
    return told if span.error is None else {**told, "error.message": span.error}


def _number(its_id: str) -> int:
    try:
        return int(its_id or "0", 16) % _HOLDS
    except ValueError:  # not an id of OpenTelemetry: it was replaced
        return sum(its_id.encode()) % _HOLDS
