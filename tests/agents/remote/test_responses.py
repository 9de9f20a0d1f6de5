"""`openai+http:…&api=responses`: an agent behind the Responses API; and both APIs at another local server."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.agents.load import load_agent
from proctor.errors import AgentError, AgentLoadError, AgentRaisedError
from tests.agents.remote.misbehaving import serving
from tests.agents.remote.test_openai import shown
from tests.models.loopback import Completion, serve_models

pytest.importorskip("httpx", reason="the extra `http` is not installed")


def response(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"object": "response", "model": "m-1", "status": "completed", "output": list(items), **more}


def text(content: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": content}]}


CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c1",
    "name": "weather",
    "arguments": '{"city": "Oslo"}',
}
CALLED = ("call", "weather", {"city": "Oslo"}, "c1")
GAVE = ("gave", "weather", {"celsius": 7})
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": '{"celsius": 7}'}
MCP = {"type": "mcp_call", "id": "m1", "name": "find", "arguments": '{"q": 1}', "output": "found"}
ANSWERS: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "a text": (response(text("Hi")), ["Hi"]),
    "reasoning is left out": (response({"type": "reasoning", "summary": []}, text("Hi")), ["Hi"]),
    "a refusal": (response({"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}), ["No."]),
    "a call without a response": (response(CALL), [CALLED]),
    "a call that was answered": (response(CALL, OUTPUT, text("7 degrees")), [CALLED, GAVE, "7 degrees"]),
    "a tool of an MCP server": (
        response(MCP, text("Found")),
        [("call", "find", {"q": 1}, "m1"), ("gave", "find", {"result": "found"}), "Found"],
    ),
    "a tool of an MCP server, failed": (
        response({**MCP, "output": None, "error": {"code": 7}}, text("Not found")),
        [("call", "find", {"q": 1}, "m1"), ("gave", "find", {"code": 7}), "Not found"],
    ),
    "a tool of the provider": (
        response({"type": "web_search_call", "id": "w1", "action": {"query": "x"}}, text("Hi")),
        [("call", "web_search", {"query": "x"}, "w1"), "Hi"],
    ),
    "cut off": (
        response(text("Hi th"), status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
        ["Hi th", ("error", "length")],
    ),
    "filtered": (
        response(status="incomplete", incomplete_details={"reason": "content_filter"}),
        [("error", "content_filter")],
    ),
    **{
        f"a response that is {status}": (response(text("Hi th"), status=status), ["Hi th", ("error", status)])
        for status in ("failed", "in_progress", "queued", "cancelled")
    },
    "a message that is incomplete": (
        response({**text("Hi th"), "status": "incomplete"}),
        ["Hi th", ("error", "length")],
    ),
    "state": (response(text("Hi"), state_delta={"n": 1}), [("state", {"n": 1}), "Hi"]),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_what_is_answered_as_events(name: str, talk: Any) -> None:
    body, expected = ANSWERS[name]
    with serving(lambda exchange: exchange.answer(body)) as server:
        events, _ = talk(f"openai+http:{server.url}/v1?model=m&api=responses", "Hello")
    assert shown(events) == expected
    assert server.requests[0].path == "/v1/responses"


def test_each_request_repeats_the_items(talk: Any) -> None:
    with serving(lambda exchange: exchange.answer(response(CALL))) as server:
        talk(f"openai+http:{server.url}/v1?model=m&api=responses", "one", "two")
    assert server.requests[1].json["input"] == [
        {"role": "user", "content": "one"},
        CALL,
        {"type": "function_call_output", "call_id": "c1", "output": "This tool was not run."},
        {"role": "user", "content": "two"},
    ]


def test_usage(talk: Any) -> None:
    usage = {
        "input_tokens": 7,
        "output_tokens": 5,
        "total_tokens": 12,
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    with serving(lambda exchange: exchange.answer(response(text("Hi"), usage=usage))) as server:
        (event,), _ = talk(f"openai+http:{server.url}/v1?model=m&api=responses", "Hello")
    assert event.usage_metadata.model_dump(exclude_none=True) == {
        "prompt_token_count": 7,
        "candidates_token_count": 3,
        "thoughts_token_count": 2,
        "total_token_count": 12,
    }
    assert event.model_version == "m-1"


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ({"choices": []}, AgentError, "expected a response with its output"),
        ([], AgentError, "expected a response with its output"),
        ({"output": "Hi"}, AgentError, "expected a response with its output"),
        ({"output": [7]}, AgentError, "an item of the agent's response is int 7"),
        (response({**CALL, "arguments": "{"}), AgentError, "call of weather is not JSON"),
        (
            response(status="failed", error={"code": "server_error", "message": "away"}),
            AgentRaisedError,
            "away",
        ),
    ],
)
def test_invalid_answer(body: Any, kind: type[AgentError], message: str, talk: Any) -> None:
    with serving(lambda exchange: exchange.answer(body)) as server, pytest.raises(AgentError) as caught:
        talk(f"openai+http:{server.url}/v1?model=m&api=responses", "Hello")
    assert type(caught.value) is kind
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [("api=rest", "expected chat or responses"), ("api=responses&stream=true", "not asked for in pieces")],
)
def test_options_that_there_are_not(options: str, message: str) -> None:
    with pytest.raises(AgentLoadError, match=message):
        load_agent(f"openai+http:http://127.0.0.1/v1?{options}")


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_server_that_was_written_for_the_real_client(api: str, talk: Any) -> None:
    with serve_models(Completion(text="Hi", tokens=(10, 5), model="m-2")) as server:
        (event,), _ = talk(f"openai+http:{server.openai_url}?model=m&api={api}", "Hello")
    assert event.content.joined_text() == "Hi"
    assert (event.model_version, event.usage_metadata.total_token_count) == ("m-2", 15)
    assert server.strangers == []
    assert server.requests[0].text == "Hello"
