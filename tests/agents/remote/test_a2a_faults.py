"""`a2a+http:` against cards that are none, and servers that misbehave."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

import proctor
from proctor.agents.base import Session
from proctor.agents.load import load_agent
from proctor.errors import (
    AgentError,
    AgentLoadError,
    AgentRaisedError,
    AgentTruncatedError,
    AgentUnreachableError,
)
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import user_text
from tests.agents.remote.misbehaving import (
    EVENT_STREAM as SSE,
    Exchange,
    Script,
    Server,
    chunk,
    closing,
    gzip_bomb,
    head,
    resetting,
    serving,
    stream,
    streaming,
    unused_port,
)

pytest.importorskip("httpx", reason="the extra `http` is not installed")
CARD = {
    "name": "bot",
    "supportedInterfaces": [{"url": "http://elsewhere.example/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
    "capabilities": {"streaming": True},
}  # fmt: skip


def result(**fields: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": "1", "result": fields}


def status(state: str, text: str = "") -> dict[str, Any]:
    message = {"message": {"messageId": f"m-{state}", "parts": [{"text": text}]}} if text else {}
    return result(statusUpdate={"taskId": "t", "contextId": "c", "status": {"state": state, **message}})


WORKING = status("TASK_STATE_WORKING", "I am at it.")
DONE = status("TASK_STATE_COMPLETED", "Done.")


def server(run: Script, card: Any = None) -> Script:
    """A card at the usual place, and `run` for all that is posted to `/rpc`."""

    def answer(exchange: Exchange) -> object:
        if exchange.path == "/.well-known/agent-card.json":
            exchange.answer(CARD if card is None else card)
        elif exchange.path == "/rpc":
            return run(exchange)
        else:
            exchange.answer(b"<html>Not found</html>", "text/html", 404)
        return None

    return answer


async def _all(turn: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in turn]


def talk(url: str) -> list[Event]:
    async def main() -> list[Event]:
        loaded: Any = load_agent(f"a2a+http:{url}")
        session = Session("adk-eval-session-1", "shop", "ann")
        try:
            await loaded.open()
            return await _all(loaded.answer(user_text("hi"), session))
        finally:
            await loaded.end(session)
            await loaded.close()

    return asyncio.run(main())


def error(code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": "1", "error": {"code": code, "message": message}}


FAULTS: dict[str, tuple[Script, type[AgentError], str]] = {
    "an end before the end": (streaming(WORKING), AgentTruncatedError, "before its task was done"),
    "nothing": (streaming(), AgentTruncatedError, "before its task was done"),
    "half an event": (lambda e: e.answer(stream(WORKING)[:-3], SSE), AgentTruncatedError, "within an event"),
    "refused": (streaming(error(-32601, "Method not found")), AgentError, r"refuses the message: Method not found \(code -32601\)"),
    "refused by A2A": (streaming(error(-32004, "not supported")), AgentError, "refuses the message: not supported"),
    "an internal error": (streaming(error(-32603, "boom")), AgentRaisedError, "^boom$"),
    "an internal error in one piece": (lambda e: e.answer(error(-32603, "boom")), AgentRaisedError, "^boom$"),
    "failed": (streaming(WORKING, status("TASK_STATE_FAILED", "no model")), AgentRaisedError, "^no model$"),
    "failed without a word": (streaming(status("TASK_STATE_FAILED")), AgentRaisedError, "its task ended as failed"),
    "cancelled": (streaming(status("TASK_STATE_CANCELED")), AgentRaisedError, "canceled"),
    "an unknown state": (streaming(status("TASK_STATE_PONDERING")), AgentError, "unknown state 'pondering'"),
    "no response": (streaming({"hello": 1}), AgentError, "where a JSON-RPC response was expected"),
    "no result": (streaming(result(surprise=1)), AgentError, "where a task, a message or an update was expected"),
    "an unknown kind": (streaming({"result": {"kind": "surprise"}}), AgentError, "of the unknown kind 'surprise'"),
    "a part that does not fit": (
        streaming(result(message={"parts": [{"data": {"name": 1}, "metadata": {"adk_type": "function_call"}}]})),
        AgentError, "does not fit: function_call.name",
    ),
    "no JSON": (lambda e: e.answer(b"data: oops\n\n", SSE), AgentError, "an event that is not JSON: str 'oops'"),
    "a page": (lambda e: e.answer(b"<html>Sign in</html>", "text/html"), AgentError, "an HTML page"),
    "404": (lambda e: e.answer({"detail": "no"}, status=404), AgentError, "404"),
    "500": (lambda e: e.answer(b"oops", "text/plain", 500), AgentRaisedError, "oops"),
    "401": (lambda e: e.answer({}, status=401), AgentError, "PROCTOR_AGENT_TOKEN"),
    "429": (lambda e: e.answer({}, status=429, Retry_After="3600"), AgentUnreachableError, "429"),
    "a redirect": (lambda e: e.answer({}, status=307, Location="http://evil.example/"), AgentError, "not followed"),
    "reset": (resetting(), AgentError, "127.0.0.1"),
    "reset within": (resetting(head(200, SSE, length=999), stream(WORKING)), AgentTruncatedError, "127.0.0.1"),
    "too short": (closing(head(200, SSE, length=999), stream(WORKING)), AgentTruncatedError, "127.0.0.1"),
    "a chunk that does not end": (
        closing(head(200, SSE, Transfer_Encoding="chunked"), chunk(stream(WORKING))), AgentTruncatedError, "127.0.0.1",
    ),
    "closed": (closing(head(200, SSE), stream(WORKING)), AgentTruncatedError, "before its task was done"),
    "bad gzip": (lambda e: e.answer(b"not gzip", SSE, Content_Encoding="gzip"), AgentError, "compressed"),
    "a bomb": (lambda e: e.answer(gzip_bomb(), SSE, Content_Encoding="gzip"), AgentError, "too much"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_invalid_answer(name: str) -> None:
    run, kind, message = FAULTS[name]
    with serving(server(run)) as running, pytest.raises(AgentError, match=message) as caught:
        talk(running.url)
    assert isinstance(caught.value, kind)


CARDS: dict[str, tuple[Any, str]] = {
    "no object": ([1], "has no agent card at http://127.0.0.1:.*/.well-known/agent-card.json. Is it an A2A server"),
    "an empty one": ({}, "speaks nothing; understood are JSONRPC"),
    "another transport": ({"url": "http://x/", "preferredTransport": "GRPC"}, "speaks GRPC 0.3; understood"),
    "another version": (
        {"supportedInterfaces": [{"url": "http://x/", "protocolBinding": "JSONRPC", "protocolVersion": "2.0"}]},
        "speaks JSONRPC 2.0; understood",
    ),
    "odd capabilities": ({**CARD, "capabilities": 7}, "capabilities is int 7; expected an object"),
}  # fmt: skip


@pytest.mark.parametrize("name", CARDS)
def test_card_without_usable_content(name: str) -> None:
    card, message = CARDS[name]
    with serving(server(streaming(DONE), card)) as running, pytest.raises(AgentLoadError, match=message):
        talk(running.url)


def test_missing_card_and_refused_connection() -> None:
    lost = serving(lambda e: e.answer(b"<html></html>", "text/html", 404))
    with lost as running, pytest.raises(AgentLoadError, match="has no agent card"):
        talk(f"{running.url}/some/path")
    with pytest.raises(AgentLoadError, match="nothing listens there; is it running"):
        talk(f"http://127.0.0.1:{unused_port()}")
    with pytest.raises(AgentLoadError, match="expected via=send or via=stream"):
        talk("http://127.0.0.1:1/?via=grpc")


def test_the_card_names_the_path_and_never_the_host() -> None:
    """A card may name a host that only its own network knows, and no token of the user's goes to another host."""
    with serving(server(streaming(WORKING, DONE))) as running:
        events = talk(f"{running.url}/.well-known/agent-card.json")
        assert [(one.method, one.path) for one in running.requests][-1] == ("POST", "/rpc")
    assert [event.content.joined_text() for event in events if event.content] == ["I am at it.", "Done."]


def test_a_task_that_is_not_done_at_once_is_asked_after() -> None:
    state = {"asked": 0}

    def run(exchange: Exchange) -> None:
        method = exchange.json["method"]
        state["asked"] += method == "GetTask"
        is_done = state["asked"] == 2
        task: dict[str, Any] = {
            "id": "t",
            "contextId": "c",
            "status": {"state": "TASK_STATE_COMPLETED" if is_done else "TASK_STATE_WORKING"},
        }
        if is_done:
            task["artifacts"] = [{"artifactId": "a", "parts": [{"text": "Done."}]}]
        exchange.answer(
            {"jsonrpc": "2.0", "id": "1", "result": {"task": task} if method != "GetTask" else task}
        )

    card = {**CARD, "capabilities": {}}
    with serving(server(run, card)) as running:
        (event,) = talk(running.url)
        methods = [one.json["method"] for one in running.requests if one.method == "POST"]
    assert methods == ["SendMessage", "GetTask", "GetTask"]
    assert event.content is not None
    assert event.content.joined_text() == "Done."


@pytest.mark.parametrize("run", [lambda e: e.hang(), lambda e: e.trickle(head(200, SSE) + stream(DONE), 0.2)])
def test_a_deadline_holds_and_the_connection_is_closed(run: Script) -> None:
    async def main(running: Server) -> float:
        loaded: Any = load_agent(f"a2a+http:{running.url}")
        await loaded.open()
        began = time.perf_counter()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(_all(loaded.answer(user_text("hi"), Session("s", "a", "u"))), 0.5)
        took = time.perf_counter() - began
        await loaded.close()
        return took

    with serving(server(run)) as running:
        assert asyncio.run(main(running)) < 10  # nothing of it ends by itself
        assert running.all_closed()


def test_a_stream_that_stays_open_after_the_end_is_left() -> None:
    def run(exchange: Exchange) -> bool:
        exchange.send(head(200, SSE) + stream(DONE))
        exchange.hang()
        return False

    with serving(server(run)) as running:
        assert len(talk(running.url)) == 1
        assert running.all_closed()


@pytest.mark.nightly
@pytest.mark.parametrize("name", FAULTS)
def test_each_twenty_times(name: str) -> None:
    for _ in range(20):
        test_invalid_answer(name)


@pytest.mark.nightly
def test_endless_stream_is_stopped_by_count_and_its_task_cancelled() -> None:
    asked: list[str] = []

    def endless(exchange: Exchange) -> bool:
        asked.append(exchange.json["method"])
        if asked[-1] != "SendStreamingMessage":
            exchange.answer(result(id="t", status={"state": "TASK_STATE_CANCELED"}))
            return True
        exchange.send(head(200, SSE))
        number = 0
        while not exchange.over.is_set():
            number += 1
            message = {"messageId": f"m{number}", "parts": [{"text": f"{number}"}]}
            update = {"taskId": "t", "status": {"state": "TASK_STATE_WORKING", "message": message}}
            exchange.send(stream(result(statusUpdate=update)))
        return False

    turn = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "Hi"}]}}
    with serving(server(endless)) as running:
        found = proctor.evaluate_sync(
            f"a2a+http:{running.url}",
            {"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [turn]}]},
            config={"criteria": {"response_match_score": 1.0}},
        )
        assert running.all_closed()
    assert "more than 10000 events in one turn" in found.cases[0].reason
    assert asked == ["SendStreamingMessage", "CancelTask"]
