"""Watch what a test evaluates: whether it evaluates anything, and which results it does not inspect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from proctor.runs.attempts import WATCHERS

if TYPE_CHECKING:
    from proctor.pytest_plugin.inspected_results import InspectableResult, Pending


class Watch:
    """Watches the evaluations of one test in its fixtures and its function, including those of `evaluate`."""

    def __init__(self, session: SessionWatch | None = None) -> None:
        """Start without results. `session` watches the results that the test's fixtures create."""
        self._session = session
        self.has_evaluated = False
        self.is_running = False
        """Whether the test function runs: results of fixtures may be for other tests, too."""
        self.pending: list[Pending] = []
        """Evaluations that the test must await."""
        self.results: list[InspectableResult] = []
        """Results that did not pass and have not been inspected yet."""

    def begun(self) -> None:
        """Record that a run or a scoring begins."""
        self.has_evaluated = True

    def ended(self, result: object) -> object:
        """Return a result that did not pass as one that records its inspection.

        A stored result is returned unchanged, because it can be inspected later in the store.
        """
        if not self.is_running:
            return result if self._session is None else self._session.ended(result)
        return result if _is_settled(result) else self.keep(result)

    def keep(self, result: object) -> Any:
        """Return a result that records its inspection, and remember it until the test ends."""
        from proctor.pytest_plugin.inspected_results import inspectable, is_inspected

        copy = inspectable(result)
        self.results = [*(known for known in self.results if not is_inspected(known)), copy]
        return copy

    def forget(self) -> None:
        """Discard everything: the test has not passed."""
        self.pending, self.results = [], []

    def needs_check(self, item: pytest.Item, *, has_returned: bool) -> bool:
        """Return whether the test may have ignored a result, or (`has_returned`) has evaluated nothing."""
        return bool(self.pending or self.results or (has_returned and is_to_evaluate(item)))


class SessionWatch:
    """Watches evaluations outside of test functions: at module level, and in fixtures, which tests may share."""

    def __init__(self) -> None:
        """Start without results."""
        self.is_closed = False
        self._made: list[tuple[str, int, object]] = []
        self._count: Counter[str] = Counter()

    def begun(self) -> None:
        """Ignore the beginning of a run or a scoring."""

    def ended(self, result: object) -> object:
        """Return a result that did not pass as one that records its inspection."""
        if self.is_closed or _is_settled(result):
            return result
        from proctor.pytest_plugin.inspected_results import caller_location, inspectable

        place, result = caller_location(), inspectable(result)
        self._made.append((place, self._count[place], result))
        self._count[place] += 1
        return result

    def inspections(self) -> list[tuple[str, int, str, bool]]:
        """Return for each result the place of its creation, its number at that place, its text, and whether it was inspected."""
        if not self._made:
            return []
        from proctor.pytest_plugin.inspected_results import is_inspected

        return [(place, number, repr(result), is_inspected(result)) for place, number, result in self._made]


def _is_settled(result: object) -> bool:
    """Return whether a result needs no inspection: it passed, or is stored, so that it can be inspected later."""
    return bool(getattr(result, "run_id", "")) or bool(result)


@contextmanager
def active_watch(watch: Watch) -> Iterator[None]:
    """Activate a test's watch inside the block."""
    WATCHERS.append(watch)
    try:
        yield
    finally:
        WATCHERS.remove(watch)


_KEY = pytest.StashKey[Watch]()
SESSION = pytest.StashKey[SessionWatch]()


def watch_session(config: pytest.Config) -> None:
    """Activate the watch of a session, unless it is already active."""
    if SESSION not in config.stash:
        config.stash[SESSION] = watch = SessionWatch()
        WATCHERS.append(watch)
        config.add_cleanup(lambda: close_watch(config))  # without a session, as with `--help`


def close_watch(config: pytest.Config) -> None:
    """Deactivate the watch of a session."""
    watch = config.stash[SESSION]
    watch.is_closed = True
    if watch in WATCHERS:
        WATCHERS.remove(watch)


def new_watch(item: pytest.Item) -> Watch:
    """Create the watch of a test that is about to be set up, possibly for a second time."""
    item.stash[_KEY] = Watch(item.config.stash.get(SESSION, None))
    return item.stash[_KEY]


def watch_of(item: pytest.Item) -> Watch:
    """Return the watch of a test."""
    return item.stash.setdefault(_KEY, Watch())


def is_to_evaluate(item: pytest.Item) -> bool:
    """Return whether a test has a case, or its own marker (not that of its class or module) names sets."""
    if parametrized_case(item) is not None:
        return True
    fixtures = getattr(item, "fixturenames", ())
    return "evaluate" in fixtures and any(mark.name == "proctor" and mark.args for mark in item.own_markers)


def parametrized_case(item: pytest.Item) -> object:
    """Return the case with which a test is parametrized, or `None`."""
    return getattr(getattr(item, "callspec", None), "params", {}).get("eval_case")
