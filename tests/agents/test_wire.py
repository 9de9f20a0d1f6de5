"""The JSON of agents elsewhere: what is sent for a turn, and how each object that may come back is read."""

from contextlib import suppress
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.agents import json_protocol
from proctor.agents.base import Session
from proctor.errors import AgentError, AgentRaisedError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content, Part, user_text

DETAILS = {"agent_details": {"root": {"name": "root", "instructions": "Be kind.", "tool_declarations": []}}}


def _fields(event: Event) -> dict[str, Any]:
    """Return the content of an event; google-adk's `actions` are kept unchanged, too."""
    return event.model_dump(exclude={"actions"}, exclude_none=True)


def test_a_request_has_the_whole_session_the_message_and_its_text() -> None:
    session = Session("s1", "shop", "ann", {"basket": [1]})
    message = Content(role="user", parts=[Part(text="Hi"), Part(text="there")])
    assert json_protocol.turn_request(message, session, 3) == {
        "type": "turn",
        "protocol": 1,
        "turn": 3,
        "session": {"id": "s1", "app_name": "shop", "user_id": "ann", "state": {"basket": [1]}, "trial": 0},
        "message": {"role": "user", "parts": [{"text": "Hi"}, {"text": "there"}]},
        "text": message.joined_text(),
    }


@pytest.mark.parametrize("kind", ["begin", "end"])
def test_what_is_sent_around_a_trial_names_its_session(kind: str) -> None:
    sent = json_protocol.notice(kind, Session("s1", "shop", "ann", {"a": 1}))
    assert sent == {
        "type": kind,
        "protocol": 1,
        "session": {"id": "s1", "app_name": "shop", "user_id": "ann", "state": {"a": 1}, "trial": 0},
    }


@pytest.mark.parametrize(
    ("data", "kind", "events"),
    [
        pytest.param({"text": "hi"}, "", [Event.said("hi")], id="a text"),
        pytest.param("hi", "", [Event.said("hi")], id="a bare text"),
        pytest.param({"type": "event", "text": "hi"}, "", [Event.said("hi")], id="an explicit type"),
        pytest.param({"text": "hi"}, "message", [Event.said("hi")], id="SSE's own name for an event"),
        pytest.param(
            {"tool_calls": [{"name": "f", "args": {"a": 1}, "id": "1", "response": {"b": 2}}]},
            "",
            [Event.called("f", {"a": 1}, id="1"), Event.returned("f", {"b": 2}, id="1")],
            id="a call and what it gave",
        ),
        pytest.param({"state_delta": {"a": 1}}, "", [Event.changed({"a": 1})], id="a change of the state"),
        pytest.param(
            {"text": "hi", "author": "units", "usage_metadata": {"totalTokenCount": 7}, "model_version": "m"},
            "",
            [Event.said("hi", author="units", usage_metadata={"total_token_count": 7}, model_version="m")],
            id="its author and usage",
        ),
        pytest.param(
            {"author": "units", "content": {"parts": [{"text": "hi"}]}, "actions": {"stateDelta": {"a": 1}}},
            "",
            [Event(author="units", content=Content(parts=[Part(text="hi")]), state_delta={"a": 1})],
            id="an event as google-adk writes it",
        ),
        pytest.param(
            {"type": "event", "event": {"text": "a foreign field", "author": "a"}},
            "",
            [Event.model_validate({"author": "a", "text": "a foreign field"})],
            id="an event under its own key is nothing else",
        ),
    ],
)
def test_an_answer_is_read_as_events(data: object, kind: str, events: list[Event]) -> None:
    answer = json_protocol.read_answer(data, kind=kind)
    assert [_fields(event) for event in answer.events] == [_fields(event) for event in events]
    assert not answer.done


@pytest.mark.parametrize(
    ("data", "kind"), [({"type": "done"}, ""), ({}, "done"), (None, "done"), ("[DONE]", "done")]
)
def test_done_ends_a_turn(data: object, kind: str) -> None:
    assert json_protocol.read_answer(data, kind=kind) == json_protocol.Answer(done=True)


def test_done_may_have_state_durations_agents_and_spans_for_the_session() -> None:
    data = {
        "type": "done",
        "state": {"a": 2},
        "durations": {"model": 0.5},
        "app_details": DETAILS,
        "spans": [{"id": "a"}],
    }
    session = Session("s", "app", "user", {"a": 1})
    json_protocol.read_answer(data).keep(session)
    assert session.state == {"a": 2}
    assert session.memory == {"durations": {"model": 0.5}, "app_details": DETAILS, "spans": [{"id": "a"}]}


def test_empty_done_changes_nothing() -> None:
    session = Session("s", "app", "user", {"a": 1}, {"durations": {"model": 1.0}})
    json_protocol.read_answer({"type": "done"}).keep(session)
    assert (session.state, session.memory) == ({"a": 1}, {"durations": {"model": 1.0}})


@pytest.mark.parametrize(
    ("data", "kind", "code", "message"),
    [
        pytest.param({"type": "error", "code": "E7", "message": "no stock"}, "", "E7", "no stock", id="both"),
        pytest.param(
            {"code": 429, "message": "slow down"}, "error", "429", "slow down", id="a number, by SSE's event"
        ),
        pytest.param("it broke", "error", "", "it broke", id="only a text"),
        pytest.param({"type": "error"}, "", "", "without a message", id="nothing"),
        pytest.param({"type": "error", "message": {"a": 1}}, "", "", "{'a': 1}", id="no text"),
    ],
)
def test_an_error_is_the_agents_own(data: object, kind: str, code: str, message: str) -> None:
    with pytest.raises(AgentRaisedError, match=message) as caught:
        json_protocol.read_answer(data, kind=kind)
    assert caught.value.type == code


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        pytest.param(
            {"type": "dnoe"}, "", r"unknown type str 'dnoe'.* Did you mean 'done'\?", id="unknown type"
        ),
        pytest.param({"text": "hi"}, "delta", "unknown type str 'delta'", id="unknown event of SSE"),
        pytest.param({"type": 7, "text": "hi"}, "", "unknown type int 7", id="no text as type"),
        pytest.param({"type": "event"}, "", "has no keys", id="nothing but its type"),
        pytest.param({"txt": "hi"}, "", "a dict that has str 'txt'", id="unknown key"),
        pytest.param([{"text": "hi"}], "", r"answered with list \[", id="a list"),
        pytest.param(None, "", "answered with None", id="null"),
        pytest.param({"text": "hi", "author": 7}, "", "author: Input should be a valid string", id="author"),
        pytest.param(
            {"type": "event", "event": 7}, "", "'event' of the agent's answer is int 7", id="no event"
        ),
        pytest.param({"type": "event", "event": {"author": []}}, "", "does not fit: author", id="bad event"),
        pytest.param({"type": "done", "state": [1]}, "", r"'state' of the agent's done is list", id="state"),
        pytest.param(
            {"type": "done", "app_details": "x"}, "", "'app_details' of the agent's done", id="details"
        ),
        pytest.param(
            {"type": "done", "durations": {"model": "1"}}, "", "seconds of 'model' and 'tool'", id="text"
        ),
        pytest.param({"type": "done", "spans": {"id": "a"}}, "", "expected a list", id="spans in no list"),
        pytest.param({"type": "done", "durations": {"model": inf}}, "", "seconds of 'model'", id="infinite"),
        pytest.param({"type": "done", "durations": {"model": nan}}, "", "seconds of 'model'", id="no number"),
        pytest.param({"type": "done", "durations": {"all": 1.0}}, "", "'all'", id="unknown duration"),
        pytest.param(
            {"type": "done", "text": "hi"}, "", "unknown key str 'text'.*before it", id="done with a text"
        ),
        pytest.param({"type": "done", "sate": {}}, "", "Did you mean 'state'", id="done, misspelled"),
        pytest.param("hi", "done", "the agent's done is str 'hi'; expected an object", id="done is a text"),
    ],
)
def test_invalid_line_breaks_the_contract_with_a_message(data: object, kind: str, message: str) -> None:
    with pytest.raises(AgentError, match=message) as caught:
        json_protocol.read_answer(data, kind=kind)
    assert type(caught.value) is AgentError


@pytest.mark.parametrize(
    ("data", "texts", "state"),
    [
        pytest.param({"text": "hi"}, ["hi"], None, id="one answer"),
        pytest.param([{"text": "a"}, {"text": "b"}], ["a", "b"], None, id="several"),
        pytest.param(
            [{"text": "a"}, {"type": "done", "state": {"k": 1}}], ["a"], {"k": 1}, id="with its done"
        ),
        pytest.param([], [], None, id="none: no text"),
    ],
)
def test_an_answer_in_one_piece_is_complete_by_itself(
    data: object, texts: list[str], state: dict[str, Any] | None
) -> None:
    answer = json_protocol.read_body(data)
    assert [event.content.joined_text() for event in answer.events if event.content] == texts
    assert (answer.done, answer.state) == (True, state)


def test_nothing_follows_done_in_one_piece() -> None:
    with pytest.raises(AgentError, match="continues after its 'done'"):
        json_protocol.read_body([{"type": "done"}, {"text": "more"}])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Welcome to my agent!", r"a line is not JSON \(Expecting value.*: str 'Welcome to my agent!'"),
        (b"\xff\xfe", "a line is not JSON"),
        ("[" * 100_000, "a line is not JSON"),
        ("1" * 5000, "a line is not JSON"),
        ("", "a line is not JSON"),
    ],
)
def test_line_that_is_not_json_is_shown(text: str | bytes, message: str) -> None:
    with pytest.raises(AgentError, match=message) as caught:
        json_protocol.parse_agent_json(text, "a line")
    assert len(str(caught.value)) < 500


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "done", "error", "event", "state", "tool_calls", "x"]), inside
        )
    ),
    max_leaves=8,
)


@given(JSON, st.sampled_from(["", "done", "error", "event", "ping"]))
def test_any_json_is_an_answer_or_a_failure_of_the_agent(data: object, kind: str) -> None:
    with suppress(AgentError):
        answer = json_protocol.read_answer(data, kind=kind)
        assert answer.done or answer.events
    with suppress(AgentError):
        assert json_protocol.read_body(data).done


def test_message_is_sent_as_json_for_any_content() -> None:
    message = Content.model_validate({"parts": [{"inline_data": {"data": "AAEC", "mime_type": "image/png"}}]})
    sent = json_protocol.turn_request(message, Session("s", "a", "u"), 0)
    assert sent["message"] == {"parts": [{"inline_data": {"data": "AAEC", "mime_type": "image/png"}}]}
    assert json_protocol.turn_request(user_text("hi"), Session("s", "a", "u"), 0)["text"] == "hi"
