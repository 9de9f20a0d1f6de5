"""`adk+http:` against servers that misbehave, and servers of other languages that answer in other ways."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
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
    unused_port,
)

pytest.importorskip("httpx", reason="the extra `http` is not installed")
ANSWER = {"author": "bot", "content": {"role": "model", "parts": [{"text": "Hi"}]}}
CALLED = {"author": "bot", "content": {"parts": [{"functionCall": {"name": "f", "args": {}}}]}}


def server(run: Script, **ways: Any) -> Script:
    """Answer as an ADK server does, but for the turn, which is answered by `run`, and paths that are named in `ways`."""
    made: dict[str, Any] = {}

    def answer(exchange: Exchange) -> object:
        path = exchange.path
        if path == "/list-apps":
            exchange.answer(ways.get("apps", ["app"]))
        elif path.startswith("/run"):
            return run(exchange)
        elif exchange.method == "POST":
            make = ways.get("make", lambda body, _path: (body["sessionId"], body["state"]))
            if (created := make(exchange.json, path)) is None:
                exchange.answer({"detail": "no"}, status=404)
            else:
                made.update(id=created[0], state=created[1])
                exchange.answer(made)
        elif exchange.method == "DELETE":
            exchange.answer(b"null")
        else:
            exchange.answer(made, status=200 if made else 404)
        return None

    return answer


async def _all(turn: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in turn]


def talk(url: str, **given: Any) -> tuple[list[Event], dict[str, Any]]:
    async def main() -> tuple[list[Event], dict[str, Any]]:
        loaded: Any = load_agent(f"adk+http:{url}")
        session = Session(**{"id": "s-1", "app_name": "shop", "user_id": "ann", **given})
        try:
            await loaded.open()
            await loaded.begin(session, None)
            events = [event async for event in loaded.answer(user_text("hi"), session)]
            return events, await loaded.final_state(session)
        finally:
            await loaded.end(session)
            await loaded.close()

    return asyncio.run(main())


FAULTS: dict[str, tuple[Script, type[AgentError], str]] = {
    "an error in the stream": (
        lambda e: e.answer(stream({"error": "KeyError: 'x'", "error_details": {"error_type": "KeyError", "error_message": "'x'"}}), SSE),
        AgentRaisedError, "^'x'$",
    ),
    "an error without details": (lambda e: e.answer(stream(ANSWER, {"error": "no model"}), SSE), AgentRaisedError, "^no model$"),
    "no JSON": (lambda e: e.answer(b"data: oops\n\n", SSE), AgentError, "an event that is not JSON: str 'oops'"),
    "no object": (lambda e: e.answer(stream([1]), SSE), AgentError, "where an event was expected"),
    "no event": (lambda e: e.answer(stream({"author": "bot", "content": 7}), SSE), AgentError, "does not fit: content"),
    "no list": (lambda e: e.answer({"a": 1}), AgentError, "where a list of events was expected"),
    "a page": (lambda e: e.answer(b"<html>Sign in</html>", "text/html"), AgentError, "an HTML page"),
    "404": (lambda e: e.answer({"detail": "Session not found: s-1"}, status=404), AgentError, "404: .*Session not found"),
    "500": (lambda e: e.answer(b"Internal Server Error", "text/plain", 500), AgentRaisedError, "Internal Server Error"),
    "401": (lambda e: e.answer({"detail": "who?"}, status=401), AgentError, "PROCTOR_AGENT_TOKEN"),
    "a redirect": (lambda e: e.answer({}, status=307, Location="http://evil.example/run"), AgentError, "not followed"),
    "reset": (resetting(), AgentError, "127.0.0.1"),
    "reset within": (resetting(head(200, SSE, length=999), stream(ANSWER)), AgentTruncatedError, "127.0.0.1"),
    "too short": (closing(head(200, SSE, length=999), stream(ANSWER)), AgentTruncatedError, "127.0.0.1"),
    "a chunk that does not end": (
        closing(head(200, SSE, Transfer_Encoding="chunked"), chunk(stream(ANSWER))), AgentTruncatedError, "127.0.0.1",
    ),
    "closed before anything": (closing(head(200, SSE)), AgentTruncatedError, "before it answered"),
    "closed after a call": (closing(head(200, SSE), stream(CALLED)), AgentTruncatedError, "within an answer"),
    "closed after a piece": (
        closing(head(200, SSE), stream({**ANSWER, "partial": True})), AgentTruncatedError, "within an answer",
    ),
    "bad gzip": (lambda e: e.answer(b"not gzip", SSE, Content_Encoding="gzip"), AgentError, "compressed"),
    "a bomb": (lambda e: e.answer(gzip_bomb(), SSE, Content_Encoding="gzip"), AgentError, "too much"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_invalid_answer(name: str) -> None:
    run, kind, message = FAULTS[name]
    with serving(server(run)) as running, pytest.raises(AgentError, match=message) as caught:
        talk(f"{running.url}/app")
    assert isinstance(caught.value, kind)


def test_too_many_requests_is_infrastructure() -> None:
    busy = server(lambda e: e.answer({}, status=429, Retry_After="3600"))
    with serving(busy) as running, pytest.raises(AgentUnreachableError):
        talk(f"{running.url}/app")


def test_refused_connection_is_a_configuration_error() -> None:
    with pytest.raises(AgentLoadError, match="nothing listens there; is it running"):
        talk(f"http://127.0.0.1:{unused_port()}/app")


def test_server_without_the_adk_protocol() -> None:
    with serving(lambda e: e.answer(b"<html></html>", "text/html")) as running:
        with pytest.raises(AgentLoadError, match=r"list-apps does not name its apps. Is it an ADK server\?"):
            talk(running.url)
        with pytest.raises(AgentError, match="an HTML page"):
            talk(f"{running.url}/app")


@pytest.mark.parametrize(
    "run", [lambda e: e.hang(), lambda e: e.trickle(head(200, SSE) + stream(ANSWER), 0.2)]
)
def test_a_deadline_holds_and_the_connection_is_closed(run: Script) -> None:
    async def main(running: Server) -> float:
        loaded: Any = load_agent(f"adk+http:{running.url}/app")
        await loaded.open()
        session = Session("s", "a", "u")
        began = time.perf_counter()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(_all(loaded.answer(user_text("hi"), session)), 0.5)
        took = time.perf_counter() - began
        await loaded.close()
        return took

    with serving(server(run)) as running:
        assert asyncio.run(main(running)) < 10  # nothing of it ends by itself
        assert running.all_closed()


def test_what_google_adk_s_server_was_recorded_to_answer(shared: Path) -> None:
    """Every recorded turn: its calls and texts, or its error."""
    vectors = json.loads((shared / "golden" / "rest.json").read_text(encoding="utf-8"))["vectors"]
    turns = [one for one in vectors if one["request"]["path"] in ("/run", "/run_sse")]
    outcomes = []
    for one in turns:
        response, via = one["response"], one["request"]["path"].removeprefix("/")
        body = response["body"]
        given = stream(*body) if response["content_type"] == SSE else body
        given = given.encode() if isinstance(given, str) else given
        given = json.loads(json.dumps(body).replace('"<time>"', "1.5")) if given is body else given
        timed = given.replace(b'"<time>"', b"1.5") if isinstance(given, bytes) else given
        answer = server(lambda e, r=response, b=timed: e.answer(b, r["content_type"], r["status"]))  # type: ignore[misc]  # bound now
        with serving(answer) as running:
            try:
                events, _ = talk(f"{running.url}/app?via={via}")
                outcomes.append(_summary(events))
            except AgentError as error:
                outcomes.append(f"{type(error).__name__} {getattr(error, 'type', '')}".strip())
    assert outcomes == [
        "Hello there.",
        "get_weather() Sunny in Paris.",
        "AgentError",
        "AgentRaisedError 500",
        "get_weather() Sunny in Paris.",
        "AgentRaisedError RuntimeError",
    ]


def _summary(events: list[Event]) -> str:
    parts = [part for event in events for part in (event.content and event.content.parts) or ()]
    return " ".join(f"{part.function_call.name}()" if part.function_call else part.text or "" for part in parts if not part.function_response)  # fmt: skip


# --- servers of other languages ---------------------------------------------------------------------------------------


def in_the_path_only(body: Any, path: str) -> tuple[str, Any] | None:
    """As servers that make a session by its path, from its state alone."""
    return ("s-1", body) if path.endswith("/s-1") else None


def in_the_path_wrapped(body: Any, path: str) -> tuple[str, Any] | None:
    return ("s-1", body.get("state", {})) if path.endswith("/s-1") else None


def other_session_id(body: Any, path: str) -> tuple[str, Any]:
    """As servers that do not know `sessionId`."""
    return ("s-1", body) if path.endswith("/s-1") else ("4711", body.get("state"))


def whole_body_is_state(body: Any, path: str) -> tuple[str, Any]:
    """As older servers, for which the whole body is the state."""
    return "s-1", body


@pytest.mark.parametrize(
    "make", [in_the_path_only, in_the_path_wrapped, other_session_id, whole_body_is_state]
)
def test_sessions_are_made_as_the_server_understands_it(make: Any) -> None:
    with serving(server(lambda e: e.answer(stream(ANSWER), SSE), make=make)) as running:
        events, state = talk(f"{running.url}/app", state={"n": 1, "temp:t": 2})
        assert state["n"] == 1
    assert [event.content.joined_text() for event in events if event.content] == ["Hi"]
    made = [one for one in running.requests if one.method == "POST" and "sessions" in one.path]
    gone = [one for one in running.requests if one.method == "DELETE"]
    assert len(gone) >= 1
    assert len(made) <= 3


def test_server_without_state_is_reported() -> None:
    forgetful = server(lambda e: e.answer(stream(ANSWER), SSE), make=lambda body, path: ("s-1", {}))
    with serving(forgetful) as running:
        with pytest.raises(AgentError, match="made no session 's-1' with the state of the case"):
            talk(f"{running.url}/app", state={"n": 1})
        assert talk(f"{running.url}/app")[1] == {}


def test_apps_in_detail_and_a_list_of_events() -> None:
    """`list-apps` as objects; `run_sse` that answers with a list."""
    plain = server(lambda e: e.answer([ANSWER]), apps={"apps": [{"name": "app"}]})
    with serving(plain) as running:
        events, _ = talk(running.url)
    assert len(events) == 1


def test_what_goes_out() -> None:
    with serving(server(lambda e: e.answer(stream(ANSWER), SSE))) as running:
        talk(f"{running.url}/app", user_id="a/b", state={"n": 1})
    lists, info_or_session, *rest = [(one.method, one.path) for one in running.requests]
    assert lists == ("GET", "/list-apps")
    assert info_or_session == ("POST", "/apps/app/users/a%2Fb/sessions")
    assert rest == [
        ("POST", "/run_sse"),
        ("GET", "/apps/app/users/a%2Fb/sessions/s-1"),
        ("DELETE", "/apps/app/users/a%2Fb/sessions/s-1"),
    ]
    turn = running.requests[2].json
    assert turn == {
        "appName": "app",
        "userId": "a/b",
        "sessionId": "s-1",
        "newMessage": {"role": "user", "parts": [{"text": "hi"}]},
        "streaming": False,
    }


# --- whole runs ------------------------------------------------------------------------------------------------------


def evaluate(url: str, *cases: dict[str, Any], **options: Any) -> Any:
    return proctor.evaluate_sync(
        f"adk+http:{url}/app",
        {"eval_set_id": "s", "eval_cases": list(cases)},
        config={"criteria": {"response_match_score": 1.0}},
        **options,
    )


def case(eval_id: str, answer: str = "Hi", **more: Any) -> dict[str, Any]:
    turn = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": answer}]}}
    return {"eval_id": eval_id, "conversation": [turn], **more}


@pytest.mark.nightly
def test_a_stream_without_an_end_is_stopped_by_count_and_by_time() -> None:
    def endless(exchange: Exchange) -> bool:
        exchange.send(head(200, SSE))
        while not exchange.over.is_set():
            exchange.send(stream(*[{**ANSWER, "partial": True}] * 200))
        return False

    def slow(exchange: Exchange) -> bool:
        exchange.send(head(200, SSE))
        exchange.trickle(stream(ANSWER) * 1000, 0.05)
        return False

    with serving(server(endless)) as running:
        (found,) = evaluate(running.url, case("c")).cases
        assert "more than 10000 events in one turn" in found.reason
        assert running.all_closed()
    with serving(server(slow)) as running:
        (found,) = evaluate(running.url, case("c"), timeout=0.5).cases
        assert "timed out" in found.reason
        assert running.all_closed()


def test_answer_of_many_megabytes_is_cut_with_a_note() -> None:
    large = {"author": "bot", "content": {"parts": [{"text": "x" * 3_000_000}]}}
    with serving(server(lambda e: e.answer(stream(large), SSE))) as running:
        (found,) = evaluate(running.url, case("c")).cases
    assert found.outcome.value == "error"
    assert "cut" in found.reason


@pytest.mark.nightly
@pytest.mark.slow
def test_two_hundred_at_once_see_their_own_session() -> None:
    """The server answers with the state of the session that it is asked about."""
    kept: dict[str, Any] = {}

    def app(exchange: Exchange) -> None:
        name = exchange.path.rpartition("/")[2]
        if exchange.path == "/list-apps":
            exchange.answer(["app"])
        elif exchange.path == "/run_sse":
            state = kept[exchange.json["sessionId"]]
            time.sleep(0.005)
            answer = {"author": "bot", "content": {"parts": [{"text": f"n is {state['n']}"}]}}
            exchange.answer(stream(answer), SSE)
        elif exchange.method == "POST":
            kept[exchange.json["sessionId"]] = exchange.json["state"]
            exchange.answer({"id": exchange.json["sessionId"], "state": exchange.json["state"]})
        elif exchange.method == "DELETE":
            exchange.answer(kept.pop(name) and b"null")
        else:
            exchange.answer({"id": name, "state": kept.get(name, {})}, status=200 if name in kept else 404)

    cases = [
        case(f"c{n}", f"n is {n}", session_input={"app_name": "a", "user_id": "u", "state": {"n": n}})
        for n in range(200)
    ]
    with serving(app) as running:
        found = evaluate(running.url, *cases, concurrency=50)
    assert found.passed, [one.reason for one in found.cases if not one.passed][:3]
    assert [one.trials[0].trial.final_state for one in found.cases] == [{"n": n} for n in range(200)]
    assert kept == {}


@pytest.mark.nightly
@pytest.mark.parametrize("name", FAULTS)
def test_each_twenty_times(name: str) -> None:
    for _ in range(20):
        test_invalid_answer(name)
