"""Targets of a run: its store, and the folders to which its results are also written."""

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
    """The store of a run and its further targets."""

    store: Store | None = None
    """`None`: the run is not stored."""
    adk: list[AdkFiles] = field(default_factory=list)
    """Agent folders to whose `.adk/eval_history` the results are also written."""

    def close(self) -> None:
        """Close the store."""
        if self.store is not None:
            self.store.close()

    def write_results(self, runs: Sequence[RunResult]) -> bool:
        """Write the results to the further targets, print an error for each failure, and return whether all succeeded."""
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
    """Open the stores of `--store` or of the settings; the project's own store if neither names one.

    Raises:
        SetupError: two stores are named, or one cannot be used.
    """
    asked = list(given) or list(settings.store)
    store, adk = store_of(asked), results_places(asked)
    return Keeping(None if store == NOWHERE else open_store(store), adk)


def store_of(urls: Sequence[str]) -> str | None:
    """Return the URL of the store for the run; `None` if all `urls` are targets for results only.

    Raises:
        SetupError: `urls` name two stores.
    """
    stores = [url for url in urls if not is_for_results(url)]
    if len(stores) > 1:
        raise SetupError(f"a run lives in one store, and there are two: {' and '.join(stores)}")
    return stores[0] if stores else None


def results_places(urls: Sequence[str]) -> list[AdkFiles]:
    """Return the folders among `urls` to which results are also written.

    Raises:
        StoreError: a folder does not exist, or may not be written.
    """
    return [_results(url) for url in urls if is_for_results(url)]


def _results(url: str) -> AdkFiles:
    from proctor.stores.adk_history import AdkFiles

    place = AdkFiles.from_url(url)
    place.check()
    return place
