"""An event loop for agents in a separate thread, so that an agent that blocks does not block the server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from concurrent.futures import Future
from contextlib import aclosing, suppress
from typing import Any, TypeVar
from weakref import WeakSet

from proctor.common.process_exit import contained_exits
from proctor.engine.execution.run_control import abandon_tasks
from proctor.errors import AgentRaisedError

Answer = TypeVar("Answer")

_TIDY = 1.0
"""Seconds that the remaining tasks then have to end after their cancellation."""


class AgentLoop:
    """An event loop in a daemon thread, started when it is first needed."""

    def __init__(self, name: str = "proctor-agents", *, last_seconds: float = 5.0) -> None:
        """`name`: that of the thread; `last_seconds`: the seconds that agents have to close."""
        self._name, self._last_seconds = name, last_seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._ended: WeakSet[asyncio.AbstractEventLoop] = WeakSet()

    async def run(self, main: Coroutine[object, object, Answer]) -> Answer:
        """Run `main` on the loop and await its result; a cancellation here cancels it there."""
        return await asyncio.wrap_future(self._submit(main))

    async def stream(self, make: Callable[[], AsyncGenerator[Answer, None]]) -> AsyncGenerator[Answer, None]:
        """Iterate on the loop over the generator that `make` returns; leaving early closes it there."""
        queue: asyncio.Queue[tuple[bool, Any]] = asyncio.Queue()
        here = asyncio.get_running_loop()

        def enqueue(value: object, *, is_last: bool) -> None:
            with suppress(RuntimeError):  # the reader's loop is closed
                here.call_soon_threadsafe(queue.put_nowait, (is_last, value))

        async def pump() -> None:
            async with aclosing(make()) as items:
                async for item in items:
                    enqueue(item, is_last=False)

        work = self._submit(pump())
        work.add_done_callback(lambda done: enqueue(_error_of(done), is_last=True))
        try:
            while True:
                is_last, value = await queue.get()
                if not is_last:
                    yield value
                elif value is not None:
                    raise value
                else:
                    return
        finally:
            work.cancel()

    def close(self, farewell: Callable[[], Coroutine[object, object, None]]) -> None:
        """Run `farewell` on the loop and end the loop; a task that does not end in time is abandoned with its thread."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        is_blocked = False
        try:
            asyncio.run_coroutine_threadsafe(farewell(), loop).result(self._last_seconds)
        except TimeoutError:
            is_blocked = True
        except Exception:  # noqa: BLE001, S110 - an agent that cannot be closed must not block the end
            pass
        self._ended.add(loop)
        loop.call_soon_threadsafe(loop.stop)
        if self._thread is not None and not is_blocked:
            self._thread.join(2 * _TIDY)

    def _submit(self, main: Coroutine[object, object, Answer]) -> Future[Answer]:
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._serve, args=(self._loop,), name=self._name, daemon=True
                )
                self._thread.start()
        return asyncio.run_coroutine_threadsafe(_contain_exits(main), self._loop)

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        while loop not in self._ended:
            loop.run_forever()  # an agent that stops the loop must not stop the other agents
        _end(loop)


def _end(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel the running tasks; abandon those that do not end."""
    loop.set_exception_handler(lambda *_: None)  # the clients have disconnected
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    with suppress(BaseException):  # an agent may raise anything on cancellation
        loop.run_until_complete(asyncio.wait(tasks, timeout=_TIDY) if tasks else asyncio.sleep(0))
    stuck = [task for task in tasks if not task.done()]
    if not stuck:
        loop.close()
    abandon_tasks(stuck)


async def _contain_exits(main: Coroutine[object, object, Answer]) -> Answer:
    """Await `main`; turn an exit, which would end this loop and the server's, into an error of the agent."""
    with contained_exits():
        try:
            return await main
        except (SystemExit, KeyboardInterrupt) as error:
            raise AgentRaisedError(f"the agent raised {error!r}", type=type(error).__name__) from None


def _error_of(done: Future[None]) -> BaseException | None:
    return asyncio.CancelledError() if done.cancelled() else done.exception()
