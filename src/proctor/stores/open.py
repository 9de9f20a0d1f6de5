"""Open a store by its URL."""

from __future__ import annotations

from proctor.common.registry import STORES
from proctor.errors import UnknownNameError, did_you_mean
from proctor.stores import urls
from proctor.stores.base import Store


def open_store(url: str, *, read_only: bool = False) -> Store:
    """Open the store that `url` names: `sqlite:///PATH`, `sqlite:PATH`, a bare path (SQLite, too) or `memory:NAME`.

    A missing SQLite file and its folder are created. `read_only`: nothing is created or changed, and every write
    raises `StoreError`.

    Raises:
        UnknownNameError: no store has this scheme.
        SetupError: the URL names no location.
        StoreError: the store cannot be used; it has not been changed.
    """
    scheme, _ = urls.split(url)
    if scheme not in STORES:
        known = [*STORES.names(), "adk"]
        raise UnknownNameError(
            f"No store scheme named {scheme!r}.{did_you_mean(scheme, known)} Known: {', '.join(known)} "
            f"(adk:DIR only takes results, in addition to the store of the run), or the path of a SQLite file."
        )
    store: Store = STORES.make(scheme, url, read_only=read_only)
    return store
