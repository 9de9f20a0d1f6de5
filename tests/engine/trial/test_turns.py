"""What a turn may do to the run around it: nothing. What it reports as an error: an error."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from proctor.agents.base import Session
from proctor.engine.execution.run_control import run_sync
from proctor.engine.trial.deadlines import TrialSlot
from proctor.errors import EvalError
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Failure, FailureKind, Trial
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content, Part
from proctor.schema.results.run_result import CaseResult, Outcome
from tests.engine.scripted import Scripted, case, eval_set, run, text_of, turn


def evidence(result: CaseResult) -> Trial:
    trial = result.trials[0].trial
    assert trial is not None
    return trial


def failure(result: CaseResult) -> Failure:
    found = result.trials[0].failure
    assert found is not None
    return found


# --- errors that are reported, not raised ------------------------------------------------------------------------------


def emitting(*events: Event) -> Callable[[Session], AsyncIterator[Event]]:
    async def act(_: Session) -> AsyncIterator[Event]:
        for event in events:
            yield event

    return act


REFUSED = Event(error_code="SAFETY", error_message="blocked")


@pytest.mark.parametrize(
    "events",
    [[REFUSED], [Event.called("f"), REFUSED], [Event.said("almost"), REFUSED]],
    ids=["alone", "after a call", "after a text"],
)
def test_a_turn_that_ends_in_an_error_event_is_an_error_with_its_words(events: list[Event]) -> None:
    given = eval_set(case("bad"), case("good"))
    result = run_sync(lambda: run(Scripted({"bad": emitting(*events)}), given))
    assert [one.outcome for one in result.cases] == [Outcome.ERROR, Outcome.PASSED]
    bad = result.case("bad")
    assert bad.reason == "agent unusable answer in turn 1: SAFETY: blocked"
    assert len(evidence(bad).turns[0].events) == len(events)


@pytest.mark.parametrize(
    "events",
    [
        [REFUSED, Event.said("ok")],
        [Event.said("ok", error_code="MAX_TOKENS")],
        [Event.said("ok"), Event.changed({"done": True})],
    ],
    ids=["an answer follows", "the answer is there, cut off", "no error"],
)
def test_an_error_on_the_way_to_an_answer_is_none(events: list[Event]) -> None:
    result = run_sync(lambda: run(Scripted({"c": emitting(*events)}), eval_set(case("c"))))
    assert result.passed, result.cases


@pytest.mark.parametrize(
    ("code", "again"),
    [("RESOURCE_EXHAUSTED", True), ("UNAVAILABLE", True), ("503", True), ("SAFETY", False), ("400", False)],
)
def test_an_error_event_about_infrastructure_may_be_tried_again(code: str, again: bool) -> None:
    left = [1]

    async def flaky(_: Session) -> AsyncIterator[Event]:
        if left[0]:
            left[0] -= 1
            yield Event(error_code=code)
        else:
            yield Event.said("ok")

    result = run_sync(lambda: run(Scripted({"c": flaky}), eval_set(case("c")), retry_errors=1))
    assert result.passed is again


# --- what the agent may not change -------------------------------------------------------------------------------------


class Rewriter(Scripted):
    """Changes what it is given."""

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Repeat the message, and change it."""
        yield Event.said(text_of(message))
        for part in message.parts or []:
            part.text = "something else"
        (message.parts or []).append(Part(text="and more"))
        message.role = "nobody"
        session.state.get("list", []).append("changed")


def test_user_message_is_the_same_in_every_trial_and_in_the_evidence() -> None:
    state = {"session_input": {"app_name": "a", "user_id": "u", "state": {"list": []}}}
    given = eval_set(case("c", turn("hello", expect="hello"), turn("bye", expect="bye"), **state))
    result = run_sync(lambda: run(Rewriter(), given, num_runs=3, concurrency=1))
    assert result.passed, result.cases
    for one in result.cases[0].trials:
        assert one.trial is not None
        assert [text_of(each.user_content) for each in one.trial.turns] == ["hello", "bye"]
        assert one.trial.final_state == {"list": ["changed", "changed"]}
    conversation = given.eval_cases[0].conversation or []
    assert [text_of(each.user_content) for each in conversation] == ["hello", "bye"]


# --- time --------------------------------------------------------------------------------------------------------------


def test_an_answer_that_comes_after_the_time_is_up_does_not_count() -> None:
    async def late(_: Session) -> AsyncIterator[Event]:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            yield Event.said("ok")

    (bad,) = run_sync(lambda: run(Scripted({"c": late}), eval_set(case("c")), timeout=0.3)).cases
    assert bad.outcome is Outcome.ERROR
    assert failure(bad).kind is FailureKind.TIMED_OUT


def test_late_cancellation_of_an_agent_is_not_a_stop_from_outside() -> None:
    """Retried after its time-out, the agent raises CancelledError itself: an error of the agent; the run continues."""
    tries = [0]

    async def strange(_: Session) -> AsyncIterator[Event]:
        tries[0] += 1
        if tries[0] > 1:
            raise asyncio.CancelledError
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            yield Event.said("late")

    given = eval_set(case("c"), case("good"))
    result = run_sync(lambda: run(Scripted({"c": strange}), given, timeout=0.3, retry_errors=1))
    assert [one.outcome for one in result.cases] == [Outcome.ERROR, Outcome.PASSED]
    assert failure(result.case("c")).type == "CancelledError"


def test_tear_down_has_a_separate_time_limit() -> None:
    cleaned = []

    async def teardown(case: EvalCase) -> None:
        await asyncio.sleep(0.5)  # longer than a trial that ignores its cancellation gets
        cleaned.append(case.eval_id)

    async def hangs(_: Session) -> AsyncIterator[Event]:
        await asyncio.sleep(60)
        yield Event.said("never")

    result = run_sync(
        lambda: run(
            Scripted({"c": hangs}), eval_set(case("c")), timeout=1, trial_timeout=1.2, teardown=teardown
        )
    )
    assert cleaned == ["c"]
    assert failure(result.cases[0]).message == "no answer within the time of one turn (1 s)"


def test_what_a_trial_did_before_it_had_to_be_left_behind_is_its_evidence() -> None:
    async def stubborn(_: Session) -> AsyncIterator[Event]:
        yield Event.called("look", {"at": "this"})
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                continue

    given = eval_set(case("c", turn("first"), turn("stubborn")))
    (bad,) = run_sync(lambda: run(Scripted({"stubborn": stubborn}), given, timeout=0.3)).cases
    assert failure(bad).turn == 1
    assert [len(each.events) for each in evidence(bad).turns] == [1, 1]
    assert evidence(bad).session_id
    assert 0.3 <= evidence(bad).duration < 30


# --- the event loop ----------------------------------------------------------------------------------------------------


def test_an_agent_that_stops_the_event_loop_stops_nothing() -> None:
    async def stops(_: Session) -> AsyncIterator[Event]:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0)
        yield Event.said("ok")

    given = eval_set(*(case(f"c{n}") for n in range(3)), case("stop"))
    assert run_sync(lambda: run(Scripted({"stop": stops}), given)).passed


def test_agent_that_cancels_its_own_task_is_an_error_and_stops_no_other() -> None:
    async def cancels(_: Session) -> AsyncIterator[Event]:
        current = asyncio.current_task()
        assert current is not None
        current.cancel()
        await asyncio.sleep(0)
        yield Event.said("ok")

    given = eval_set(case("before"), case("c"), case("after"))
    result = run_sync(lambda: run(Scripted({"c": cancels}), given))
    assert [one.outcome for one in result.cases] == [Outcome.PASSED, Outcome.ERROR, Outcome.PASSED]
    assert failure(result.case("c")).type == "CancelledError"


def test_agent_that_cancels_every_task_ends_the_run_with_a_message() -> None:
    async def cancels(_: Session) -> AsyncIterator[Event]:
        for task in asyncio.all_tasks():
            task.cancel()
        await asyncio.sleep(0)
        yield Event.said("ok")

    with pytest.raises(EvalError, match="cancelled from within"):
        run_sync(lambda: run(Scripted({"c": cancels}), eval_set(case("c"), case("d"))))


def test_an_error_of_the_run_itself_is_not_taken_for_a_stopped_loop() -> None:
    async def broken() -> Any:
        raise RuntimeError("ours")

    with pytest.raises(RuntimeError, match="ours"):
        run_sync(broken)


@pytest.mark.nightly
def test_a_trial_that_is_done_is_gone_without_the_garbage_collector() -> None:
    left: list[weakref.ref[Event]] = []

    async def streamed_answer(_: Session) -> AsyncIterator[Event]:
        event = Event.said("ok")
        left.append(weakref.ref(event))
        yield event

    cases = eval_set(*(case(f"c{number}", turn("c")) for number in range(20)))
    gc.collect()
    gc.disable()
    before = count(TrialSlot)  # other tests leave trials behind on purpose
    try:
        result = run_sync(lambda: run(Scripted({"c": streamed_answer}), cases, keep_evidence="failures"))
        evidence_left = sum(one() is not None for one in left)
        assert (result.passed, len(left), evidence_left, count(TrialSlot) - before) == (True, 20, 0, 0)
        kept = count(CaseResult)
        del result
        assert count(CaseResult) == kept - 20
    finally:
        gc.enable()


def count(kind: type) -> int:
    return sum(isinstance(one, kind) for one in gc.get_objects())


def test_each_trial_has_a_separate_session() -> None:
    cases = eval_set(
        case("a"), case("b", session_input={"session_id": "mine", "app_name": "x", "user_id": "y"})
    )
    found = run_sync(lambda: run(Scripted(), cases, num_runs=3))
    ids = [one.trial.session_id for each in found.cases for one in each.trials if one.trial]
    assert len(set(ids[:3])) == 3
    assert ids[3:] == ["mine"] * 3
