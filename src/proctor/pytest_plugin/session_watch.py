"""What one test evaluates: whether it evaluates at all, and what came of it that nobody has looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from proctor.runs.observers import WATCHERS

if TYPE_CHECKING:
    from proctor.pytest_plugin.uninspected_results import Evaluated, Pending


class Watch:
    """Hears of the evaluations of one test, in its fixtures and its function; `evaluate` tells it of its own, too."""

    def __init__(self, session: SessionWatch | None = None) -> None:
        """Begin with nothing. `session` hears of what the test's fixtures make."""
        self._session = session
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
        if not self.is_running:
            return result if self._session is None else self._session.ended(result)
        return result if _is_settled(result) else self.keep(result)

    def keep(self, result: Any) -> Evaluated:
        """Remember a result until the test is over, or looks at it from now on."""
        from proctor.pytest_plugin.uninspected_results import inspected, was_looked_at

        kept: Evaluated = inspected(result)
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
        from proctor.pytest_plugin.uninspected_results import said_of

        said = said_of(self, item, is_over=is_over)
        self.forget()
        if said:
            pytest.fail(said, pytrace=False)


class SessionWatch:
    """Hears of what is evaluated outside of test functions: at module level, and in fixtures, which tests may share."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.is_closed = False
        self._made: list[tuple[str, int, Any]] = []
        self._count: Counter[str] = Counter()

    def begun(self) -> None:
        """Something of Proctor's is run, or scored."""

    def ended(self, result: Any) -> Any:
        """Give a result that did not pass on as one that knows whether it was inspected."""
        if self.is_closed or _is_settled(result):
            return result
        from proctor.pytest_plugin.uninspected_results import inspected, place_of_caller

        place, kept = place_of_caller(), inspected(result)
        self._made.append((place, self._count[place], kept))
        self._count[place] += 1
        return kept

    def inspections(self) -> list[tuple[str, int, str, bool]]:
        """Return of each result where it was made, which one from there it was, its text, and whether it was inspected."""
        if not self._made:
            return []
        from proctor.pytest_plugin.uninspected_results import was_looked_at

        return [(place, number, repr(one), was_looked_at(one)) for place, number, one in self._made]


def _is_settled(result: Any) -> bool:
    """Return whether a result needs no inspection: it passed, or is kept in a store, where it can be inspected later."""
    return bool(getattr(result, "run_id", "")) or bool(result)


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Let a test's watch hear of what is evaluated."""
    WATCHERS.append(watch)
    try:
        yield
    finally:
        WATCHERS.remove(watch)


_KEY = pytest.StashKey[Watch]()
SESSION = pytest.StashKey[SessionWatch]()


def watch_session(config: pytest.Config) -> None:
    """Let the watch of a session hear of what is evaluated from now on; it hears already where this is called again."""
    if SESSION not in config.stash:
        config.stash[SESSION] = watch = SessionWatch()
        WATCHERS.append(watch)
        config.add_cleanup(lambda: close_watch(config))  # where no session begins (`--help`, a wrong option)


def close_watch(config: pytest.Config) -> None:
    """Stop hearing."""
    watch = config.stash[SESSION]
    watch.is_closed = True
    if watch in WATCHERS:
        WATCHERS.remove(watch)


def new_watch(item: pytest.Item) -> Watch:
    """Begin anew: the test is about to be set up, perhaps not for the first time."""
    item.stash[_KEY] = Watch(item.config.stash.get(SESSION, None))
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
