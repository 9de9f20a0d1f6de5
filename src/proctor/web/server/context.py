"""The context of a server: the project, its store, its agents."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from proctor.runs.storage.queries import open_runs, open_store
from proctor.stores.base import Store
from proctor.web.pages.runs.load_run import RunPageCache
from proctor.web.server.access import Access


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerContext:
    """The context of one server; a route receives it through `ContextDep`."""

    root: Path
    """The project's folder, which contains the eval sets."""
    store_url: str | Path | None = None
    """The store of runs; `None`: the project's own store."""
    agents: Path | None = None
    """A folder with one folder per agent, or the folder of one agent; `None`: the project's settings name the agent."""
    access: Access = field(default_factory=Access)
    """Which clients are served, and what the page may start."""
    adk_page: Path | None = None
    """The folder of google-adk's own page, if it is served, too."""
    run_pages: RunPageCache = field(default_factory=RunPageCache, compare=False, repr=False)

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
        """Open the store for writing; create it if there is none.

        Raises:
            StoreError: it cannot be opened.
        """
        store = open_store(self.store_url)
        try:
            yield store
        finally:
            store.close()


def _context(request: Request) -> ServerContext:
    context: ServerContext = request.app.state.context
    return context


ContextDep = Annotated[ServerContext, Depends(_context)]
"""The type of the parameter through which a route receives its `ServerContext`."""
