"""Models on Bedrock, by its Converse API at a local server: its client makes blocking calls, in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from proctor.models.base import Finish, ModelFault, Usage
from proctor.models.load import load_model
from proctor.models.retries import Patience
from tests.models.loopback import Breaks, Completion, ModelServer, Status
from tests.models.model_calls import MESSAGES, YES, FakeClock, ask, fault, options, patient

pytestmark = pytest.mark.slow  # loads boto3

Serve = Callable[[Any], ModelServer]

NAME = "bedrock:us.amazon.nova-pro-v1:0"
TRIES = Patience().tries


@pytest.mark.parametrize("name", [NAME, "bedrock:us.anthropic.claude-opus-4-8-v1:0"])
def test_an_answer(serve: Serve, name: str) -> None:
    server = serve(Completion(data=YES, tokens=(120, 30)))
    reply = ask(load_model(name))
    assert (reply.structured, reply.finish, reply.requests) == (YES, Finish.STOP, 1)
    assert reply.usage == Usage(input_tokens=120, output_tokens=30)
    asked = server.requests[0]
    assert (asked.model, asked.text) == (name.partition(":")[2], "You judge.\nIs it so?")
    assert asked.headers["authorization"] == "Bearer test-key-of-bedrock"
    assert asked.body["inferenceConfig"]["maxTokens"] == 8192
    assert asked.schema is not None
    assert asked.schema["properties"]["verdict"]["enum"] == ["yes", "no"]


@pytest.mark.parametrize(
    ("completion", "finish"),
    [
        (Completion(finish="length", text='{"verd'), Finish.LENGTH),
        (Completion(finish="content_filter"), Finish.CONTENT_FILTER),
        (Completion(finish="blocked"), Finish.CONTENT_FILTER),
        (Completion(), Finish.STOP),
    ],
)
def test_each_finish_reason_is_distinguished(serve: Serve, completion: Completion, finish: Finish) -> None:
    serve(completion)
    reply = ask(load_model(NAME))
    assert (reply.finish, reply.structured, reply.text) == (finish, None, completion.text)


@pytest.mark.parametrize(
    ("answer", "kind", "requests"),
    [
        (
            Status(code=429, error="ThrottlingException"),
            ModelFault.RATE_LIMITED,
            TRIES[ModelFault.RATE_LIMITED],
        ),
        (
            Status(code=503, error="ServiceUnavailableException"),
            ModelFault.UNAVAILABLE,
            TRIES[ModelFault.UNAVAILABLE],
        ),
        (
            Status(code=500, error="InternalServerException"),
            ModelFault.UNAVAILABLE,
            TRIES[ModelFault.UNAVAILABLE],
        ),
        (Breaks(how="closed"), ModelFault.UNAVAILABLE, TRIES[ModelFault.UNAVAILABLE]),
        (Breaks(how="reset"), ModelFault.UNAVAILABLE, TRIES[ModelFault.UNAVAILABLE]),
        (Status(code=400, error="ValidationException"), ModelFault.REJECTED, 1),
        (Status(code=403, error="AccessDeniedException"), ModelFault.UNAUTHORIZED, 1),
        (Status(code=404, error="ResourceNotFoundException"), ModelFault.NOT_FOUND, 1),
    ],
    ids=str,
)
def test_its_client_does_not_try_again_by_itself(
    serve: Serve, answer: Any, kind: ModelFault, requests: int
) -> None:
    server = serve(answer)
    error = fault(patient(NAME, patience=Patience(timeout=1e9)))
    assert (error.fault, error.requests, server.count) == (kind, requests, requests)


def test_what_it_asks_to_wait_is_waited(serve: Serve) -> None:
    serve([Status(code=429, error="ThrottlingException", headers={"Retry-After": "9"}), Completion(data=YES)])
    clock = FakeClock()
    assert ask(patient(NAME, clock=clock)).structured == YES
    assert 9 <= clock.waits[0] <= 9.9


def test_calls_run_at_once(serve: Serve) -> None:
    server = serve(Completion(data=YES, delay=0.1))
    model = load_model(NAME)

    async def many() -> list[Any]:
        return await asyncio.gather(*(model.complete(MESSAGES, options=options()) for _ in range(40)))

    assert [reply.structured for reply in asyncio.run(many())] == [YES] * 40
    assert server.most_at_once > 5
