"""The runs that are running, as one server sees them: those that it started, and those that a client watches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends, Request

from proctor.engine.usage.costs import cost_of_case
from proctor.errors import ProctorError
from proctor.runs.storage.queries import open_runs, store_url
from proctor.stores.base import Standing, Store
from proctor.web.pages.runs.case_table import CaseRow, case_row
from proctor.web.server.context import ServerContext
from proctor.web.server.runs.child_runs import ChildRuns
from proctor.web.server.runs.follow import Followers

FOLDER = ".proctor/page"


class ActiveRuns:
    """The running runs of one server."""

    def __init__(self, context: ServerContext) -> None:
        self.context = context
        self.children = ChildRuns(context.root, context.root / FOLDER)
        self.followers = Followers(self._open, rows_of=active_rows, ours=self.is_ours)

    def why_no_runs(self) -> str:
        """Return why this server cannot start runs; empty if it can."""
        try:
            url = store_url(self.context.store_url)
        except ProctorError as error:
            return str(error)
        if url.startswith("memory:"):
            return "this server stores its runs in memory, which no other process can write: start it with --store PATH"
        return ""

    def is_ours(self, run_id: str, standing: Standing) -> bool:
        """Return whether this server, or an earlier one, started the process that executes a run."""
        return standing.worker_pid is not None and standing.worker_pid == self.children.process_of(run_id)

    async def close(self) -> None:
        """Close all event streams, and interrupt the runs of this server as Ctrl-C does."""
        await self.followers.close()
        self.children.close()

    def _open(self) -> Store:
        return open_runs(self.context.store_url, read_only=True)


def active_rows(store: Store, run_id: str, judging: int, positions: Sequence[int]) -> list[CaseRow]:
    """Return the rows of some cases with their costs, for which their evidence is read."""
    cases = store.load(run_id, judging).cases
    rows = []
    for part in _ranges(positions):
        for position, case in zip(part, cases[part.start : part.stop], strict=True):
            row = case_row(position, case)
            row.cost = cost_of_case(case)
            rows.append(row)
    return rows


def _ranges(positions: Sequence[int]) -> list[range]:
    """Group positions into ranges of consecutive ones, so that the store is queried once per range."""
    ranges: list[range] = []
    for position in sorted(positions):
        if ranges and ranges[-1].stop == position:
            ranges[-1] = range(ranges[-1].start, position + 1)
        else:
            ranges.append(range(position, position + 1))
    return ranges


def active_runs_of(request: Request) -> ActiveRuns:
    """Return the application's `ActiveRuns`; create them with the first request."""
    state = request.app.state
    if not hasattr(state, "active_runs"):
        state.active_runs = ActiveRuns(state.context)
    active: ActiveRuns = state.active_runs
    return active


ActiveRunsDep = Annotated[ActiveRuns, Depends(active_runs_of)]
"""The type of the parameter through which a route receives the application's `ActiveRuns`."""
