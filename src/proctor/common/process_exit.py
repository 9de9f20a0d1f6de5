"""`sys.exit()` in a task that code under test started: an error of that code, where it would end the loop and the run."""

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

    asyncio lets these two out of its loop, whatever task they are raised in. It is true of the tasks that those start in
    turn, and of no other task of the loop. Ctrl-C does not come this way.
    """
    prepare(asyncio.get_running_loop())
    before = _inside.get()
    _inside.set(True)
    try:
        yield
    finally:
        _inside.set(before)  # no token: an async generator may be closed in another context


def contain_exits() -> None:
    """Do so for the rest of the current task, whose loop is prepared: this is asked of every trial."""
    _inside.set(True)


def prepare(loop: asyncio.AbstractEventLoop) -> None:
    """Let a loop make tasks that can be contained; once is enough."""
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


class _Contained(Coroutine[Any, Any, Any]):
    """A coroutine that raises AgentRaisedError where the one in it would end the program; else it is that one."""

    __slots__ = ("_inner",)

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(
            self._inner, name
        )  # `cr_running` and the like: anyio asks a task's coroutine how far it is

    def send(self, value: Any) -> Any:
        try:
            return self._inner.send(value)
        except (SystemExit, KeyboardInterrupt) as error:
            raise _told(error) from None

    def throw(self, *error: Any) -> Any:
        try:
            return self._inner.throw(*error)
        except (SystemExit, KeyboardInterrupt) as error_inside:
            raise _told(error_inside) from None

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        found: Generator[Any, Any, Any] = self._inner.__await__()
        return found


def _told(error: BaseException) -> AgentRaisedError:
    said = f"{type(error).__name__}({', '.join(map(repr, error.args))})"
    message = f"{said} in a task that was started during the trial"
    return AgentRaisedError(message, type=type(error).__name__, traceback=traceback_text(error))
