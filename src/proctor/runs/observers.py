"""Observers of evaluations. The pytest plug-in uses them to follow the evaluations that a test starts."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")


class Watcher(Protocol):
    """Observer of evaluations. It receives each result before the caller does."""

    def begun(self) -> None:
        """Receive the start of a run or of scoring."""
        ...

    def ended(self, result: Any) -> Any:
        """Receive a result, and return the result for the caller."""
        ...


WATCHERS: list[Watcher | None] = []
"""Only the last observer is called; `None` disables observation. A pytest session inside a test of another one is independent."""


def begun() -> None:
    """Notify the observer that an evaluation starts."""
    if WATCHERS and (last := WATCHERS[-1]) is not None:
        last.begun()


def ended(result: Result) -> Result:
    """Pass a result to the observer, and return the result for the caller."""
    if not WATCHERS or (last := WATCHERS[-1]) is None:
        return result
    final_result: Result = last.ended(result)
    return final_result
