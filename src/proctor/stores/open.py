"""Stores by URL."""

from __future__ import annotations

from proctor.errors import UnknownNameError, did_you_mean
from proctor.registry import STORES
from proctor.stores import urls
from proctor.stores.base import Store


def open_store(url: str, *, read_only: bool = False) -> Store:
    """Open the store that `url` names: `sqlite:///PATH`, `sqlite:PATH`, a bare path (SQLite, too) or `memory:NAME`.

    A SQLite file and its folder are made when they are not there. `read_only`: nothing is made or changed, and what
    would write raises `StoreError`.

    Raises:
        UnknownNameError: no store has this scheme.
        SetupError: the URL names no place.
        StoreError: the store cannot be used; it has not been touched.
    """
    scheme, _ = urls.split(url)
    if scheme not in STORES:
        known = [*STORES.names(), "adk"]
        raise UnknownNameError(
            f"No store scheme named {scheme!r}.{did_you_mean(scheme, known)} Known: {', '.join(known)} "
            f"(adk:DIR only takes results, beside the store that the run lives in), or the path of a SQLite file."
        )
    store: Store = STORES.make(scheme, url, read_only=read_only)
    return store
