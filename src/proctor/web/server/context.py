"""What the server works with: the project, its store, its agents."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from proctor.runs.queries import open_runs, open_store
from proctor.stores.base import Store
from proctor.web.server.options import Access
from proctor.web.server.runs.cache import Looks


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerContext:
    """One server's world; every route gets it as `Here`."""

    root: Path
    """The project's folder: eval sets are looked for below it."""
    store_url: str | Path | None = None
    """Where runs are kept; `None`: the project's own store."""
    agents: Path | None = None
    """A folder with a folder for each agent, or one agent's folder; `None`: the project's settings name the agent."""
    access: Access = field(default_factory=Access)
    """Who may ask, and what the page may start."""
    adk_page: Path | None = None
    """The folder of google-adk's own page, where that is to be served, too."""
    looks: Looks = field(default_factory=Looks, compare=False, repr=False)
    """What is remembered of runs that will not change."""

    @contextmanager
    def runs(self) -> Iterator[Store]:
        """Open the store for reading.

        Raises:
            NoRunsError: there is no store yet.
            StoreError: it cannot be opened.
        """
        store = open_runs(self.store_url, read_only=True)
        try:
            yield store
        finally:
            store.close()

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """Open the store for keeping something; one that is not there is made.

        Raises:
            StoreError: it cannot be opened.
        """
        store = open_store(self.store_url)
        try:
            yield store
        finally:
            store.close()


def _here(request: Request) -> ServerContext:
    context: ServerContext = request.app.state.context
    return context


Here = Annotated[ServerContext, Depends(_here)]
"""The parameter by which a route gets its `ServerContext`."""
