"""Blessing (accepting snapshots) with a review: preview the changes case by case, then write the confirmed ones."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from proctor.web.pages.bless import BlessedPage, BlessPage
from proctor.web.pages.bless_review import ChangedSinceError, CommentsLostError, Review
from proctor.web.server.context import ContextDep
from proctor.web.server.http.errors import answer

router = APIRouter()

_Place = Annotated[int, Field(ge=0, le=2**31)]


class BlessToPreview(BaseModel):
    """The cases to preview, and their trials."""

    model_config = ConfigDict(extra="forbid")

    cases: Annotated[list[_Place], Field(max_length=10_000)] | None = None
    """Positions in the run; null: all cases that failed."""
    trials: dict[_Place, _Place] = Field(default_factory=dict)
    """By position of a case, the trial (from 0) to accept if its trials differ."""
    force: bool = False
    """Include cases that were changed since they were run, if their turns are still the same."""


class BlessToWrite(BaseModel):
    """The confirmed changes."""

    model_config = ConfigDict(extra="forbid")

    cases: Annotated[list[_Place], Field(min_length=1, max_length=10_000)]
    trials: dict[_Place, _Place] = Field(default_factory=dict)
    force: bool = False
    lose_comments: bool = False
    """Confirms that comments in the replaced text are lost."""


class Detail(BaseModel):
    """The reason of a refusal."""

    detail: str


@router.post("/runs/{run}/bless/preview")
def preview_bless(context: ContextDep, run: str, wanted: BlessToPreview, response: Response) -> BlessPage:
    """Return the changes of the eval sets, case by case. Nothing is written; the ETag is the version of the files."""
    with context.runs() as store:
        page = Review(store, run, context.root).page(wanted.cases, wanted.trials, force=wanted.force)
    response.headers["ETag"] = f'"{page.etag}"'
    return page


@router.post(
    "/runs/{run}/bless",
    response_model=BlessedPage,
    responses={
        409: {"model": Detail, "description": "Comments would be lost."},
        412: {"model": Detail, "description": "A file has changed since the review."},
        428: {"model": Detail, "description": "A change needs If-Match."},
    },
)
def bless_cases(
    context: ContextDep,
    run: str,
    agreed: BlessToWrite,
    if_match: Annotated[str | None, Header(description="The ETag of the preview.")] = None,
) -> BlessedPage | JSONResponse:
    """Write the reviewed changes; each file is replaced as a whole."""
    if not if_match:
        return answer(428, "nothing was written: If-Match is missing; send the ETag of the reviewed preview")
    etag = if_match.strip().removeprefix("W/").strip('"')
    with context.runs() as store:
        try:
            return Review(store, run, context.root).write(
                agreed.cases, agreed.trials, etag, force=agreed.force, lose_comments=agreed.lose_comments
            )
        except ChangedSinceError as error:
            return answer(412, str(error))
        except CommentsLostError as error:
            return answer(409, str(error))
