"""Limits and requests to stop: no new trial begins, a running one may finish, the rest is reported as not run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import pytest

from proctor.agents.base import Session
from proctor.engine.execution.run_control import NoProgress, StopRequest, run_sync
from proctor.engine.run_options import RunOptions
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content, UsageMetadata
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult
from tests.engine.scripted import TEXT, Scripted, case, eval_set, run, text_of

CASES = [case(f"c{number}") for number in range(20)]


class Spender(Scripted):
    """Answer at once, and report 10 tokens a turn."""

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        event = Event.said("wrong" if text_of(message) in ("c3", "c5") else "ok")
        event.usage_metadata = UsageMetadata(total_token_count=10)
        yield event


class Slow(Scripted):
    """Takes a while for every answer but the first `at_once`, and counts what it began and ended.

    `then` is called when so many are under way as there may be at once.
    """

    def __init__(self, seconds: float, *, at_once: int = 0, then: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.seconds, self.at_once, self.then, self.began, self.ended = seconds, at_once, then, 0, 0

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        self.began += 1
        if self.began == 4:
            self.then()
        await asyncio.sleep(self.seconds if self.began > self.at_once else 0)
        self.ended += 1
        yield Event.said("ok")


def outcomes(result: RunResult) -> dict[Outcome, int]:
    return result.counts


@pytest.mark.parametrize(
    ("limits", "done", "why"),
    [
        pytest.param({"max_failures": 1}, 4, "max_failures", id="the first failure"),
        pytest.param({"max_failures": 2}, 6, "max_failures", id="the second failure"),
        pytest.param({"fail_fast": True}, 4, "fail_fast", id="fail fast"),
        pytest.param({"max_tokens": 10}, 1, "max_tokens", id="ten tokens"),
        pytest.param(
            {"max_tokens": 95}, 10, "max_tokens", id="ninety-five tokens: the tenth trial passes them"
        ),
        pytest.param({"max_tokens": 10_000}, 20, "", id="a limit that is not reached"),
        pytest.param({"max_failures": 3}, 20, "", id="fewer failures than allowed"),
    ],
)
def test_a_limit_ends_the_run_in_order(limits: dict[str, Any], done: int, why: str) -> None:
    result = run_sync(lambda: run(Spender(), eval_set(*CASES), TEXT, concurrency=1, **limits))
    assert len(result.cases) == 20
    assert sum(case.outcome is not Outcome.NOT_RUN for case in result.cases) == done
    assert result.stopped_by.startswith(why)
    assert bool(result.stopped_by) == bool(why)
    assert not result.interrupted
    assert not result.passed


class Listening(NoProgress):
    """Hears what cannot wait for the report."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def warned(self, text: str) -> None:
        self.heard.append(text)


def _using(*counts: dict[str, int]) -> Callable[[Session], AsyncIterator[Event]]:
    async def answer(_: Session) -> AsyncIterator[Event]:
        for count in counts:
            yield Event.said("ok", usage_metadata=count)
        yield Event.said("ok")

    return answer


BLIND = "max_tokens: the agent reports no token usage (`usage_metadata`), so that this limit cannot act"
USAGES: dict[str, tuple[dict[str, Callable[[Session], AsyncIterator[Event]]], list[str], list[str]]] = {
    "none": ({}, [BLIND], [BLIND]),
    "all": ({name: _using({"total_token_count": 1}) for name in ("c0", "c1", "c2")}, [], []),
    "without a total": (
        {name: _using({"prompt_token_count": 1, "candidates_token_count": 1}) for name in ("c0", "c1", "c2")},
        [],
        [],
    ),
    "one does not": (
        {name: _using({"total_token_count": 1}) for name in ("c0", "c1")},
        [],
        [
            "max_tokens: 1 of 3 trials reported no token usage (`usage_metadata`): what they used is not in the limit"
        ],
    ),
}


@pytest.mark.parametrize(("script", "heard", "warnings"), USAGES.values(), ids=USAGES)
def test_token_limit_without_reported_usage_is_a_warning(
    script: dict[str, Callable[[Session], AsyncIterator[Event]]], heard: list[str], warnings: list[str]
) -> None:
    listening, cases = Listening(), eval_set(case("c0"), case("c1"), case("c2"))
    limits: dict[str, Any] = {"max_tokens": 100, "concurrency": 1}
    result = run_sync(lambda: run(Scripted(script), cases, TEXT, progress=listening, **limits))
    assert (listening.heard, result.warnings, result.stopped_by) == (heard, warnings, "")
    assert run_sync(lambda: run(Scripted(), cases, TEXT)).warnings == []


def test_a_warning_that_cannot_wait_is_logged_where_no_progress_receives_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    run_sync(lambda: run(Scripted(), eval_set(case("c0")), TEXT, max_tokens=100))
    assert [(one.name, one.levelname, one.message) for one in caplog.records] == [
        ("proctor", "WARNING", BLIND)
    ]


def test_token_limit_adds_the_parts_of_a_usage_without_a_total() -> None:
    script = {f"c{n}": _using({"prompt_token_count": 4, "thoughts_token_count": 2}) for n in range(9)}
    cases = eval_set(*map(case, script))
    result = run_sync(lambda: run(Scripted(script), cases, TEXT, max_tokens=12, concurrency=1))
    assert result.stopped_by == "max_tokens: the agent has used 12 of 12 tokens"
    assert result.counts[Outcome.NOT_RUN] == 7


def test_after_so_much_time_no_trial_begins_and_those_under_way_finish() -> None:
    agent = Slow(1.5, at_once=4)
    result = run_sync(lambda: run(agent, eval_set(*CASES), TEXT, concurrency=4, max_time=1))
    assert agent.began == agent.ended == 8
    assert outcomes(result) == {Outcome.PASSED: 8, Outcome.NOT_RUN: 12}
    assert result.stopped_by == "max_time: 1 s are over"
    assert result.exit_code == 3


@pytest.mark.parametrize(
    ("seconds", "drain", "finished"),
    [pytest.param(0.4, 60.0, 4, id="given the time"), pytest.param(3600, 0.05, 0, id="cut short")],
)
def test_a_request_to_stop_lets_what_is_under_way_finish(seconds: float, drain: float, finished: int) -> None:
    stop = StopRequest()
    agent = Slow(seconds, then=lambda: in_a_thread(partial(stop, "interrupted", drain=drain)))
    result = run_sync(lambda: run(agent, eval_set(*CASES), TEXT, concurrency=4, stop=stop))
    assert result.interrupted
    assert result.stopped_by == "interrupted"
    assert outcomes(result).get(Outcome.PASSED, 0) == finished
    assert agent.began == 4


def in_a_thread(call: Callable[[], object]) -> None:
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


def test_a_request_before_the_run_begins_runs_nothing() -> None:
    stop = StopRequest()
    stop("changed my mind")
    stop("once more")
    agent = Slow(0.01)
    result = run_sync(lambda: run(agent, eval_set(*CASES), TEXT, concurrency=1, stop=stop))
    assert result.stopped_by == "changed my mind"
    assert agent.began == 0
    assert outcomes(result) == {Outcome.NOT_RUN: 20}


@pytest.mark.parametrize(
    ("option", "value"),
    [("max_failures", 0), ("max_failures", 1.5), ("max_tokens", -1), ("max_time", 0), ("max_time", "soon")],
)
def test_a_limit_that_cannot_be_is_refused(option: str, value: Any) -> None:
    (problem,) = RunOptions(**{option: value}).problems()
    assert str(problem).startswith(f"{option} must be")
    assert repr(value) in str(problem)


def test_stop_of_a_limited_run_does_not_wait_for_a_hanging_trial() -> None:
    class Stuck(Scripted):
        async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
            if text_of(message) != "c0":
                await asyncio.sleep(3600)
            yield Event.said("wrong")

    class Watch(NoProgress):
        def case_finished(self, result: CaseResult) -> None:  # a moment later the limit has stopped the run
            asyncio.get_running_loop().call_later(0.1, partial(stop, "enough", drain=0.1))

    stop = StopRequest()
    result = run_sync(
        lambda: run(
            Stuck(), eval_set(*CASES), TEXT, concurrency=4, max_failures=1, stop=stop, progress=Watch()
        )
    )
    assert result.interrupted
    assert result.stopped_by.startswith("max_failures")
    assert outcomes(result) == {Outcome.FAILED: 1, Outcome.NOT_RUN: 19}
