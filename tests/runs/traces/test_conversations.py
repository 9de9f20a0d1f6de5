"""Spans become conversations, turns and events; each call counts once, and missing data is reported."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from proctor.files.traces.conversations import read_conversations
from proctor.schema.evidence.trial import FailureKind
from tests.runs.traces.otlp import (
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

CALL = ("c1", "get_weather", {"city": "Oslo"})
RAIN = {"sky": "rain"}


def weather(**where: Any) -> Json:
    """An agent that calls a tool, and answers; the call is in the model's span and in the tool's span."""
    return agent(
        "root",
        chat("Oslo?", [model(CALL)], at=0.1, took=0.2),
        tool("get_weather", CALL[2], RAIN, call="c1", at=0.4, took=0.5),
        chat([user("Oslo?"), model(CALL), answered("c1", RAIN)], "Rain.", at=1, took=0.3),
        took=1.5,
        **where,
    )


EVENTS = [("root", "get_weather", {"city": "Oslo"}), ("get_weather", RAIN), ("root", "Rain.")]


def test_a_turn_in_order_with_usage_and_times(tmp_path: Path) -> None:
    turn = one_turn(tmp_path, weather())
    assert turn.text == "Oslo?"
    assert brief(turn) == EVENTS
    assert [e.usage_metadata and e.usage_metadata.total_token_count for e in turn.events] == [15, None, 15]
    assert [event.model_version for event in turn.events] == ["m-1", None, "m-1"]
    assert (turn.duration, turn.model_duration, turn.tool_duration) == (1.5, 0.5, 0.5)
    assert turn.failure is None


def test_the_order_of_files_and_lines_does_not_matter(tmp_path: Path) -> None:
    spans = list(flat([weather(), weather(trace="a2", at=9)]))
    random.Random(7).shuffle(spans)
    halves = [
        written(
            tmp_path / f"{name}.jsonl",
            *({"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]} for one in part),
        )
        for name, part in (("x", spans[::2]), ("y", spans[1::2]))
    ]
    traced = read_conversations(halves)
    assert [[brief(turn) for turn in one.turns] for one in traced.conversations] == [[EVENTS], [EVENTS]]
    assert read_conversations([tmp_path]).conversations == traced.conversations


def test_a_span_that_came_twice_counts_once(tmp_path: Path) -> None:
    whole = request(weather())
    traced = read_conversations([written(tmp_path / "t.jsonl", whole, whole)])
    assert [brief(turn) for turn in traced.conversations[0].turns] == [EVENTS]
    assert traced.warnings == ["4 span(s) came more than once and count once"]


# --- conversations and turns --------------------------------------------------------------------------------------------


def test_turns_of_a_conversation_may_be_separate_traces(tmp_path: Path) -> None:
    named = {"gen_ai.conversation.id": "s1"}
    (one, other) = conversations_of(
        tmp_path,
        agent("root", chat([user("a"), model("A"), user("b")], "B"), extra=named, trace="t2", at=10),
        agent("root", chat("a", "A"), extra=named, trace="t1"),
        agent("root", chat("c", "C"), extra={"gen_ai.conversation.id": "s2"}, trace="t3", at=5),
    )
    assert (one.id, [turn.text for turn in one.turns]) == ("s1", ["a", "b"])
    assert (other.id, [turn.text for turn in other.turns]) == ("s2", ["c"])


@pytest.mark.parametrize(
    "name", ["gen_ai.conversation.id", "session.id", "langfuse.session.id", "gcp.vertex.agent.session_id"]
)
def test_a_conversation_s_id_is_found_on_around_and_inside(name: str, tmp_path: Path) -> None:
    on = agent("root", chat("a", "A"), extra={name: "s1"}, trace="t1")
    around = span("POST /chat", {name: "s1"}, agent("root", chat("b", "B"), at=10), trace="t2", at=10)
    inside = agent("root", chat("c", "C", extra={name: "s1"}), trace="t3", at=20)
    (conversation,) = conversations_of(tmp_path, on, around, inside)
    assert [turn.text for turn in conversation.turns] == ["a", "b", "c"]


def test_without_an_id_a_conversation_is_a_trace(tmp_path: Path) -> None:
    (one,) = conversations_of(tmp_path, weather())
    assert (one.id, one.is_trace) == ("a1", True)


def test_model_calls_without_an_agent_are_turns_by_user_message(tmp_path: Path) -> None:
    (conversation,) = conversations_of(
        tmp_path,
        chat("Oslo?", [model(CALL)]),
        chat([user("Oslo?"), model(CALL), answered("c1", RAIN)], "Rain.", at=2),
        chat([user("Oslo?"), model("Rain."), user("Oslo?")], "Still rain.", at=4),
    )
    assert [brief(turn) for turn in conversation.turns] == [
        [("agent", "get_weather", {"city": "Oslo"}), ("get_weather", RAIN), ("agent", "Rain.")],
        [("agent", "Still rain.")],
    ]


def test_a_pipeline_of_agents_in_one_trace_is_one_turn(tmp_path: Path) -> None:
    turn = one_turn(tmp_path, agent("first", chat("go", "draft")), agent("second", chat("go", "final"), at=2))
    assert brief(turn) == [("first", "draft"), ("second", "final")]


def test_the_same_agent_twice_in_one_trace_is_two_turns(tmp_path: Path) -> None:
    (conversation,) = conversations_of(
        tmp_path, agent("root", chat("yes", "A")), agent("root", chat("yes", "B"), at=2)
    )
    assert [brief(turn) for turn in conversation.turns] == [[("root", "A")], [("root", "B")]]


# --- calls --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "executed"),
    [
        pytest.param("c1", "c1", id="the same id"),
        pytest.param("get_weather_0", "adk-77", id="other ids, as google-adk has them"),
        pytest.param(None, "c1", id="no id from the model"),
        pytest.param("c1", None, id="no id from the tool"),
    ],
)
def test_call_in_the_spans_of_model_and_tool_counts_once(asked: str, executed: str, tmp_path: Path) -> None:
    turn = one_turn(
        tmp_path,
        agent(
            "root",
            chat("Oslo?", [model((asked, *CALL[1:]))], at=0),
            tool("get_weather", CALL[2], RAIN, call=executed, at=1),
            chat("Oslo?", "Rain.", at=2),
            took=4,
        ),
    )
    assert brief(turn) == EVENTS


def test_two_calls_alike_are_two(tmp_path: Path) -> None:
    twice = [model(("c1", "f", {}), ("c2", "f", {}))]
    turn = one_turn(
        tmp_path,
        agent(
            "root",
            chat("go", twice),
            tool("f", {}, {"n": 1}, at=1),
            tool("f", {}, {"n": 2}, at=2),
            chat("go", "done", at=3),
        ),
    )
    assert brief(turn) == [
        ("root", "f", {}),
        ("root", "f", {}),
        ("f", {"n": 1}),
        ("f", {"n": 2}),
        ("root", "done"),
    ]


def test_call_only_in_the_span_of_the_tool_counts(tmp_path: Path) -> None:
    turn = one_turn(tmp_path, agent("root", tool("f", {"x": 1}, "text", at=0), chat("go", "done", at=1)))
    assert brief(turn) == [("root", "f", {"x": 1}), ("f", {"result": "text"}), ("root", "done")]


def test_what_happens_in_a_called_agent_counts_once_and_is_its_own(tmp_path: Path) -> None:
    inner = agent(
        "units",
        chat("convert 3", [model(("c9", "convert", {"n": 3}))], at=1.1),
        tool("convert", {"n": 3}, {"n": 9}, call="c9", at=1.2),
        chat("convert 3", "It is 9.", at=1.3),
        extra={"gen_ai.conversation.id": "another"},
        at=1.1,
    )
    turn = one_turn(
        tmp_path,
        agent(
            "root",
            chat("3?", [model(("c1", "units", {"request": "convert 3"}))], at=0),
            tool("units", {"request": "convert 3"}, {"result": "It is 9."}, inner, call="c1", at=1),
            chat("3?", [{"role": "assistant", "parts": []}], at=3),
        ),
    )
    assert brief(turn) == [
        ("root", "units", {"request": "convert 3"}),
        ("units", "convert", {"n": 3}),
        ("convert", {"n": 9}),
        ("units", "It is 9."),
        ("units", {"result": "It is 9."}),
    ]
    reply = next(
        event
        for event in turn.events
        if event.author == "units" and event.content and event.content.parts and event.content.parts[0].text
    )
    assert not reply.is_final_response()  # it was for the calling agent, not for the user


def test_a_clock_that_is_ahead_in_a_called_agent_changes_no_order(tmp_path: Path) -> None:
    inner = agent("other", chat("sub", "sub answers", at=3_600), at=3_600)
    turn = one_turn(
        tmp_path,
        agent(
            "root",
            chat("go", [model(("c1", "other", {}))]),
            tool("other", {}, "sub answers", inner, call="c1", at=1),
            chat("go", "done", at=2),
        ),
    )
    assert [one[-1] for one in brief(turn)] == [{}, "sub answers", {"result": "sub answers"}, "done"]


def test_two_instruments_of_one_model_call_count_once(tmp_path: Path) -> None:
    outer = chat(None, None, chat("hi", "Hello.", took=0.5), extra={"gen_ai.usage.input_tokens": 10})
    turn = one_turn(tmp_path, agent("root", outer))
    assert brief(turn) == [("root", "Hello.")]
    assert len([event for event in turn.events if event.usage_metadata]) == 1


def test_two_instruments_of_one_tool_count_once(tmp_path: Path) -> None:
    inner = tool("f", {}, "A")
    turn = one_turn(tmp_path, agent("root", tool("f", {}, "A", inner), chat("go", "done", at=2)))
    assert [one for one in brief(turn) if one[1] == "f"] == [("root", "f", {})]


def test_remote_agent_with_input_and_output_only(tmp_path: Path) -> None:
    messages = {
        "gen_ai.input.messages": json.dumps([user("Oslo?")]),
        "gen_ai.output.messages": json.dumps([model(CALL), answered("c1", RAIN), model("Rain.")]),
    }
    assert brief(one_turn(tmp_path, agent("root", extra=messages))) == EVENTS


def test_an_agent_called_user_is_not_taken_for_the_user(tmp_path: Path) -> None:
    turn = one_turn(tmp_path, agent("User", chat("go", "done")))
    assert brief(turn) == [("agent", "done")]


def test_instructions_and_tools_are_described(tmp_path: Path) -> None:
    described = {
        "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be kind."}]),
        "gen_ai.tool.definitions": json.dumps(
            [{"type": "function", "name": "f", "parameters": {"type": "object"}}]
        ),
    }
    turn = one_turn(tmp_path, agent("root", chat("go", "done", extra=described)))
    assert turn.app_details == {
        "agent_details": {
            "root": {
                "name": "root",
                "instructions": "Be kind.",
                "tool_declarations": [
                    {"function_declarations": [{"name": "f", "parameters": {"type": "object"}}]}
                ],
            }
        }
    }


# --- what went wrong, and what is missing -------------------------------------------------------------------------------

ELIDED = [{"role": "user", "parts": [{"type": "text"}]}]

INCOMPLETE = [
    pytest.param(agent("root", chat(None, None)), "the user's message is not in the trace", id="no contents"),
    pytest.param(agent("root", chat("hi", None)), "what the model said", id="no answer"),
    pytest.param(agent("root", chat(None, "Hello.")), "the user's message is not in the trace", id="no question"),
    pytest.param(agent("root", chat(ELIDED, "Hello.")), "the user's message is not known", id="parts without content"),
    pytest.param(agent("root", chat("hi", [{"role": "assistant", "parts": [{"type": "text"}]}])), "is not known", id="an answer without content"),
    pytest.param(
        agent("root", chat("hi", "Hello.", extra={"gen_ai.output.messages": '[{"role":"assistant","parts":[{"ty'})), "cut on the way", id="an answer cut off"
    ),
    pytest.param(
        agent("root", chat("hi", "Hello.", extra={"gen_ai.input.messages": '[{"role":"user","parts":[{"ty'})), "cut on the way", id="a question cut off"
    ),
    pytest.param(agent("root", tool("f", None, {}), chat("hi", "Hello.", at=1)), "the arguments of 'f'", id="a call without arguments"),
    pytest.param(agent("root", tool("f", '{"city": "Os', {}), chat("hi", "Hello.", at=1)), "the arguments of 'f'", id="arguments cut off"),
    pytest.param(
        agent("root", tool("f", {}, {}), extra={"gen_ai.input.messages": json.dumps([user("hi")])}),
        "what the agent answered is not in the trace",
        id="tools, and no model",
    ),
    pytest.param(agent("root"), "the user's message is not in the trace", id="an agent and nothing else"),
    pytest.param(tool("f", {}, {}), "the user's message is not in the trace", id="a tool and nothing else"),
]  # fmt: skip


@pytest.mark.parametrize(("root", "message"), INCOMPLETE)
def test_what_is_missing_is_a_failure_of_the_trace(root: Json, message: str, tmp_path: Path) -> None:
    failure = one_turn(tmp_path, root).failure
    assert failure is not None
    assert (failure.where, failure.kind) == ("trace", FailureKind.UNUSABLE_ANSWER)
    assert message in failure.message


def test_call_without_arguments_has_none_where_contents_are_captured(tmp_path: Path) -> None:
    bare = [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "now"}]}]
    turn = one_turn(
        tmp_path,
        agent(
            "root", chat("time?", bare), tool("now", None, "5", call="c1", at=1), chat("time?", "Five.", at=2)
        ),
    )
    assert turn.failure is None
    assert brief(turn)[0] == ("root", "now", {})


def test_the_arguments_that_a_model_s_message_lacks_come_from_the_tool(tmp_path: Path) -> None:
    bare = [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "f"}]}]
    turn = one_turn(
        tmp_path,
        agent("root", chat("go", bare), tool("f", {"x": 1}, "5", call="c1", at=1), chat("go", "Five.", at=2)),
    )
    assert brief(turn)[0] == ("root", "f", {"x": 1})


def test_an_agent_that_ended_in_an_error_is_a_failure_of_the_agent(tmp_path: Path) -> None:
    failed = agent(
        "root",
        chat("go", None, error="429"),
        extra={"error.type": "RateLimit"},
        error="too many requests, api_key=hunter2hunter2",
    )
    failure = one_turn(tmp_path, failed).failure
    assert failure is not None
    assert (failure.where, failure.kind, failure.type, failure.turn) == (
        "agent",
        FailureKind.RAISED,
        "RateLimit",
        0,
    )
    assert "hunter2" not in failure.message


def test_an_error_that_the_agent_got_over_is_none(tmp_path: Path) -> None:
    turn = one_turn(tmp_path, agent("root", chat("go", None, error="500"), chat("go", "done", at=1)))
    assert turn.failure is None
    assert brief(turn) == [("root", "error", "error"), ("root", "done")]


def test_a_model_call_without_an_agent_that_ends_in_an_error_is_a_failure(tmp_path: Path) -> None:
    failure = one_turn(tmp_path, chat("go", None, error="500")).failure
    assert failure is not None
    assert failure.where == "agent"


def test_a_step_around_model_calls_that_ends_in_an_error_is_a_failure(tmp_path: Path) -> None:
    failure = one_turn(tmp_path, span("chain", {}, chat("go", "half an answer"), error="KeyError")).failure
    assert failure is not None
    assert (failure.where, failure.message) == ("agent", "KeyError")


def test_a_tool_s_error_is_what_it_answered(tmp_path: Path) -> None:
    turn = one_turn(
        tmp_path, agent("root", tool("f", {}, None, error="no such city"), chat("go", "Sorry.", at=1))
    )
    assert brief(turn) == [("root", "f", {}), ("f", {"error": "no such city"}), ("root", "Sorry.")]


def test_a_trace_that_ends_with_a_call_is_cut_off(tmp_path: Path) -> None:
    orphan = chat("Oslo?", [model(CALL)])
    orphan["parentSpanId"] = "b99999"
    failure = one_turn(tmp_path, orphan).failure
    assert failure is not None
    assert failure.kind is FailureKind.TRUNCATED


def test_calls_without_the_span_of_their_agent_are_reported(tmp_path: Path) -> None:
    orphan = chat("hi", "Hello.")
    orphan["parentSpanId"] = "b99999"
    traced = read_conversations([written(tmp_path / "t.jsonl", request(orphan))])
    assert brief(traced.conversations[0].turns[0]) == [("agent", "Hello.")]
    assert traced.warnings == [
        "1 span(s) of models and tools lack the span around them: is that all of the trace?"
    ]


def test_an_agent_that_another_service_called_is_whole(tmp_path: Path) -> None:
    called = weather()
    called["parentSpanId"] = "b99999"
    assert read_conversations([written(tmp_path / "t.jsonl", request(called))]).warnings == []


def test_a_span_that_never_ended_is_cut_off(tmp_path: Path) -> None:
    endless = weather()
    endless["endTimeUnixNano"] = "0"
    failure = one_turn(tmp_path, endless).failure
    assert failure is not None
    assert failure.kind is FailureKind.TRUNCATED


def test_a_clock_that_was_set_gives_no_durations(tmp_path: Path) -> None:
    (conversation,) = conversations_of(tmp_path, agent("root", chat("go", "done"), took=-5))
    assert conversation.turns[0].duration is None
    assert conversation.notes == [
        "1 span(s) end before they begin, by a clock that was set; their durations are not counted"
    ]


def test_what_an_exporter_dropped_is_noted(tmp_path: Path) -> None:
    lossy = weather()
    lossy["droppedAttributesCount"] = 3
    (conversation,) = conversations_of(tmp_path, lossy)
    assert conversation.notes == ["the exporter of the trace dropped 3 attribute(s) or event(s) of its spans"]


def test_call_without_a_recorded_response_is_noted(tmp_path: Path) -> None:
    (conversation,) = conversations_of(
        tmp_path, agent("root", chat("Oslo?", [model(CALL)]), chat("Oslo?", "Rain.", at=1))
    )
    assert conversation.failure is None
    assert conversation.notes == ["of 1 call(s) the trace does not contain the tool's answer"]


def test_turns_before_the_traces_begin_are_noted(tmp_path: Path) -> None:
    (conversation,) = conversations_of(tmp_path, agent("root", chat([user("a"), model("A"), user("b")], "B")))
    assert [turn.text for turn in conversation.turns] == ["b"]
    assert conversation.notes == [
        "before the first turn the model received 1 more message(s) of the user: no trace contains these"
    ]


def test_spans_that_enclose_themselves_are_not_lost(tmp_path: Path) -> None:
    one, other = agent("root", chat("go", "done")), agent("other")
    one["parentSpanId"], other["parentSpanId"] = other["spanId"], one["spanId"]
    traced = read_conversations([written(tmp_path / "t.jsonl", request(one, other))])
    assert ("root", "done") in brief(traced.conversations[0].turns[0])
    assert traced.warnings == ["1 span(s) enclose themselves; they are taken as the outermost"]


@pytest.mark.slow
def test_a_turn_without_end_is_not_read_to_it(tmp_path: Path) -> None:
    turn = one_turn(
        tmp_path, agent("root", chat("go", "done"), *(tool("f", {}, {}, at=2) for _ in range(6_000)), took=9)
    )
    assert turn.failure is not None
    assert "more than 10,000 events" in turn.failure.message
