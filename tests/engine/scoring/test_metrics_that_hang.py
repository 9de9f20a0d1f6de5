"""A metric that exceeds its time limit is an error of that metric: the evidence and the other scores stay."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

import proctor
from proctor.agents.base import Session
from proctor.common.registry import METRICS
from proctor.engine.execution.run_control import run_sync
from proctor.errors import MetricError
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import FailureKind
from proctor.schema.format.config import EvalConfig
from proctor.schema.results.run_result import CaseResult, Outcome
from tests.engine.scripted import Scripted, case, eval_set, run, turn

NAME = "metric_under_test"


async def never(actual: Any, expected: Any) -> float:
    await asyncio.Event().wait()
    return 1.0


async def answers_when_cancelled(actual: Any, expected: Any) -> float:
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    return 1.0


async def ignores_cancellation(actual: Any, expected: Any) -> float:
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            continue


def blocks(actual: Any, expected: Any) -> float:
    time.sleep(60)
    return 1.0


HANGING: list[Callable[..., Any]] = [never, answers_when_cancelled, ignores_cancellation, blocks]


@pytest.fixture
def judged_by() -> Iterator[Callable[[Callable[..., Any]], EvalConfig]]:
    """Put a function between two metrics that work."""

    def config(function: Callable[..., Any]) -> EvalConfig:
        proctor.metric(NAME, threshold=0.5)(function)
        return EvalConfig(criteria={"tool_trajectory_avg_score": 1.0, NAME: 0.5, "response_match_score": 0.8})

    yield config
    METRICS.remove(NAME)


@pytest.mark.parametrize("hanging", HANGING, ids=lambda f: f.__name__)
def test_it_is_an_error_of_that_metric_alone(
    judged_by: Callable[..., EvalConfig], hanging: Callable[..., Awaitable[float]]
) -> None:
    given = eval_set(case("a", turn("a")), case("b", turn("b")))
    result = run_sync(lambda: run(Scripted(), given, judged_by(hanging), timeout=0.3))
    assert [one.outcome for one in result.cases] == [Outcome.ERROR, Outcome.ERROR]
    for one in result.cases:
        check(one)


def check(one: CaseResult) -> None:
    assert one.reason.startswith(f"{NAME}: metric timed out: ")
    assert "(0.3 s)" in one.reason
    assert one.metrics["tool_trajectory_avg_score"].score == 1.0
    trial = one.trials[0].trial
    assert trial is not None
    assert (trial.failure, len(trial.turns)) == (None, 1)
    failure = one.metrics[NAME].failure
    assert failure is not None
    assert (failure.where, failure.kind) == ("metric", FailureKind.TIMED_OUT)


def test_the_metrics_after_it_are_scored(judged_by: Callable[..., EvalConfig]) -> None:
    result = run_sync(lambda: run(Scripted(), eval_set(case("a")), judged_by(never), timeout=0.3))
    assert result.cases[0].metrics["response_match_score"].score == 1.0


def test_metric_that_cancels_its_own_task_stops_no_other(judged_by: Callable[..., EvalConfig]) -> None:
    async def cancels(actual: Any, expected: Any) -> float:
        current = asyncio.current_task()
        assert current is not None
        current.cancel()
        await asyncio.sleep(0)
        return 1.0

    result = run_sync(lambda: run(Scripted(), eval_set(case("a"), case("b")), judged_by(cancels)))
    assert [one.reason for one in result.cases] == [f"{NAME}: metric raised: CancelledError"] * 2
    assert all(one.metrics["response_match_score"].score == 1.0 for one in result.cases)


def test_metrics_after_a_blocked_one_give_the_reason_for_no_score(
    judged_by: Callable[..., EvalConfig],
) -> None:
    result = run_sync(
        lambda: run(Scripted(), eval_set(case("a")), judged_by(ignores_cancellation), timeout=0.3)
    )
    verdict = result.cases[0].metrics["response_match_score"]
    assert verdict.outcome is Outcome.ERROR
    assert verdict.reason == f"metric cancelled: was not asked: {NAME} before it did not end"


def test_the_time_of_the_agent_is_not_taken_from_the_metrics(judged_by: Callable[..., EvalConfig]) -> None:
    async def slow(_: Session) -> AsyncIterator[Event]:
        await asyncio.sleep(0.7)
        yield Event.said("ok")

    async def slow_metric(actual: Any, expected: Any) -> float:
        await asyncio.sleep(0.7)
        return 1.0

    agent, given = Scripted({"a": slow}), eval_set(case("a"))
    result = run_sync(lambda: run(agent, given, judged_by(slow_metric), timeout=1.3, trial_timeout=1.3))
    assert result.passed, result.cases


def test_error_about_an_invalid_score_hides_our_own_code(
    judged_by: Callable[..., EvalConfig],
) -> None:
    def raises(actual: Any, expected: Any) -> float:
        raise MetricError("returned nothing of use")

    (one,) = run_sync(lambda: run(Scripted(), eval_set(case("a")), judged_by(raises))).cases
    assert one.reason == f'{NAME}: metric unusable answer: returned nothing of use (the agent answered "ok")'
    failure = one.metrics[NAME].failure
    assert failure is not None
    assert failure.traceback is None


def test_metrics_of_other_people_have_their_time_each(judged_by: Callable[..., EvalConfig]) -> None:
    async def slow(actual: Any, expected: Any) -> float:
        await asyncio.sleep(0.7)
        return 1.0

    second = "second_metric_under_test"
    proctor.metric(second, threshold=0.5)(slow)
    try:
        config = judged_by(slow)
        config.criteria[second] = 0.5
        result = run_sync(lambda: run(Scripted(), eval_set(case("a")), config, timeout=1.3))
    finally:
        METRICS.remove(second)
    assert result.passed, result.cases
