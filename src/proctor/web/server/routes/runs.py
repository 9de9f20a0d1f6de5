"""Runs: the list, and the page of one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from proctor.runs.queries import NoRunsError, RunFilter
from proctor.schema.results.manifest import RunState
from proctor.schema.results.run_result import Outcome
from proctor.web.pages.runs.load import page_of, runs_page
from proctor.web.pages.runs.notes import NotesPage
from proctor.web.pages.runs.run import RunPage
from proctor.web.pages.runs.run_list import RunsPage
from proctor.web.server.context import Here

router = APIRouter()

Judging = Annotated[int | None, Query(ge=1, description="Which judging; by default the one that counts.")]


@router.get("/runs")
def list_runs(
    here: Here,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    before: Annotated[str | None, Query(description="`next` of the page before.")] = None,
    agent: Annotated[str | None, Query(description="`*` and `?` stand for anything.")] = None,
    eval_set: Annotated[str | None, Query(alias="set", description="An eval set's id, or its file.")] = None,
    outcome: Annotated[list[Outcome] | None, Query()] = None,
    state: Annotated[list[RunState] | None, Query()] = None,
) -> RunsPage:
    """The runs that are kept, newest first; none where no store is yet."""
    wanted = RunFilter(agent=agent, eval_set=eval_set, outcome=outcome or (), state=state or ())
    try:
        with here.runs() as store:
            return runs_page(store, wanted, limit=limit, before=before)
    except NoRunsError:
        return RunsPage(items=[], next=None, total=0)


@router.get("/runs/{run}")
def get_run(here: Here, run: str, judging: Judging = None) -> RunPage:
    """One run: an id, the beginning of one, `latest` or `latest~1`."""
    with here.runs() as store:
        found, look = here.looks.look(store, run, judging)
        return page_of(store, found, look)


@router.get("/runs/{run}/notes")
def get_run_notes(here: Here, run: str, judging: Judging = None) -> NotesPage:
    """What takes a look at all evidence of a run to know."""
    with here.runs() as store:
        return here.looks.note(store, run, judging)
