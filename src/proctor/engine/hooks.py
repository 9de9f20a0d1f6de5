"""Set-up and tear-down of a case: the user's own functions around each trial."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from typing import Any

from proctor.agents.base import Session
from proctor.errors import SetupError
from proctor.schema.case import EvalCase

Hook = Callable[..., Any]


def check_hook(hook: Hook | None, name: str) -> list[SetupError]:
    """Return what is wrong with a hook: it must be callable with some of `case` and `session`, by name."""
    if hook is None:
        return []
    if not callable(hook):
        return [SetupError(f"the {name} hook must be a function, got {type(hook).__name__}")]
    needed = [
        parameter.name
        for parameter in inspect.signature(hook).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind
        in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        and parameter.name not in ("case", "session")
    ]
    if not needed:
        return []
    return [SetupError(f"the {name} hook asks for {', '.join(needed)}; it may take `case` and `session`")]


async def call_hook(hook: Hook, *, case: EvalCase, session: Session) -> None:
    """Call a hook, plain or async, with what it asks for. A plain one runs in a thread: it may talk to a database."""
    offered = {"case": case, "session": session}
    accepted = inspect.signature(hook).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in accepted.values())
    wanted = {name: value for name, value in offered.items() if takes_all or name in accepted}
    if inspect.iscoroutinefunction(hook):
        await hook(**wanted)
        return
    answer = await in_thread(lambda: hook(**wanted))
    if inspect.isawaitable(answer):
        await answer


async def in_thread(work: Callable[[], Any]) -> Any:
    """Run `work` in a daemon thread of its own: one that never returns must not keep the process alive."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(setter: Callable[[Any], None], value: Any) -> None:
        if not future.done():
            setter(value)

    def run() -> None:
        try:
            outcome = work()
        except BaseException as error:  # noqa: BLE001 - carried to the caller
            report, value = future.set_exception, _carried(error)
        else:
            report, value = future.set_result, outcome
        loop.call_soon_threadsafe(settle, report, value)

    threading.Thread(target=run, daemon=True, name="proctor-hook").start()
    return await future


def _carried(error: BaseException) -> BaseException:
    """Wrap what a future cannot carry: StopIteration, and what would end the event loop."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    carried = RuntimeError(f"{type(error).__name__}: {error}")
    carried.__cause__ = error
    return carried
