"""Runs: the list, the page of one run, its notes, tags and costs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from proctor.runs.storage.queries import NoRunsError, RunFilter
from proctor.schema.results.manifest import RunState
from proctor.schema.results.run_result import Outcome
from proctor.web.pages.runs.case_table import CaseExtras
from proctor.web.pages.runs.load_run import runs_page
from proctor.web.pages.runs.notes import NotesPage
from proctor.web.pages.runs.run_list import RunsPage
from proctor.web.pages.runs.run_page import RunPage
from proctor.web.server.context import ContextDep

router = APIRouter()

Judging = Annotated[
    int | None, Query(ge=1, description="The number of the scoring; by default the one that counts.")
]


@router.get("/runs")
def list_runs(
    context: ContextDep,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    before: Annotated[str | None, Query(description="`next` of the previous page.")] = None,
    agent: Annotated[str | None, Query(description="The wildcards `*` and `?` are allowed.")] = None,
    eval_set: Annotated[str | None, Query(alias="set", description="An eval set's id, or its file.")] = None,
    outcome: Annotated[list[Outcome] | None, Query()] = None,
    state: Annotated[list[RunState] | None, Query()] = None,
) -> RunsPage:
    """List the stored runs, newest first; without a store the list is empty."""
    criteria = RunFilter(agent=agent, eval_set=eval_set, outcome=outcome or (), state=state or ())
    try:
        with context.runs() as store:
            return runs_page(store, criteria, limit=limit, before=before)
    except NoRunsError:
        return RunsPage(items=[], next=None, total=0)


@router.get("/runs/{run}")
def get_run(context: ContextDep, run: str, judging: Judging = None) -> RunPage:
    """Return one run, given its id, the beginning of it, `latest` or `latest~1`."""
    with context.runs() as store:
        return context.run_pages.run(store, run, judging)


@router.get("/runs/{run}/notes")
def get_run_notes(context: ContextDep, run: str, judging: Judging = None) -> NotesPage:
    """Return the notes of a run; all evidence is read for them."""
    with context.runs() as store:
        return context.run_pages.notes(store, run, judging)


@router.get("/runs/{run}/case-extras")
def get_case_extras(context: ContextDep, run: str, judging: Judging = None) -> CaseExtras:
    """Return tags and costs of a run's cases; all evidence is read for them, so the page requests them after the table."""
    with context.runs() as store:
        return context.run_pages.extras(store, run, judging)
