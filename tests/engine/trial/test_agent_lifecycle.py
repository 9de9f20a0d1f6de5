"""An agent that hangs or breaks in open, begin, state or close: reported, in bounded time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from contextvars import ContextVar
from typing import Any

import pytest

from proctor.agents.base import Session
from proctor.engine.execution.run_control import run_sync
from proctor.engine.trial import agent_lifecycle
from proctor.engine.trial.agent_lifecycle import AgentLifecycle
from proctor.errors import AgentLoadError
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import FailureKind
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content
from proctor.schema.results.run_result import Outcome, RunResult
from tests.engine.scripted import TEXT, Scripted, case, eval_set, run

Act = Callable[..., Any]
GIVEN = eval_set(case("a"), case("b"))


async def waits(*_: Any) -> None:
    await asyncio.sleep(60)


async def swallows(*_: Any) -> None:
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            continue


def blocks(*_: Any) -> None:
    time.sleep(60)


def raising(error: type[BaseException]) -> Act:
    async def raises(*_: Any) -> None:
        raise error

    return raises


def agent_with(**steps: Act) -> Any:
    return type("Agent", (Scripted,), {name: staticmethod(act) for name, act in steps.items()})()


def judged(agent: Any, **options: Any) -> RunResult:
    return run_sync(lambda: run(agent, GIVEN, timeout=0.3, **options))


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_lifecycle, "PATIENCE", 0.3)


HANGS = {"waits": waits, "swallows": swallows, "blocks": blocks}


@pytest.mark.nightly(check=2)
@pytest.mark.slow  # it waits
@pytest.mark.parametrize("how", HANGS)
@pytest.mark.parametrize("step", ["begin", "final_state", "end"])
def test_what_hangs_around_a_conversation_is_an_error_of_the_trial(step: str, how: str) -> None:
    began = time.monotonic()
    result = judged(agent_with(**{step: HANGS[how]}))
    assert result.counts == {Outcome.ERROR: 2}
    failure = result.cases[0].trials[0].failure
    assert failure is not None
    assert failure.kind is FailureKind.TIMED_OUT
    assert how == "swallows" or failure.message.startswith(f"{step}() ")
    assert time.monotonic() - began < 40


@pytest.mark.nightly(check=2)
@pytest.mark.slow  # waits for a time limit
@pytest.mark.parametrize("how", HANGS)
@pytest.mark.parametrize("step", ["open", "describe"])
def test_what_hangs_where_it_is_opened_stops_the_run(step: str, how: str) -> None:
    with pytest.raises(AgentLoadError, match=rf"could not be opened: {step}\(\) .*\(0\.3 s\)"):
        judged(agent_with(**{step: HANGS[how]}))


@pytest.mark.slow  # waits for a time limit
@pytest.mark.parametrize("how", HANGS)
def test_what_hangs_where_it_is_closed_changes_no_verdict(how: str) -> None:
    result = judged(agent_with(close=HANGS[how]))
    assert result.passed
    assert [warning for warning in result.warnings if warning.startswith("closing the agent: close() ")]


ENDS = [asyncio.CancelledError, GeneratorExit, KeyboardInterrupt, SystemExit]


@pytest.mark.parametrize("error", ENDS)
@pytest.mark.parametrize("step", ["open", "describe"])
def test_what_would_end_the_program_is_an_agent_that_cannot_be_opened(
    step: str, error: type[BaseException]
) -> None:
    with pytest.raises(AgentLoadError, match=f"could not be opened: {error.__name__}"):
        judged(agent_with(**{step: raising(error)}))


@pytest.mark.parametrize("error", ENDS)
def test_what_would_end_the_program_at_the_close_changes_no_verdict(error: type[BaseException]) -> None:
    result = judged(agent_with(close=raising(error)))
    assert result.passed
    assert result.warnings == [f"closing the agent raised {error.__name__}"]


def test_agent_whose_description_fails_is_closed() -> None:
    closed: list[bool] = []

    async def close() -> None:
        closed.append(True)

    with pytest.raises(AgentLoadError):
        judged(agent_with(open=lambda: None, describe=raising(ValueError), close=close))
    assert closed == [True]


def test_open_and_close_are_one_task() -> None:
    """Or nothing that belongs to a task (a cancel scope of anyio, asyncio.timeout) could be open in between."""
    tasks: list[Any] = []
    stack = AsyncExitStack()

    async def opens() -> None:
        tasks.append(asyncio.current_task())
        await stack.enter_async_context(asyncio.timeout(60))

    async def closes() -> None:
        tasks.append(asyncio.current_task())
        await stack.aclose()

    result = judged(agent_with(open=opens, close=closes))
    assert result.passed
    assert not result.warnings
    assert tasks[0] is tasks[1]


def test_what_open_puts_into_a_context_variable_is_there_in_every_turn() -> None:
    tenant: ContextVar[str] = ContextVar("tenant", default="nobody")

    class Agent:
        async def open(self) -> None:
            tenant.set("acme")

        async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
            yield Event.said("ok" if tenant.get() == "acme" else "whose?")

    given = eval_set(case("a"), case("b"))
    config = {"criteria": {"response_match_score": 1.0}}
    from proctor import evaluate_sync

    assert evaluate_sync(Agent(), given, config=config).passed


def test_a_run_that_is_cancelled_while_it_opens_leaves_nothing_behind() -> None:
    async def main() -> list[Any]:
        running = asyncio.create_task(run(agent_with(open=waits), GIVEN, timeout=60))
        await asyncio.sleep(0.05)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await asyncio.sleep(0.5)
        return [task for task in asyncio.all_tasks() if AgentLifecycle.__name__ in repr(task)]

    assert run_sync(main) == []


@pytest.mark.slow  # waits for a time limit
@pytest.mark.parametrize("hook", ["setup", "teardown"])
def test_a_hook_that_nothing_can_end_is_not_blamed_on_the_agent(hook: str) -> None:
    async def stubborn() -> None:
        await swallows()

    failure = judged(Scripted(), **{hook: stubborn}).cases[0].trials[0].failure
    assert failure is not None
    assert (failure.where, failure.turn) == (hook, None)
    assert failure.message.startswith("the hook did not end in time, and ignored its cancellation")


@pytest.mark.slow  # waits for a time limit
def test_a_step_that_nothing_can_end_is_named() -> None:
    failure = judged(agent_with(end=swallows)).cases[0].trials[0].failure
    assert failure is not None
    assert (failure.where, failure.turn) == ("agent", None)
    assert failure.message.startswith("end() did not end in time")


@pytest.mark.parametrize("by", ["setup", "begin"])
def test_what_is_shown_of_a_case_can_be_changed_without_a_trace(by: str) -> None:
    """An agent that works on `case.session_input.state` itself would find it changed in the next trial."""

    def forget(case: EvalCase) -> None:
        assert case.session_input is not None
        assert case.session_input.state == {"cart": []}
        case.session_input.state["cart"].append("apple")
        for invocation in case.conversation or ():
            invocation.final_response = None

    steps: dict[str, Act] = {"begin": lambda _, case: forget(case)} if by == "begin" else {}
    given = eval_set(
        case("a", session_input={"app_name": "shop", "user_id": "me", "state": {"cart": []}}),
    )
    options: dict[str, Any] = {"setup": forget} if by == "setup" else {}
    result = run_sync(lambda: run(agent_with(**steps), given, TEXT, num_runs=3, concurrency=1, **options))
    assert result.counts == {Outcome.PASSED: 1}


def test_error_of_open_or_close_hides_passwords() -> None:
    async def refused() -> None:
        raise ConnectionError("no answer from postgres://me:hunter2@db.example/shop")

    with pytest.raises(AgentLoadError, match="ConnectionError: no answer from postgres://") as raised:
        judged(agent_with(open=refused))
    (warning,) = judged(agent_with(close=refused)).warnings
    assert "db.example" in warning
    assert "hunter2" not in f"{warning} {raised.value}"
