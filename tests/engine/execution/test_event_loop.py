"""The private event loop: it runs only while a caller waits, and it closes although tasks are pending."""

from __future__ import annotations

import asyncio
import time

import pytest

from proctor.engine.execution.run_control import OwnLoop


def test_loop_runs_only_while_a_caller_waits() -> None:
    loop = OwnLoop()
    first, second = loop.new_future(), loop.new_future()
    seen: list[str] = []

    async def main() -> str:
        seen.append("begun")
        first.set_result("first")
        await asyncio.sleep(0.01)
        seen.append("resumed")
        second.set_result("second")
        return "end"

    task = loop.start(main())
    assert seen == []
    assert loop.wait_for(first) == "first"
    time.sleep(0.05)
    assert seen == ["begun"]
    assert loop.wait_for(second) == "second"
    assert seen == ["begun", "resumed"]
    assert loop.wait_for(task) == "end"
    loop.close()


def test_what_was_waited_for_may_raise() -> None:
    async def main() -> None:
        raise LookupError("gone")

    loop = OwnLoop()
    with pytest.raises(LookupError, match="gone"):
        loop.wait_for(loop.start(main()))
    loop.close()


def test_code_that_stops_the_loop_does_not_end_the_wait() -> None:
    async def main() -> str:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0.01)
        return "resumed"

    loop = OwnLoop()
    assert loop.wait_for(loop.start(main())) == "resumed"
    loop.close()


def test_inside_a_running_loop_it_uses_a_thread() -> None:
    async def outer() -> str:
        loop = OwnLoop()
        future: asyncio.Future[str] = loop.new_future()

        async def inner() -> None:
            future.set_result("from within")

        loop.start(inner())
        answer = loop.wait_for(future)
        loop.close()
        return answer

    assert asyncio.run(outer()) == "from within"


def test_its_end_cancels_what_is_left() -> None:
    ended: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cancelled")

    async def starts() -> None:
        await asyncio.sleep(0)

    loop = OwnLoop()
    loop.start(waits())
    loop.wait_for(loop.start(starts()))
    loop.close()
    assert ended == ["cancelled"]
