"""Fault 26 of the catalogue over HTTP: what providers do wrong, how long is waited, and how many requests they see."""

from __future__ import annotations

import asyncio
import json
import random
import socket
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest

from proctor.models.base import ModelError, ModelFault, Reply
from proctor.models.load import load_model
from proctor.models.retries import Limiter, Patience, PatientModel
from tests.models.loopback import Answer, Breaks, Completion, ModelRequest, ModelServer, Status
from tests.models.model_calls import (
    MESSAGES,
    PROVIDERS,
    YES,
    ClockOfEachCall,
    FakeClock,
    ask,
    fault,
    options,
    patient,
)

pytestmark = pytest.mark.slow  # servers that hang and break

Serve = Callable[[Any], ModelServer]

TRIES = Patience().tries

every_provider = pytest.mark.parametrize("name", PROVIDERS)


# --- 429 --------------------------------------------------------------------------------------------------------------

SERVER_TIME = 1_790_000_000.0


@pytest.mark.nightly(check=4)
@every_provider
@pytest.mark.parametrize(
    ("headers", "asked"),
    [
        ({"Retry-After": "7"}, 7),
        ({"Retry-After": "0.5"}, 0.5),
        (
            {
                "Retry-After": formatdate(SERVER_TIME + 40, usegmt=True),
                "Date": formatdate(SERVER_TIME, usegmt=True),
            },
            40,
        ),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "Retry-After": "2"}, 1.5),
        ({"Retry-After": "1e9"}, 60),
        ({"Retry-After": "1000000000"}, 60),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "0"}, None),
        ({"Retry-After": "in a moment"}, None),
        ({"Retry-After": formatdate(SERVER_TIME - 90, usegmt=True)}, None),
        ({}, None),
    ],
    ids=str,
)
def test_429_is_waited_for_as_asked(
    serve: Serve, name: str, headers: dict[str, str], asked: float | None
) -> None:
    server = serve([Status(code=429, headers=headers), Completion(data=YES)])
    clock = FakeClock()
    model = patient(name, clock=clock)
    assert ask(model).structured == YES
    assert server.count == 2
    (wait,) = clock.waits
    if asked is None:
        assert 0.5 <= wait <= 1
    else:
        assert asked <= wait <= asked * 1.1
    assert model.limiter.lowest == 1


def test_retry_delay_of_gemini_is_read_from_the_body(serve: Serve) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "14s"}]
    error = {"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED", "details": details}}
    server = serve([Status(code=429, body=json.dumps(error).encode()), Completion(data=YES)])
    clock = FakeClock()
    assert ask(patient("google:gemini-2.5-flash", clock=clock)).requests == server.count == 2
    assert 14 <= clock.waits[0] <= 15.4


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("openai-chat:gpt-4.1", Status(code=429, error="insufficient_quota")),
        ("openai-responses:gpt-4.1", Status(code=429, error="insufficient_quota")),
        ("anthropic:claude-opus-4-8", Status(code=402, error="billing_error")),
        ("openai-chat:gpt-4.1", Status(code=402)),
    ],
)
def test_an_account_without_money_is_not_waited_for(serve: Serve, name: str, status: Status) -> None:
    server = serve(status)
    error = fault(patient(name))
    assert (error.fault, error.requests, server.count) == (ModelFault.QUOTA, 1, 1)


def test_429_without_end_ends_at_the_last_try(serve: Serve) -> None:
    server = serve(Status(code=429, message="slow down"))
    error = fault(patient(PROVIDERS[0], patience=Patience(timeout=1e9)))
    assert (error.fault, error.status, server.count) == (
        ModelFault.RATE_LIMITED,
        429,
        TRIES[ModelFault.RATE_LIMITED],
    )
    assert "answered 429 Too Many Requests: slow down (20 requests" in str(error)


def _many_calls(model: PatientModel, number: int) -> list[Reply | BaseException]:
    async def many() -> list[Reply | BaseException]:
        calls = (model.complete(MESSAGES, options=options()) for _ in range(number))
        return await asyncio.gather(*calls, return_exceptions=True)

    return asyncio.run(many())


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(
    ("name", "calls"),
    [
        (PROVIDERS[0], 150),
        *(pytest.param(name, 1000, marks=pytest.mark.slow) for name in (PROVIDERS[0], PROVIDERS[2])),
    ],
)
def test_all_calls_end_well_with_three_in_ten_requests_refused(serve: Serve, name: str, calls: int) -> None:
    chance = random.Random(26)
    refused = Status(code=429, headers={"Retry-After": "1"}, delay=0.01)

    def answer(asked: ModelRequest) -> Answer:
        is_refused = chance.random() < 0.3 if calls >= 1000 else asked.number % 10 in {1, 4, 7}
        return refused if is_refused else Completion(data=YES, delay=0.01)

    server = serve(answer)
    # each call has its clock, or the waits of all add up to more than one call may take
    model = patient(name, clock=ClockOfEachCall())
    replies = _many_calls(model, calls)
    assert [getattr(reply, "structured", reply) for reply in replies] == [YES] * calls
    assert server.count <= 1.5 * calls
    asked = model.traffic.requests
    assert asked == sum(reply.requests for reply in replies if isinstance(reply, Reply))
    given_up = model.traffic.faults[
        ModelFault.TIMED_OUT
    ]  # where the machine is busy, some before they were sent
    assert asked - given_up <= server.count <= asked
    assert model.limiter.lowest < 10, "fewer ran at once"


# --- what may pass ----------------------------------------------------------------------------------------------------


@pytest.mark.nightly(check=3)
@every_provider
@pytest.mark.parametrize("code", [500, 502, 503, 504, 529])
def test_a_server_that_fails_is_tried_again_by_one_layer_alone(serve: Serve, name: str, code: int) -> None:
    server = serve(
        [Status(code=code), Status(code=code, headers={"x-should-retry": "true"}), Completion(data=YES)]
    )
    clock = FakeClock()
    reply = ask(patient(name, clock=clock))
    assert (reply.structured, reply.requests, server.count) == (YES, 3, 3)
    assert 0.5 <= clock.waits[0] <= 1 <= clock.waits[1] <= 2

    server.script = Status(code=code)
    before = server.count
    error = fault(patient(name))
    assert (error.fault, error.status) == (ModelFault.UNAVAILABLE, code)
    assert server.count - before == error.requests == TRIES[ModelFault.UNAVAILABLE]


@pytest.mark.nightly(check=4)
@every_provider
@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ("reset", ModelFault.UNAVAILABLE),
        ("closed", ModelFault.UNAVAILABLE),
        ("truncated", ModelFault.UNAVAILABLE),
        ("half_json", ModelFault.BROKE_PROTOCOL),
        ("html", ModelFault.BROKE_PROTOCOL),
        ("garbage", ModelFault.BROKE_PROTOCOL),
        ("other_json", ModelFault.BROKE_PROTOCOL),
        ("nothing", ModelFault.BROKE_PROTOCOL),
    ],
)
def test_what_no_protocol_foresees(serve: Serve, name: str, how: Any, kind: ModelFault) -> None:
    server = serve([Breaks(how=how), Completion(data=YES)])
    reply = ask(patient(name))
    if (
        reply.structured is None
    ):  # Gemini's client takes any JSON, and nothing, for an answer without candidates
        assert (name, how in {"other_json", "nothing"}, reply.text, reply.usage) == (
            PROVIDERS[2],
            True,
            "",
            None,
        )
        return
    assert (reply.structured, reply.requests, server.count) == (YES, 2, 2)
    server.script = Breaks(how=how)
    error = fault(patient(name))
    assert error.fault is kind
    assert server.count - 2 == error.requests == TRIES[kind]
    assert name in str(error)
    assert "\n" not in str(error)


@pytest.mark.nightly(check=1)
@pytest.mark.slow  # it waits
@every_provider
@pytest.mark.parametrize("how", ["hangs", "trickles"])
def test_an_answer_that_does_not_come_in_time(serve: Serve, name: str, how: Any) -> None:
    asked: list[Any] = []

    def first_in_vain(request: Any) -> Breaks | Completion:
        asked.append(request)
        model.patience = Patience()  # only the first request, which is under way, is given up early
        return Completion(data=YES) if len(asked) > 1 else Breaks(how=how)

    server = serve(first_in_vain)
    model = patient(name, patience=Patience(request_timeout=1.0))
    assert ask(model).requests == server.count == 2
    server.script = Breaks(how=how)
    error = fault(patient(name, patience=Patience(request_timeout=1.0)))
    assert (error.fault, error.requests) == (ModelFault.TIMED_OUT, TRIES[ModelFault.TIMED_OUT])
    assert server.count - 2 == error.requests
    assert str(error).startswith(f"{name} did not answer within 1 s")


def _at(url: str, model: str) -> str:
    return f"openai-chat:{model}@{url}"


def test_refused_connection_is_retried(serve: Serve) -> None:
    serve(Completion(data=YES))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    error = fault(patient(_at(url, "m")))
    assert (error.fault, error.requests) == (ModelFault.UNAVAILABLE, TRIES[ModelFault.UNAVAILABLE])
    assert "cannot be reached" in str(error)


def test_the_server_speaks_no_tls(serve: Serve) -> None:
    server = serve(Completion(data=YES))
    error = fault(patient(_at(server.openai_url.replace("http:", "https:"), "m")))
    assert (error.fault, error.requests) == (ModelFault.UNAVAILABLE, TRIES[ModelFault.UNAVAILABLE])


def test_the_name_of_the_host_is_not_known(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(Completion(data=YES))

    def unknown(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(
        "socket.getaddrinfo", unknown
    )  # the one thing here that cannot be had without a network
    error = fault(patient(_at("http://models.invalid/v1", "m")))
    assert (error.fault, error.requests) == (ModelFault.UNAVAILABLE, TRIES[ModelFault.UNAVAILABLE])


# --- what will not pass -----------------------------------------------------------------------------------------------


@pytest.mark.nightly(check=3)
@every_provider
@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (400, ModelFault.REJECTED),
        (401, ModelFault.UNAUTHORIZED),
        (403, ModelFault.UNAUTHORIZED),
        (404, ModelFault.NOT_FOUND),
        (422, ModelFault.REJECTED),
    ],
)
def test_refused_call_is_not_retried_and_five_refusals_stop_all_calls(
    serve: Serve, name: str, code: int, kind: ModelFault
) -> None:
    server = serve(Status(code=code, message="it is not you, it is us"))
    model = patient(name)
    error = fault(model)
    assert (error.fault, error.status, error.requests, server.count) == (kind, code, 1, 1)
    assert "it is not you, it is us" in str(error)
    results = _many_calls(PatientModel(load_model(name), limiter=Limiter(3), clock=FakeClock()), 100)
    faults = [result.fault for result in results if isinstance(result, ModelError)]
    assert faults.count(ModelFault.GIVEN_UP) == 100 - (server.count - 1)
    assert server.count - 1 < 5 + 3
    assert (
        len(
            {str(result) for result, kind in zip(results, faults, strict=True) if kind is ModelFault.GIVEN_UP}
        )
        == 1
    )


def test_message_of_a_provider_is_reported_without_the_key(serve: Serve) -> None:
    server = serve(
        Status(
            code=401, message="Incorrect API key provided: test-key-of-openai.\nSee  the docs " + "x" * 900
        )
    )
    message = str(fault(patient(PROVIDERS[0])))
    assert "test-key-of-openai" not in message
    assert message.startswith(f"{PROVIDERS[0]} answered 401 Unauthorized: Incorrect API key provided: ***")
    assert "\n" not in message
    assert len(message) < 400
    assert server.count == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("openai-responses:gpt-4o-mimi", ". Did you mean 'gpt-4o-mini'?"),
        ("google:gemini-2.5-flsh", ". Did you mean 'gemini-2.5-flash'?"),
        ("anthropic:claude-opus-48", ". Did you mean 'claude-opus-4-8'?"),
        ("google:gemini-2.5-flash", ""),
        ("google:something-else", ""),
    ],
)
def test_unknown_model_of_a_provider_gives_a_suggestion(serve: Serve, name: str, message: str) -> None:
    serve(Status(code=404, error="NOT_FOUND", message="no such model"))
    assert str(fault(patient(name))) == f"{name} answered 404 Not Found: no such model{message}"
