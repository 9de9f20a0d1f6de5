"""Two runs compared, one case of them side by side, and several runs as a matrix."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from proctor.runs.queries import NoRunsError
from proctor.web.pages.analysis.case_pair import PairPage
from proctor.web.pages.analysis.comparison import BaselinesPage, ComparisonPage
from proctor.web.pages.analysis.load_comparison import (
    baselines_page,
    compared_page,
    lined_up_page,
    paired_page,
)
from proctor.web.pages.runs.matrix import MatrixPage
from proctor.web.server.context import Here
from proctor.web.server.http.errors import as_json

router = APIRouter()

Named = Annotated[str, Query(description="An id, the beginning of one, `latest`, `latest~1` or `previous`.")]


@router.get("/baselines")
def list_baselines(here: Here) -> BaselinesPage:
    """The runs that others are compared with by name."""
    try:
        with here.runs() as store:
            return baselines_page(store)
    except NoRunsError:
        return BaselinesPage(items=[])


@router.get("/compare", response_model=ComparisonPage)
def get_comparison(
    here: Here,
    base: Annotated[str, Query(description="As `candidate`, or the name of a baseline.")] = "previous",
    candidate: Named = "latest",
    margin: Annotated[
        float | None,
        Query(
            gt=0, lt=1, description="By how much the pass rate may fall; by default as the command takes it."
        ),
    ] = None,
) -> Response:
    """Two runs compared case by case, as `proctor compare` does it."""
    with here.runs() as store:
        return as_json(compared_page(store, base, candidate, margin=margin))


@router.get("/compare/case")
def get_pair(
    here: Here,
    eval_set: Annotated[str, Query(alias="set", description="The eval set's id.")],
    case: Annotated[str, Query(description="The case's id.")],
    base: Named = "previous",
    candidate: Named = "latest",
) -> PairPage:
    """One case of two runs: a trial of each, from where they part."""
    with here.runs() as store:
        return paired_page(store, base, candidate, eval_set, case)


@router.get("/matrix", response_model=MatrixPage)
def get_matrix(
    here: Here, runs: Annotated[str, Query(description="Names of runs, with commas between.")]
) -> Response:
    """Several runs on the same cases."""
    with here.runs() as store:
        return as_json(lined_up_page(store, [name.strip() for name in runs.split(",") if name.strip()]))
