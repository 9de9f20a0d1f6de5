"""Turn `sys.exit()` in a task that code under test started into an error of that code, instead of the end of the run."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakSet

from proctor.common.error_text import traceback_text
from proctor.errors import AgentRaisedError

_inside: ContextVar[bool] = ContextVar("proctor_tasks_of_others", default=False)
_loops: WeakSet[asyncio.AbstractEventLoop] = WeakSet()


@contextmanager
def contained_exits() -> Iterator[None]:
    """Turn SystemExit and KeyboardInterrupt of all tasks that are started inside into AgentRaisedError.

    asyncio re-raises these two from its loop, whichever task raises them. The context also covers tasks that those tasks
    start, and no other task of the loop. It does not affect Ctrl-C.
    """
    install_task_factory(asyncio.get_running_loop())
    before = _inside.get()
    _inside.set(True)
    try:
        yield
    finally:
        _inside.set(before)  # no token: an async generator may be closed in another context


def contain_exits() -> None:
    """Contain exits for the rest of the current task. Its loop is prepared already, because this runs in every trial."""
    _inside.set(True)


def install_task_factory(loop: asyncio.AbstractEventLoop) -> None:
    """Install a task factory whose tasks can be contained. Repeated calls have no effect."""
    if loop in _loops:
        return
    _loops.add(loop)
    before = loop.get_task_factory()

    def make(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> Any:
        if _inside.get():
            coroutine = _Contained(coroutine)
        if before is not None:
            return before(loop, coroutine, **options)
        return asyncio.Task(coroutine, loop=loop, **options)

    loop.set_task_factory(make)


class _Contained(Coroutine[object, object, object]):
    """A coroutine that forwards to another one, and raises AgentRaisedError where that one would end the program."""

    __slots__ = ("_inner",)

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)  # anyio reads `cr_running` and similar attributes

    def send(self, value: object) -> object:
        try:
            return self._inner.send(value)
        except (SystemExit, KeyboardInterrupt) as error:
            raise _as_agent_error(error) from None

    def throw(self, *error: Any) -> Any:
        try:
            return self._inner.throw(*error)
        except (SystemExit, KeyboardInterrupt) as error_inside:
            raise _as_agent_error(error_inside) from None

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[object, object, Any]:
        generator: Generator[object, object, Any] = self._inner.__await__()
        return generator


def _as_agent_error(error: BaseException) -> AgentRaisedError:
    call = f"{type(error).__name__}({', '.join(map(repr, error.args))})"
    message = f"{call} in a task that was started during the trial"
    return AgentRaisedError(message, type=type(error).__name__, traceback=traceback_text(error))
