"""`openai+http:`: an agent behind chat completions, whole and in pieces."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import proctor
from proctor.agents.load import load_agent
from proctor.errors import AgentError, AgentLoadError, AgentRaisedError, AgentTruncatedError
from proctor.schema.evidence.event import Event
from tests.agents.remote.misbehaving import Exchange, serving, unused_port

pytest.importorskip("httpx", reason="the extra `http` is not installed")
SSE = "text/event-stream"


def completion(*messages: dict[str, Any], finish: str = "stop", **more: Any) -> dict[str, Any]:
    """Return a chat completion; of several messages all but the last are in `messages`."""
    last = {"role": "assistant", **messages[-1]}
    before = {"messages": list(messages[:-1])} if messages[1:] else {}
    choice = {"index": 0, "message": last, "finish_reason": finish}
    return {"object": "chat.completion", "model": "m-1", "choices": [choice], **before, **more}


def call(name: str, arguments: Any = "{}", number: str = "c1") -> dict[str, Any]:
    return {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}}


def pieces(*deltas: dict[str, Any], finish: str | None = "stop", end: bytes = b"data: [DONE]\n\n") -> bytes:
    chunks: list[dict[str, Any]] = [
        {"model": "m-1", "choices": [{"index": 0, "delta": delta}]} for delta in deltas
    ]
    if finish:
        chunks.append({"model": "m-1", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        chunks.append({"model": "m-1", "choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 5}})
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + end


def shown(events: list[Event]) -> list[Any]:
    """Return the content of events: texts, calls, responses, errors."""
    found: list[Any] = []
    for event in events:
        for part in (event.content.parts if event.content else None) or []:
            if part.text is not None:
                found.append(part.text)
            if part.function_call:
                found.append(
                    ("call", part.function_call.name, part.function_call.args, part.function_call.id)
                )
            if part.function_response:
                found.append(("gave", part.function_response.name, part.function_response.response))
        if event.state_delta:
            found.append(("state", event.state_delta))
        if event.error_code:
            found.append(("error", event.error_code))
    return found


def events_of(talk: Any, body: Any, *texts: str, options: str = "model=m") -> list[Event]:
    """Return the events of one answer, the same in every turn."""

    def script(exchange: Exchange) -> None:
        if isinstance(body, bytes):
            exchange.answer(body, SSE)
        else:
            exchange.answer(body)

    with serving(script) as server:
        events: list[Event] = talk(f"openai+http:{server.url}/v1?{options}", *(texts or ("Hello",)))[0]
    return events


def test_each_request_repeats_the_conversation(talk: Any) -> None:
    with serving(lambda e: e.answer(completion({"content": f"answer {e.number}"}))) as server:
        talk(f"openai+http:{server.url}/v1/?model=my%2Fmodel", "one", "two", state={"n": 1})
    first, second = server.requests
    assert first.path == "/v1/chat/completions"
    assert first.json == {
        "model": "my/model",
        "messages": [{"role": "user", "content": "one"}],
        "user": "ann",
        "metadata": {"state": '{"n": 1}'},
    }
    assert first.headers["x-session-id"] == "s-1"
    assert second.json["messages"] == [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "answer 0"},
        {"role": "user", "content": "two"},
    ]


def test_a_stream_is_asked_for(talk: Any) -> None:
    with serving(lambda e: e.answer(pieces({"role": "assistant", "content": "Hi"}), SSE)) as server:
        talk(f"openai+http:{server.url}/v1?model=m&stream=true", "one")
    assert server.requests[0].json["stream"] is True
    assert server.requests[0].json["stream_options"] == {"include_usage": True}


TOOL = {"role": "tool", "tool_call_id": "c1", "content": '{"celsius": 7}'}
ASKS = {"role": "assistant", "content": None, "tool_calls": [call("weather", '{"city": "Oslo"}')]}
WEATHER = ("call", "weather", {"city": "Oslo"}, "c1")
ANSWERS: dict[str, tuple[Any, list[Any]]] = {
    "a text": (completion({"content": "Hi"}), ["Hi"]),
    "parts of a text": (completion({"content": [{"type": "text", "text": "H"}, {"type": "text", "text": "i"}]}), ["Hi"]),
    "a refusal is an answer": (completion({"content": None, "refusal": "I will not."}), ["I will not."]),
    "a call without a response": (completion(ASKS, finish="tool_calls"), [WEATHER]),
    "a text and a call": (completion({**ASKS, "content": "Let me see."}), ["Let me see.", WEATHER]),
    "a call of old": (
        completion({"function_call": {"name": "weather", "arguments": ""}}),
        [("call", "weather", {}, None)],
    ),
    "arguments as an object": (completion({"tool_calls": [call("f", {"a": 1})]}), [("call", "f", {"a": 1}, "c1")]),
    "all messages": (completion(ASKS, TOOL, {"content": "7 degrees"}), [WEATHER, ("gave", "weather", {"celsius": 7}), "7 degrees"]),
    "a tool's text": (
        completion(ASKS, {**TOOL, "content": "cold"}, {"content": "Cold"}),
        [WEATHER, ("gave", "weather", {"result": "cold"}), "Cold"],
    ),
    "state": (completion({"content": "Hi"}, state_delta={"n": 1}), [("state", {"n": 1}), "Hi"]),
    "cut off": (completion({"content": "Hi th"}, finish="length"), ["Hi th", ("error", "length")]),
    "filtered": (completion({"content": ""}, finish="content_filter"), [("error", "content_filter")]),
    **{
        f"ended with {end}": (completion({"content": "Hi th"}, finish=end), ["Hi th", ("error", end)])
        for end in ("error", "abort", "max_tokens", "MAX_TOKENS", "SAFETY", "insufficient_system_resource")
    },
    **{f"whole with {end}": (completion({"content": "Hi"}, finish=end), ["Hi"]) for end in ("STOP", "end_turn", "eos")},
    "a stream that ended with an error": (pieces({"content": "Hi th"}, finish="error"), ["Hi th", ("error", "error")]),
    "a stream": (pieces({"role": "assistant", "content": "H"}, {"content": "i"}), ["Hi"]),
    "a stream without [DONE]": (pieces({"content": "Hi"}, end=b""), ["Hi"]),
    "calls in pieces": (
        pieces(
            {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "weather", "arguments": ""}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": '{"city": '}}]},
            {"tool_calls": [{"index": 1, **call("b", number="c2")}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": '"Oslo"}'}}]},
            finish="tool_calls",
        ),
        [WEATHER, ("call", "b", {}, "c2")],
    ),
    **{
        f"two calls whose index is {case}": (
            pieces(
                *(
                    {"tool_calls": [{**call(name, '{"n": 1}', number), **index}]}
                    for name, number, index in (("a", "c1", first), ("b", "c2", second))
                ),
                finish="tool_calls",
            ),
            [("call", "a", {"n": 1}, "c1"), ("call", "b", {"n": 1}, "c2")],
        )
        for case, first, second in (
            ("absent", {}, {}),
            ("counted from 1", {"index": 1}, {"index": 2}),
            ("always 0", {"index": 0}, {"index": 0}),
        )
    },
    "a name with every piece": (
        pieces(
            *({"tool_calls": [{"index": 0, "function": {"name": "a", "arguments": part}}]} for part in ('{"n":', "1}"))
        ),
        [("call", "a", {"n": 1}, None)],
    ),
    "two calls of one id": (
        completion({"tool_calls": [call("a"), call("b")]}),
        [("call", "a", {}, "c1"), ("call", "b", {}, "c1")],
    ),
    "tools in a stream": (
        pieces({"role": "assistant", "tool_calls": ASKS["tool_calls"]}, TOOL, {"role": "assistant", "content": "7"}, {"content": " degrees"}),
        [WEATHER, ("gave", "weather", {"celsius": 7}), "7 degrees"],
    ),
    "a stream, cut off": (pieces({"content": "Hi th"}, finish="length"), ["Hi th", ("error", "length")]),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_what_is_answered_as_events(name: str, talk: Any) -> None:
    body, expected = ANSWERS[name]
    assert shown(events_of(talk, body)) == expected


def test_usage_and_model_are_on_the_last_event(talk: Any) -> None:
    usage = {
        "prompt_tokens": 20,
        "completion_tokens": 12,
        "total_tokens": 32,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    first, _, last = events_of(
        talk, completion(ASKS, TOOL, {"content": "7 degrees", "name": "units"}, usage=usage)
    )
    assert (first.usage_metadata, last.author, last.model_version) == (None, "units", "m-1")
    assert last.usage_metadata is not None
    assert last.usage_metadata.model_dump(exclude_none=True) == {
        "prompt_token_count": 20,
        "candidates_token_count": 7,
        "thoughts_token_count": 5,
        "total_token_count": 32,
        "cached_content_token_count": 4,
    }


def test_a_call_without_an_answer_does_not_stop_the_conversation(talk: Any) -> None:
    with serving(lambda e: e.answer(completion(ASKS, finish="tool_calls"))) as server:
        talk(f"openai+http:{server.url}/v1?model=m", "one", "two")
    roles = [(message["role"], message.get("content")) for message in server.requests[1].json["messages"]]
    assert roles == [
        ("user", "one"),
        ("assistant", None),
        ("tool", "This tool was not run."),
        ("user", "two"),
    ]


FAULTS: dict[str, tuple[Any, type[AgentError], str]] = {
    "no choices": ({"object": "chat.completion"}, AgentError, "has no choices"),
    "no choice": ({"choices": []}, AgentError, "has no choices"),
    "a list": ([], AgentError, "expected a chat completion"),
    "another API": ({"text": "Hi"}, AgentError, "has no choices"),
    "choices of another kind": ({"choices": {"a": 1}}, AgentError, "'choices' of the agent's answer"),
    "a message of another kind": ({"choices": [{"message": "Hi"}]}, AgentError, "a message of the agent's answer"),
    "arguments that are no JSON": (completion({"tool_calls": [call("f", "{city: 1}")]}), AgentError, "call of f is not JSON"),
    "arguments that are no object": (completion({"tool_calls": [call("f", "[1]")]}), AgentError, "expected a JSON object"),
    "an error in place of an answer": (
        {"error": {"message": "model is away", "type": "server_error", "code": None}},
        AgentRaisedError,
        "model is away",
    ),
    "an error in a stream": (b'data: {"error": {"message": "away", "code": 503}}\n\n', AgentRaisedError, "away"),
    "a stream that just ends": (pieces({"content": "Hi"}, finish=None, end=b""), AgentTruncatedError, "finish_reason"),
    "a stream that is done too early": (pieces({"content": "Hi"}, finish=None), AgentTruncatedError, "finish_reason"),
    "a stream of nonsense": (b"data: {'content'}\n\n", AgentError, "is not JSON"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_invalid_answer(name: str, talk: Any) -> None:
    body, kind, message = FAULTS[name]
    with pytest.raises(AgentError) as caught:
        events_of(talk, body)
    assert type(caught.value) is kind
    assert message in str(caught.value)


# --- models and keys --------------------------------------------------------------------------------------------------


def opened(url: str) -> Any:
    async def run() -> Any:
        agent: Any = load_agent(url)
        try:
            await agent.open()
        finally:
            await agent.close()
        return agent

    return asyncio.run(run())


def models(*names: str) -> Any:
    return lambda exchange: exchange.answer({"data": [{"id": name} for name in names]})


def test_the_only_model_there_is_needs_no_name() -> None:
    with serving(models("solo")) as server:
        assert opened(f"openai+http:{server.url}/v1").describe().name == f"openai+http:{server.url}/v1 (solo)"


@pytest.mark.parametrize(
    ("names", "message"), [((), "does not list its models"), (("a", "b"), "It has: a, b. Write openai")]
)
def test_model_name_is_required(names: tuple[str, ...], message: str) -> None:
    with serving(models(*names)) as server, pytest.raises(AgentLoadError, match=message):
        opened(f"openai+http:{server.url}/v1")


def test_refused_connection_is_a_configuration_error() -> None:
    with pytest.raises(AgentLoadError, match="nothing listens there"):
        opened(f"openai+http:http://127.0.0.1:{unused_port()}/v1?model=m")


@pytest.mark.parametrize("options", ["stream=maybe", "model=m&stream="])
def test_options_that_there_are_not(options: str) -> None:
    with pytest.raises(AgentLoadError, match="expected true or false"):
        load_agent(f"openai+http:http://127.0.0.1/v1?{options}")


@pytest.mark.parametrize(
    ("environment", "header"),
    [
        ({}, None),
        ({"OPENAI_API_KEY": "sk-openai"}, None),
        ({"OPENAI_API_KEY": "sk-openai", "OPENAI_BASE_URL": "{}/v1"}, "Bearer sk-openai"),
        ({"OPENAI_API_KEY": "sk-openai", "OPENAI_BASE_URL": "https://127.0.0.1/v1"}, None),
        (
            {"OPENAI_API_KEY": "sk-openai", "PROCTOR_AGENT_TOKEN": "mine", "OPENAI_BASE_URL": "{}"},
            "Bearer mine",
        ),
    ],
)
def test_a_key_goes_to_its_own_host_only(
    environment: dict[str, str], header: str | None, talk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(lambda e: e.answer(completion({"content": "Hi"}))) as server:
        for name, value in environment.items():
            monkeypatch.setenv(name, value.format(server.url))
        talk(f"openai+http:{server.url}/v1?model=m", "Hello")
    assert server.requests[0].headers.get("authorization") == header


def test_images_go_along(talk: Any) -> None:
    from proctor.agents.remote.openai.agent import _content
    from proctor.schema.format.content import Content

    parts = [{"text": "See"}, {"inline_data": {"mime_type": "image/png", "data": "AAEC"}}]
    assert _content(Content.model_validate({"parts": parts})) == [
        {"type": "text", "text": "See"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAEC"}},
    ]
    with pytest.raises(AgentError, match="texts and images"):
        _content(
            Content.model_validate({"parts": [{"inline_data": {"mime_type": "audio/wav", "data": "AAEC"}}]})
        )


def test_run_distinguishes_a_truncated_answer_from_a_failure() -> None:
    case = {"eval_id": "c", "conversation": [{"user_content": {"parts": [{"text": "Hello"}]}, "final_response": {"parts": [{"text": "Hi"}]}}]}  # fmt: skip

    def script(exchange: Exchange) -> None:
        if exchange.method == "GET":
            exchange.answer({}, status=404)
        else:
            exchange.answer(completion({"content": "Hi"}, finish="length"))

    with serving(script) as server:
        result = proctor.evaluate_sync(
            f"openai+http:{server.url}/v1?model=m",
            {"eval_set_id": "s", "eval_cases": [case]},
            config={"criteria": {"response_match_score": 0.5}},
        )
    trial = result.cases[0].trials[0].trial
    failure = trial.failure if trial is not None else None
    assert failure is not None
    assert (failure.kind.value, failure.type, failure.infrastructure) == ("unusable_answer", "length", False)
