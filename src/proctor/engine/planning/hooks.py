"""Set-up and tear-down of a case: the user's own functions around each trial."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import _AsyncGeneratorContextManager, _GeneratorContextManager  # what `@contextmanager` makes
from functools import partial
from typing import Any

from proctor.agents.base import Session
from proctor.common.async_tools import settle
from proctor.errors import SetupError
from proctor.schema.format.case import EvalCase

Hook = Callable[..., Any]


def check_hook(hook: Hook | None, name: str) -> list[SetupError]:
    """Return what is wrong with a hook: it must be callable with some of `case` and `session`, by name."""
    if hook is None:
        return []
    if not callable(hook):
        return [SetupError(f"the {name} hook must be a function, got {type(hook).__name__}")]
    if _yields(hook):
        return [SetupError(f"the {name} hook is a generator, of which nothing would be run; {_NO_YIELD}")]
    try:
        parameters = inspect.signature(hook).parameters.values()
    except (TypeError, ValueError) as error:
        return [SetupError(f"the {name} hook: its parameters cannot be inspected ({error})")]
    needed = [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind
        in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        and parameter.name not in ("case", "session")
    ]
    if not needed:
        return []
    return [SetupError(f"the {name} hook asks for {', '.join(needed)}; it may take `case` and `session`")]


_NEVER_RUN = (Generator, AsyncGenerator, _GeneratorContextManager, _AsyncGeneratorContextManager)
_NO_YIELD = (
    "a hook has no `yield`: what comes before it belongs into set-up, what comes after it into tear-down"
)


def _yields(hook: Hook) -> bool:
    return any(
        inspect.isgeneratorfunction(one) or inspect.isasyncgenfunction(one)
        for one in (hook, type(hook).__call__)  # an object may be a hook
    )


async def call_hook(hook: Hook, *, case: EvalCase, session: Session) -> None:
    """Call a hook, plain or async, with what it asks for. A plain one runs in a thread: it may talk to a database.

    Raises:
        TypeError: it gave back something of which nothing has been run: a generator, or a context manager made of one.
    """
    offered = {"case": case, "session": session}
    accepted = inspect.signature(hook).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in accepted.values())
    wanted = {name: value for name, value in offered.items() if takes_all or name in accepted}
    if inspect.iscoroutinefunction(hook):
        left = await hook(**wanted)
    else:
        from proctor.common.async_tools import (
            THREADS,  # brings asyncio, which `import proctor` need not wait for
        )

        left = await settle(await THREADS.call(partial(hook, **wanted)))
    if isinstance(left, _NEVER_RUN):
        raise TypeError(f"it gave back a {type(left).__name__}, of which nothing was run; {_NO_YIELD}")
