"""Set-up and tear-down of a case: the user's own functions around each trial."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from proctor.agents.base import Session
from proctor.errors import SetupError
from proctor.schema.case import EvalCase
from proctor.settling import settle

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
    from proctor.threads import THREADS  # brings asyncio, which `import proctor` need not wait for

    await settle(await THREADS.call(partial(hook, **wanted)))
