"""The fault catalogue (17 to 23) for agents behind HTTP: whole runs, in which one case meets the fault and others do not.

The case that meets it is a distinct error, never a failure or a pass; the others are scored as usual;
deadlines hold; no connection is left behind.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import proctor
from proctor.agents.base import Session
from proctor.agents.json_protocol import read_answer, read_body
from proctor.agents.remote.openai.chat_completions import (
    ChatCompletion,
    completion_events,
    items_for_next_request,
    read_completion,
    read_response,
)
from proctor.errors import AgentError
from proctor.schema.format.content import user_text
from tests.agents.remote.misbehaving import Exchange, Server, chunk, gzip_bomb, head, serving

pytest.importorskip("httpx", reason="the extra `http` is not installed")

SSE, JSON = "text/event-stream", "application/json"
CONFIG = {"criteria": {"response_match_score": 1.0}}
TIMEOUT = 2.0


def _sse(*objects: Any, end: bytes = b"") -> bytes:
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in objects) + end


@dataclass(frozen=True)
class Transport:
    """One way in which an agent answers."""

    agent: str
    """With `{}` for the server's URL."""
    kind: str
    """The content type of an answer."""
    reply: Callable[[str], bytes]
    """Return the body of a complete answer with a text."""
    failed: bytes
    """Return the body of an answer that reports a failure of the agent."""


def _chat(text: str) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}


def _pieces(text: str) -> bytes:
    delta = {"choices": [{"delta": {"role": "assistant", "content": text}}]}
    return _sse(delta, {"choices": [{"delta": {}, "finish_reason": "stop"}]}, end=b"data: [DONE]\n\n")


_ERROR = {"type": "error", "code": "KeyError", "message": "no city"}
TRANSPORTS = {
    "http+sse, a stream": Transport(
        "http+sse:{}/chat", SSE, lambda text: _sse({"text": text}, {"type": "done"}), _sse(_ERROR)
    ),
    "http+sse, JSON": Transport(
        "http+sse:{}/chat",
        JSON,
        lambda text: json.dumps({"text": text}).encode(),
        json.dumps(_ERROR).encode(),
    ),
    "openai+http, JSON": Transport(
        "openai+http:{}/v1?model=m",
        JSON,
        lambda text: json.dumps(_chat(text)).encode(),
        b'{"error": {"code": "KeyError", "message": "no city"}}',
    ),
    "openai+http, a stream": Transport(
        "openai+http:{}/v1?model=m&stream=true",
        SSE,
        _pieces,
        _sse({"error": {"code": "KeyError", "message": "no city"}}),
    ),
}
Fault = Callable[[Exchange, Transport], object]


def _raw(make: Callable[[Transport, bytes], bytes]) -> Fault:
    """Send bytes and end the connection."""

    def fault(exchange: Exchange, to: Transport) -> bool:
        exchange.send(make(to, to.reply("fine")))
        return False

    return fault


def _answered(body: bytes, kind: str = "", status: int = 200, **headers: str) -> Fault:
    return lambda exchange, to: exchange.answer(body, kind or to.kind, status, **headers)


def _endless(piece: bytes) -> Fault:
    def fault(exchange: Exchange, to: Transport) -> bool:
        exchange.send(head(200, to.kind))
        while not exchange.over.is_set():
            exchange.send(piece * 100)
        return False

    return fault


def _stalled(exchange: Exchange, to: Transport) -> bool:
    exchange.send(head(200, to.kind, length=99) + to.reply("fine")[:5])
    exchange.hang()
    return False


NOT, CUT, RAISED, BROKEN, LATE = "not_connected", "truncated", "raised", "broke_contract", "timed_out"
FAULTS: dict[str, tuple[Fault, str, str]] = {
    "17 reports a failure": (lambda e, to: e.answer(to.failed, to.kind), RAISED, "no city"),
    "17 fails with 500": (_answered(b'{"detail": "KeyError"}', JSON, 500), RAISED, "status 500: 'KeyError'"),
    "18 hangs": (lambda e, to: e.hang(), LATE, "no answer within the time of one turn"),
    "18 hangs in its answer": (_stalled, LATE, "no answer within the time of one turn"),
    "19 no JSON": (lambda e, to: e.answer(b"data: {'a': 1}\n\n" if to.kind == SSE else b"{'a': 1}", to.kind), BROKEN, "JSON"),
    "19 deep JSON": (
        lambda e, to: e.answer((b"data: %b\n\n" if to.kind == SSE else b"%b") % (b"[" * 100_000), to.kind),
        BROKEN,
        "nested too deep",
    ),
    "19 other JSON": (lambda e, to: e.answer(b"data: 7\n\n" if to.kind == SSE else b"7", to.kind), BROKEN, "7"),
    "19 nothing": (_answered(b"", JSON), BROKEN, "expected"),
    "19 binary": (_answered(bytes(range(256)), "application/octet-stream"), BROKEN, "octet-stream"),
    "20 endless comments": (_endless(b": x\n\n"), f"{BROKEN} {LATE}", ""),
    "20 endless blanks": (_endless(b" " * 1000), f"{BROKEN} {LATE}", ""),
    "23 reset": (lambda e, to: e.reset(), CUT, "closed the connection without an answer"),
    "23 closed": (lambda e, to: False, CUT, "closed the connection without an answer"),
    "23 reset in its answer": (
        lambda e, to: e.send(head(200, to.kind, length=999) + to.reply("fine")[:9]) and not e.over.wait(0.05) and e.reset(),
        CUT,
        "broke off in the middle",
    ),
    "23 truncated by its length": (_raw(lambda to, body: head(200, to.kind, length=len(body) + 9) + body[:-9]), CUT, "broke off"),
    "23 truncated between chunks": (
        _raw(lambda to, body: head(200, to.kind, Transfer_Encoding="chunked") + chunk(body[: len(body) // 2])),
        CUT,
        "broke off",
    ),
    "23 truncated without a length": (
        _raw(lambda to, body: head(200, to.kind) + body[: len(body) // 2]),
        f"{BROKEN} {CUT}",
        "",
    ),
    "23 slow loris": (
        lambda e, to: e.trickle(head(200, to.kind, length=500) + b" " * 500, 0.2),
        LATE,
        "no answer within the time of one turn",
    ),
    "23 bad gzip": (_answered(b"no gzip", Content_Encoding="gzip"), BROKEN, "declares a compressed answer"),
    "23 gzip bomb": (lambda e, to: e.answer(gzip_bomb(), to.kind, Content_Encoding="gzip"), BROKEN, "sends too much"),
    "23 redirect to a file": (_answered(b"", status=302, Location="file:///etc/passwd"), BROKEN, "to file:///etc/passwd"),
    "23 redirect to another host": (_answered(b"", status=307, Location="http://127.0.0.2:1/"), BROKEN, "not followed"),
    "23 a page": (_answered(b"<html>Sign in</html>", "text/html"), BROKEN, "an HTML page"),
    "23 a chunk behind the end": (
        _raw(lambda to, body: head(200, to.kind, Transfer_Encoding="chunked") + chunk(body) + chunk(b"") + chunk(body)),
        BROKEN,
        "sent more behind the end",
    ),
    "23 no HTTP": (_raw(lambda to, body: b"220 mail.example ESMTP\r\n\r\n"), BROKEN, "does not speak HTTP"),
    "23 too many requests": (_answered(b"", status=429, Retry_After="999"), NOT, "asks to wait 999 s"),
}  # fmt: skip


def _case(name: str) -> dict[str, Any]:
    turn = {
        "user_content": {"parts": [{"text": f"be {name}"}]},
        "final_response": {"parts": [{"text": "fine"}]},
    }
    return {"eval_id": name, "conversation": [turn]}


SET = {"eval_set_id": "s", "eval_cases": [_case("good-1"), _case("bad"), _case("good-2")]}


def _script(transport: Transport, fault: Fault) -> Callable[[Exchange], object]:
    def script(exchange: Exchange) -> object:
        if exchange.method == "GET":
            return exchange.answer({}, status=404)
        if b"be bad" in exchange.body:
            return fault(exchange, transport)
        return exchange.answer(transport.reply("fine"), transport.kind)

    return script


def _run(server: Server, transport: Transport) -> Any:
    agent = transport.agent.format(server.url)
    return proctor.evaluate_sync(agent, SET, config=CONFIG, timeout=TIMEOUT, concurrency=3)


def _check(transport: Transport, name: str) -> None:
    fault, kinds, message = FAULTS[name]
    with serving(_script(transport, fault)) as server:
        result = _run(server, transport)
        outcomes = {case.eval_id: case.outcome.value for case in result.cases}
        assert outcomes == {"good-1": "passed", "bad": "error", "good-2": "passed"}
        trial = next(case for case in result.cases if case.eval_id == "bad").trials[0].trial
        assert trial.failure.kind.value in kinds.split(), trial.failure
        assert message in trial.failure.message
        assert trial.duration < TIMEOUT * 1.1 + 8
        assert server.all_closed(), "a connection is left behind"


SOME = [pytest.param(to, marks=() if to == "http+sse, a stream" else pytest.mark.slow) for to in TRANSPORTS]


@pytest.mark.nightly(check=7)
@pytest.mark.slow  # it waits
@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("to", SOME)
def test_one_case_meets_a_fault(to: str, name: str) -> None:
    _check(TRANSPORTS[to], name)


@pytest.mark.nightly
@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("to", TRANSPORTS)
def test_one_case_meets_a_fault_many_times(to: str, name: str) -> None:
    for _ in range(20):
        _check(TRANSPORTS[to], name)


# --- 18: the deadline of a turn is its own ------------------------------------------------------------------------------


ENOUGH = 3.0
"""Seconds in which a busy machine answers ten at once, each of which takes half a second."""


@pytest.mark.nightly(check=1)
@pytest.mark.slow
@pytest.mark.parametrize("to", TRANSPORTS)
def test_deadlines_hold(to: str) -> None:
    """Ten hang, each in a different way, and ten others are answered.

    Each ends within a tenth of its time; a busy machine has some seconds of grace.
    """
    transport = TRANSPORTS[to]

    def script(exchange: Exchange) -> object:
        if exchange.method == "GET":
            return exchange.answer({}, status=404)
        if b"be bad" in exchange.body:
            (
                Exchange.hang(exchange)
                if exchange.number % 2
                else exchange.trickle(head(200, transport.kind) * 9, 0.1)
            )
            return False
        time.sleep(0.5)
        return exchange.answer(transport.reply("fine"), transport.kind)

    cases = [{**_case(name), "eval_id": f"{name}-{n}"} for n in range(10) for name in ("bad", "good")]
    with serving(script) as server:
        result = proctor.evaluate_sync(
            transport.agent.format(server.url),
            {"eval_set_id": "s", "eval_cases": cases},
            config=CONFIG,
            timeout=ENOUGH,
            concurrency=20,
        )
        assert server.all_closed()
    trials: dict[str, Any] = {case.eval_id: case.trials[0].trial for case in result.cases}
    assert {name: trial.failure is None for name, trial in trials.items()} == {
        name: "good" in name for name in trials
    }
    late = [trial.turns[0].duration for name, trial in trials.items() if "bad" in name]
    assert all(ENOUGH <= seconds < ENOUGH * 1.1 + 8 for seconds in late), late


# --- 19: garbage --------------------------------------------------------------------------------------------------------

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "type text tool_calls state_delta state choices message delta content role index function name arguments usage error "
                "messages finish_reason refusal prompt_tokens event id model function_call tool_call_id durations app_details".split()
            )
            | st.text(),
            inside,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@pytest.mark.slow
@pytest.mark.parametrize("count", [200, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_any_json_gives_events_or_an_error(count: int) -> None:
    @settings(max_examples=count, suppress_health_check=list(HealthCheck))
    @given(_JSON)
    def check(data: Any) -> None:
        for read in (read_answer, read_body, read_completion, _chunk, read_response, _response):
            try:
                found = read(data)
                events = (
                    list(completion_events(found))
                    if isinstance(found, ChatCompletion)
                    else list(found.events)
                )
                for event in events:
                    event.model_dump(mode="json")
            except AgentError:
                pass

    def _chunk(data: Any) -> ChatCompletion:
        completion = ChatCompletion()
        completion.add({"choices": [{"delta": data}]})
        completion.add({"choices": [data]})
        return completion

    def _response(data: Any) -> ChatCompletion:
        answer = {"output": data if isinstance(data, list) else [data]}
        found = read_response(answer)
        items_for_next_request(answer, "not run")
        return found

    check()


# --- 20: too much -------------------------------------------------------------------------------------------------------

_MEASURED = """
import json, resource, sys
import proctor
agent, eval_set = sys.argv[1], json.loads(sys.argv[2])
result = proctor.evaluate_sync(agent, eval_set, config={"criteria": {"response_match_score": 1.0}}, timeout=60)
trial = result.cases[0].trials[0].trial
try:  # the most that this process had; of a new process getrusage counts what the one before it had, too
    peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) // 1024
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024**2
print(json.dumps({"mib": peak, "outcome": result.cases[0].outcome.value, "message": trial.failure and trial.failure.message,
    "notes": trial.notes}))
"""


def _measured(agent: str) -> dict[str, Any]:
    eval_set = {"eval_set_id": "s", "eval_cases": [_case("bad")]}
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, agent, json.dumps(eval_set)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _huge(transport: Transport, size: int) -> Fault:
    def fault(exchange: Exchange, _: Transport) -> bool:
        whole = transport.reply("@")
        before, after = whole.split(b"@")
        exchange.send(head(200, transport.kind, length=size + len(whole) - 1) + before)
        for _megabyte in range(size // 1_000_000):
            exchange.send(b"x" * 1_000_000)
        return exchange.send(after)

    return fault


@pytest.mark.nightly(check=2)
@pytest.mark.slow
@pytest.mark.parametrize("to", TRANSPORTS)
@pytest.mark.parametrize(("size", "message"), [(100_000_000, "sends too much"), (20_000_000, None)])
def test_a_huge_answer_does_not_fill_the_memory(to: str, size: int, message: str | None) -> None:
    transport = TRANSPORTS[to]
    with serving(_script(transport, _huge(transport, size))) as server:
        found = _measured(transport.agent.format(server.url))
    assert found["outcome"] == "error"
    assert message is None or message in found["message"]
    assert message is not None or "20,000,000" in str(found["notes"]) + str(found["message"]), found
    assert found["mib"] < 500, found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("to", "piece", "message"),
    [
        ("http+sse, a stream", _sse({"text": "on and on"}), "more than 10000 events"),
        (
            "openai+http, a stream",
            _sse({"choices": [{"delta": {"content": "on and on " * 100}}]}),
            "sends too much",
        ),
    ],
)
def test_an_answer_without_end_is_stopped_by_what_it_has(to: str, piece: bytes, message: str) -> None:
    transport = TRANSPORTS[to]
    with serving(_script(transport, _endless(piece))) as server:
        found = _measured(transport.agent.format(server.url))
        assert server.all_closed()
    assert (found["outcome"], message in found["message"]) == ("error", True), found
    assert found["mib"] < 500, found


# --- 22: nothing of one conversation in another ---------------------------------------------------------------------------


def _echo(transport: Transport) -> Callable[[Exchange], object]:
    """Answer with the caller's name, after a time that differs from request to request."""

    def script(exchange: Exchange) -> object:
        if exchange.method == "GET":
            return exchange.answer({}, status=404)
        time.sleep((exchange.number * 7 % 10) / 500)
        body = exchange.json
        if "session" in body:
            who, turn = body["session"]["id"], body["turn"]
        else:
            users = [message["content"] for message in body["messages"] if message["role"] == "user"]
            who, turn = exchange.headers["x-session-id"], len(users) - 1
            assert len({text.split(" ")[0] for text in users}) == 1, users
        return exchange.answer(transport.reply(f"{who} {turn}"), transport.kind)

    return script


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("to", TRANSPORTS)
@pytest.mark.parametrize(
    ("conversations", "rounds"),
    [(40, 1), pytest.param(200, 1, marks=pytest.mark.slow), pytest.param(200, 20, marks=pytest.mark.nightly)],
)
def test_nothing_of_one_conversation_is_in_another(to: str, conversations: int, rounds: int) -> None:
    from proctor.agents.load import load_agent

    async def talk(agent: Any, number: int) -> list[str]:
        session = Session(f"session-{number}", "app", "user")
        texts: list[str] = []
        for turn in range(3):
            answer = agent.answer(user_text(f"{number} {turn}"), session)
            texts += [event.content.joined_text() async for event in answer]
        return texts

    async def all_at_once(agent: Any) -> list[list[str]]:
        try:
            return await asyncio.gather(*(talk(agent, number) for number in range(conversations)))
        finally:
            await agent.close()

    with serving(_echo(TRANSPORTS[to])) as server:
        for _ in range(rounds):
            texts = asyncio.run(all_at_once(load_agent(TRANSPORTS[to].agent.format(server.url))))
            assert texts == [[f"session-{n} {turn}" for turn in range(3)] for n in range(conversations)]
