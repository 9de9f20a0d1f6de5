"""Stores by URL."""

from __future__ import annotations

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
    store: Store = STORES.get(scheme)(url, read_only=read_only)
    return store
