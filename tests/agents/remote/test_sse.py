"""`http+sse:`: what a server is sent, and what is made of what it answers."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest

import proctor
from proctor.agents.load import load_agent
from proctor.errors import (
    AgentError,
    AgentLoadError,
    AgentRaisedError,
    AgentTruncatedError,
    MissingExtraError,
    SetupError,
)
from proctor.schema.format.content import Content
from tests.agents.remote.misbehaving import (
    EVENT_STREAM as SSE,
    Exchange,
    head,
    serving,
    stream,
    streaming,
    unused_port,
)

pytest.importorskip("httpx", reason="the extra `http` is not installed")
DONE = {"type": "done"}


def test_turn_is_sent_as_the_protocol_requires(talk: Any) -> None:
    with serving(streaming({"text": "Hello"}, {"state_delta": {"n": 1}}, DONE)) as server:
        events, _ = talk(f"http+sse:{server.url}/chat?v=1", "one", "two", state={"basket": ["apple"]})
    first, second = (exchange.json for exchange in server.requests)
    assert first == {
        "type": "turn",
        "protocol": 1,
        "turn": 0,
        "session": {
            "id": "s-1",
            "app_name": "shop",
            "user_id": "ann",
            "state": {"basket": ["apple"]},
            "trial": 0,
        },
        "message": {"role": "user", "parts": [{"text": "one"}]},
        "text": "one",
    }
    assert (second["turn"], second["text"], second["session"]["state"]) == (
        1,
        "two",
        {"basket": ["apple"], "n": 1},
    )
    assert server.requests[0].path == "/chat?v=1"
    assert server.requests[0].headers["accept"] == "text/event-stream, application/json"
    assert [event.content.joined_text() for event in events if event.content] == ["Hello", "Hello"]


def test_turns_share_a_connection(talk: Any) -> None:
    with serving(streaming({"text": "Hello"}, DONE)) as server:
        talk(f"http+sse:{server.url}", *map(str, range(20)))
    assert len(server.requests) == 20
    assert (
        server.connections < 10
    )  # one; a machine with too much to do may miss the moment in which a stream ends


ANSWERS: dict[str, tuple[bytes, str]] = {
    "a stream": (stream({"text": "Hi"}, DONE), SSE),
    "done as the event's name": (stream({"text": "Hi"}) + b"event: done\ndata: {}\n\n", SSE),
    "done with empty data": (stream({"text": "Hi"}) + b"event: done\ndata:\n\n", SSE),
    "a charset": (stream({"text": "Hi"}, DONE), "text/event-stream; charset=utf-8"),
    "JSON over several lines": (b'data: {"text":\ndata: "Hi"}\n\n' + stream(DONE), SSE),
    "a plain answer": (b'{"text": "Hi"}', "application/json"),
    "a list of answers": (b'[{"text": "Hi"}, {"type": "done"}]', "application/json"),
    "a type of one's own": (b'{"text": "Hi"}', "application/vnd.agent+json"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_spellings_of_an_answer(name: str, talk: Any) -> None:
    body, kind = ANSWERS[name]
    with serving(lambda exchange: exchange.answer(body, kind)) as server:
        events, _ = talk(f"http+sse:{server.url}", "Hello")
    assert [event.content.joined_text() for event in events if event.content] == ["Hi"]


def test_all_fields_of_an_answer(talk: Any) -> None:
    call = {"name": "add", "args": {"n": 2}, "id": "c1", "response": {"ok": True}}
    done = {"type": "done", "state": {"basket": 2}, "durations": {"model": 0.5}, "app_details": {}}
    with serving(streaming({"tool_calls": [call]}, {"text": "Done", "author": "shop"}, done)) as server:
        events, session = talk(f"http+sse:{server.url}", "Add two")
    kinds = [
        part.model_dump(exclude_none=True)
        for event in events
        for part in (event.content or _NONE).parts or ()
    ]
    assert [set(kind) for kind in kinds] == [{"function_call"}, {"function_response"}, {"text"}]
    assert session.state == {"basket": 2}
    assert session.memory["durations"] == {"model": 0.5}


_NONE = Content()

FAULTS: dict[str, tuple[bytes, str, type[AgentError], str]] = {
    "no done": (stream({"text": "Hi"}), SSE, AgentTruncatedError, "without 'done'"),
    "nothing": (b"", SSE, AgentTruncatedError, "without 'done'"),
    "half an event": (stream({"text": "Hi"}) + b'data: {"type": "do', SSE, AgentTruncatedError, "within an event"),
    "an error": (
        stream({"type": "error", "code": "KeyError", "message": "no city"}),
        SSE,
        AgentRaisedError,
        "no city",
    ),
    "an error as the event's name": (b"event: error\ndata: gone\n\n", SSE, AgentError, "is not JSON"),
    "an error without data": (
        stream({"text": "Hi"}) + b"event: error\n\n" + stream(DONE), SSE, AgentRaisedError, "the agent reported a failure without a message",
    ),
    "no JSON": (b"data: [DONE]\n\n", SSE, AgentError, "is not JSON"),
    "not an answer": (stream({"hello": "world"}), SSE, AgentError, "a dict that has"),
    "an unknown type": (stream({"type": "dnoe"}), SSE, AgentError, "Did you mean 'done'?"),
    "more behind done": (stream({"text": "Hi"}, DONE, {"text": "and"}), SSE, AgentError, "behind its last one"),
    "an empty body": (b"", "application/json", AgentError, "answered with nothing"),
    "a page": (b"<html></html>", "text/html", AgentError, "an HTML page"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_invalid_answer(name: str, talk: Any) -> None:
    body, content_type, kind, message = FAULTS[name]
    with (
        serving(lambda exchange: exchange.answer(body, content_type)) as server,
        pytest.raises(AgentError) as caught,
    ):
        talk(f"http+sse:{server.url}", "Hello")
    assert type(caught.value) is kind
    assert message in str(caught.value)


def test_a_stream_that_stays_open_after_done_is_left(talk: Any) -> None:
    def script(exchange: Exchange) -> bool:
        exchange.send(head(200, SSE) + stream({"text": "Hi"}, DONE))
        exchange.hang()
        return False

    with serving(script) as server:
        events, _ = talk(f"http+sse:{server.url}", "Hello")
        assert len(events) == 1
        assert server.all_closed()


# --- description of the agent ----------------------------------------------------------------------------------------

DETAILS = {
    "agent_details": {
        "shop": {
            "name": "shop",
            "instructions": "Sell.",
            "tool_declarations": [{"function_declarations": [{"name": "add"}]}],
        }
    }
}
CASE = {
    "eval_set_id": "s",
    "eval_cases": [
        {
            "eval_id": "c",
            "conversation": [
                {
                    "user_content": {"parts": [{"text": "Hello"}]},
                    "final_response": {"parts": [{"text": "Hi"}]},
                    "intermediate_data": {"tool_uses": [{"name": "remove", "args": {}}]},
                }
            ],
        }
    ],
}


def described(description: Any) -> Any:
    def script(exchange: Exchange) -> None:
        if exchange.method == "POST":
            exchange.answer({"text": "Hi"})
        elif description is None:
            exchange.answer({}, status=405)
        else:
            exchange.answer(description)

    async def ask(url: str) -> Any:
        agent: Any = load_agent(f"http+sse:{url}")
        await agent.open()
        await agent.close()
        return agent.describe()

    with serving(script) as server:
        return asyncio.run(ask(server.url)), server.url


@pytest.mark.parametrize("description", [None, "text", [1], {}, {"name": 1}])
def test_description_of_a_server_is_optional(description: Any) -> None:
    info, url = described(description)
    assert (info.name, info.app_details, info.has_more_tools) == (f"http+sse:{url}", None, True)


def test_description_of_a_server_is_known() -> None:
    info, _ = described({"name": "shop", "version": "7", "description": "Sells.", "app_details": DETAILS})
    assert (info.name, info.version, info.description, info.has_more_tools) == ("shop", "7", "Sells.", False)
    assert "add" in json.dumps(info.app_details)


def test_invalid_details_are_reported() -> None:
    with pytest.raises(AgentError, match=r"'app_details'.* is invalid: agent_details"):
        described({"app_details": {"agent_details": 7}})


def test_a_rule_about_a_tool_that_it_has_not_is_found_before_the_run() -> None:
    def script(exchange: Exchange) -> None:
        exchange.answer({"app_details": DETAILS} if exchange.method == "GET" else {"text": "Hi"})

    config = {"criteria": {"trajectory_rules": {"threshold": 1.0, "rules": [{"never": "ad"}]}}}
    with serving(script) as server:
        with pytest.raises(SetupError, match=r"'ad'.*add"):
            proctor.evaluate_sync(f"http+sse:{server.url}", CASE, config=config)
        assert [exchange.method for exchange in server.requests] == ["GET"]


def test_a_trial_that_broke_off_is_repeated_where_that_was_asked_for() -> None:
    def script(exchange: Exchange) -> bool:
        if exchange.method == "POST" and sum(one.method == "POST" for one in server.requests) == 1:
            return exchange.reset()
        return exchange.answer({"text": "Hi"})

    config = {"criteria": {"response_match_score": 1.0}}
    with serving(script) as server:
        result = proctor.evaluate_sync(f"http+sse:{server.url}", CASE, config=config, retry_errors=1)
    trial: Any = result.cases[0].trials[0].trial
    assert result.passed
    assert [attempt.failure.kind.value for attempt in trial.attempts] == ["truncated"]


@pytest.mark.parametrize(
    "agent", ["http+sse:http://h", "openai+http:http://h?model=m", "http://h", "https://h"]
)
def test_the_extra_that_is_missing_is_named(agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(
        MissingExtraError, match=r"needs the package 'httpx'\. Run: pip install 'proctor\[http\]'"
    ):
        load_agent(agent)


def test_refused_connection_is_a_configuration_error() -> None:
    agent = f"http+sse:http://127.0.0.1:{unused_port()}/chat"
    with pytest.raises(AgentLoadError, match="nothing listens there; is it running"):
        proctor.evaluate_sync(agent, CASE)


def test_a_run(tmp_path: Any) -> None:
    with serving(
        lambda e: e.answer({"text": "Hi"}) if e.method == "POST" else e.answer({}, status=404)
    ) as server:
        result = proctor.evaluate_sync(
            f"http+sse:{server.url}", CASE, config={"criteria": {"response_match_score": 1.0}}
        )
    assert result.passed
