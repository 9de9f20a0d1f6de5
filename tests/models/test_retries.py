"""The one layer that tries again, by a clock that does not wait: how long, how often, and when it gives up."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.models.base import Message, ModelError, ModelFault, ModelOptions, Reply
from proctor.models.retries import Limiter, Patience, PatientModel
from proctor.models.scripted import ScriptedModel
from tests.models.model_calls import MESSAGES, FakeClock, ask, fault, options

TRIED_AGAIN = (
    ModelFault.RATE_LIMITED,
    ModelFault.UNAVAILABLE,
    ModelFault.TIMED_OUT,
    ModelFault.BROKE_PROTOCOL,
)
AT_ONCE = tuple(fault for fault in ModelFault if fault not in TRIED_AGAIN)


def _fails(fault: ModelFault, after: float | None = None) -> ModelError:
    return ModelError(f"it is {fault}", fault=fault, retry_after=after)


def _patient(script: Sequence[Any], **more: Any) -> tuple[PatientModel, ScriptedModel, FakeClock]:
    model, clock = ScriptedModel(script, name="m"), FakeClock(more.pop("chances", ()))
    return PatientModel(model, clock=clock, **more), model, clock


@pytest.mark.parametrize("kind", TRIED_AGAIN)
def test_what_may_pass_is_tried_again(kind: ModelFault) -> None:
    patient, model, clock = _patient([_fails(kind), "fine"])
    reply = ask(patient)
    assert (reply.text, reply.requests, len(model.asked), len(clock.waits)) == ("fine", 2, 2, 1)
    assert reply.seconds == pytest.approx(clock.waits[0])


@pytest.mark.parametrize("kind", AT_ONCE)
def test_what_will_not_pass_is_not(kind: ModelFault) -> None:
    patient, model, clock = _patient([_fails(kind), "fine"])
    error = fault(patient)
    assert (error.fault, error.requests, len(model.asked), clock.waits) == (kind, 1, 1, [])
    assert str(error) == f"it is {kind}"


@pytest.mark.parametrize("kind", TRIED_AGAIN)
def test_there_is_a_last_time(kind: ModelFault) -> None:
    tries = Patience().tries[kind]
    patient, model, _ = _patient([_fails(kind)] * 100, patience=Patience(timeout=1e9))
    error = fault(patient)
    assert (error.fault, error.requests, len(model.asked)) == (kind, tries, tries)
    assert f"({tries} requests in " in str(error)


@pytest.mark.parametrize("chance", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("asked", [0.25, 3.0, 30.0])
def test_what_a_provider_asks_for_is_waited_and_a_tenth_more_at_most(asked: float, chance: float) -> None:
    patient, _, clock = _patient([_fails(ModelFault.RATE_LIMITED, asked), "fine"], chances=[chance])
    ask(patient)
    assert asked <= clock.waits[0] <= asked * 1.1 + 1e-9


def test_no_more_is_waited_than_the_longest_wait() -> None:
    patient, _, clock = _patient([_fails(ModelFault.RATE_LIMITED, 1e9), "fine"])
    assert ask(patient).text == "fine"
    assert 60 <= clock.waits[0] <= 66


def test_a_wait_that_is_longer_than_the_time_left_is_not_begun() -> None:
    patient, model, clock = _patient([_fails(ModelFault.RATE_LIMITED, 1e9)] * 9)
    error = fault(patient)
    assert (error.fault, error.retry_after, len(model.asked)) == (ModelFault.RATE_LIMITED, 1e9, 2)
    assert sum(clock.waits) <= 66
    assert "it asks to wait 1e+09 s (2 requests in 6" in str(error)


def test_where_none_is_asked_for_waits_double_within_their_spread() -> None:
    patient, _, clock = _patient(
        [_fails(ModelFault.UNAVAILABLE)] * 5 + ["fine"], patience=Patience(timeout=1e9)
    )
    ask(patient)
    spans = [(1 / 2, 1), (2 / 2, 2), (4 / 2, 4), (8 / 2, 8), (16 / 2, 16)]
    assert all(low <= wait <= high for wait, (low, high) in zip(clock.waits, spans, strict=True))


def test_waits_are_spread() -> None:
    waits = []
    for seed in range(50):
        patient, _, clock = _patient([_fails(ModelFault.UNAVAILABLE), "fine"], chances=[seed / 50])
        ask(patient)
        waits += clock.waits
    assert max(waits) - min(waits) > 0.4


@given(
    st.lists(st.tuples(st.sampled_from(TRIED_AGAIN), st.none() | st.floats(0.01, 1e6)), max_size=60),
    st.floats(1, 300),
)
def test_a_call_never_takes_longer_than_its_time(
    faults: list[tuple[ModelFault, float | None]], timeout: float
) -> None:
    patient, model, clock = _patient([*(_fails(kind, after) for kind, after in faults), "fine"])
    wanted = options(timeout=timeout)
    try:
        requests = ask(patient, wanted).requests
    except ModelError as error:
        requests = error.requests
    assert sum(clock.waits) <= timeout
    assert requests == len(model.asked) == patient.traffic.requests


def test_a_request_is_given_what_is_left_of_the_time() -> None:
    patient, model, _ = _patient(
        [_fails(ModelFault.RATE_LIMITED, 20), _fails(ModelFault.RATE_LIMITED, 20), "fine"],
        chances=[0, 0],
        patience=Patience(request_timeout=45),
    )
    ask(patient, options(timeout=60))
    assert [asked.options.timeout for asked in model.asked] == [45, 40, 20]


# --- giving up --------------------------------------------------------------------------------------------------------

TURNED_AWAY = (ModelFault.UNAUTHORIZED, ModelFault.NOT_FOUND, ModelFault.REJECTED, ModelFault.QUOTA)


@pytest.mark.parametrize("kind", TURNED_AWAY)
def test_no_call_is_made_after_several_consecutive_failures(kind: ModelFault) -> None:
    patient, model, _ = _patient([_fails(kind)] * 5 + ["fine"])
    assert [fault(patient).fault for _ in range(5)] == [kind] * 5
    last = [fault(patient) for _ in range(20)]
    assert {error.fault for error in last} == {ModelFault.GIVEN_UP}
    assert {str(error) for error in last} == {
        f"m is not called again: its provider rejected 5 consecutive calls, the last with: it is {kind}"
    }
    assert {error.requests for error in last} == {0}
    assert (len(model.asked), patient.traffic.requests, patient.traffic.failed) == (5, 5, 25)


def test_success_restarts_the_count_of_failures() -> None:
    bad = _fails(ModelFault.REJECTED)
    patient, model, _ = _patient([*[bad] * 4, "fine"] * 5)
    for _ in range(5):
        assert [fault(patient).fault for _ in range(4)] == [ModelFault.REJECTED] * 4
        assert ask(patient).text == "fine"
    assert len(model.asked) == 25


def test_calls_that_wait_for_their_turn_hear_of_it_too() -> None:
    patient, model, _ = _patient([_fails(ModelFault.UNAUTHORIZED)] * 100, limiter=Limiter(4))

    async def many() -> list[Any]:
        calls = [patient.complete(MESSAGES, options=options()) for _ in range(50)]
        return await asyncio.gather(*calls, return_exceptions=True)

    faults = [error.fault for error in asyncio.run(many())]
    assert len(model.asked) < 10
    assert faults.count(ModelFault.GIVEN_UP) == 50 - len(model.asked)


# --- concurrency ------------------------------------------------------------------------------------------------------


def test_fewer_run_at_once_after_too_much() -> None:
    under_way, most = 0, []

    async def model(messages: Sequence[Message], options: ModelOptions) -> Reply:
        nonlocal under_way
        under_way += 1
        most.append(under_way)
        await asyncio.sleep(0)
        over = under_way > 10
        under_way -= 1
        if over:
            raise _fails(ModelFault.RATE_LIMITED, 1)
        return Reply(text="fine")

    patience = Patience(at_first=100)
    patient = PatientModel(ScriptedModel(model), clock=FakeClock(), limiter=Limiter(100), patience=patience)

    async def many() -> list[Reply]:
        return await asyncio.gather(*(patient.complete(MESSAGES, options=options()) for _ in range(600)))

    replies = asyncio.run(many())
    assert [reply.text for reply in replies] == ["fine"] * 600
    assert most[0] == 1
    assert max(most[:200]) == 100
    assert max(most[-200:]) < 25
    assert patient.limiter.lowest < 10


def test_the_time_of_a_call_does_not_run_while_it_waits_for_its_turn() -> None:
    clock = FakeClock()

    async def model(messages: Sequence[Message], options: ModelOptions) -> Reply:
        await clock.sleep(50)
        return Reply(text="fine")

    patient = PatientModel(ScriptedModel(model), clock=clock, limiter=Limiter(1))

    async def many() -> list[Reply]:
        return await asyncio.gather(*(patient.complete(MESSAGES, options=options()) for _ in range(10)))

    assert [reply.seconds for reply in asyncio.run(many())] == [50] * 10
    assert clock.now() == 1500


def test_until_there_is_a_first_reply_few_are_asked_at_once() -> None:
    under_way, most, replies = 0, [], 0

    async def model(messages: Sequence[Message], options: ModelOptions) -> Reply:
        nonlocal under_way, replies
        under_way += 1
        most.append((replies > 0, under_way))
        for _ in range(5):
            await asyncio.sleep(0)
        under_way -= 1
        replies += 1
        return Reply(text="fine")

    patient = PatientModel(ScriptedModel(model), clock=FakeClock())

    async def many() -> list[Reply]:
        return await asyncio.gather(*(patient.complete(MESSAGES, options=options()) for _ in range(400)))

    assert len(asyncio.run(many())) == 400
    assert max(at_once for is_proven, at_once in most if not is_proven) == 20
    assert max(at_once for _, at_once in most) == 200


# --- foreign models ------------------------------------------------------------------------------------------


class _Bad:
    name, has_schemas = "bad", True

    def __init__(self, does: Any) -> None:
        self.does = does

    async def complete(self, messages: Sequence[Message], *, options: ModelOptions) -> Reply:
        return await self.does()  # type: ignore[no-any-return]  # any value


async def _raises() -> Any:
    raise RuntimeError("broken")


async def _hangs() -> Any:
    await asyncio.sleep(60)


def test_any_exception_of_a_model_is_a_fault() -> None:
    error = fault(PatientModel(_Bad(_raises), clock=FakeClock()))
    assert (error.fault, str(error)) == (ModelFault.RAISED, "bad raised RuntimeError: broken")


def test_a_model_that_keeps_no_time_is_held_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.models.function._GRACE", 0.0)
    patience = Patience(tries={ModelFault.TIMED_OUT: 1})
    error = fault(PatientModel(_Bad(_hangs), clock=FakeClock(), patience=patience), options(timeout=0.05))
    assert (error.fault, str(error)) == (ModelFault.TIMED_OUT, "bad did not answer within 0.05 s")
