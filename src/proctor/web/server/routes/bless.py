"""Bless (accept snapshots): preview the changes of the eval sets case by case, then write the confirmed ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Event
from typing import Annotated, TypeVar

from fastapi import APIRouter, Header, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import Field

from proctor.authoring.bless import OnCase
from proctor.files.text.json_stream import no_collection
from proctor.schema.format.wire_model import PageModel
from proctor.web.pages.bless import BlessedPage, BlessPage, ChangedSinceError, CommentsLostError, Review
from proctor.web.server.context import ContextDep
from proctor.web.server.http.errors import Detail, answer
from proctor.web.server.http.sse import wait_for_disconnect

router = APIRouter()

_Page = TypeVar("_Page")
_Place = Annotated[int, Field(ge=0, le=2**31)]


class BlessToPreview(PageModel):
    """The cases to preview, and their trials."""

    cases: Annotated[list[_Place], Field(max_length=10_000)] | None = None
    """Positions in the run; null: all cases that failed."""
    trials: dict[_Place, _Place] = Field(default_factory=dict)
    """By position of a case, the trial (from 0) to accept if its trials differ."""
    force: bool = False
    """Include cases that were changed since they were run, if their turns are still the same."""


class BlessToWrite(PageModel):
    """The confirmed changes."""

    cases: Annotated[list[_Place], Field(min_length=1, max_length=10_000)]
    trials: dict[_Place, _Place] = Field(default_factory=dict)
    force: bool = False
    lose_comments: bool = False
    """Confirms that comments in the replaced text are lost."""


@router.post("/runs/{run}/bless/preview")
async def preview_bless(
    request: Request, context: ContextDep, run: str, form: BlessToPreview, response: Response
) -> BlessPage:
    """Return the changes of the eval sets, case by case. Nothing is written; the ETag is the version of the files."""

    def preview(on_case: OnCase) -> BlessPage:
        with context.runs() as store, no_collection():
            review = Review(store, run, context.root, context.open_cases)
            return review.page(form.cases, form.trials, force=form.force, on_case=on_case)

    page = await work_while_connected(request, preview)
    response.headers["ETag"] = f'"{page.etag}"'
    return page


class ClientLeftError(Exception):
    """Ends work whose client has disconnected."""


async def work_while_connected(request: Request, work: Callable[[OnCase], _Page]) -> _Page:
    """Work in a thread; if the client disconnects, the work ends before its next step."""
    has_left = Event()

    def on_case() -> None:
        if has_left.is_set():
            raise ClientLeftError

    async def watch() -> None:
        await wait_for_disconnect(request.receive)
        has_left.set()

    watching = asyncio.create_task(watch())
    try:
        result: _Page = await run_in_threadpool(work, on_case)
        return result
    except ClientLeftError:
        raise HTTPException(499, "the client has disconnected") from None
    finally:
        has_left.set()
        watching.cancel()


@router.post(
    "/runs/{run}/bless",
    response_model=BlessedPage,
    responses={
        409: {"model": Detail, "description": "Comments would be lost."},
        412: {"model": Detail, "description": "A file has changed since the review."},
        428: {"model": Detail, "description": "A change needs If-Match."},
    },
)
async def bless_cases(
    request: Request,
    context: ContextDep,
    run: str,
    agreed: BlessToWrite,
    if_match: Annotated[str | None, Header(description="The ETag of the preview.")] = None,
) -> BlessedPage | JSONResponse:
    """Write the reviewed changes; each file is replaced as a whole. If the client disconnects before, nothing is written."""
    if not if_match:
        return answer(428, "nothing was written: If-Match is missing; send the ETag of the reviewed preview")
    etag = if_match.strip().removeprefix("W/").strip('"')

    def write(on_case: OnCase) -> BlessedPage:
        options = {"force": agreed.force, "lose_comments": agreed.lose_comments}
        with context.runs() as store, no_collection():
            review = Review(store, run, context.root, context.open_cases)
            return review.write(agreed.cases, agreed.trials, etag, **options, on_case=on_case)

    try:
        return await work_while_connected(request, write)
    except ChangedSinceError as error:
        return answer(412, str(error))
    except CommentsLostError as error:
        return answer(409, str(error))
