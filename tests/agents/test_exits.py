"""`sys.exit()` in tasks of an agent is an error of that agent; elsewhere it is what it was."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from proctor.agents.exits import contained_exits
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
