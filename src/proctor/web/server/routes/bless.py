"""Blessing with review: what would be written is shown, case by case, and what was agreed to is written."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from proctor.web.pages.bless import BlessedPage, BlessPage
from proctor.web.pages.bless_review import ChangedSinceError, CommentsLostError, Review
from proctor.web.server.context import Here
from proctor.web.server.http.errors import answer

router = APIRouter()

_Place = Annotated[int, Field(ge=0, le=2**31)]


class BlessToPreview(BaseModel):
    """Which cases, and from which trials."""

    model_config = ConfigDict(extra="forbid")

    cases: Annotated[list[_Place], Field(max_length=10_000)] | None = None
    """Places in the run; null: all cases that failed."""
    trials: dict[_Place, _Place] = Field(default_factory=dict)
    """By place of a case the trial (from 0) to learn from, where its trials did not go alike."""
    force: bool = False
    """Also where a case was changed since it was run, and its turns are still the same."""


class BlessToWrite(BaseModel):
    """What was agreed to."""

    model_config = ConfigDict(extra="forbid")

    cases: Annotated[list[_Place], Field(min_length=1, max_length=10_000)]
    trials: dict[_Place, _Place] = Field(default_factory=dict)
    force: bool = False
    lose_comments: bool = False
    """Agree that comments go which stand in what is replaced."""


class Detail(BaseModel):
    """What is wrong."""

    detail: str


@router.post("/runs/{run}/bless/preview")
def preview_bless(here: Here, run: str, wanted: BlessToPreview, response: Response) -> BlessPage:
    """What would be written into the eval sets, case by case. Nothing is; the ETag names the files' state."""
    with here.runs() as store:
        page = Review(store, run, here.root).page(wanted.cases, wanted.trials, force=wanted.force)
    response.headers["ETag"] = f'"{page.etag}"'
    return page


@router.post(
    "/runs/{run}/bless",
    response_model=BlessedPage,
    responses={
        409: {"model": Detail, "description": "Comments would be lost."},
        412: {"model": Detail, "description": "A file is not any more what was reviewed."},
        428: {"model": Detail, "description": "Without If-Match nothing is written."},
    },
)
def bless_cases(
    here: Here,
    run: str,
    agreed: BlessToWrite,
    if_match: Annotated[str | None, Header(description="The ETag of the preview.")] = None,
) -> BlessedPage | JSONResponse:
    """Write what was reviewed; each file is replaced whole, or not at all."""
    if not if_match:
        return answer(
            428, "nothing was written: If-Match has to name the preview that was reviewed (its ETag)"
        )
    etag = if_match.strip().removeprefix("W/").strip('"')
    with here.runs() as store:
        try:
            return Review(store, run, here.root).write(
                agreed.cases, agreed.trials, etag, force=agreed.force, lose_comments=agreed.lose_comments
            )
        except ChangedSinceError as error:
            return answer(412, str(error))
        except CommentsLostError as error:
            return answer(409, str(error))
