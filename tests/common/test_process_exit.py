"""`sys.exit()` in tasks of an agent is an error of that agent; elsewhere it is what it was."""

from __future__ import annotations

import asyncio
import gc
import inspect
import sys
from typing import Any

import pytest

import proctor
from proctor.common.process_exit import contained_exits
from proctor.conformance import check_agent
from proctor.errors import AgentRaisedError


async def leave(error: BaseException) -> None:
    await asyncio.sleep(0)
    raise error


@pytest.mark.parametrize(
    ("error", "message"),
    [(SystemExit(0), r"SystemExit\(0\)"), (SystemExit(), r"SystemExit\(\)"), (KeyboardInterrupt(), "KeyboardInterrupt")],
)  # fmt: skip
def test_an_exit_in_a_task_is_an_error_for_who_awaits_it(error: BaseException, message: str) -> None:
    async def main() -> str:
        with contained_exits():
            with pytest.raises(AgentRaisedError, match=message) as caught:
                await asyncio.create_task(leave(error))
            nested = asyncio.gather(asyncio.create_task(leave(error)), return_exceptions=True)
            assert isinstance((await nested)[0], AgentRaisedError)
        return caught.value.type

    assert asyncio.run(main()) == type(error).__name__


def test_what_a_task_returns_raises_and_how_it_is_cancelled_stays() -> None:
    async def main() -> None:
        with contained_exits():
            assert await asyncio.create_task(asyncio.sleep(0, "value")) == "value"
            with pytest.raises(LookupError):
                await asyncio.create_task(leave(LookupError()))
            task = asyncio.create_task(asyncio.sleep(60))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            async with asyncio.TaskGroup() as group:
                group.create_task(asyncio.sleep(0))

    asyncio.run(main())


def test_tasks_that_are_started_outside_are_let_alone() -> None:
    async def main() -> None:
        with contained_exits():
            pass
        await asyncio.create_task(leave(SystemExit(4)))

    with pytest.raises(SystemExit) as left:
        asyncio.run(main())
    assert left.value.code == 4


def test_a_task_factory_that_is_there_is_asked() -> None:
    made: list[str] = []

    def factory(loop: Any, coroutine: Any, **options: Any) -> Any:
        made.append(sys._getframe().f_code.co_name)
        return asyncio.Task(coroutine, loop=loop, **options)

    async def main() -> None:
        asyncio.get_running_loop().set_task_factory(factory)
        with contained_exits(), contained_exits():
            task = asyncio.create_task(asyncio.sleep(0), name="named")
            await task
        assert (made, task.get_name()) == (["factory"], "named")

    asyncio.run(main())


def test_a_task_that_is_cancelled_before_it_begins_leaves_no_warning(
    recwarn: pytest.WarningsRecorder,
) -> None:
    async def main() -> None:
        with contained_exits():
            task = asyncio.create_task(leave(SystemExit(0)))
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()

    asyncio.run(main())
    gc.collect()
    assert not recwarn.list


def test_coroutine_of_a_task_still_shows_its_position() -> None:
    async def main() -> list[str]:
        with contained_exits():
            task: Any = asyncio.create_task(asyncio.sleep(0))
        before = inspect.getcoroutinestate(task.get_coro())  # as anyio asks
        await task
        return [before, inspect.getcoroutinestate(task.get_coro())]

    assert asyncio.run(main()) == ["CORO_CREATED", "CORO_CLOSED"]


# --- in a run ------------------------------------------------------------------------------------------------------------


async def ends_the_program(text: str) -> str:
    """Answer, and on request end the program in a separate task."""
    if text == "task":
        await asyncio.create_task(leave(SystemExit(0)))
    if text == "gather":
        await asyncio.gather(leave(SystemExit(0)), asyncio.sleep(0))
    if text == "forgotten":
        task = asyncio.create_task(leave(SystemExit(0)))
        await asyncio.wait([task])
    return "ok"


class Ends:
    """An object that does."""

    async def answer(self, message: proctor.Content, session: proctor.Session) -> Any:
        yield proctor.Event.said(await ends_the_program(message.joined_text()))


SETS = proctor.EvalSet.model_validate({
    "eval_set_id": "exits",
    "eval_cases": [
        {"eval_id": name, "conversation": [{
            "user_content": {"parts": [{"text": name}]}, "final_response": {"parts": [{"text": "ok"}]},
        }]}
        for name in ("before", "task", "gather", "forgotten", "after")
    ],
})  # fmt: skip


@pytest.mark.parametrize("agent", [ends_the_program, Ends()], ids=["function", "object"])
@pytest.mark.parametrize("is_ours", [False, True], ids=["evaluate", "evaluate_sync"])
def test_an_exit_in_an_agent_s_task_is_an_error_of_that_case_alone(agent: Any, is_ours: bool) -> None:
    found = proctor.evaluate_sync(agent, SETS) if is_ours else asyncio.run(proctor.evaluate(agent, SETS))
    assert [case.outcome.value for case in found.cases] == ["passed", "error", "error", "passed", "passed"]
    failure = found.case("task").trials[0].failure
    assert failure is not None
    assert (failure.type, failure.where, failure.turn) == ("SystemExit", "agent", 0)
    assert "raise error" in (failure.traceback or "")


@pytest.mark.parametrize("when", ["open", "describe", "close"])
def test_agent_that_ends_the_program_outside_its_turn_spares_the_caller(when: str) -> None:
    def leave_now() -> None:
        sys.exit(0)

    agent = Ends()
    setattr(agent, when, leave_now)
    only = {"exits": ["before"]}
    if when == "close":
        found = asyncio.run(proctor.evaluate(agent, SETS, only=only))
        assert found.passed
        assert "SystemExit" in "".join(found.warnings)
    else:
        with pytest.raises(proctor.ProctorError, match="could not be opened: SystemExit"):
            asyncio.run(proctor.evaluate(agent, SETS, only=only))


def test_checking_an_agent_survives_its_exits() -> None:
    found = asyncio.run(check_agent(ends_the_program, messages=["task"], only=["events", "tidiness"]))
    assert "SystemExit(0)" in found[0].evidence
