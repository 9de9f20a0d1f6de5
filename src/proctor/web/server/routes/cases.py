"""The cases of a run as a table."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from proctor.web.pages.runs.case_table import CasesPage
from proctor.web.server.context import Here
from proctor.web.server.routes.runs import Judging

router = APIRouter()


@router.get("/runs/{run}/cases", response_model=CasesPage)
def list_cases(
    here: Here,
    run: str,
    judging: Judging = None,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    limit: Annotated[int | None, Query(ge=0, le=2**31, description="By default all.")] = None,
) -> Response:
    """Some of a run's cases in their order, or all of them."""
    with here.runs() as store:
        _, look = here.looks.look(store, run, judging)
    rows = look.rows[offset : None if limit is None else offset + limit]
    body = b'{"items":[%b],"total":%d}' % (b",".join(rows), len(look.rows))
    return Response(body, media_type="application/json")
