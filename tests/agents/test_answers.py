"""What a function may answer: each accepted form and its reading; everything else is a clear error, never a crash."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import BaseModel

from proctor.agents.function_results import convert_answer
from proctor.errors import AgentError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content, FunctionCall, FunctionResponse, Part, text_content
from tests.agents.conftest import read

CALL = FunctionCall(name="f", args={"a": 1})
RESPONSE = FunctionResponse(name="f", response={"b": 2})
PICTURE = {"mime_type": "image/png", "data": "AAEC"}


def _shape(answer: object) -> dict[str, Any]:
    """What an answer came to: calls, responses, text, state."""
    events = convert_answer(answer)
    found = read(events)
    shape = {
        "calls": [(call.name, call.args) for call in found.tool_calls],
        "responses": [(response.name, response.response) for response in found.tool_responses],
        "text": found.final_response.joined_text() if found.final_response else None,
        "state": [event.state_delta for event in events if event.state_delta],
    }
    return {name: value for name, value in shape.items() if value}


@pytest.mark.parametrize(
    ("answer", "shape"),
    [
        ("hello", {"text": "hello"}),
        ("", {}),
        (text_content("hello"), {"text": "hello"}),
        (Part(text="hello"), {"text": "hello"}),
        (CALL, {"calls": [("f", {"a": 1})]}),
        (RESPONSE, {"responses": [("f", {"b": 2})]}),
        (Event.said("hello"), {"text": "hello"}),
        ({"text": "hello"}, {"text": "hello"}),
        ({"response": "hello"}, {"text": "hello"}),
        ({"response": "hello", "tool_calls": []}, {"text": "hello"}),
        ({"response": "hello", "tool_calls": None}, {"text": "hello"}),
        ({"tool_calls": [{"name": "f", "args": {"a": 1}}]}, {"calls": [("f", {"a": 1})]}),
        ({"tool_calls": [{"name": "f"}]}, {"calls": [("f", None)]}),
        ({"tool_calls": [CALL]}, {"calls": [("f", {"a": 1})]}),
        ({"tool_calls": [{"name": "f", "args": '{"a": 1}'}]}, {"calls": [("f", {"a": 1})]}),
        ({"tool_calls": [{"tool_name": "f", "tool_input": {"a": 1}}]}, {"calls": [("f", {"a": 1})]}),
        (
            {"tool_calls": [{"id": "1", "function": {"name": "f", "arguments": '{"a": 1}'}}]},
            {"calls": [("f", {"a": 1})]},
        ),
        (
            {"text": "done", "tool_calls": [{"name": "f", "args": {}, "response": {"b": 2}}], "state_delta": {"s": 3}},
            {"calls": [("f", {})], "responses": [("f", {"b": 2})], "text": "done", "state": [{"s": 3}]},
        ),
        (
            {"tool_calls": [{"name": "f", "response": 5}, {"name": "g", "response": None}]},
            {"calls": [("f", None), ("g", None)], "responses": [("f", {"result": 5}), ("g", {"result": None})]},
        ),
        ({"parts": [{"text": "hello"}], "role": "model"}, {"text": "hello"}),
        ({"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]}, {"calls": [("f", {"a": 1})]}),
        ({"functionCall": {"name": "f", "args": {"a": 1}}}, {"calls": [("f", {"a": 1})]}),
        ({"function_response": {"name": "f", "response": {"b": 2}}}, {"responses": [("f", {"b": 2})]}),
        ({"author": "bot", "content": {"parts": [{"text": "hello"}]}}, {"text": "hello"}),
        ({"content": {"parts": [{"text": "hello"}]}, "actions": {"stateDelta": {"s": 3}}}, {"text": "hello", "state": [{"s": 3}]}),
        ({"state_delta": {"s": 3}}, {"state": [{"s": 3}]}),
        ({"stateDelta": {"s": 3}}, {"state": [{"s": 3}]}),
    ],
    ids=repr,
)  # fmt: skip
def test_accepted_answers(answer: object, shape: dict[str, Any]) -> None:
    assert _shape(answer) == shape


def test_event_is_recorded_unchanged() -> None:
    event = Event.said("hello")
    assert convert_answer(event) == [event]
    assert convert_answer(event)[0] is event


def test_a_call_and_its_response_share_their_id() -> None:
    called, returned = convert_answer({"tool_calls": [{"id": "7", "name": "f", "response": {}}]})
    pair = read([called, returned]).calls_with_responses[0]
    assert (pair[0].id, pair[1] and pair[1].id) == ("7", "7")


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError

    def __str__(self) -> str:
        raise RuntimeError


class Model(BaseModel):
    text: str = "x"


class SubclassedText(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError


circular: dict[str, Any] = {"author": "bot"}
circular["content"] = {"parts": [circular]}
deep: Any = "x"
for _ in range(10_000):
    deep = {"parts": [deep]}


@pytest.mark.parametrize(
    ("answer", "messages"),
    [
        (None, ["NoneType", "expected a text"]),
        (b"bytes", ["bytes"]),
        (42, ["int 42"]),
        (True, ["bool"]),
        (object, ["<class 'object'>"]),
        (Hostile(), ["Hostile", "its repr raised RuntimeError"]),
        (Model(), ["Model", "expected a text"]),
        ({}, ["no keys"]),
        ({"answer": "x"}, ["'answer'", "expected a text"]),
        ({1: 2}, ["int 1"]),
        ({Hostile(): 2}, ["its repr raised"]),
        ({"author": "bot", "more": Hostile()}, ["its repr raised", "which is not JSON"]),
        ({"text": "x", "tool_calls": [{"name": "f", "args": {"a": object()}}]}, ["which is not JSON"]),
        ({"text": 5}, ["int 5"]),
        ({"text": None}, ["neither a text nor a tool call"]),
        ({"text": "x", "response": "y"}, ["both 'text' and 'response'"]),
        ({"text": "x", "tool_call": []}, ["unknown key 'tool_call'", "Did you mean 'tool_calls'?"]),
        ({"text": "x", "tool_calls": {"name": "f"}}, ["'tool_calls'", "a list of calls"]),
        ({"text": "x", "tool_calls": ["f"]}, ["str 'f'"]),
        ({"text": "x", "tool_calls": [{}]}, ["has no name"]),
        ({"text": "x", "tool_calls": [{"name": "f", "args": "no json"}]}, ["args"]),
        ({"text": "x", "tool_calls": [{"name": 5}]}, ["name"]),
        ({"text": "x", "state_delta": 5}, ["state_delta"]),
        ({"parts": "hello"}, ["parts"]),
        ({"parts": [{"text": 5}]}, ["parts.0.text"]),
        ({"parts": [{"text": Hostile()}]}, ["its repr raised"]),
        ({"author": 5}, ["author"]),
        (circular, ["nested deeper than 100 levels, or contains itself"]),
        (deep, ["nested deeper than 100 levels"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_invalid_answer_breaks_the_contract_with_a_message(answer: object, messages: list[str]) -> None:
    with pytest.raises(AgentError) as caught:
        convert_answer(answer)
    for message in messages:
        assert message in str(caught.value)
    assert len(str(caught.value)) < 1_000


def test_a_text_with_a_hostile_str_is_a_text() -> None:
    assert _shape(SubclassedText("hello")) == {"text": "hello"}


KEYS = (
    "text response tool_calls state_delta parts role content author actions partial name args id function_call "
    "functionCall function_response response stateDelta thought error_code long_running_tool_ids usage_metadata x".split()
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=12,
)
GARBAGE = JSON | st.binary(max_size=3) | st.builds(Hostile) | st.builds(object) | st.tuples(JSON, JSON)


def _check_reading(answer: object) -> None:
    try:
        events = convert_answer(answer)
    except AgentError as error:
        assert len(str(error)) < 1_000  # noqa: PT017 -- either way is right, a crash is not
        return
    assert events
    assert all(isinstance(event, Event) for event in events)
    read(events)


@given(GARBAGE)
def test_garbage_is_read_as_documented_or_refused(answer: object) -> None:
    _check_reading(answer)


def _garbled(random: Random, depth: int = 0) -> Any:
    """A value that resembles an answer: its keys are real, its values are anything."""
    kind = random.randrange(4 if depth < 4 else 2)
    if kind < 2:
        return random.choice(
            [None, True, 0, -1.5, "", "text", "{}", "\ud800", b"\xff", [], {}, Hostile(), object()]
        )
    if kind == 2:
        return [_garbled(random, depth + 1) for _ in range(random.randrange(3))]
    return {random.choice(KEYS): _garbled(random, depth + 1) for _ in range(random.randrange(1, 4))}


@pytest.mark.parametrize("seed", range(10))
def test_ten_thousand_garbled_answers(seed: int) -> None:
    random = Random(seed)
    for _ in range(1_000):
        _check_reading(_garbled(random))


@given(st.text(max_size=20), st.dictionaries(st.text(max_size=5), st.integers(), max_size=3))
def test_what_is_written_as_json_reads_back_the_same(text: str, args: dict[str, int]) -> None:
    events = [Event.called("f", args), Event.said(text)]
    written = [json.loads(event.model_dump_json(by_alias=True, exclude_none=True)) for event in events]
    assert [event for one in written for event in convert_answer(one)] == events


def test_content_of_a_user_is_kept_unchanged() -> None:
    content = Content(role="user", parts=[Part(inline_data=PICTURE)])
    assert convert_answer(content)[0].content is content
