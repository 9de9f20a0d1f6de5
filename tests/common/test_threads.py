"""The pool of daemon threads: reuse, abandonment, exceptions of every kind as data, contextvars."""

import asyncio
import contextvars
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from proctor.common.async_tools import Threads


def run(use: Callable[[Threads], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        return await use(Threads())

    return asyncio.run(main())


def test_a_call_runs_in_a_daemon_thread_and_returns() -> None:
    def where(left: int, right: int) -> tuple[int, bool, bool]:
        thread = threading.current_thread()
        return left + right, thread.daemon, thread is threading.main_thread()

    assert run(lambda threads: threads.call(where, 1, 2)) == (3, True, False)


def test_one_call_after_the_other_takes_one_thread() -> None:
    async def use(threads: Threads) -> set[int]:
        return {await threads.call(threading.get_ident) for _ in range(20)}

    assert len(run(use)) == 1


@pytest.mark.parametrize("at_once", [2, 8, 50])
def test_as_many_threads_as_calls_at_one_time(at_once: int) -> None:
    barrier = threading.Barrier(at_once)

    def meet() -> int:
        barrier.wait(timeout=60)  # everybody is here at the same time, or it breaks
        return threading.get_ident()

    async def use(threads: Threads) -> list[set[int]]:
        return [set(await asyncio.gather(*(threads.call(meet) for _ in range(at_once)))) for _ in range(2)]

    first, second = run(use)
    assert len(first) == at_once
    assert second == first


class _UnprintableError(Exception):
    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"),
        SystemExit(3),
        KeyboardInterrupt(),
        asyncio.CancelledError(),
        GeneratorExit(),
        ExceptionGroup("both", [ValueError("a"), KeyError("b")]),
        BaseExceptionGroup("both", [SystemExit(1)]),
        _UnprintableError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_exception_of_a_call_is_raised_and_the_thread_stays_alive(error: BaseException) -> None:
    def fail() -> None:
        raise error

    async def use(threads: Threads) -> tuple[BaseException | None, int, int]:
        before = await threads.call(threading.get_ident)
        caught = None
        try:
            await threads.call(fail)
        except BaseException as raised:  # noqa: BLE001 -- every kind of exception
            caught = raised
        return caught, before, await threads.call(threading.get_ident)

    caught, before, after = run(use)
    assert caught is error
    assert before == after


def test_stop_iteration_ends_no_loop_of_the_caller() -> None:
    def fail() -> None:
        raise StopIteration

    with pytest.raises(RuntimeError, match="StopIteration was raised"):
        run(lambda threads: threads.call(fail))


def test_an_abandoned_thread_is_not_used_again_and_ends() -> None:
    release = threading.Event()
    abandoned: list[threading.Thread] = []

    def hang() -> None:
        abandoned.append(threading.current_thread())
        release.wait(60)

    async def use(threads: Threads) -> list[int | None]:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(threads.call(hang), 0.05)
        others = [await threads.call(threading.get_ident) for _ in range(5)]
        release.set()
        return list(others)

    others = run(use)
    assert abandoned[0].ident not in others
    abandoned[0].join(60)
    assert not abandoned[0].is_alive()


def test_contextvars_of_the_caller_are_seen_and_stay_its_own() -> None:
    number = contextvars.ContextVar("number", default=0)

    def change() -> int:
        seen = number.get()
        number.set(99)
        return seen

    async def use(threads: Threads) -> list[int]:
        seen = []
        for value in (1, 2):
            number.set(value)
            seen += [await threads.call(change), number.get()]
        return seen

    assert run(use) == [1, 1, 2, 2]


def test_a_lent_thread_keeps_its_context_from_call_to_call() -> None:
    number = contextvars.ContextVar("number", default=0)

    async def use(threads: Threads) -> tuple[Any, int]:
        worker = threads.acquire()
        await worker.call(number.set, 7)
        return (await worker.call(number.get)).get(), number.get()

    assert run(use) == (7, 0)


def test_an_idle_thread_keeps_nothing_of_the_last_call_alive() -> None:
    import gc
    import weakref

    class Big:
        pass

    async def use(threads: Threads) -> Any:
        big = Big()
        gone = weakref.ref(big)
        await threads.call(lambda one: None, big)
        del big
        for _ in range(100):
            gc.collect()
            if gone() is None:
                break
            await asyncio.sleep(0.01)
        return gone()

    assert run(use) is None


def test_a_thread_that_never_ends_does_not_hold_up_the_exit() -> None:
    code = (
        "import asyncio, time\n"
        "from proctor.common.async_tools import THREADS\n"
        "async def main():\n"
        "    try: await asyncio.wait_for(THREADS.call(time.sleep, 600), 0.1)\n"
        "    except TimeoutError: print('timed out')\n"
        "asyncio.run(main())\n"
    )
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr, done.returncode) == ("timed out\n", "", 0)
    assert time.monotonic() - began < 30


def test_late_answer_after_the_end_is_ignored() -> None:
    release = threading.Event()
    complaints: list[Any] = []

    async def use(threads: Threads) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        worker = threads.acquire()
        call = asyncio.ensure_future(worker.call(release.wait, 60))
        await asyncio.sleep(0)
        call.cancel()
        release.set()
        await worker.call(lambda: None)  # after it, the first answer has come

    run(use)
    assert complaints == []


def test_a_late_answer_to_a_closed_loop_is_dropped_in_silence() -> None:
    release = threading.Event()
    finished = threading.Event()
    unraisable: list[Any] = []

    def late() -> None:
        release.wait(60)
        finished.set()

    async def use(threads: Threads) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(threads.call(late), 0.01)

    hook, threading.excepthook = threading.excepthook, unraisable.append
    try:
        run(use)
        release.set()
        assert finished.wait(10)
        time.sleep(0.05)
    finally:
        threading.excepthook = hook
    assert unraisable == []
