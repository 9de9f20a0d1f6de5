"""The spans of a session, which google-adk's page draws as a waterfall.

A turn that google-adk traced has its recorded spans. For every other turn the spans are derived from its events: the turn, its
agents, and in these each answer of a model and each call of a tool. A span starts at the previous event, so the time of a
model includes the agent's own work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any

from proctor.agents.chat_host import Json
from proctor.engine.trial.evidence_limits import trace_of
from proctor.schema.evidence.turn import Span, SpanKind
from proctor.web.server.adk.wire import json_bytes, parts_of

TraceContent = Mapping[str, Sequence[Span]]
"""The recorded spans of a session, by invocation."""

_ADK = "gcp.vertex.agent"
_LAST_SECOND = 9e9
"""In the year 2255; nanoseconds beyond soon fit nowhere."""


def spans_of(session: Mapping[str, Any], traced: TraceContent | None = None) -> list[Json]:
    """Return the spans of a session, turn by turn; a change of the state alone is not a turn."""
    turns: dict[str, list[Json]] = {}
    for event in session["events"]:
        turns.setdefault(event.get("invocationId", ""), []).append(event)
    spans: list[Json] = []
    for name, events in turns.items():
        if known := (traced or {}).get(name):
            spans += recorded_spans(known, session["id"], name)
        elif len(events) > 1:
            spans += _turn(name, events, session)
    return spans


def attributes_of(
    session: Mapping[str, Any], event_id: str, traced: TraceContent | None = None
) -> Json | None:
    """Return the attributes of the model's or tool's span of an event; `None` if there is no such event."""
    for spans in (spans_of(session, traced), spans_of(session)):
        # recorded spans cover only some events
        for span in spans:
            if span["attributes"].get(f"{_ADK}.event_id") == event_id:
                attributes: Json = span["attributes"]
                return attributes
    return None


def _turn(invocation_id: str, events: Sequence[Json], session: Mapping[str, Any]) -> Iterator[Json]:
    common = {"gen_ai.conversation.id": session["id"], f"{_ADK}.session_id": session["id"]}
    common[f"{_ADK}.invocation_id"] = invocation_id
    trace, began, ended = _number(invocation_id), _time(events[0]), max(map(_time, events))
    root = _number(f"{invocation_id}/turn")
    yield _span("invocation", trace, root, None, (began, ended), common)
    agents: dict[str, int] = {}
    for before, event in pairwise(events):
        author = event.get("author", "")
        if author == "user":
            continue
        if author not in agents:
            agents[author] = _number(f"{invocation_id}/{author}")
            mine = [_time(one) for one in events if one.get("author") == author]
            attributes = {**common, "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": author}
            name = f"invoke_agent {author}"
            yield _span(name, trace, agents[author], root, (_time(before), max(mine)), attributes)
        yield _step(event, (_time(before), _time(event)), trace, agents[author], common, events)


def _step(
    event: Json, times: tuple[int, int], trace: int, agent: int, common: Json, events: Sequence[Json]
) -> Json:
    """Return the span of a model's or a tool's answer."""
    parts = parts_of(event)
    attributes = {**common, f"{_ADK}.event_id": _id(event)}
    tools = [part["functionResponse"] for part in parts if "functionResponse" in part]
    if tools:
        names = ", ".join(str(one.get("name")) for one in tools)
        attributes |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": names}
        attributes[f"{_ADK}.tool_response"] = _text([one.get("response") for one in tools])
        attributes[f"{_ADK}.tool_call_args"] = _text(_arguments(tools, events))
        return _span(f"execute_tool {names}", trace, _number(_id(event)), agent, times, attributes)
    usage = event.get("usageMetadata") or {}
    attributes |= {
        "gen_ai.operation.name": "generate_content",
        f"{_ADK}.llm_response": _text(event.get("content")),
    }
    for name, count in (("input", "promptTokenCount"), ("output", "candidatesTokenCount")):
        if usage.get(count) is not None:
            attributes[f"gen_ai.usage.{name}_tokens"] = usage[count]
    name = f"generate_content {event.get('modelVersion') or event.get('author', '')}".rstrip()
    return _span(name, trace, _number(_id(event)), agent, times, attributes)


def _arguments(answers: Sequence[Json], events: Sequence[Json]) -> list[Any]:
    """Return the arguments of the answered calls, which are found by their ids, else by the tool's name."""
    calls = [part["functionCall"] for event in events for part in parts_of(event) if "functionCall" in part]
    return [
        next((call.get("args") for call in calls if _key(call) == _key(answer)), None) for answer in answers
    ]


def _key(call: Json) -> object:
    return call.get("id") or call.get("name")


def _span(
    name: str, trace: int, its_id: int, parent: int | None, times: tuple[int, int], attributes: Json
) -> Json:
    return {
        "name": name,
        "span_id": its_id,
        "trace_id": trace,
        "parent_span_id": parent,
        "start_time": times[0],
        "end_time": max(times),
        "attributes": attributes,
        "logs": [],
    }


def _id(event: Json) -> str:
    return str(event.get("id") or "")


def _time(event: Json) -> int:
    """Nanoseconds since 1970."""
    try:
        seconds = float(event.get("timestamp") or 0)
    except (TypeError, ValueError):  # the file was edited
        return 0
    return int(max(0.0, min(seconds, _LAST_SECOND)) * 1e9)


def _number(text: str) -> int:
    """Return a stable id below 2**53, the limit of a page's numbers."""
    return int.from_bytes(blake2b(text.encode(errors="replace"), digest_size=8).digest()) >> 11


def _text(value: object) -> str:
    return json_bytes(value).decode()


# --- recorded spans of google-adk, in the form that its page can read -------------------------------------------------


_TEXTS = {
    SpanKind.MODEL: (f"{_ADK}.llm_request", f"{_ADK}.llm_response"),
    SpanKind.TOOL: (f"{_ADK}.tool_call_args", f"{_ADK}.tool_response"),
}
"""The attributes in which the page expects request and response."""
_HOLDS = 2**53
"""The limit of a page's numbers."""


def recorded_spans(spans: Sequence[Span], session_id: str, invocation_id: str) -> list[Json]:
    """Return the spans of one turn, bounded and without secrets, in order of their start."""
    trace_spans = trace_of(spans).spans
    known = {span.id for span in trace_spans}
    first = next((span.started_at for span in trace_spans if span.started_at is not None), 0.0)
    return [_span_json(span, known, first, session_id, invocation_id) for span in trace_spans]


def _span_json(span: Span, known: set[str], first: float, session_id: str, invocation_id: str) -> Json:
    began = first if span.started_at is None else span.started_at
    return {
        "name": span.name,
        "span_id": _trace_number(span.id),
        "trace_id": _trace_number(span.trace_id or ""),
        "parent_span_id": _trace_number(span.parent_id)
        if span.parent_id in known and span.parent_id
        else None,
        "start_time": int(began * 1e9),
        "end_time": int((began + (span.duration or 0.0)) * 1e9),
        "attributes": _attributes(span, session_id, invocation_id),
        "logs": [],
    }


def _attributes(span: Span, session_id: str, invocation_id: str) -> Json:
    attributes: Json = {
        **span.attributes,
        "gen_ai.conversation.id": session_id,
        f"{_ADK}.session_id": session_id,
        f"{_ADK}.invocation_id": invocation_id,
    }
    if span.kind is SpanKind.MODEL:  # the page requires one; a failed call has no event
        attributes.setdefault(f"{_ADK}.event_id", span.id)
    texts = zip(_TEXTS.get(span.kind, ()), (span.request, span.response), strict=False)
    attributes |= {name: text for name, text in texts if text is not None}
    return attributes if span.error is None else {**attributes, "error.message": span.error}


def _trace_number(its_id: str) -> int:
    try:
        return int(its_id or "0", 16) % _HOLDS
    except ValueError:  # not an OpenTelemetry id
        return sum(its_id.encode()) % _HOLDS
