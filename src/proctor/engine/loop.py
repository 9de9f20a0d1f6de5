"""The one synchronous door: an event loop that ends even when an agent's code does not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from proctor.errors import EvalError

Answer = TypeVar("Answer")

_LAST_WORDS = 1.0
"""Seconds that leftover tasks get to end once they are cancelled."""


def run_sync(main: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
    """Run `main()` on an event loop of its own and return its answer; from inside a running loop, in a thread.

    Unlike `asyncio.run`, this does not wait forever for tasks that swallow their cancellation, nor for threads, and
    goes on when somebody's code stops the loop.

    Raises:
        EvalError: code of an agent, a tool or a metric cancelled the run itself.
    """
    if not _is_within_a_loop():
        return _run(main)
    outcome: list[Answer] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(_run(main))
        except BaseException as error:  # noqa: BLE001 - carried to the caller
            errors.append(error)

    thread = threading.Thread(target=work, name="proctor-run", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return outcome[0]


def _is_within_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # nothing is run in here: every error of an agent would carry this one along
        return False
    return True


def _run(main: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
    runner = asyncio.Runner()
    task = runner.get_loop().create_task(main())
    try:
        while True:
            try:
                return runner.run(_answer_of(task))
            except RuntimeError:
                if task.done():
                    raise  # of `main` itself; else an agent stopped the loop, and the others wait for it
    except asyncio.CancelledError:
        raise EvalError(CANCELLED_FROM_WITHIN) from None
    finally:
        _wind_down(runner)


CANCELLED_FROM_WITHIN = "the run was cancelled from within: code of an agent, a tool or a metric cancelled all tasks of the event loop"


async def _answer_of(task: asyncio.Task[Answer]) -> Answer:
    return await task


def _wind_down(runner: asyncio.Runner) -> None:
    loop = runner.get_loop()
    stuck = loop.run_until_complete(_end_tasks())
    executor = getattr(loop, "_default_executor", None)
    if executor is not None:
        executor.shutdown(wait=False, cancel_futures=True)
        loop._default_executor = None  # type: ignore[attr-defined]  # noqa: SLF001 - or closing would wait for its threads
    if not stuck:
        runner.close()
        return
    for task in stuck:
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # noqa: SLF001 - it was reported as the trial's error
    loop.close()  # not the runner's own way, which would wait for them
    asyncio.set_event_loop(None)


async def _end_tasks() -> set[asyncio.Task[Any]]:
    """Cancel what is left and return what would not end."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if not others:
        return set()
    _, stuck = await asyncio.wait(others, timeout=_LAST_WORDS)
    return stuck
