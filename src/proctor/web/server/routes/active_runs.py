"""A run while it is running: its events, cancelling it, resuming it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, HTTPException, Query
from starlette.concurrency import run_in_threadpool

from proctor.schema.results.manifest import RunState
from proctor.stores.base import Standing
from proctor.web.pages.runs.run_events import Cancelled, LiveEnd, LiveEvents, LiveProgress
from proctor.web.pages.start import Begun, StartProblems
from proctor.web.server.http.sse import COMMENT, EventResponse, event, number_in
from proctor.web.server.routes.start import problem_responses, start_command
from proctor.web.server.runs.active_runs import ActiveRuns, ActiveRunsDep
from proctor.web.server.runs.follow import AT_ONCE, Follower
from proctor.web.server.runs.run_command import display_command, store_words

router = APIRouter()

HEARTBEAT = 15.0
"""Seconds of silence after which a comment is sent."""
MOST_LISTENERS = 1_000
From = Literal["start", "now"]

_SSE: dict[int | str, dict[str, Any]] = {
    200: {
        "model": LiveEvents,
        "description": "Server-sent events: `progress`, `case`, `finished` and `broken` with data as in LiveEvents; `reread`: "
        "events were missed, so request the cases again.",
    }
}


@router.get("/runs/{run}/events", responses=_SSE, response_class=EventResponse)
async def get_run_events(
    active: ActiveRunsDep,
    run: str,
    judging: Annotated[int, Query(ge=1)] = 1,
    since: Annotated[
        From,
        Query(alias="from", description="All cases from the `start`, or only those decided from `now` on."),
    ] = "start",
    last_event_id: Annotated[str, Header(description="The id of the last event that was received.")] = "",
) -> EventResponse:
    """Stream the events of a run: every case as soon as its verdict is stored, and the progress of the run.

    The process that executes the run may be any. A client that lost its connection resumes the stream with
    `Last-Event-ID`. The stream ends when no process executes the run any more.
    """
    if sum(follower.listeners for follower in active.followers.all()) >= MOST_LISTENERS:
        raise HTTPException(
            429, f"{MOST_LISTENERS:,} pages watch runs already: close one, or try again later"
        )
    run_id = await run_in_threadpool(_find_run, active, run)
    follower = await active.followers.follower(run_id, judging)
    place, missed = _start_place(follower, last_event_id, since)
    return EventResponse(_stream_events(follower, place, missed=missed))


def _start_place(follower: Follower, last: str, since: From) -> tuple[int, bool]:
    """Return the position in the log at which to start, and whether events before it were missed."""
    epoch, _, number = last.partition("-")
    if epoch == follower.epoch and number.isdecimal() and number_in(number) <= len(follower.log):
        return number_in(number), False
    return (0, False) if since == "start" else (len(follower.log), bool(last))


async def _stream_events(follower: Follower, place: int, *, missed: bool) -> AsyncIterator[bytes]:
    follower.add_listener()
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
            if (last := _last_event(follower)) is not None:
                yield event(*last, f"{follower.epoch}-{place}")
                return
            if not await follower.news(version, HEARTBEAT):
                yield COMMENT
    finally:
        follower.remove_listener()


def _last_event(follower: Follower) -> tuple[str, bytes] | None:
    if follower.error:
        return "broken", LiveEnd.broken(follower.run_id, follower.error).model_dump_json().encode()
    return ("finished", follower.end.model_dump_json().encode()) if follower.end is not None else None


@router.post("/runs/{run}/cancel", status_code=202)
def cancel_run(active: ActiveRunsDep, run: str) -> Cancelled:
    """Interrupt a run of this server as Ctrl-C does: running trials have a few seconds to finish, finished ones are kept.

    A second request ends the run at once. The runs of other processes are refused: cancel them where they were started.
    """
    run_id, standing = _standing(active, run)
    if standing.state is not RunState.RUNNING or standing.worker_pid is None:
        raise HTTPException(409, f"run {run_id} is not running: its state is {standing.state}")
    if not active.is_ours(run_id, standing):
        raise HTTPException(
            409,
            f"run {run_id} was not started from this page: {standing.worker} executes it. "
            "Press Ctrl-C where it was started",
        )
    active.children.interrupt(standing.worker_pid)
    return Cancelled(run_id=run_id)


@router.post("/runs/{run}/resume", status_code=201, responses={422: {"model": StartProblems}})
def resume_run(active: ActiveRunsDep, run: str) -> Begun:
    """Resume an unfinished run with its options."""
    run_id, standing = _standing(active, run)
    if standing.state is RunState.RUNNING:
        raise HTTPException(409, f"run {run_id} is already running: {standing.worker} executes it")
    if standing.state is RunState.FINISHED:
        raise HTTPException(409, f"run {run_id} is finished: nothing is left to run")
    words = ["resume", run_id, *store_words(active.context)]
    with problem_responses(active, None):
        return start_command(active, words, display_command(words))


def _find_run(active: ActiveRuns, run: str) -> str:
    with active.context.runs() as store:
        return store.find(run)


def _standing(active: ActiveRuns, run: str) -> tuple[str, Standing]:
    """Return the id and the state of a run."""
    with active.context.runs() as store:
        run_id = store.find(run)
        return run_id, store.standing(run_id)
