"""Malformed files and spans: one clear message, or a conversation that never passes by accident."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import proctor
from proctor.files.traces.conversations import conversations_of, read_conversations
from proctor.files.traces.otlp_json import Malformed, keep_agent_attributes, spans_in
from proctor.files.traces.span_tree import TraceSpan, grown
from tests.runs.traces.otlp import Json, agent, chat, flat, model, request, span, tool, written

GOOD = request(agent("root", chat("hi", "Hello.")))


def _with(**fields: Any) -> bytes:
    """A request whose first span has these fields."""
    changed = json.loads(json.dumps(GOOD))
    changed["resourceSpans"][0]["scopeSpans"][0]["spans"][0].update(fields)
    return json.dumps(changed).encode()


BROKEN: list[Any] = [
    pytest.param(b"", ":1:1: error: the file is empty: no trace has been written into it", id="empty"),
    pytest.param(b"null", "expected an OTLP request", id="null"),
    pytest.param(b'{"eval_set_id": "x"}', "expected an OTLP request", id="an eval set"),
    pytest.param(b'"resourceSpans"', "expected an OTLP request", id="a text"),
    pytest.param(b"\x1f\x8b\x08\x00", "compressed", id="gzip"),
    pytest.param(b"SQLite format 3\0" + b"\0" * 100, "SQLite", id="SQLite that is none"),
    pytest.param(b"\xff\xfe{", "UTF", id="another encoding"),
    pytest.param(json.dumps(GOOD).encode() + b'\n{"resourceSp', "2:1: error: the last line is incomplete", id="cut off while written"),
    pytest.param(json.dumps(GOOD).encode() + b"\nnonsense\n" + json.dumps(GOOD).encode(), ":2:1: error", id="a line that is none"),
    pytest.param(json.dumps(GOOD).encode() + b'\n{"x": 1}\n', ":2:1: error: expected an OTLP request", id="a line of something else"),
    pytest.param(b'{"resourceSpans": 5}', "resourceSpans: expected a list, got the number 5", id="spans that are a number"),
    pytest.param(b'{"resourceSpans": [5]}', "resourceSpans[0]: expected an object", id="a resource that is a number"),
    pytest.param(_with(traceId=5), "traceId: expected text, got the number 5", id="an id that is a number"),
    pytest.param(_with(spanId=""), "spanId: expected an id", id="an empty id"),
    pytest.param(_with(spanId="0000000000000000"), "spanId: expected an id", id="an id of zeros"),
    pytest.param(_with(startTimeUnixNano="yesterday"), "startTimeUnixNano: expected nanoseconds since 1970", id="a time in words"),
    pytest.param(_with(attributes={"a": 1}), "attributes: expected a list, got an object", id="attributes as an object"),
    pytest.param(_with(attributes=[{"key": 1}]), "key: expected the name of an attribute", id="a key that is a number"),
    pytest.param(_with(attributes=[{"key": "gen_ai.x", "value": 1}]), "value: expected a value such as", id="a bare value"),
    pytest.param(_with(attributes=[{"key": "gen_ai.x", "value": {"intValue": "many"}}]), "intValue: expected a number", id="a number in words"),
    pytest.param(_with(attributes=[{"key": "gen_ai.x", "value": {"stringValue": 5}}]), "stringValue: expected text", id="a text that is a number"),
    pytest.param(_with(events=[{"name": 1}]), "name: expected text", id="an event's name that is a number"),
    pytest.param(_with(name="\ud800"), "", id="half a character"),
    pytest.param(json.dumps(GOOD).replace("hi", "NaN").replace('"1700', "NaN, \"x\": \"1700").encode(), "", id="NaN"),
    pytest.param(b'{"resourceSpans": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", "", id="very deep"),
    pytest.param(_with(attributes=[{"key": "gen_ai.x", "value": {"intValue": "9" * 5_000}}]), "", id="a number without end"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "message"), BROKEN)
def test_a_broken_file_is_one_clear_message(data: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(data)
    with pytest.raises(proctor.EvalFileError) as raised:
        proctor.score_trace_sync(file)
    assert message in str(raised.value)
    assert str(file) in str(raised.value)


def test_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(proctor.EvalFileError, match="no such file"):
        proctor.score_trace_sync(tmp_path / "no.jsonl")


def test_folder_without_traces_is_reported(tmp_path: Path) -> None:
    with pytest.raises(proctor.EvalFileError, match="there is no trace"):
        proctor.score_trace_sync(tmp_path)


# --- spans that can be read, and are odd ----------------------------------------------------------------------------------

DEEP = "[" * 150 + "]" * 150
ODD: list[Any] = [
    pytest.param(agent("root", chat("hi", [model("a\ud800b")])), id="half a character in an answer"),
    pytest.param(agent("root", chat("hi\0", "A\0B")), id="NUL in texts"),
    pytest.param(agent("root", chat("hi", "A", extra={"gen_ai.usage.input_tokens": -5})), id="tokens below 0"),
    pytest.param(agent("root", chat("hi", "A", extra={"gen_ai.usage.input_tokens": 1 << 62})), id="tokens without end"),
    pytest.param(agent("root", chat("hi", "A", extra={"gen_ai.usage.input_tokens": 1.5})), id="half a token"),
    pytest.param(agent("root", chat("hi", "A", extra={"gen_ai.usage.input_tokens": "ten"})), id="tokens in words"),
    pytest.param(agent("../../etc/passwd", chat("hi", "A")), id="an agent named as a path"),
    pytest.param(agent("root", chat("hi", "A"), extra={"gen_ai.conversation.id": "../../x\n\x1b[2J"}), id="a hostile id"),
    pytest.param(agent("root", chat("hi", "A"), extra={"gen_ai.conversation.id": "x" * 100_000}), id="an id without end"),
    pytest.param(agent("root", tool("f", f'{{"x": {DEEP}}}', DEEP), chat("hi", "A", at=2)), id="deep arguments"),
    pytest.param(agent("root", tool("f", '{"x": 1e400, "y": NaN}', "NaN"), chat("hi", "A", at=2)), id="numbers that JSON has not"),
    pytest.param(agent("root", tool("f", "[1]", "2"), chat("hi", "A", at=2)), id="arguments that are a list"),
    pytest.param(agent("root", tool("", {}, {}), chat("hi", "A", at=2)), id="a tool without a name"),
    pytest.param(agent("root", chat("hi", [{"role": "assistant", "parts": [{"type": "blob", "content": "%%%"}]}])), id="media that is none"),
    pytest.param(agent("root", chat("hi", [{"role": "assistant", "parts": [5, None, {"type": 7}, {"type": "new"}]}])), id="parts of no kind"),
    pytest.param(agent("root", chat([5, None, "hi", {}], [[], {"parts": 5}])), id="messages of no kind"),
    pytest.param(agent("root", chat("hi", "A", extra={"gen_ai.tool.definitions": '[1, {"name": 5}]'})), id="tools of no kind"),
    pytest.param(agent("root", chat("hi", "A"), took=1e9), id="a turn of thirty years"),
    pytest.param(
        span("x", {f"llm.output_messages.{'9' * 30}.message.content": "x", "openinference.span.kind": "LLM"}), id="an index without end"
    ),
    pytest.param(
        span("x", {f"llm.output_messages.0.{'a.' * 5_000}": "x", "llm.output_messages.0": "y", "openinference.span.kind": "LLM"}), id="a path without end"
    ),
]  # fmt: skip


@pytest.mark.nightly(check=9)
@pytest.mark.parametrize("root", ODD)
def test_what_is_odd_is_judged_or_an_error_and_never_a_traceback(root: Json, tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(json.dumps(request(root)).replace("\\\\ud800", "\\\\ud800"), encoding="utf-8")
    rules = {"criteria": {"trajectory_rules": {"threshold": 1.0, "rules": [{"never": "nothing"}]}}}
    run = proctor.score_trace_sync(file, config=rules, store=f"sqlite:///{tmp_path / 's.sqlite3'}")
    assert run.outcome in {proctor.Outcome.PASSED, proctor.Outcome.ERROR}
    for case in run.cases:
        assert len(case.eval_id) <= 130
        assert case.eval_id.isprintable()


@pytest.mark.nightly
@pytest.mark.slow  # reads a large trace
def test_a_chain_of_very_many_spans_is_walked(tmp_path: Path) -> None:
    spans = [agent("root", chat("hi", "A"))]
    for _ in range(20_000):
        outer = span("step", {})
        spans[-1]["parentSpanId"] = outer["spanId"]
        spans.append(outer)
    began = time.perf_counter()
    (conversation,) = read_conversations([written(tmp_path / "t.jsonl", request(*spans))]).conversations
    assert conversation.turns[0].failure is None
    assert time.perf_counter() - began < 100


@pytest.mark.slow
def test_an_answer_without_end_is_cut_and_no_verdict(tmp_path: Path) -> None:
    file = written(tmp_path / "t.jsonl", request(agent("root", chat("hi", "x" * 3_000_000))))
    rules = {"criteria": {"trajectory_rules": {"threshold": 1.0, "rules": [{"never": "nothing"}]}}}
    assert proctor.score_trace_sync(file, config=rules).outcome is proctor.Outcome.ERROR


@pytest.mark.slow
def test_a_hundred_megabytes_are_read_a_line_at_a_time(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    line = json.dumps(
        request(agent("root", chat("hi", "A", extra={"gen_ai.system_instructions": "x" * 50_000})))
    )
    with file.open("w", encoding="utf-8") as out:
        for number in range(2_000):
            out.write(line.replace('"a1"', f'"a{number}f"') + "\n")
    assert file.stat().st_size > 100_000_000
    assert len(read_conversations([file]).conversations) == 2_000


# --- anything at all ------------------------------------------------------------------------------------------------------

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
ANY = st.recursive(
    SCALARS,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=6), inside, max_size=3),
    max_leaves=8,
)
PARTS = st.sampled_from(
    [
        "type",
        "text",
        "content",
        "id",
        "name",
        "arguments",
        "response",
        "result",
        "role",
        "parts",
        "tool_calls",
        "function",
        "message",
    ]
)
MESSAGES = st.recursive(
    SCALARS
    | st.sampled_from(["text", "tool_call", "tool_call_response", "user", "assistant", "tool", "reasoning"]),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(PARTS, inside, max_size=4),
    max_leaves=14,
)
NAMES = st.sampled_from(
    ["gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions", "gen_ai.tool.definitions", "gen_ai.agent.name", "gen_ai.tool.name",
     "gen_ai.tool.call.id", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.conversation.id", "gen_ai.usage.input_tokens",
     "gen_ai.usage.output_tokens", "error.type", "events", "pydantic_ai.all_messages", "gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response",
     "llm.input_messages.0.message.content", "gen_ai.prompt.0.content", "gen_ai.completion.0.tool_calls.0.name", "input.value", "langfuse.observation.output",
     "gen_ai.response.model", "user.id", "proctor.eval_id"]
)  # fmt: skip
KINDS = st.sampled_from(["invoke_agent", "chat", "execute_tool", "generate_content", "embeddings"])


@st.composite
def some_span(draw: st.DrawFn) -> TraceSpan:
    extra = draw(
        st.dictionaries(NAMES, MESSAGES | MESSAGES.map(json.dumps) | st.text(max_size=5), max_size=6)
    )
    time_ = st.integers(min_value=0, max_value=1 << 62)
    return TraceSpan(
        trace_id=draw(st.sampled_from(["t1", "t2"])),
        span_id=draw(st.sampled_from("abcdef")),
        parent_id=draw(st.sampled_from(["", "a", "b", "c", "d", "e", "f", "zz"])),
        name=draw(st.text(max_size=5)),
        start=draw(time_),
        end=draw(time_),
        attributes={**extra, "gen_ai.operation.name": draw(KINDS)},
        is_error=draw(st.booleans()),
    )


@pytest.mark.nightly
@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(some_span(), max_size=7))
def test_any_spans_become_conversations(spans: list[TraceSpan]) -> None:
    from proctor.runs.traces.match_cases import own_cases
    from proctor.runs.traces.to_trials import trial_of

    traced = conversations_of(grown(spans))
    assert len(own_cases(traced.conversations).eval_cases) == len(traced.conversations)
    for one in traced.conversations:
        trial = trial_of(one, None, "s")
        assert len(trial.turns) == len(one.turns) > 0
        for (
            turn
        ) in one.turns:  # nothing is scored of which the user's message, or all that was done, is unknown
            assert turn.failure is not None or (turn.asked["parts"] and turn.events)


@given(ANY)
def test_any_json_is_a_request_or_malformed(value: Any) -> None:
    request_ = {"resourceSpans": value} if not isinstance(value, dict) else value
    keep_agent_attributes(request_)
    message = _message_about(request_)
    assert not message or message.startswith("expected ")


def _message_about(request_: Json) -> str:
    try:
        list(spans_in(request_))
    except Malformed as error:
        return error.finding.message
    return ""


def test_flat_gives_every_span_once() -> None:
    assert len(list(flat([agent("root", chat("a", "b"), chat("c", "d"))]))) == 3
