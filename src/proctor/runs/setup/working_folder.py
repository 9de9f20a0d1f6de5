"""The working folder while a run is prepared. Code of an agent may change it during import (`os.chdir`).

The user's paths are relative to the folder in which the command began, so the change is delayed until everything is read.
Then it takes effect: the agent may need it for its own files.
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
    """Delay changes by `agent_code` until the block ends; discard them after an error."""
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
        with suppress(OSError):  # the folder does not exist any more
            os.chdir(changes[-1])


@contextmanager
def agent_code() -> Iterator[None]:
    """Restore the working folder after the block, which imports code of an agent; `user_folder` applies the change later."""
    changes, begin = _changes.get(), _folder()
    try:
        yield
    finally:
        if changes is not None and begin and (now := _folder()) != begin:
            os.chdir(begin)
            changes.append(now)


def _folder() -> str:
    """Return the working folder; empty if it was deleted."""
    try:
        return str(Path.cwd())
    except OSError:
        return ""
