"""Traces of which something is missing: nothing that was done goes unjudged, and no such turn passes."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import EvalFileError
from proctor.files.traces.conversations import read_conversations
from proctor.schema.evidence.trial import FailureKind
from tests.runs.traces.otlp import (
    SECOND,
    START,
    Json,
    agent,
    answered,
    brief,
    chat,
    conversations_of,
    flat,
    model,
    one_turn,
    request,
    span,
    tool,
    user,
    written,
)

LOOK: tuple[str, str, Json] = ("c1", "look", {})
WITHOUT_END = {"endTimeUnixNano": "0"}


def _asks(*calls: Any, **where: Any) -> Json:
    return chat("go", [model(*(calls or (LOOK,)))], **where)


def _with(made: Json, **fields: Any) -> Json:
    made.update(fields)
    return made


def _without_root(root: Json) -> list[Json]:
    """What is inside of a span that the exporter never got."""
    return list(root["inside"])


# --- turns that are cut off ---------------------------------------------------------------------------------------------

CUT_OFF = [
    pytest.param([_asks(), tool("look", {}, "ok", call="c1", at=1)], "ends with the answer of 'look'", id="no agent's span, and a tool was last"),
    pytest.param(
        _without_root(agent("root", _asks(), tool("look", {}, "ok", call="c1", at=1))),
        "ends with the answer of 'look'", id="the agent's span never came, and a tool was last",
    ),
    pytest.param(
        [agent("root", _asks(), tool("look", {}, None, call="c1", at=1, error="boom"))],
        "ends with the tool 'look', which failed", id="a tool failed, and its agent has no later output",
    ),
    pytest.param(
        [agent("root", _asks(), _with(tool("look", {}, None, call="c1", at=1), **WITHOUT_END), chat("go", "fine", at=3))],
        "'execute_tool look' never ended", id="a tool that never ended",
    ),
    pytest.param([agent("root", _with(_asks(), **WITHOUT_END))], "'chat m-1' never ended", id="a model call that never ended"),
]  # fmt: skip


@pytest.mark.parametrize(("spans", "message"), CUT_OFF)
def test_a_turn_that_is_cut_off_is_a_failure_of_the_trace(
    spans: list[Json], message: str, tmp_path: Path
) -> None:
    failure = one_turn(tmp_path, *spans).failure
    assert failure is not None
    assert (failure.where, failure.kind) == ("trace", FailureKind.TRUNCATED)
    assert message in failure.message


def test_a_tool_s_failure_that_the_model_heard_of_is_none(tmp_path: Path) -> None:
    failed = tool("look", {}, None, call="c1", at=1, error="boom")
    assert one_turn(tmp_path, agent("root", _asks(), failed, chat("go", "Sorry.", at=2))).failure is None


def test_an_agent_may_end_with_what_a_tool_answered(tmp_path: Path) -> None:
    assert one_turn(tmp_path, agent("root", _asks(), tool("look", {}, "ok", call="c1", at=1))).failure is None


@pytest.mark.parametrize("reason", ["length", "MAX_TOKENS", "content_filter"])
@pytest.mark.parametrize("in_message", [True, False], ids=["in the message", "on the span"])
def test_an_answer_that_was_broken_off_is_a_failure_of_the_agent(
    reason: str, in_message: bool, tmp_path: Path
) -> None:
    message = {**model("The first half"), "finish_reason": reason if in_message else "stop"}
    stated = {} if in_message else {"gen_ai.response.finish_reasons": [reason]}
    broken = chat("go", [message], extra=stated)
    assert brief(one_turn(tmp_path, agent("root", broken)))[-1] == ("root", "error", reason)
    resumed = agent("root", chat("go", [message], extra=stated), chat("go", "All of it.", at=2))
    assert brief(one_turn(tmp_path, resumed))[-1] == ("root", "All of it.")


# --- calls without a separate span ------------------------------------------------------------------------------


def _heard_of(*calls: Any) -> list[Json]:
    """Return the messages to a model after calls of which the spans may be missing."""
    return [user("go"), model(*calls), *(answered(its_id, {"n": 1}) for its_id, _, _ in calls)]


def test_calls_in_later_messages_only_count(tmp_path: Path) -> None:
    (conversation,) = conversations_of(
        tmp_path, agent("root", chat(_heard_of(("c1", "delete", {"id": 7})), "done", at=3))
    )
    assert brief(conversation.turns[0]) == [
        ("root", "delete", {"id": 7}),
        ("delete", {"n": 1}),
        ("root", "done"),
    ]
    assert conversation.notes == ["1 call(s) are recorded only in forwarded messages"]


def test_calls_repeated_in_later_messages_count_once(tmp_path: Path) -> None:
    calls: list[tuple[str, str, Json]] = [("c1", "look", {}), ("c2", "look", {})]
    turn = one_turn(
        tmp_path,
        agent(
            "root",
            _asks(*calls),
            tool("look", {}, 1, call="c1", at=1),
            tool("look", {}, 2, call="c2", at=2),
            chat(_heard_of(*calls), [model(("c3", "look", {}))], at=3),
            tool("look", {}, 3, call="c3", at=4),
            chat([*_heard_of(*calls), model(("c3", "look", {})), answered("c3", 3)], "done", at=5),
        ),
    )
    assert [one[1] for one in brief(turn) if len(one) == 3] == ["look"] * 3


def test_calls_of_the_turn_before_are_no_calls_of_this_one(tmp_path: Path) -> None:
    earlier = [*_heard_of(LOOK), model("done"), user("thanks")]
    named = {"gen_ai.conversation.id": "x"}
    spans = (
        agent("root", _asks(), chat(_heard_of(LOOK), "done", at=1), extra=named),
        agent("root", chat(earlier, "You are welcome."), extra=named, trace="a2", at=9),
    )
    (conversation,) = conversations_of(tmp_path, *spans)
    assert [len(brief(turn)) for turn in conversation.turns] == [3, 1]


def test_call_of_an_earlier_turn_is_not_repeated(tmp_path: Path) -> None:
    """A long-running tool: its answer comes in a turn without a new message of the user."""
    named = {"gen_ai.conversation.id": "x"}
    spans = (
        agent("root", _asks(), extra=named),
        agent("root", chat(_heard_of(LOOK), "done"), extra=named, trace="a2", at=9),
    )
    (conversation,) = conversations_of(tmp_path, *spans)
    assert [brief(turn) for turn in conversation.turns] == [[("root", "look", {})], [("root", "done")]]


def test_call_without_a_name_is_not_evidence(tmp_path: Path) -> None:
    nameless = [
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "arguments": {"path": "/"}}]}
    ]
    failure = one_turn(tmp_path, agent("root", chat("go", nameless), chat("go", "done", at=2))).failure
    assert failure is not None
    assert "a call has no name" in failure.message


def test_model_calls_inside_of_one_that_is_about_all_of_them_each_count(tmp_path: Path) -> None:
    """A client that calls tools by itself is often traced around, and inside."""
    around = chat(
        "go",
        "done",
        chat("go", [model(("c1", "delete", {}))], at=0.1, took=0.2),
        chat("go", "done", at=0.5, took=0.2),
    )
    for root in (agent("root", around), around):
        author = "root" if root is not around else "agent"
        assert brief(one_turn(tmp_path, root)) == [(author, "delete", {}), (author, "done")]


# --- files --------------------------------------------------------------------------------------------------------------


def test_unread_files_of_a_folder_are_reported(tmp_path: Path) -> None:
    written(tmp_path / "a.jsonl", request(agent("root", chat("go", "done"))))
    (tmp_path / "yesterday").mkdir()
    (tmp_path / "a-1.jsonl.gz").write_bytes(b"")
    (tmp_path / "README.md").write_bytes(b"")
    left = f"{tmp_path / 'a-1.jsonl.gz'}, {tmp_path / 'yesterday'}"
    assert read_conversations([tmp_path]).warnings == [f"not read, though there may be traces in it: {left}"]


@pytest.mark.parametrize("attributes", ['{"gen_ai.operation.name": "exec', "[]", "5"])
def test_a_row_whose_attributes_are_broken_is_refused(attributes: str, tmp_path: Path) -> None:
    """Its kind is unknown: a call, perhaps."""
    file = tmp_path / "spans.sqlite3"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(
            "CREATE TABLE spans (span_id, trace_id, parent_span_id, name, start_time_unix_nano,"
            " end_time_unix_nano, attributes_json)"
        )
        connection.execute("INSERT INTO spans VALUES ('b1', 'a1', NULL, 'x', 1, 2, ?)", [attributes])
    with pytest.raises(EvalFileError, match=r"spans\[0\].attributes_json: expected"):
        read_conversations([file])


# --- ids ----------------------------------------------------------------------------------------------------------------


def _collide(kept: Json, other: Json) -> Json:
    other["spanId"] = kept["spanId"]
    return other


def test_two_spans_of_one_id_are_both_read_and_no_evidence(tmp_path: Path) -> None:
    asks = _asks(("c1", "look", {}), at=0)
    root = agent("root", asks, chat("go", "done", at=3))
    deletes = _collide(asks, tool("delete", {}, "ok", at=1))
    deletes["parentSpanId"] = root["spanId"]
    for spans in ([*flat([root]), deletes], [deletes, *flat([root])]):
        file = written(
            tmp_path / "t.jsonl",
            *(request({**one, "inside": []}) for one in spans),
        )
        traced = read_conversations([file])
        (turn,) = traced.conversations[0].turns
        assert ("root", "delete", {}) in brief(turn)
        assert turn.failure is not None
        assert f"two spans have the id {asks['spanId']!r}" in turn.failure.message
        assert traced.warnings == ["1 span(s) have the id of another span: whose they are is not certain"]


def test_span_exported_before_its_end_gives_the_same(tmp_path: Path) -> None:
    whole = agent("root", chat("go", "done"))
    begun = {**next(flat([whole])), "name": "begun", "inside": [], **WITHOUT_END}
    traced = read_conversations([written(tmp_path / "t.jsonl", request(begun), request(whole))])
    assert traced.conversations[0].failure is None
    assert traced.warnings == ["1 span(s) came more than once and count once"]


# --- attributes ---------------------------------------------------------------------------------------------------------

FLAT = {
    "openinference.span.kind": "LLM",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": "go",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "done",
}
CALL_0 = "llm.output_messages.0.message.tool_calls.{}.tool_call.function.name"

LEFT_OUT = [
    pytest.param(_with(span("llm", FLAT), droppedAttributesCount=2), id="stated by the exporter"),
    pytest.param(_with(span("llm", FLAT), droppedAttributesCount="2"), id="stated by the exporter as text"),
    pytest.param(span("llm", {key.replace("messages.0", "messages.2"): one for key, one in FLAT.items()}), id="the first messages are not there"),
    pytest.param(span("llm", {**FLAT, CALL_0.format(1): "look"}), id="the first call is not there"),
    pytest.param(_with(span("chat", {"gen_ai.operation.name": "chat"}, events=[
        ("gen_ai.user.message", {"content": "go"}), ("gen_ai.choice", {"message": "done"})]), droppedEventsCount=1), id="events"),
]  # fmt: skip


@pytest.mark.parametrize("spelled", LEFT_OUT)
def test_messages_that_lost_attributes_are_no_evidence(spelled: Json, tmp_path: Path) -> None:
    failure = one_turn(tmp_path, agent("root", spelled)).failure
    assert failure is not None
    assert "attributes were dropped" in failure.message


def test_dropped_attributes_with_whole_messages_are_noted(tmp_path: Path) -> None:
    (conversation,) = conversations_of(
        tmp_path, agent("root", _with(chat("go", "done"), droppedAttributesCount=2))
    )
    assert conversation.failure is None
    assert conversation.notes == ["the exporter of the trace dropped 2 attribute(s) or event(s) of its spans"]


@pytest.mark.parametrize("code", ["error", "Status_Code_Error", "STATUS_CODE_ERROR", 2, "2"])
def test_an_error_is_one_however_it_is_spelled(code: Any, tmp_path: Path) -> None:
    failure = one_turn(tmp_path, _with(agent("root", chat("go", "done")), status={"code": code})).failure
    assert failure is not None
    assert failure.where == "agent"


@pytest.mark.parametrize(
    "attributes",
    [
        pytest.param({"gen_ai.operation.name": "Execute_Tool"}, id="in other letters"),
        pytest.param({"gen_ai.operation.name": "call_tool"}, id="an unknown operation"),
        pytest.param({"mcp.method.name": "tools/call"}, id="no operation"),
    ],
)
def test_what_names_a_tool_is_a_call_of_it(attributes: Json, tmp_path: Path) -> None:
    named = {"gen_ai.tool.name": "delete", "gen_ai.tool.call.arguments": "{}", **attributes}
    turn = one_turn(tmp_path, agent("root", chat("go", "done"), span("tools/call delete", named, at=1)))
    assert ("root", "delete", {}) in brief(turn)


def test_times_that_differ_by_how_a_file_writes_them_are_the_same_span(tmp_path: Path) -> None:
    one = agent("root", chat("go", "done"))
    other = {**next(flat([one])), "inside": [], "startTimeUnixNano": str(START + SECOND // 10_000)}
    traced = read_conversations([written(tmp_path / "t.jsonl", request(one), request(other))])
    assert traced.conversations[0].failure is None


# --- calls in every spelling --------------------------------------------------------------------------------------------


def _assistant(**message: Any) -> Json:
    return chat("go", [{"role": "assistant", **message}])


FUNCTION = {"name": "delete", "arguments": '{"id": 7}'}
SPELLED = [
    pytest.param(_assistant(content=[{"type": "tool_use", "id": "c1", "name": "delete", "input": {"id": 7}}]), id="Anthropic's input"),
    pytest.param(_assistant(parts=[{"type": "function", "id": "c1", "function": FUNCTION}]), id="OpenAI's call as a part"),
    pytest.param(_assistant(parts=[{"type": "custom_call", "id": "c1", **FUNCTION}]), id="a part of an unknown type"),
    pytest.param(_assistant(content=None, function_call=FUNCTION), id="OpenAI's function call of old"),
    pytest.param(_assistant(content="", additional_kwargs={"tool_calls": [{"id": "c1", "function": FUNCTION}]}), id="LangChain's additional arguments"),
    pytest.param(_assistant(role="ai", tool_calls=[{"id": "c1", "function": FUNCTION}]), id="LangChain's role"),
    pytest.param(_assistant(role="planner", tool_calls=[{"id": "c1", "function": FUNCTION}]), id="an unknown role"),
]  # fmt: skip


@pytest.mark.parametrize("spelled", SPELLED)
def test_a_call_is_one_however_it_is_spelled(spelled: Json, tmp_path: Path) -> None:
    turn = one_turn(tmp_path, agent("root", spelled, chat("go", "done", at=2)))
    assert brief(turn) == [("root", "delete", {"id": 7}), ("root", "done")]
    assert turn.text == "go"


@pytest.mark.parametrize(
    "told_by_agent",
    [
        pytest.param(
            {"pydantic_ai.all_messages": [*_heard_of(("c1", "delete", {"id": 7})), model("done")]},
            id="pydantic-ai's messages",
        ),
        pytest.param(
            {"gen_ai.output.messages": [model(("c1", "delete", {"id": 7})), model("done")]}, id="its output"
        ),
    ],
)
def test_calls_only_in_the_span_of_the_agent_count(told_by_agent: Json, tmp_path: Path) -> None:
    stated = {name: json.dumps(messages) for name, messages in told_by_agent.items()}
    (conversation,) = conversations_of(tmp_path, agent("root", chat("go", "done"), extra=stated))
    assert ("root", "delete", {"id": 7}) in brief(conversation.turns[0])
    assert brief(conversation.turns[0])[-1] == ("root", "done")
    assert conversation.notes[-1] == "1 call(s) are recorded only in forwarded messages"


def test_failed_inner_agent_is_noted_where_the_run_continued(tmp_path: Path) -> None:
    failed = agent("sub", error="boom", at=0.5)
    (conversation,) = conversations_of(tmp_path, agent("root", failed, chat("go", "done", at=2), took=9))
    assert conversation.failure is None
    assert conversation.notes == ["the agent 'sub' failed inside of a turn that continued: boom"]


def test_agent_with_input_and_output_only_is_noted(tmp_path: Path) -> None:
    stated = {"input.value": "go", "output.value": "done"}
    (conversation,) = conversations_of(tmp_path, agent("root", extra=stated))
    assert conversation.failure is None
    assert conversation.notes == [
        "of a turn only what went into the agent and came out is recorded: no call would be seen"
    ]


def test_a_tool_that_was_executed_with_other_arguments_is_noted(tmp_path: Path) -> None:
    asks, executes = _asks(("c1", "look", {"id": 1})), tool("look", {"id": 2}, "ok", call="c1", at=1)
    (conversation,) = conversations_of(tmp_path, agent("root", asks, executes, chat("go", "done", at=2)))
    assert brief(conversation.turns[0])[0] == ("root", "look", {"id": 1})
    assert conversation.notes == [
        "the tool 'look' was executed with other arguments than the model asked for; what it asked for is scored"
    ]


@pytest.mark.parametrize("name", ["gen_ai.conversation.id", "session.id"])
def test_ids_may_be_numbers(name: str, tmp_path: Path) -> None:
    named = {name: 7, "proctor.eval_id": 8}
    spans = [agent("root", chat("go", "done"), extra=named, trace=f"a{at}", at=at) for at in (1, 9)]
    (conversation,) = conversations_of(tmp_path, *spans)
    assert (conversation.id, conversation.case_id, len(conversation.turns)) == ("7", "8", 2)
