"""Where a run goes: the store that it lives in, and the folders that its results are also written to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from proctor.cli.errors import say
from proctor.errors import SetupError, StoreError
from proctor.runs.setup.settings import Settings
from proctor.runs.storage.queries import is_for_results, open_store
from proctor.schema.results.run_result import RunResult

if TYPE_CHECKING:
    from proctor.stores.adk_history import AdkFiles
    from proctor.stores.base import Store

NOWHERE = "memory:"


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where a run goes."""

    store: Store | None = None
    """`None`: it is kept nowhere."""
    adk: list[AdkFiles] = field(default_factory=list)
    """Folders of agents whose `.adk/eval_history` the results are written to, too."""

    def close(self) -> None:
        """Let go of the store."""
        if self.store is not None:
            self.store.close()

    def write_results(self, runs: Sequence[RunResult]) -> bool:
        """Write the results where they are also wanted; say which could not be. Returns whether all could."""
        fine = True
        for place in self.adk:
            for run in runs:
                try:
                    place.write(run)
                except StoreError as error:
                    fine = False
                    say(f"error: {error}")
        return fine


def choose_keeping(given: Sequence[str], settings: Settings) -> Keeping:
    """Open what `--store` and the settings name; the project's own store where they name none.

    Raises:
        SetupError: two stores are named, or one cannot be used.
    """
    asked = list(given) or list(settings.store)
    store, adk = store_of(asked), results_places(asked)
    return Keeping(None if store == NOWHERE else open_store(store), adk)


def store_of(urls: Sequence[str]) -> str | None:
    """Return the one of `urls` that the run lives in; `None` where all are places for results.

    Raises:
        SetupError: there are two.
    """
    stores = [url for url in urls if not is_for_results(url)]
    if len(stores) > 1:
        raise SetupError(f"a run lives in one store, and there are two: {' and '.join(stores)}")
    return stores[0] if stores else None


def results_places(urls: Sequence[str]) -> list[AdkFiles]:
    """Return the folders among `urls` that results are also written to.

    Raises:
        StoreError: one is not there, or may not be written.
    """
    return [_results(url) for url in urls if is_for_results(url)]


def _results(url: str) -> AdkFiles:
    from proctor.stores.adk_history import AdkFiles

    place = AdkFiles.from_url(url)
    place.check()
    return place
