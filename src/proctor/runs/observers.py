"""Who hears of evaluations while they happen: pytest's plug-in, of those that a test asks for."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")


class Watcher(Protocol):
    """Hears that something is evaluated, and what came of it before the caller does."""

    def begun(self) -> None:
        """Agents are run, or scores are computed."""
        ...

    def ended(self, result: Any) -> Any:
        """Take a result, and return what the caller gets in its place."""
        ...


WATCHERS: list[Watcher | None] = []
"""The last one hears, `None`: nobody. A session of pytest may run within a test of another, and is no part of it."""


def begun() -> None:
    """Tell that something is evaluated."""
    if WATCHERS and (last := WATCHERS[-1]) is not None:
        last.begun()


def ended(result: Result) -> Result:
    """Tell what came of an evaluation; returns what its caller gets."""
    if not WATCHERS or (last := WATCHERS[-1]) is None:
        return result
    taken: Result = last.ended(result)
    return taken
