"""A case of a run: its page, its trials, their spans, what judges said of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from proctor.schema.evidence.serialize import kept_json
from proctor.schema.results.page_model import PageModel
from proctor.web.pages.case.case import CasePage
from proctor.web.pages.case.judge_questions import asked_again
from proctor.web.pages.case.judges import JudgesPage, PromptPage
from proctor.web.pages.case.load import CaseAt
from proctor.web.pages.case.spans import SpansPage
from proctor.web.pages.case.trial import TrialPage
from proctor.web.server.context import Here, ServerContext
from proctor.web.server.routes.runs import Judging

router = APIRouter()

Position = Annotated[int, Path(ge=0, le=2**31, description="The place of the case in its run, from 0.")]
Number = Annotated[int, Path(ge=0, le=2**31, description="The trial, from 0.")]
Turn = Annotated[int | None, Query(ge=0, le=2**31, description="From 0; without it the trial as a whole.")]


@contextmanager
def _case(here: ServerContext, run: str, position: int, judging: int | None) -> Iterator[CaseAt]:
    with here.runs() as store:
        yield CaseAt(store, run, position, judging)


def _json(page: PageModel) -> Response:
    """Write a page down once: it may be large, and is valid as it was made."""
    return Response(page.model_dump_json(), media_type="application/json")


@router.get("/runs/{run}/cases/{position}")
def get_case(here: Here, run: str, position: Position, judging: Judging = None) -> CasePage:
    """One case of a run: its verdict, metrics, trials, and how it was judged before."""
    with _case(here, run, position, judging) as case:
        return case.page()


@router.get("/runs/{run}/cases/{position}/trials/{number}", response_model=TrialPage)
def get_trial(here: Here, run: str, position: Position, number: Number, judging: Judging = None) -> Response:
    """One trial, turn by turn beside what was expected."""
    with _case(here, run, position, judging) as case:
        return _json(case.trial(number))


@router.get("/runs/{run}/cases/{position}/trials/{number}/spans", response_model=SpansPage)
def get_spans(here: Here, run: str, position: Position, number: Number) -> Response:
    """One trial over time."""
    with _case(here, run, position, None) as case:
        return _json(case.spans(number))


@router.get("/runs/{run}/cases/{position}/trials/{number}/judges", response_model=JudgesPage)
def get_judges(here: Here, run: str, position: Position, number: Number, judging: Judging = None) -> Response:
    """What judges said of one trial, and what people say of the same."""
    with _case(here, run, position, judging) as case:
        return _json(case.judges(number))


@router.get("/runs/{run}/cases/{position}/trials/{number}/judges/{metric}/prompt")
def get_prompt(
    here: Here,
    run: str,
    position: Position,
    number: Number,
    metric: str,
    turn: Turn = None,
    judging: Judging = None,
) -> PromptPage:
    """What the judge of a metric was asked about a turn; no model is asked for it."""
    with here.runs() as store:
        return asked_again(store, run, position, number, metric, turn, judging)


@router.get(
    "/runs/{run}/cases/{position}/trials/{number}/evidence",
    response_class=Response,
    responses={200: {"content": {"application/json": {}}}},
)
def get_evidence(here: Here, run: str, position: Position, number: Number) -> Response:
    """The evidence of one trial, whole, as JSON."""
    with _case(here, run, position, None) as case:
        trial = case.view.case.trials[case.place(number)].trial
        body = kept_json(trial) if trial is not None else b"null"
    name = f"evidence-{case.run_id}-{position}-{number}.json"
    return Response(
        body, media_type="application/json", headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
