"""Looking back over runs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from proctor.analysis.history.history import LIMIT, history_sync
from proctor.runs.queries import NoRunsError
from proctor.schema.analysis.history import RunHistory
from proctor.web.pages.analysis.history import HistoryPage, history_page
from proctor.web.server.context import Here
from proctor.web.server.http.errors import as_json

router = APIRouter()


@router.get("/history", response_model=HistoryPage)
def get_history(
    here: Here,
    eval_set: Annotated[str | None, Query(alias="set", description="An eval set's id, or its file.")] = None,
    case: Annotated[str | None, Query(description="The id of a case, or set/case.")] = None,
    agent: Annotated[str | None, Query(description="`*` and `?` stand for anything.")] = None,
    limit: Annotated[int, Query(ge=0, le=1000, description="How many runs; 0: all.")] = LIMIT,
) -> Response:
    """What broke and in which run; with `case`, that one run by run."""
    given = {
        "--set": None if case else eval_set,
        "--agent": agent,
        "--limit": None if limit == LIMIT else str(limit),
    }
    options = [word for name, value in given.items() if value is not None for word in (name, value)]
    try:
        with here.runs() as store:
            found = history_sync(case, store=store, agent=agent, eval_set=eval_set, limit=limit)
    except NoRunsError:
        found = RunHistory([], 0, [])
    return as_json(history_page(found, options=options))
