"""Stored runs: the list, one run, its cases, their trials with spans and LLM judges, the labels of people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path as FilePath
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import FileResponse
from pydantic import Field
from starlette.background import BackgroundTask

from proctor.runs.storage.export import export_run
from proctor.runs.storage.open import NoRunsError
from proctor.runs.storage.queries import RunFilter, starred_runs
from proctor.schema.results.manifest import RunState, scoring_number
from proctor.schema.results.run_result import Outcome
from proctor.schema.serialize import kept_json
from proctor.web.pages.bundle.store_pages import StoreExtras
from proctor.web.pages.case.case import CasePage
from proctor.web.pages.case.judge_votes import JudgesPage, PromptPage
from proctor.web.pages.case.load_case import CaseLoader, reconstruct_prompt
from proctor.web.pages.case.traced_spans import SpansPage
from proctor.web.pages.case.trial import TrialPage
from proctor.web.pages.runs.case_filters import CaseExtras, TextMatches, find_reasons, find_texts
from proctor.web.pages.runs.case_table import CasesPage
from proctor.web.pages.runs.load_run import brief_page, brief_rows, runs_page
from proctor.web.pages.runs.run_list import RunsPage
from proctor.web.pages.runs.run_page import NotesPage, RunPage
from proctor.web.pages.runs.run_trends import CauseTrend, cause_trend
from proctor.web.server.context import ContextDep, ServerContext
from proctor.web.server.http.errors import as_json

router = APIRouter()

_TRIAL = "/runs/{run}/cases/{position}/trials/{number}"
Position = Annotated[int, Path(ge=0, le=2**31, description="The position of the case in its run, from 0.")]
Number = Annotated[int, Path(ge=0, le=2**31, description="The trial, from 0.")]
Turn = Annotated[int | None, Query(ge=0, le=2**31, description="From 0; by default the trial as a whole.")]
ScoringNumber = Annotated[
    int | None,
    Query(alias="judging", ge=1, description="The number of the scoring; by default the one that counts."),
]

Brief = Annotated[
    bool,
    Query(
        description="Only what is known without reading every case of the run and of the one that it is compared with."
    ),
]

_LIMIT = "By default all; with `brief`, without a limit, all rows of a small run with their changes, else the first."


@router.get("/runs")
def list_runs(
    context: ContextDep,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    before: Annotated[str | None, Query(description="`next` of the previous page.")] = None,
    agent: Annotated[str | None, Query(description="The wildcards `*` and `?` are allowed.")] = None,
    eval_set: Annotated[str | None, Query(alias="set", description="An eval set's id, or its file.")] = None,
    outcome: Annotated[list[Outcome] | None, Query()] = None,
    state: Annotated[list[RunState] | None, Query()] = None,
    *,
    starred: Annotated[bool, Query(description="Only runs with a star.")] = False,
) -> RunsPage:
    """List the stored runs, newest first; without a store the list is empty."""
    try:
        with context.runs() as store:
            criteria = RunFilter(
                agent=agent,
                eval_set=eval_set,
                outcome=outcome or (),
                state=state or (),
                run_ids=starred_runs(store) if starred else None,
            )
            return runs_page(store, criteria, limit=limit, before=before)
    except NoRunsError:
        return RunsPage(items=[], next=None, total=0)


@router.get("/runs/{run}")
def get_run(context: ContextDep, run: str, scoring: ScoringNumber = None, *, brief: Brief = False) -> RunPage:
    """Return one run, given its id, the beginning of it, `latest` or `latest~1`."""
    with context.runs() as store:
        if brief:
            return brief_page(store, run, scoring)
        return context.run_pages.run(store, run, scoring)


@router.get("/runs/{run}/notes")
def get_run_notes(context: ContextDep, run: str, scoring: ScoringNumber = None) -> NotesPage:
    """Return the notes of a run; all evidence is read for them."""
    with context.runs() as store:
        return context.run_pages.notes(store, run, scoring)


@router.get("/runs/{run}/case-extras")
def get_case_extras(context: ContextDep, run: str, scoring: ScoringNumber = None) -> CaseExtras:
    """Return tags, tools and costs of a run's cases; all evidence is read for them, so the page requests them after the table."""
    with context.runs() as store:
        return context.run_pages.extras(store, run, scoring)


@router.get("/runs/{run}/cause-trend")
def get_cause_trend(context: ContextDep, run: str, scoring: ScoringNumber = None) -> CauseTrend:
    """Return the causes of a run's failures in it and in the runs before it; the verdicts of all are read."""
    with context.runs() as store:
        return cause_trend(store, run, scoring)


Texts = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=500)]], Query(min_length=1, max_length=5)
]


@router.get("/runs/{run}/texts")
def find_in_conversations(context: ContextDep, run: str, text: Texts) -> TextMatches:
    """Return for each text the cases whose conversations contain it; all evidence is read."""
    with context.runs() as store:
        return find_texts(store, store.find(run), text)


@router.get("/runs/{run}/reasons")
def find_in_reasons(context: ContextDep, run: str, text: Texts, scoring: ScoringNumber = None) -> TextMatches:
    """Return for each text the cases whose complete reasons contain it; the verdicts of all cases are read."""
    with context.runs() as store:
        run_id = store.find(run)
        return find_reasons(store, run_id, scoring_number(store.scorings(run_id), scoring), text)


@router.get("/runs/{run}/cases", response_model=CasesPage)
def list_cases(
    context: ContextDep,
    run: str,
    scoring: ScoringNumber = None,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    limit: Annotated[int | None, Query(ge=0, le=2**31, description=_LIMIT)] = None,
    *,
    brief: Brief = False,
) -> Response:
    """List the cases of a run in their order."""
    with context.runs() as store:
        if brief and limit is not None:
            rows, total = brief_rows(store, run, scoring, offset, limit)
        elif brief:
            first, total = context.run_pages.first_rows(store, run, scoring)
            rows = first[offset:]
        else:
            every = context.run_pages.rows(store, run, scoring)
            rows, total = every[offset : None if limit is None else offset + limit], len(every)
    return Response(b'{"items":[%b],"total":%d}' % (b",".join(rows), total), media_type="application/json")


ExportFormat = Literal["html", "json", "jsonl", "csv", "junit", "markdown"]
_SUFFIXES: dict[ExportFormat, str] = {"junit": "xml", "markdown": "md"}


@router.get("/runs/{run}/export", response_class=FileResponse)
def get_export(
    context: ContextDep,
    run: str,
    form: Annotated[ExportFormat, Query(alias="format", description="As of `proctor export`.")],
    scoring: ScoringNumber = None,
) -> FileResponse:
    """Return the file that `proctor export` writes for a run."""
    with context.runs() as store, ExitStack() as cleanup:
        run_id = store.find(run)
        number = scoring_number(store.scorings(run_id), scoring)
        folder = cleanup.enter_context(TemporaryDirectory(prefix="proctor-export-"))
        file = FilePath(folder, f"run-{run_id}.{_SUFFIXES.get(form, form)}")
        export_run(store.load(run_id, number), form, file, extras=StoreExtras(store, number))
        sent = cleanup.pop_all()
    # as a download only: a report that is shown here would have the rights of this page
    return FileResponse(file, filename=file.name, background=BackgroundTask(sent.close))


@contextmanager
def _case(context: ServerContext, run: str, position: int, scoring: int | None) -> Iterator[CaseLoader]:
    with context.runs() as store:
        yield CaseLoader(store, run, position, scoring)


@router.get("/runs/{run}/cases/{position}")
def get_case(context: ContextDep, run: str, position: Position, scoring: ScoringNumber = None) -> CasePage:
    """Return one case of a run: its verdict, metrics, trials and earlier scorings."""
    with _case(context, run, position, scoring) as case:
        return case.page()


@router.get(_TRIAL, response_model=TrialPage)
def get_trial(
    context: ContextDep, run: str, position: Position, number: Number, scoring: ScoringNumber = None
) -> Response:
    """Return one trial, turn by turn, expected and actual side by side."""
    with _case(context, run, position, scoring) as case:
        return as_json(case.trial(number))


@router.get(f"{_TRIAL}/spans", response_model=SpansPage)
def get_spans(context: ContextDep, run: str, position: Position, number: Number) -> Response:
    """Return the spans of one trial over time."""
    with _case(context, run, position, None) as case:
        return as_json(case.spans(number))


@router.get(f"{_TRIAL}/judges", response_model=JudgesPage)
def get_judges(
    context: ContextDep, run: str, position: Position, number: Number, scoring: ScoringNumber = None
) -> Response:
    """Return the votes of the LLM judges on one trial, and the labels of people for it."""
    with _case(context, run, position, scoring) as case:
        return as_json(case.judges(number))


@router.get(f"{_TRIAL}/judges/{{metric}}/prompt")
def get_prompt(
    context: ContextDep,
    run: str,
    position: Position,
    number: Number,
    metric: str,
    turn: Turn = None,
    scoring: ScoringNumber = None,
) -> PromptPage:
    """Return the prompt of a metric's LLM judge about a turn; no model is called for it."""
    with context.runs() as store:
        return reconstruct_prompt(store, run, position, number, metric, turn, scoring)


@router.get(
    f"{_TRIAL}/evidence",
    response_class=Response,
    responses={200: {"content": {"application/json": {}}}},
)
def get_evidence(context: ContextDep, run: str, position: Position, number: Number) -> Response:
    """Return the complete evidence (the transcript) of one trial as JSON."""
    with _case(context, run, position, None) as case:
        trial = case.view.case.trials[case.place(number)].trial
        body = kept_json(trial) if trial is not None else b"null"
    name = f"evidence-{case.run_id}-{position}-{number}.json"
    return Response(
        body, media_type="application/json", headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
