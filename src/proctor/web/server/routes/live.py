"""A run under way: its events as they happen, cancelling it, going on with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, HTTPException, Query
from starlette.concurrency import run_in_threadpool

from proctor.schema.results.manifest import RunState
from proctor.web.pages.live import Cancelled, LiveEnd, LiveEvents, LiveProgress
from proctor.web.pages.runs.case_table import CaseExtras
from proctor.web.pages.start import Begun, StartProblems
from proctor.web.server.http.sse import COMMENT, EventResponse, event, number_in
from proctor.web.server.routes.start import begun, refusals
from proctor.web.server.runs.follow import AT_ONCE, Follower
from proctor.web.server.runs.live import Live, LiveHere
from proctor.web.server.runs.run_command import as_typed, store_words

router = APIRouter()

HEARTBEAT = 15.0
"""Seconds after which a comment is sent where nothing has happened."""
MOST_LISTENERS = 1_000
From = Literal["start", "now"]

_SSE: dict[int | str, dict[str, Any]] = {
    200: {
        "model": LiveEvents,
        "description": "Server-sent events: `progress`, `case`, `finished` and `broken` with data as in LiveEvents; `reread`: "
        "something was missed, so read the cases anew.",
    }
}


@router.get("/runs/{run}/events", responses=_SSE, response_class=EventResponse)
async def get_run_events(
    live: LiveHere,
    run: str,
    judging: Annotated[int, Query(ge=1)] = 1,
    since: Annotated[
        From, Query(alias="from", description="Cases from the `start`, or only those decided from `now` on.")
    ] = "start",
    last_event_id: Annotated[str, Header(description="Where to go on; as the last event's id.")] = "",
) -> EventResponse:
    """What happens in a run: every case as soon as its verdict is on disk, and how far the run is.

    Whichever process is at work on it. A connection that was lost goes on where it was (`Last-Event-ID`). The stream ends
    when nobody is at work on the run any more.
    """
    if sum(one.listeners for one in live.followers.all()) >= MOST_LISTENERS:
        raise HTTPException(
            429, f"{MOST_LISTENERS:,} pages watch runs already: close one, or try again later"
        )
    run_id = await run_in_threadpool(_found, live, run)
    follower = await live.followers.of(run_id, judging)
    place, missed = _place(follower, last_event_id, since)
    return EventResponse(_told(follower, place, missed=missed))


def _place(follower: Follower, last: str, since: From) -> tuple[int, bool]:
    """Return where in the log to begin, and whether something was missed that will not be told."""
    epoch, _, number = last.partition("-")
    if epoch == follower.epoch and number.isdecimal() and number_in(number) <= len(follower.log):
        return number_in(number), False
    return (0, False) if since == "start" else (len(follower.log), bool(last))


async def _told(follower: Follower, place: int, *, missed: bool) -> AsyncIterator[bytes]:
    follower.arrive()
    try:
        yield b"retry: 1000\n\n"
        if missed:
            yield event("reread", b"{}", f"{follower.epoch}-{place}")
        progress: LiveProgress | None = None
        while True:
            version = follower.version
            if follower.progress is not None and follower.progress is not progress:
                progress = follower.progress
                yield event("progress", progress.model_dump_json().encode(), f"{follower.epoch}-{place}")
            while place < len(follower.log) and not follower.error:
                rows = await follower.rows(follower.log[place : place + AT_ONCE])
                yield b"".join(
                    event("case", row, f"{follower.epoch}-{place + at}") for at, row in enumerate(rows, 1)
                )
                place += len(rows)
            if (last := _last(follower)) is not None:
                yield event(*last, f"{follower.epoch}-{place}")
                return
            if not await follower.news(version, HEARTBEAT):
                yield COMMENT
    finally:
        follower.leave()


def _last(follower: Follower) -> tuple[str, bytes] | None:
    if follower.error:
        return "broken", LiveEnd.broken(follower.run_id, follower.error).model_dump_json().encode()
    return ("finished", follower.end.model_dump_json().encode()) if follower.end is not None else None


@router.get("/runs/{run}/case-extras")
def get_case_extras(
    live: LiveHere, run: str, judging: Annotated[int | None, Query(ge=1)] = None
) -> CaseExtras:
    """Tags and costs of a run's cases: known only by their evidence, and so asked for once the table is there."""
    with live.context.runs() as store:
        return live.context.looks.extras(store, run, judging)


@router.post("/runs/{run}/cancel", status_code=202)
def cancel_run(live: LiveHere, run: str) -> Cancelled:
    """End a run of this server as Ctrl-C does: what is under way gets a few seconds to finish, what finished is kept.

    Once more ends it at once. A run of another process is refused: whoever began it can end it.
    """
    with live.context.runs() as store:
        run_id = store.find(run)
        standing = store.standing(run_id)
    if standing.state is not RunState.RUNNING or standing.worker_pid is None:
        raise HTTPException(409, f"run {run_id} is not under way: it is {standing.state}")
    if not live.is_ours(run_id, standing):
        raise HTTPException(
            409,
            f"run {run_id} was not begun from this page: {standing.worker} is at work on it. "
            "Press Ctrl-C where it was started",
        )
    live.children.interrupt(standing.worker_pid)
    return Cancelled(run_id=run_id)


@router.post("/runs/{run}/resume", status_code=201, responses={422: {"model": StartProblems}})
def resume_run(live: LiveHere, run: str) -> Begun:
    """Go on with a run that was not finished, with the options that it had."""
    with live.context.runs() as store:
        run_id = store.find(run)
        standing = store.standing(run_id)
    if standing.state is RunState.RUNNING:
        raise HTTPException(409, f"run {run_id} is under way: {standing.worker} is at work on it")
    if standing.state is RunState.FINISHED:
        raise HTTPException(409, f"run {run_id} is finished: nothing is left to run")
    words = ["resume", run_id, *store_words(live.context)]
    with refusals(live, None):
        return begun(live, words, as_typed(words))


def _found(live: Live, run: str) -> str:
    with live.context.runs() as store:
        return store.find(run)
