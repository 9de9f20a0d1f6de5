"""Spans that google-adk made: kept while there is room, shown as its page reads them, and events next to them."""

import json
from typing import Any

from proctor.agents.adk.chat_host import KeptSpans
from proctor.schema.evidence.turn import Span, SpanKind
from proctor.web.server.adk.session_spans import attributes_of, recorded_spans, spans_of

AGENT = Span(
    id="00000000000000a1", trace_id="f" * 32, name="invoke_agent one", kind=SpanKind.AGENT, started_at=10.0, duration=3.0,
    attributes={"gen_ai.operation.name": "invoke_agent"},
)  # fmt: skip
MODEL = Span(
    id="ffffffffffffffff", trace_id="f" * 32, parent_id="00000000000000a1", name="generate_content m", kind=SpanKind.MODEL,
    started_at=11.0, duration=0.5, request='{"messages": []}', response="[]",
    attributes={"gen_ai.operation.name": "generate_content", "gcp.vertex.agent.event_id": "e1"},
)  # fmt: skip
BROKEN = Span(
    id="00000000000000b2", parent_id="00000000000000cc", name="generate_content m", kind=SpanKind.MODEL, error="RuntimeError: key sk-abcdefghijklmnopqrstuvwxyz0123456789",
    attributes={"gen_ai.operation.name": "generate_content"},
)  # fmt: skip
SESSION: dict[str, Any] = {
    "id": "s",
    "events": [
        {"id": "u1", "author": "user", "invocationId": "i1", "timestamp": 10.0},
        {"id": "e1", "author": "one", "invocationId": "i1", "timestamp": 11.5, "content": {"parts": [{"text": "Hi"}]}},
        {"id": "e2", "author": "one", "invocationId": "i1", "timestamp": 12.0, "content": {"parts": [{"text": "Ho"}]}},
        {"id": "u2", "author": "user", "invocationId": "i2", "timestamp": 20.0},
        {"id": "e3", "author": "one", "invocationId": "i2", "timestamp": 21.0, "content": {"parts": [{"text": "Hu"}]}},
    ],
}  # fmt: skip


def test_every_span_is_one_that_the_page_can_read() -> None:
    reported = recorded_spans([AGENT, MODEL, BROKEN], "s", "i1")
    for span in reported:
        assert all(type(span[name]) is int and span[name] < 2**53 for name in ("span_id", "trace_id"))
        assert type(span["start_time"]) is int
        assert span["start_time"] <= span["end_time"]
        assert span["attributes"]["gen_ai.conversation.id"] == "s"
    agent, model, broken = reported
    assert (agent["parent_span_id"], model["parent_span_id"]) == (None, agent["span_id"])
    assert broken["parent_span_id"] is None, "the span around it is not there"
    assert (model["end_time"] - model["start_time"]) == 500_000_000
    assert model["attributes"]["gcp.vertex.agent.llm_request"] == '{"messages": []}'
    assert isinstance(broken["attributes"]["gcp.vertex.agent.event_id"], str), (
        "the page wants one of each call"
    )
    assert broken["start_time"] == agent["start_time"]
    assert "sk-abc" not in json.dumps(reported)


def test_a_turn_that_was_not_traced_is_reported_by_its_events() -> None:
    names = [span["name"] for span in spans_of(SESSION, {"i1": [AGENT, MODEL]})]
    assert names == [
        "invoke_agent one",
        "generate_content m",
        "invocation",
        "invoke_agent one",
        "generate_content one",
    ]


def test_an_event_without_its_own_span_is_reported_by_itself() -> None:
    traced = {"i1": [AGENT, MODEL]}
    assert "gcp.vertex.agent.llm_request" in (attributes_of(SESSION, "e1", traced) or {})
    assert (attributes_of(SESSION, "e2", traced) or {})["gcp.vertex.agent.event_id"] == "e2"
    assert attributes_of(SESSION, "unknown", traced) is None


def test_the_oldest_turns_make_room() -> None:
    kept = KeptSpans(most=5_000)
    large = MODEL.model_copy(update={"request": "x" * 1_500})
    for number in range(4):
        kept.keep("u", "s", f"i{number}", [large])
    assert list(kept.of_session("u", "s")) == ["i3"]
    kept.forget("u", "s")
    assert kept.of_session("u", "s") == {}
    kept.keep("u", "s", "one", [large])
    kept.keep("u", "s", "one", [AGENT])
    assert list(kept.of_session("u", "s")["one"]) == [large, AGENT], "an invocation that is resumed is one"
    kept.keep("u", "other", "", [AGENT])
    assert kept.of_session("u", "other") == {}, "the turn is unknown"
