"""The working folder while a run is prepared: code of an agent may change it when it is imported (`os.chdir`).

What the user named is relative to the folder in which the command began, so the change waits until everything is read.
Then it holds again: the agent may have made it for files of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

_changes: ContextVar[list[str] | None] = ContextVar("working_folder_changes", default=None)


@contextmanager
def user_folder() -> Iterator[None]:
    """Let changes by `agent_code` wait until the code inside has ended; after an error they are dropped."""
    if _changes.get() is not None:
        yield
        return
    changes: list[str] = []
    token = _changes.set(changes)
    try:
        yield
    finally:
        _changes.reset(token)
    if changes:
        with suppress(OSError):  # the folder is gone by now
            os.chdir(changes[-1])


@contextmanager
def agent_code() -> Iterator[None]:
    """Import code of an agent: the working folder is the same afterwards, within `user_folder`."""
    changes, begin = _changes.get(), _folder()
    try:
        yield
    finally:
        if changes is not None and begin and (now := _folder()) != begin:
            os.chdir(begin)
            changes.append(now)


def _folder() -> str:
    """Return the working folder; empty where it was deleted."""
    try:
        return str(Path.cwd())
    except OSError:
        return ""
