"""Several runs: two compared, one case of two side by side, a matrix, the history, and the LLM judges."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from proctor.analysis.history.history import LIMIT, history_sync
from proctor.runs.storage.open import NoRunsError
from proctor.schema.analysis.history import RunHistory
from proctor.web.pages.analysis.case_pair import PairPage
from proctor.web.pages.analysis.comparison import BaselinesPage, ComparisonPage
from proctor.web.pages.analysis.history import HistoryPage, history_page
from proctor.web.pages.analysis.known_judges import KnownJudgesPage, known_judges
from proctor.web.pages.analysis.load_comparison import (
    comparable_pair,
    load_baselines,
    load_comparison,
    load_matrix,
    load_pair,
)
from proctor.web.pages.runs.matrix import MatrixPage
from proctor.web.pages.runs.run_trends import CostIntervals, cost_intervals
from proctor.web.server.context import ContextDep
from proctor.web.server.http.errors import as_json

router = APIRouter()

RunName = Annotated[
    str, Query(description="An id, the beginning of one, `latest`, `latest~1` or `previous`.")
]


@router.get("/baselines")
def list_baselines(context: ContextDep) -> BaselinesPage:
    """List the baselines by name."""
    try:
        with context.runs() as store:
            return load_baselines(store)
    except NoRunsError:
        return BaselinesPage(items=[])


@router.get("/compare", response_model=ComparisonPage)
def get_comparison(
    context: ContextDep,
    base: Annotated[
        str | None, Query(description="As `candidate`, or the name of a baseline; by default `previous`.")
    ] = None,
    candidate: Annotated[
        str | None,
        Query(
            description="An id, the beginning of one, `latest` (the default), `latest~1` or `previous`. "
            "If neither run is named, the newest two that share cases."
        ),
    ] = None,
    margin: Annotated[
        float | None,
        Query(
            gt=0,
            lt=1,
            description="The drop of the pass rate that is tolerated; by default that of the command.",
        ),
    ] = None,
) -> Response:
    """Compare two runs case by case, as `proctor compare` does."""
    with context.runs() as store:
        names = (base or "previous", candidate or "latest") if base or candidate else comparable_pair(store)
        return as_json(load_comparison(store, *names, margin=margin))


@router.get("/compare/case")
def get_pair(
    context: ContextDep,
    eval_set: Annotated[str, Query(alias="set", description="The eval set's id.")],
    case: Annotated[str, Query(description="The case's id.")],
    base: RunName = "previous",
    candidate: RunName = "latest",
) -> PairPage:
    """Return one case of two runs: a trial of each, from their first difference on."""
    with context.runs() as store:
        return load_pair(store, base, candidate, eval_set, case)


@router.get("/matrix", response_model=MatrixPage)
def get_matrix(
    context: ContextDep, runs: Annotated[str, Query(description="Names of runs, separated by commas.")]
) -> Response:
    """Return several runs on the same cases."""
    with context.runs() as store:
        return as_json(load_matrix(store, [name.strip() for name in runs.split(",") if name.strip()]))


@router.get("/history", response_model=HistoryPage)
def get_history(
    context: ContextDep,
    eval_set: Annotated[str | None, Query(alias="set", description="An eval set's id, or its file.")] = None,
    case: Annotated[str | None, Query(description="The id of a case, or set/case.")] = None,
    agent: Annotated[str | None, Query(description="The wildcards `*` and `?` are allowed.")] = None,
    limit: Annotated[int, Query(ge=0, le=1000, description="How many runs; 0: all.")] = LIMIT,
    *,
    combine_agents: Annotated[
        bool, Query(description="Treat the runs of all agents as one history.")
    ] = False,
) -> Response:
    """Return which cases broke in which run, agent by agent; with `case`, that case run by run."""
    values = {
        "--set": None if case else eval_set,
        "--agent": agent,
        "--limit": None if limit == LIMIT else str(limit),
    }
    options = [word for name, value in values.items() if value is not None for word in (name, value)]
    options += ["--combine-agents"] if combine_agents else []
    try:
        with context.runs() as store:
            history = history_sync(
                case, store=store, agent=agent, eval_set=eval_set, limit=limit, combine_agents=combine_agents
            )
    except NoRunsError:
        history = RunHistory([], 0, [])
    return as_json(history_page(history, options=options))


@router.get("/history/costs")
def get_cost_intervals(
    context: ContextDep,
    run: Annotated[list[str], Query(min_length=1, max_length=100, description="Ids of runs, newest first.")],
) -> CostIntervals:
    """Return the 95 % confidence intervals of the costs of runs; the evidence of their cases is read (5,000 at most)."""
    with context.runs() as store:
        return cost_intervals(store, context.run_pages, run)


@router.get("/judges")
def list_judges(context: ContextDep) -> KnownJudgesPage:
    """List the LLM judges of the newest runs with their calibrations."""
    try:
        with context.runs() as store:
            return known_judges(store)
    except NoRunsError:
        return KnownJudgesPage(items=[], runs=0)
