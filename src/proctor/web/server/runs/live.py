"""What a server knows of runs under way: those that it started, and those that somebody watches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends, Request

from proctor.engine.usage.run_costs import cost_of_case
from proctor.errors import ProctorError
from proctor.runs.queries import open_runs, store_url
from proctor.stores.base import Standing, Store
from proctor.web.pages.runs.case_table import CaseRow, case_row
from proctor.web.server.context import ServerContext
from proctor.web.server.runs.child_runs import Children
from proctor.web.server.runs.follow import Followers

FOLDER = ".proctor/page"


class Live:
    """The runs under way, as one server sees them."""

    def __init__(self, context: ServerContext) -> None:
        self.context = context
        self.children = Children(context.root, context.root / FOLDER)
        self.followers = Followers(self._open, rows_of=live_rows, ours=self.is_ours)

    def why_no_runs(self) -> str:
        """Say why no run can be started here; empty where one can."""
        try:
            url = store_url(self.context.store_url)
        except ProctorError as error:
            return str(error)
        if url.startswith("memory:"):
            return "this server keeps its runs in memory, where no other process can write: start it with --store PATH"
        return ""

    def is_ours(self, run_id: str, standing: Standing) -> bool:
        """Tell whether the process at work on a run is one that this server started, or one before it."""
        return standing.worker_pid is not None and standing.worker_pid == self.children.process_of(run_id)

    async def close(self) -> None:
        """Let go: whoever watches hears of it, and the runs of this server end as by Ctrl-C."""
        await self.followers.close()
        self.children.close()

    def _open(self) -> Store:
        return open_runs(self.context.store_url, read_only=True)


def live_rows(store: Store, run_id: str, judging: int, positions: Sequence[int]) -> list[CaseRow]:
    """Return the rows of some cases, with what they cost: their evidence is read."""
    cases = store.load(run_id, judging).cases
    rows = []
    for part in _stretches(positions):
        for position, case in zip(part, cases[part.start : part.stop], strict=True):
            row = case_row(position, case)
            row.cost = cost_of_case(case)
            rows.append(row)
    return rows


def _stretches(positions: Sequence[int]) -> list[range]:
    """Positions as stretches that follow one another, so that each is read with one question."""
    found: list[range] = []
    for position in sorted(positions):
        if found and found[-1].stop == position:
            found[-1] = range(found[-1].start, position + 1)
        else:
            found.append(range(position, position + 1))
    return found


def live_of(request: Request) -> Live:
    """Return what the application knows of runs under way."""
    state = request.app.state
    if not hasattr(state, "live"):
        state.live = Live(state.context)
    live: Live = state.live
    return live


LiveHere = Annotated[Live, Depends(live_of)]
"""The parameter by which a route gets it."""
