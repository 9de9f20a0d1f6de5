"""One conversation in every spelling that is in use comes out the same."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from proctor.files.traces.conversations import read_conversations
from proctor.files.traces.otlp_json import spans_in
from proctor.files.traces.span_tree import TraceSpan
from tests.runs.traces.otlp import (
    Json,
    agent,
    attributes,
    brief,
    flat,
    model,
    request,
    span,
    user,
    value,
    written,
)

ASK, ANSWER = "Weather in Oslo?", "Rain."
CALL = ("c1", "get_weather", {"city": "Oslo"})
ARGS = json.dumps(CALL[2])
RAIN = {"sky": "rain"}
WANTED = [("root", "get_weather", {"city": "Oslo"}), ("get_weather", RAIN), ("root", ANSWER)]
CHAT = {"gen_ai.operation.name": "chat"}
OPENAI_CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": ARGS}}
OPENAI: list[Json] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": ASK},
    {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": json.dumps(RAIN)},
]


def _two(one: dict[str, Any], other: dict[str, Any], **events: Any) -> Json:
    """Two calls of a model in an agent, and no span of the tool."""
    return agent(
        "root",
        span("chat", one, at=0, events=events.get("first", ())),
        span("chat", other, at=1, events=events.get("second", ())),
        took=3,
    )


def _conventions() -> Json:
    def as_json(messages: Any) -> str:
        return json.dumps(messages)

    answer = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": RAIN}]}
    return _two(
        {
            **CHAT,
            "gen_ai.input.messages": as_json([user(ASK)]),
            "gen_ai.output.messages": as_json([model(CALL)]),
        },
        {
            **CHAT,
            "gen_ai.input.messages": as_json([user(ASK), model(CALL), answer]),
            "gen_ai.output.messages": as_json([model(ANSWER)]),
        },
    )


def _structured() -> Json:
    """The same as structured values in place of JSON texts."""
    spans = _conventions()
    for one in spans["inside"]:
        for pair in one["attributes"]:
            text = pair["value"].get("stringValue", "")
            if text.startswith("["):
                pair["value"] = value(json.loads(text))
    return spans


def _details_event() -> Json:
    """The same in the event that has all details."""
    spans = _conventions()
    for one in spans["inside"]:
        moved = [pair for pair in one["attributes"] if pair["key"].endswith("messages")]
        one["attributes"] = [pair for pair in one["attributes"] if pair not in moved]
        one["events"] = [{"name": "gen_ai.client.inference.operation.details", "attributes": moved}]
    return spans


def _message_events() -> Json:
    """The conventions up to 1.36: an event a message."""
    choice = {"message": json.dumps({"role": "assistant", "tool_calls": [OPENAI_CALL]}), "index": 0}
    first = [("gen_ai.system.message", {"content": "Be kind."}), ("gen_ai.user.message", {"content": ASK})]
    second = [
        *first,
        ("gen_ai.assistant.message", {"tool_calls": json.dumps([OPENAI_CALL])}),
        ("gen_ai.tool.message", {"id": "c1", "content": json.dumps(RAIN)}),
    ]
    last = {"message": json.dumps({"role": "assistant", "content": ANSWER}), "index": 0}
    return _two(
        CHAT, CHAT, first=[*first, ("gen_ai.choice", choice)], second=[*second, ("gen_ai.choice", last)]
    )


def _prompt_events() -> Json:
    """Older still: the prompt and the completion in an event each."""
    return _two(
        CHAT,
        CHAT,
        first=[
            ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps(OPENAI[:2])}),
            ("gen_ai.content.completion", {"gen_ai.completion": json.dumps(OPENAI[2:3])}),
        ],
        second=[
            ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps(OPENAI)}),
            (
                "gen_ai.content.completion",
                {"gen_ai.completion": json.dumps([{"role": "assistant", "content": ANSWER}])},
            ),
        ],
    )


def _events_attribute() -> Json:
    """pydantic-ai's first form: all events in one attribute."""
    ask = {"event.name": "gen_ai.user.message", "role": "user", "content": ASK}
    called = {
        "event.name": "gen_ai.choice",
        "index": 0,
        "message": {"role": "assistant", "tool_calls": [OPENAI_CALL]},
    }
    answer = {"event.name": "gen_ai.tool.message", "role": "tool", "id": "c1", "content": RAIN}
    choice = {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "content": ANSWER}}
    before = {"event.name": "gen_ai.assistant.message", "role": "assistant", "tool_calls": [OPENAI_CALL]}
    return _two(
        {**CHAT, "events": json.dumps([ask, called])},
        {**CHAT, "events": json.dumps([ask, before, answer, choice])},
    )


def _old_adk() -> Json:
    """google-adk before it followed the conventions: tools are executed inside of the model's span."""
    ask = {"role": "user", "parts": [{"text": ASK}]}
    called = {
        "role": "model",
        "parts": [{"function_call": {"id": "c1", "name": "get_weather", "args": CALL[2]}}],
    }
    answer = {
        "role": "user",
        "parts": [{"function_response": {"id": "c1", "name": "get_weather", "response": RAIN}}],
    }
    reply = {"role": "model", "parts": [{"text": ANSWER}]}

    def call_llm(contents: Any, content: Any, *inside: Json, at: float) -> Json:
        fields = {
            "gcp.vertex.agent.llm_request": json.dumps(
                {"model": "m", "contents": contents, "config": {"system_instruction": "Be kind."}}
            ),
            "gcp.vertex.agent.llm_response": json.dumps({"content": content}),
        }
        return span("call_llm", fields, *inside, at=at)

    executed = span(
        "execute_tool get_weather",
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.call.id": "c1",
            "gcp.vertex.agent.llm_request": "{}",
            "gcp.vertex.agent.tool_call_args": ARGS,
            "gcp.vertex.agent.tool_response": json.dumps(RAIN),
        },
        at=0.5,
    )
    merged = span(
        "execute_tool (merged)",
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "(merged tools)"},
        at=0.6,
    )
    run = span(
        "agent_run [root]",
        {"gcp.vertex.agent.x": "1"},
        call_llm([ask], called, executed, merged, at=0.1),
        call_llm([ask, called, answer], reply, at=1),
        took=3,
    )
    return span("invocation", {"gcp.vertex.agent.x": "1"}, run, took=3)


def _openinference() -> Json:
    def messages(side: str, given: list[Json]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for index, one in enumerate(given):
            at = f"llm.{side}_messages.{index}.message"
            found |= {f"{at}.{key}": one[key] for key in ("role", "tool_call_id") if key in one}
            if one.get("content") is not None:
                found[f"{at}.content"] = one["content"]
            for number, call in enumerate(one.get("tool_calls", [])):
                to = f"{at}.tool_calls.{number}.tool_call"
                found |= {f"{to}.id": call["id"], f"{to}.function.name": call["function"]["name"]}
                found[f"{to}.function.arguments"] = call["function"]["arguments"]
        return found

    llm = {"openinference.span.kind": "LLM"}
    return span(
        "root",
        {"openinference.span.kind": "AGENT", "agent_name": "root"},
        span("llm", {**llm, **messages("input", OPENAI[:2]), **messages("output", OPENAI[2:3])}, at=0),
        span(
            "get_weather",
            {
                "openinference.span.kind": "TOOL",
                "tool.name": "get_weather",
                "input.value": ARGS,
                "output.value": json.dumps(RAIN),
            },
            at=0.5,
        ),
        span(
            "llm",
            {
                **llm,
                **messages("input", OPENAI),
                **messages("output", [{"role": "assistant", "content": ANSWER}]),
            },
            at=1,
        ),
        took=3,
    )


def _openinference_contents() -> Json:
    """Its messages with several contents each."""
    at = "llm.input_messages.0.message"
    contents = {
        f"{at}.role": "user",
        f"{at}.contents.0.message_content.type": "text",
        f"{at}.contents.0.message_content.text": ASK,
    }
    spans = _openinference()
    for one in spans["inside"]:
        kept = [p for p in one["attributes"] if not p["key"].startswith("llm.input_messages.0")]
        if len(kept) < len(one["attributes"]):
            moved = attributes(contents)
            one["attributes"] = [*kept, *moved]
    return spans


def _openllmetry() -> Json:
    call = "tool_calls.0"
    return span(
        "root.agent",
        {"traceloop.span.kind": "agent", "traceloop.entity.name": "root"},
        span(
            "openai.chat",
            {
                "llm.request.type": "chat",
                "gen_ai.prompt.0.role": "user",
                "gen_ai.prompt.0.content": ASK,
                "gen_ai.completion.0.role": "assistant",
                "gen_ai.completion.0.finish_reason": "tool_calls",
                f"gen_ai.completion.0.{call}.id": "c1",
                f"gen_ai.completion.0.{call}.name": "get_weather",
                f"gen_ai.completion.0.{call}.arguments": ARGS,
            },
            at=0,
        ),
        span(
            "get_weather.tool",
            {
                "traceloop.span.kind": "tool",
                "traceloop.entity.name": "get_weather",
                "traceloop.entity.input": ARGS,
                "traceloop.entity.output": json.dumps(RAIN),
            },
            at=0.5,
        ),
        span(
            "openai.chat",
            {
                "llm.request.type": "chat",
                "gen_ai.prompt.0.role": "user",
                "gen_ai.prompt.0.content": ASK,
                "gen_ai.completion.0.role": "assistant",
                "gen_ai.completion.0.content": ANSWER,
            },
            at=1,
        ),
        took=3,
    )


def _langfuse() -> Json:
    def generation(asked: Any, answer: Any, at: float) -> Json:
        known = {"langfuse.observation.type": "generation"}
        known |= {
            "langfuse.observation.input": json.dumps(asked),
            "langfuse.observation.output": json.dumps(answer),
        }
        return span("generation", known, at=at)

    return agent(
        "root",
        generation(OPENAI[:2], OPENAI[2], 0),
        generation({"messages": OPENAI}, {"role": "assistant", "content": ANSWER}, 1),
        took=3,
    )


SPELLINGS: list[Any] = [
    pytest.param(make, id=str(make.__name__).strip("_"))
    for make in (
        _conventions, _structured, _details_event, _message_events, _prompt_events, _events_attribute, _old_adk,
        _openinference, _openinference_contents, _openllmetry, _langfuse,
    )
]  # fmt: skip


@pytest.mark.parametrize("make", SPELLINGS)
def test_every_spelling_gives_the_same_conversation(make: Callable[[], Json], tmp_path: Path) -> None:
    (conversation,) = read_conversations([written(tmp_path / "t.jsonl", request(make()))]).conversations
    (turn,) = conversation.turns
    assert (turn.text, turn.failure) == (ASK, None)
    assert brief(turn) == WANTED


def test_messages_may_be_in_log_records(tmp_path: Path) -> None:
    spans = _two(CHAT, CHAT)
    first, second = spans["inside"]

    def record(one: Json, name: str, body: Any) -> Json:
        return {"traceId": one["traceId"], "spanId": one["spanId"], "eventName": name, "body": value(body)}

    called = {
        "role": "model",
        "parts": [{"function_call": {"id": "c1", "name": "get_weather", "args": CALL[2]}}],
    }
    answer = {
        "role": "user",
        "parts": [{"function_response": {"id": "c1", "name": "get_weather", "response": RAIN}}],
    }
    logs = [
        record(first, "gen_ai.user.message", {"content": {"role": "user", "parts": [{"text": ASK}]}}),
        record(first, "gen_ai.choice", {"content": called, "index": 0}),
        record(second, "gen_ai.user.message", {"content": {"role": "user", "parts": [{"text": ASK}]}}),
        record(second, "gen_ai.user.message", {"content": answer}),
        record(
            second, "gen_ai.choice", {"content": {"role": "model", "parts": [{"text": ANSWER}]}, "index": 0}
        ),
    ]
    file = written(
        tmp_path / "t.jsonl", {"resourceLogs": [{"scopeLogs": [{"logRecords": logs}]}]}, request(spans)
    )
    (conversation,) = read_conversations([file]).conversations
    assert brief(conversation.turns[0]) == WANTED


def test_a_log_record_s_name_may_be_an_attribute(tmp_path: Path) -> None:
    chat = span("chat", CHAT)
    where = {"traceId": chat["traceId"], "spanId": chat["spanId"]}
    logs = [
        {**where, "attributes": attributes({"event.name": "gen_ai.user.message", "content": ASK})},
        {**where, "attributes": attributes({"event.name": "gen_ai.choice", "content": ANSWER})},
    ]
    file = written(
        tmp_path / "t.jsonl", {"resourceLogs": [{"scopeLogs": [{"logRecords": logs}]}]}, request(chat)
    )
    (conversation,) = read_conversations([file]).conversations
    assert brief(conversation.turns[0]) == [("agent", ANSWER)]


def test_contents_that_google_adk_left_out_are_missing(tmp_path: Path) -> None:
    spans = _two(
        CHAT,
        CHAT,
        first=[("gen_ai.user.message", {"content": "<elided>"}), ("gen_ai.choice", {"content": "<elided>"})],
    )
    (conversation,) = read_conversations([written(tmp_path / "t.jsonl", request(spans))]).conversations
    assert conversation.failure is not None
    assert conversation.failure.where == "trace"


# --- files --------------------------------------------------------------------------------------------------------------


def _whole(path: Path, spans: Json) -> Path:
    path.write_text(json.dumps(request(spans), indent=2), encoding="utf-8")
    return path


def _list_of_requests(path: Path, spans: Json) -> Path:
    path.write_text(json.dumps([request(spans), {"resourceSpans": []}]), encoding="utf-8")
    return path


def _snake_case(path: Path, spans: Json) -> Path:
    text = json.dumps(request(spans))
    names = {
        "resourceSpans": "resource_spans", "scopeSpans": "scope_spans", "traceId": "trace_id", "spanId": "span_id",
        "parentSpanId": "parent_span_id", "startTimeUnixNano": "start_time_unix_nano",
        "endTimeUnixNano": "end_time_unix_nano", "stringValue": "string_value",
    }  # fmt: skip
    for camel, snake in names.items():
        text = text.replace(f'"{camel}"', f'"{snake}"')
    path.write_text(f"{text}\n", encoding="utf-8")
    return path


def _plain(one: Json) -> Json:
    fields = {pair["key"]: next(iter(pair["value"].values()), None) for pair in one["attributes"]}
    return {
        "name": one["name"],
        "context": {"trace_id": f"0x{one['traceId']}", "span_id": f"0x{one['spanId']}", "trace_state": "[]"},
        "parent_id": f"0x{one['parentSpanId']}" if "parentSpanId" in one else None,
        "start_time": "2026-01-01T00:00:00.000000Z"
        if one["name"] != "chat"
        else f"2026-01-01T00:00:0{one['startTimeUnixNano'][9:10]}.5Z",
        "end_time": "2026-01-01T00:00:09.000000Z",
        "status": {"status_code": "UNSET"},
        "attributes": fields,
        "events": [],
        "resource": {"attributes": {"service.name": "app"}},
    }


def _times_in_halves(path: Path, spans: Json) -> Path:
    """64-bit numbers as older exporters of JavaScript write them."""
    whole = request(spans)
    for one in whole["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for key in ("startTimeUnixNano", "endTimeUnixNano"):
            high, low = divmod(int(one[key]), 1 << 32)
            one[key] = {"low": low - (1 << 32) if low >= 1 << 31 else low, "high": high}
    return written(path, whole)


def _as_the_sdk_prints(path: Path, spans: Json) -> Path:
    path.write_text("".join(f"{json.dumps(_plain(one))}\n" for one in flat([spans])), encoding="utf-8")
    return path


def _sqlite(path: Path, spans: Json) -> Path:
    """The table of google-adk's SqliteSpanExporter."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TABLE spans (span_id TEXT PRIMARY KEY, trace_id TEXT, parent_span_id TEXT, name TEXT,"
            " start_time_unix_nano INTEGER, end_time_unix_nano INTEGER, session_id TEXT, invocation_id TEXT,"
            " attributes_json TEXT)"
        )
        for one in flat([spans]):
            fields = {pair["key"]: next(iter(pair["value"].values()), None) for pair in one["attributes"]}
            times = int(one["startTimeUnixNano"]), int(one["endTimeUnixNano"])
            row = (
                one["spanId"],
                one["traceId"],
                one.get("parentSpanId"),
                one["name"],
                *times,
                None,
                None,
                json.dumps(fields),
            )
            connection.execute("INSERT INTO spans VALUES (?,?,?,?,?,?,?,?,?)", row)
    return path


@pytest.mark.parametrize(
    "write", [_whole, _list_of_requests, _snake_case, _times_in_halves, _as_the_sdk_prints, _sqlite]
)
def test_every_kind_of_file_gives_the_same_conversation(
    write: Callable[[Path, Json], Path], tmp_path: Path
) -> None:
    (conversation,) = read_conversations([write(tmp_path / "trace.json", _conventions())]).conversations
    assert brief(conversation.turns[0]) == WANTED


CAMEL = ("stringValue", "boolValue", "intValue", "doubleValue", "arrayValue", "kvlistValue", "bytesValue")
SNAKE = (
    "string_value",
    "bool_value",
    "int_value",
    "double_value",
    "array_value",
    "kvlist_value",
    "bytes_value",
)
VALUES: list[tuple[int, Any, Any]] = [
    (0, "Oslo", "Oslo"),
    (0, "", ""),
    (1, False, False),
    (2, "0", 0),
    (2, 7, 7),
    (3, 0.5, 0.5),
    (4, {"values": []}, []),
    (4, {"values": None}, []),
    (4, {"values": [None]}, [None]),
    (5, {"values": None}, {}),
    (5, {"values": [{"key": "a", "value": None}]}, {"a": None}),
    (6, "AQ==", "AQ=="),
]


@pytest.mark.parametrize("names", [CAMEL, SNAKE], ids=["camelCase", "snake_case"])
@pytest.mark.parametrize(("kind", "written_", "read"), VALUES, ids=str)
def test_a_value_may_be_written_with_nulls_for_the_other_kinds(
    names: tuple[str, ...], kind: int, written_: Any, read: Any
) -> None:
    """As Phoenix exports them: alone, in a list, and in an object."""

    def whole(index: int, inner: Any) -> Json:
        return {**dict.fromkeys(names), names[index]: inner}

    one = whole(kind, written_)
    inside = whole(4, {"values": [one, dict.fromkeys(names), {}]})
    fields = {
        "gen_ai.alone": one,
        "gen_ai.listed": inside,
        "gen_ai.nested": whole(5, {"values": [{"key": "x", "value": inside}]}),
        "gen_ai.nothing": dict.fromkeys(names),
    }
    made = request(span("chat", {}))
    [of_span] = made["resourceSpans"][0]["scopeSpans"][0]["spans"]
    of_span["attributes"] = [{"key": key, "value": each} for key, each in fields.items()]
    of_span |= {"parentSpanId": None, "parent_span_id": None, "status": None, "events": None}
    [found] = spans_in(made)
    assert isinstance(found, TraceSpan)
    assert found.attributes == {
        "gen_ai.alone": read,
        "gen_ai.listed": [read, None, None],
        "gen_ai.nested": {"x": [read, None, None]},
        "gen_ai.nothing": None,
    }


def test_the_name_of_an_event_may_be_written_with_nulls() -> None:
    named = {"key": "event.name", "value": {**dict.fromkeys(SNAKE), "string_value": "gen_ai.user.message"}}
    content = {"key": "content", "value": {"stringValue": "Oslo"}}
    made = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"attributes": [named, content]}]}]}]}
    [record] = spans_in(made)
    assert record.attributes["content"] == "Oslo"


def test_attributes_without_agent_data_are_dropped() -> None:
    """Headers of requests, which contain secrets, are not even read."""
    fields = {
        "http.request.header.authorization": "Bearer hunter2",
        "content": "hunter2",
        "gen_ai.agent.id": "a",
    }
    event = ("http.request", {"content": "hunter2"})
    (one,) = spans_in(
        request(span("x", fields, events=[event]), resource={"process.command_line": "hunter2"})
    )
    assert isinstance(one, TraceSpan)
    assert (one.attributes, one.resource, one.events[0].attributes) == ({"gen_ai.agent.id": "a"}, {}, {})
