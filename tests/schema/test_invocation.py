"""A turn in both of the format's forms, and what is read from it."""

from typing import Any

import pytest
from pydantic import ValidationError

from proctor.schema import (
    AppDetails,
    Content,
    FunctionCall,
    IntermediateData,
    Invocation,
    InvocationEvents,
    Part,
    text_of,
)
from proctor.schema.format.content import UsageMetadata
from tests.schema.golden import as_json


def _turn(data: Any) -> Invocation:
    return Invocation.model_validate({"user_content": {}, "intermediate_data": data})


FORMS = {
    "empty": ({}, IntermediateData),
    "older": ({"tool_uses": []}, IntermediateData),
    "older, camelCase": ({"toolUses": [], "intermediateResponses": []}, IntermediateData),
    "events": ({"invocation_events": []}, InvocationEvents),
    "events, camelCase": ({"invocationEvents": [{"author": "a"}]}, InvocationEvents),
    "events with unknown keys": ({"invocation_events": [], "zzz": 1}, InvocationEvents),
    "only unknown keys": ({"zzz": 1}, IntermediateData),
    "the other form is null": ({"invocation_events": [], "tool_uses": None}, InvocationEvents),
    "events are null": ({"invocation_events": None, "tool_uses": []}, IntermediateData),
    "lists are null": ({"tool_uses": None, "tool_responses": None}, IntermediateData),
    "not stated": (None, type(None)),
}


@pytest.mark.parametrize(("data", "form"), FORMS.values(), ids=FORMS)
def test_the_keys_decide_the_form(data: Any, form: type) -> None:
    assert type(_turn(data).intermediate_data) is form


@pytest.mark.parametrize("other", ["tool_uses", "toolResponses", "intermediate_responses"])
def test_a_mixture_of_both_forms_is_refused(other: str) -> None:
    with pytest.raises(ValidationError, match="expected either `invocation_events` or `tool_uses`"):
        _turn({"invocationEvents": [], other: []})


SPELLINGS = {
    "the format's own": {"name": "f", "args": {"x": 1}},
    "old lists": {"tool_name": "f", "tool_input": {"x": 1}},
    "old lists, camelCase": {"toolName": "f", "toolInput": {"x": 1}},
    "arguments": {"tool_name": "f", "arguments": {"x": 1}},
    "arguments as text": {"name": "f", "arguments": '{"x": 1}'},
    "OpenAI": {"function": {"name": "f", "arguments": '{"x": 1}'}},
}


@pytest.mark.parametrize("call", SPELLINGS.values(), ids=SPELLINGS)
def test_calls_read_in_every_spelling_and_are_written_in_one(call: dict[str, Any]) -> None:
    assert as_json(_turn({"tool_uses": [call]}).tool_calls[0], exclude_none=True) == {
        "args": {"x": 1},
        "name": "f",
    }


HOLD_NO_FILE = [
    '{"x": NaN}',
    '{"x": [-Infinity]}',
    '{"x": {"y": 1e999}}',
    '{"x": "\\u0000"}',
    '{"\\u0000": 1}',
]


@pytest.mark.parametrize("args", [[], "no json", "[1]", 5, *HOLD_NO_FILE], ids=repr)
def test_arguments_must_be_an_object(args: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        FunctionCall.model_validate({"name": "f", "args": args})
    (error,) = caught.value.errors()
    assert error["msg"] == "expected an object of arguments, or its JSON text"


def test_arguments_as_text_may_hold_what_a_file_may() -> None:
    text = r'{"x": ["\\u0000", 1e308, -0.0, {"y": null}]}'
    assert FunctionCall(name="f", args=text).args == {"x": ["\\u0000", 1e308, -0.0, {"y": None}]}


def test_no_arguments_and_empty_arguments_differ() -> None:
    assert FunctionCall(name="f").args is None
    assert FunctionCall(name="f", args={}).args == {}


RESPONSES = {
    "pair": ["root", [{"text": "t"}]],
    "object": {"author": "root", "parts": [{"text": "t"}]},
    "object with text": {"author": "root", "text": "t"},
    "content": {"role": "root", "parts": [{"text": "t"}]},
    "event": {"author": "root", "content": {"role": "model", "parts": [{"text": "t"}]}},
}


@pytest.mark.parametrize("response", RESPONSES.values(), ids=RESPONSES)
def test_intermediate_responses_read_every_form_and_are_written_as_pairs(response: Any) -> None:
    turn = _turn({"intermediate_responses": [response]})
    written = as_json(turn.intermediate_data, exclude_none=True)
    assert written["intermediate_responses"] == [["root", [{"text": "t"}]]]


@pytest.mark.parametrize("response", [["root"], {"author": "root"}, "text", ["a", [], 1]], ids=repr)
def test_other_intermediate_responses_are_refused(response: Any) -> None:
    with pytest.raises(ValidationError):
        _turn({"intermediate_responses": [response]})


def _event(part: dict[str, Any] | None, **keys: Any) -> dict[str, Any]:
    return {"author": "root", "content": None if part is None else {"parts": [part]}, **keys}


EVENTS = {
    "invocation_events": [
        _event({"text": "thinking"}),
        _event({"function_call": {"id": "1", "name": "f"}}, usage_metadata={"total_token_count": 3}),
        _event({"function_call": {"name": "g"}}),
        _event({"function_response": {"id": "1", "name": "f", "response": {"v": 1}}}),
        _event({"function_response": {"id": "1", "name": "f", "response": {"v": 2}}}),
        _event(None, usage_metadata={"total_token_count": 4}),
    ]
}
LISTS = {
    "tool_uses": [{"id": "1", "name": "f"}, {"name": "g"}],
    "tool_responses": [
        {"id": "1", "name": "f", "response": {"v": 1}},
        {"id": "1", "name": "f", "response": {"v": 2}},
    ],
}


@pytest.mark.parametrize("data", [EVENTS, LISTS], ids=["events", "lists"])
def test_calls_and_responses_are_found_in_both_forms(data: Any) -> None:
    turn = _turn(data)
    assert [call.name for call in turn.tool_calls] == ["f", "g"]
    assert [response.response for response in turn.tool_responses] == [{"v": 1}, {"v": 2}]
    pairs = [(call.name, response and response.response) for call, response in turn.calls_with_responses]
    assert pairs == [("f", {"v": 2}), ("g", None)]


def test_calls_without_id_pair_with_the_last_response_without_id() -> None:
    turn = _turn({"tool_uses": [{"name": "f"}], "tool_responses": [{"name": "a"}, {"name": "b"}]})
    ((_, response),) = turn.calls_with_responses
    assert response is not None
    assert response.name == "b"


def test_usage_is_that_of_the_events_that_report_it() -> None:
    assert [usage.total_token_count for usage in _turn(EVENTS).usage_metadata] == [3, 4]
    assert _turn(LISTS).usage_metadata == []
    assert _turn(None).usage_metadata == _turn(None).tool_calls == _turn(None).tool_responses == []


@pytest.mark.parametrize(
    ("reported", "tokens"),
    [
        ({"total_token_count": 9, "prompt_token_count": 5}, 9),
        ({"prompt_token_count": 5, "candidates_token_count": 2, "thoughts_token_count": 1}, 8),
        ({"total_token_count": 0, "prompt_token_count": 5}, 5),
        ({"total_token_count": 0}, 0),
        ({}, None),
    ],
)
def test_the_tokens_of_a_call_are_its_total_or_the_sum_of_what_was_reported(
    reported: dict[str, int], tokens: int | None
) -> None:
    assert UsageMetadata.model_validate(reported).tokens == tokens


def test_text_is_the_non_empty_texts_joined_with_or_without_thoughts() -> None:
    content = Content(
        parts=[Part(text="a", thought=True), Part(text=""), Part(text="b"), Part(), Part(text="c")]
    )
    assert text_of(content) == "a\nb\nc"
    assert text_of(content, thoughts=False) == "b\nc"
    assert text_of(None) == text_of(Content()) == ""


def test_instructions_of_an_unknown_agent_are_an_error() -> None:
    details = AppDetails.model_validate(
        {"agent_details": {"root": {"name": "root", "instructions": "be nice"}}}
    )
    assert details.developer_instructions("root") == "be nice"
    with pytest.raises(ValueError, match=r"no agent 'rot' in app_details \(agents: root\)"):
        details.developer_instructions("rot")
