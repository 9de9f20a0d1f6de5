"""Traces of a session: google-adk's page draws them as a waterfall.

A turn that google-adk traced is told as it was (`traced_spans.py`); every other is made of its events. Such a turn is a
trace: the turn, the agents in it, and in these each answer of a model and each call of a tool. When something began is known
from the event before it, so a model's time has the agent's own work in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any

from proctor.agents.chat_host import Json
from proctor.engine.trial.span_limits import trace_of
from proctor.schema.evidence.span import Span, SpanKind
from proctor.web.server.adk.wire import json_bytes, parts_of

Traced = Mapping[str, Sequence[Span]]
"""What was traced of a session, by invocation."""

_ADK = "gcp.vertex.agent"
_LAST_SECOND = 9e9
"""In the year 2255; nanoseconds beyond soon fit nowhere."""


def spans_of(session: Mapping[str, Any], traced: Traced | None = None) -> list[Json]:
    """Return the spans of a session, turn by turn; a change of the state alone is no turn."""
    turns: dict[str, list[Json]] = {}
    for event in session["events"]:
        turns.setdefault(event.get("invocationId", ""), []).append(event)
    told: list[Json] = []
    for name, events in turns.items():
        if known := (traced or {}).get(name):
            told += recorded_spans(known, session["id"], name)
        elif len(events) > 1:
            told += _turn(name, events, session)
    return told


def attributes_of(session: Mapping[str, Any], event_id: str, traced: Traced | None = None) -> Json | None:
    """Return what is known of the model's answer, or the tool's, that an event has; `None` where none has its id."""
    for spans in (spans_of(session, traced), spans_of(session)):
        # what was traced has spans of some events only
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
            told = {**common, "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": author}
            name = f"invoke_agent {author}"
            yield _span(name, trace, agents[author], root, (_time(before), max(mine)), told)
        yield _step(event, (_time(before), _time(event)), trace, agents[author], common, events)


def _step(
    event: Json, times: tuple[int, int], trace: int, agent: int, common: Json, events: Sequence[Json]
) -> Json:
    """An answer of a model, or of a tool."""
    parts = parts_of(event)
    told = {**common, f"{_ADK}.event_id": _id(event)}
    tools = [part["functionResponse"] for part in parts if "functionResponse" in part]
    if tools:
        names = ", ".join(str(one.get("name")) for one in tools)
        told |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": names}
        told[f"{_ADK}.tool_response"] = _text([one.get("response") for one in tools])
        told[f"{_ADK}.tool_call_args"] = _text(_arguments(tools, events))
        return _span(f"execute_tool {names}", trace, _number(_id(event)), agent, times, told)
    usage = event.get("usageMetadata") or {}
    told |= {"gen_ai.operation.name": "generate_content", f"{_ADK}.llm_response": _text(event.get("content"))}
    for name, count in (("input", "promptTokenCount"), ("output", "candidatesTokenCount")):
        if usage.get(count) is not None:
            told[f"gen_ai.usage.{name}_tokens"] = usage[count]
    name = f"generate_content {event.get('modelVersion') or event.get('author', '')}".rstrip()
    return _span(name, trace, _number(_id(event)), agent, times, told)


def _arguments(answers: Sequence[Json], events: Sequence[Json]) -> list[Any]:
    """The arguments of the calls that were answered, found by their ids, else by the tool's name."""
    calls = [part["functionCall"] for event in events for part in parts_of(event) if "functionCall" in part]
    return [
        next(
            (call.get("args") for call in calls if _key(call) == _key(answer)),
            None,
        )
        for answer in answers
    ]


def _key(call: Json) -> Any:
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
    except (TypeError, ValueError):  # of a file that was edited
        return 0
    return int(max(0.0, min(seconds, _LAST_SECOND)) * 1e9)


def _number(text: str) -> int:
    """An id that is the same whenever it is asked for; below 2**53, which is what a page can hold."""
    return int.from_bytes(blake2b(text.encode(errors="replace"), digest_size=8).digest()) >> 11


def _text(value: Any) -> str:
    return json_bytes(value).decode()


# --- Spans that google-adk made by itself, as its page reads them: one that it cannot read would cost it all others ---


_ADK_PREFIX = "gcp.vertex.agent"
_TEXTS = {
    SpanKind.MODEL: (f"{_ADK_PREFIX}.llm_request", f"{_ADK_PREFIX}.llm_response"),
    SpanKind.TOOL: (f"{_ADK_PREFIX}.tool_call_args", f"{_ADK_PREFIX}.tool_response"),
}
"""Where the page finds what was asked and answered."""
_HOLDS = 2**53
"""Numbers below this are what a page can tell apart."""


def recorded_spans(spans: Sequence[Span], session_id: str, invocation_id: str) -> list[Json]:
    """Return the spans of one turn, bounded and without secrets, in the order in which they began."""
    kept = trace_of(spans).spans
    known = {span.id for span in kept}
    first = next((span.started_at for span in kept if span.started_at is not None), 0.0)
    return [_span_json(span, known, first, session_id, invocation_id) for span in kept]


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
    told: Json = {
        **span.attributes,
        "gen_ai.conversation.id": session_id,
        f"{_ADK_PREFIX}.session_id": session_id,
        f"{_ADK_PREFIX}.invocation_id": invocation_id,
    }
    if span.kind is SpanKind.MODEL:  # the page wants one of each; a call that failed came to no event
        told.setdefault(f"{_ADK_PREFIX}.event_id", span.id)
    texts = zip(_TEXTS.get(span.kind, ()), (span.request, span.response), strict=False)
    told |= {name: text for name, text in texts if text is not None}
    return told if span.error is None else {**told, "error.message": span.error}


def _trace_number(its_id: str) -> int:
    try:
        return int(its_id or "0", 16) % _HOLDS
    except ValueError:  # not an id of OpenTelemetry: it was replaced
        return sum(its_id.encode()) % _HOLDS
