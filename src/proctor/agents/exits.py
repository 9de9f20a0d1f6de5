"""`sys.exit()` in a task that an agent started: an error of that agent, where it would end the event loop and the run."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakSet

from proctor.errors import AgentRaisedError

_inside: ContextVar[bool] = ContextVar("proctor_agent_s_tasks", default=False)
_loops: WeakSet[asyncio.AbstractEventLoop] = WeakSet()


@contextmanager
def contained_exits() -> Iterator[None]:
    """Turn SystemExit and KeyboardInterrupt of all tasks that are started inside into AgentRaisedError.

    asyncio lets these two out of its loop, whatever task they are raised in. Ctrl-C does not come this way.
    """
    _prepare(asyncio.get_running_loop())
    _inside.set(True)
    try:
        yield
    finally:
        _inside.set(False)  # no token: an async generator may be closed in another context


def _prepare(loop: asyncio.AbstractEventLoop) -> None:
    if loop in _loops:
        return
    _loops.add(loop)
    before = loop.get_task_factory()

    def make(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> Any:
        if _inside.get():
            coroutine = _contained(coroutine)
        if before is not None:
            return before(loop, coroutine, **options)
        return asyncio.Task(coroutine, loop=loop, **options)

    loop.set_task_factory(make)


async def _contained(coroutine: Coroutine[Any, Any, Any]) -> Any:
    try:
        return await coroutine
    except (SystemExit, KeyboardInterrupt) as error:
        said = f"{type(error).__name__}({', '.join(map(repr, error.args))})"
        raise AgentRaisedError(f"the agent's code raised {said}", type=type(error).__name__) from None
