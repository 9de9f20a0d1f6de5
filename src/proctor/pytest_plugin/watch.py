"""What one test evaluates: whether it evaluates at all, and what came of it that nobody has looked at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from proctor.watching import WATCHERS

if TYPE_CHECKING:
    from proctor.pytest_plugin.overlooked import Evaluated, Pending


class Watch:
    """Hears of the evaluations of one test, in its fixtures and its function; `evaluate` tells it of its own, too."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.has_evaluated = False
        self.is_running = False
        """Whether the test's own function runs: what fixtures make may be for other tests, too."""
        self.pending: list[Pending] = []
        """What the test is to await."""
        self.results: list[Evaluated] = []
        """What did not pass, and was not looked at so far."""

    def begun(self) -> None:
        """Something of Proctor's is run, or scored."""
        self.has_evaluated = True

    def ended(self, result: Any) -> Any:
        """Give a result that did not pass on as one that knows whether it was looked at.

        One that is kept in a store can be looked at there, later and by anybody.
        """
        if not self.is_running or result.run_id or result.passed:
            return result
        return self.keep(result)

    def keep(self, result: Any) -> Evaluated:
        """Remember a result until the test is over, or looks at it from now on."""
        from proctor.pytest_plugin.overlooked import Evaluated, was_looked_at

        kept = Evaluated.of(result)
        self.results = [one for one in self.results if not was_looked_at(one)]
        self.results.append(kept)
        return kept

    def forget(self) -> None:
        """Forget everything: the test has ended otherwise than well."""
        self.pending, self.results = [], []

    def check(self, item: pytest.Item, *, is_over: bool = False) -> None:
        """Fail a test that would be green for what it did not await, look at or, now that it is over, evaluate."""
        __tracebackhide__ = True
        if not (self.pending or self.results or (is_over and is_to_evaluate(item))):
            return
        from proctor.pytest_plugin.overlooked import said_of

        said = said_of(self, item, is_over=is_over)
        self.forget()
        if said:
            pytest.fail(said, pytrace=False)


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Let a test's watch hear of what is evaluated."""
    WATCHERS.append(watch)
    try:
        yield
    finally:
        WATCHERS.remove(watch)


_KEY = pytest.StashKey[Watch]()


def new_watch(item: pytest.Item) -> Watch:
    """Begin anew: the test is about to be set up, perhaps not for the first time."""
    item.stash[_KEY] = Watch()
    return item.stash[_KEY]


def watch_of(item: pytest.Item) -> Watch:
    """Return what is known of a test's evaluations."""
    return item.stash.setdefault(_KEY, Watch())


def is_to_evaluate(item: pytest.Item) -> bool:
    """Tell whether a test was given a case, or its own marker (not that of its class or module) names sets."""
    if given_case(item) is not None:
        return True
    fixtures = getattr(item, "fixturenames", ())
    return "evaluate" in fixtures and any(mark.name == "proctor" and mark.args for mark in item.own_markers)


def given_case(item: pytest.Item) -> Any:
    """Return the case that a test was given, `None` where it was not."""
    return getattr(getattr(item, "callspec", None), "params", {}).get("eval_case")
