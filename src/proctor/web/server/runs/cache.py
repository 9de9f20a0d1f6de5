"""Looks at runs that will not change any more, kept for whoever asks next."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from proctor.stores.base import Store
from proctor.web.pages.runs.case_table import CaseExtras
from proctor.web.pages.runs.load import FoundRun, RunLook, find_kept, look_at, notes_of
from proctor.web.pages.runs.load_extras import case_extras
from proctor.web.pages.runs.notes import NotesPage

_Kept = TypeVar("_Kept")

_MOST_BYTES = 64 * 1024 * 1024
_A_LITTLE = 10_000


class Kept(Generic[_Kept]):
    """The last few of what was made, up to so many bytes in all; one that is larger is not kept."""

    def __init__(self, most: int = _MOST_BYTES) -> None:
        """Take how many bytes are kept at most."""
        self._most = most
        self._held: OrderedDict[str, tuple[_Kept, int]] = OrderedDict()
        self._making: dict[str, Lock] = {}
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: str | None, make: Callable[[], _Kept], size: Callable[[_Kept], int]) -> _Kept:
        """Return what is kept by `key`, else what `make` returns; without a key nothing is kept.

        Who asks for the same meanwhile waits for it: a page asks for several things of one run at once.
        """
        if key is None:
            return make()
        with self._lock:
            if key in self._held:
                return self._taken(key)
            making = self._making.setdefault(key, Lock())
        with making:
            with self._lock:
                if key in self._held:
                    return self._taken(key)
            try:
                made = make()
                self._put(key, made, size(made))
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return made

    def _taken(self, key: str) -> _Kept:
        self._held.move_to_end(key)
        return self._held[key][0]

    def _put(self, key: str, made: _Kept, size: int) -> None:
        with self._lock:
            if size > self._most or key in self._held:
                return
            self._held[key] = made, size
            self._bytes += size
            while self._bytes > self._most:
                _, (_, gone) = self._held.popitem(last=False)
                self._bytes -= gone


class Looks:
    """What a server remembers of its runs."""

    def __init__(self) -> None:
        self._looks: Kept[RunLook] = Kept()
        self._notes: Kept[NotesPage] = Kept()
        self._extras: Kept[CaseExtras] = Kept()

    def look(self, store: Store, run: str, judging: int | None) -> tuple[FoundRun, RunLook]:
        """Return the run called `run`, and a look at its cases.

        Raises:
            UnknownNameError: there is none, several begin so, or it has no such judging.
        """
        found = find_kept(store, run, judging)
        return found, self._looks.get(found.key, lambda: look_at(store, found), _size)

    def note(self, store: Store, run: str, judging: int | None) -> NotesPage:
        """Return what all evidence of the run called `run` says; raises as `look`."""
        found = find_kept(store, run, judging)
        return self._notes.get(found.key, lambda: notes_of(store, found), lambda _: _A_LITTLE)

    def extras(self, store: Store, run: str, judging: int | None) -> CaseExtras:
        """Return tags and costs of the cases of the run called `run`; raises as `look`."""
        found = find_kept(store, run, judging)
        run_id, number = found.kept.listed.run.run_id, found.kept.judging
        return self._extras.get(
            found.key,
            lambda: case_extras(store, run_id, number),
            lambda made: _A_LITTLE + 32 * len(made.costs),
        )


def _size(look: RunLook) -> int:
    return _A_LITTLE + sum(map(len, look.rows)) + 64 * len(look.rows)
