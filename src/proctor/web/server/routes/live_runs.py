"""Runs of this server: their events, cancelling, resuming; and starting one with its choices and its estimate."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, HTTPException, Query
from starlette.concurrency import run_in_threadpool

from proctor.common.secrets import hide_secrets
from proctor.runs.metric_facts import MetricsPage, metrics_page
from proctor.runs.setup.judge_and_user import default_judge
from proctor.runs.setup.settings import load_settings
from proctor.schema.format.criterion import JudgeModelOptions
from proctor.schema.results.manifest import RunState
from proctor.stores.base import ScoringProgress
from proctor.web.pages.start import (
    AgentChoice,
    AgentsPage,
    EstimatePage,
    RunRequest,
    StartedRun,
    StartPage,
    StartProblem,
    StartProblems,
    StartRun,
    StartSet,
)
from proctor.web.server.http.sse import COMMENT, EventResponse, event, number_in
from proctor.web.server.runs.active_runs import ActiveRuns, ActiveRunsDep, NotStartedError, TooManyRunsError
from proctor.web.server.runs.follow import AT_ONCE, Cancelled, Follower, LiveEnd, LiveEvents, LiveProgress
from proctor.web.server.runs.repeat_run import repeat_run, run_of_set
from proctor.web.server.runs.run_command import (
    InvalidRunError,
    attribute_problems,
    command_of,
    display_command,
    startable,
    store_words,
)
from proctor.web.server.runs.startable_sets import set_page, start_page
from proctor.web.server.security.allowed_names import guard_targets_now

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
_WRONG: dict[int | str, dict[str, Any]] = {
    422: {"model": StartProblems, "description": "All problems; nothing was run."}
}


@router.get("/runs/{run}/events", responses=_SSE, response_class=EventResponse)
async def get_run_events(
    active: ActiveRunsDep,
    run: str,
    scoring: Annotated[int, Query(alias="judging", ge=1)] = 1,
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
    follower = await active.followers.follower(run_id, scoring)
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
def resume_run(active: ActiveRunsDep, run: str) -> StartedRun:
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


def _standing(active: ActiveRuns, run: str) -> tuple[str, ScoringProgress]:
    """Return the id and the state of a run."""
    with active.context.runs() as store:
        run_id = store.find(run)
        return run_id, store.standing(run_id)


# --- starting a run --------------------------------------------------------------------------------------------------


@router.get("/agents")
def list_agents(active: ActiveRunsDep) -> AgentsPage:
    """List the agents that the page may start: those of the server's start or settings, and `replay`."""
    agents = [
        AgentChoice(name=name, reference=hide_secrets(reference))
        for name, reference in startable(active.context).items()
    ]
    why_not = active.no_runs_reason()
    return AgentsPage(items=agents, can_run=not why_not, why_not=why_not)


@router.get("/metrics")
def list_metrics(active: ActiveRunsDep) -> MetricsPage:
    """List the metrics with their descriptions, needs and options."""
    setting = load_settings(active.context.root).judge
    return metrics_page(str(default_judge(None, setting) or JudgeModelOptions().judge_model))


@router.get("/start")
def get_start(active: ActiveRunsDep) -> StartPage:
    """Return the eval sets and configs of the project, and the defaults of a run."""
    return start_page(active.context.root)


@router.get("/start/set")
def get_start_set(
    active: ActiveRunsDep, path: Annotated[str, Query(min_length=1, max_length=500)]
) -> StartSet:
    """Return the cases of one eval set."""
    return set_page(active.context.root, path)


@router.get("/start/repeat")
def get_repeated_run(
    active: ActiveRunsDep,
    run: str,
    position: Annotated[int | None, Query(ge=0, le=2**31, description="Only this case.")] = None,
    *,
    failures: Annotated[bool, Query(description="Only the cases that did not pass.")] = False,
) -> RunRequest:
    """Return the request for a run like a stored one; nothing is started."""
    with active.context.runs() as store:
        return repeat_run(store, active.context, run, failures=failures, position=position)


@router.get("/start/of-set")
def get_run_of_set(
    active: ActiveRunsDep,
    eval_set: Annotated[str, Query(alias="set", description="The id of an eval set.")],
    case: Annotated[str | None, Query(description="Only this case.")] = None,
    run: Annotated[
        str | None,
        Query(description="Like this run. Default, or if the store lacks it: the newest one of the set."),
    ] = None,
) -> RunRequest:
    """Return the request for an eval set, like one of its runs; nothing is started."""
    return run_of_set(active.context, eval_set, case, run)


@router.post("/estimates", responses=_WRONG)
def estimate_run(active: ActiveRunsDep, form: StartRun) -> EstimatePage:
    """Estimate the cost and the duration of a run; if it cannot be run, report all problems."""
    with problem_responses(active, form):
        words = command_of(form, active.context)
        guard_targets_now(active.context)
        estimate = active.children.ask([*words, "--estimate", "--format=json"])
    purposes = [{"purpose": name, **figures} for name, figures in estimate.pop("purposes").items()]
    return EstimatePage.model_validate({**estimate, "purposes": purposes, "command": display_command(words)})


@router.post("/runs", status_code=201, responses=_WRONG)
def start_run(active: ActiveRunsDep, form: StartRun) -> StartedRun:
    """Start a run in a separate process. If there are problems, report all of them and run nothing."""
    if why_not := active.no_runs_reason():
        raise HTTPException(409, why_not)
    with problem_responses(active, form):
        words = command_of(form, active.context)
        return start_command(active, words, display_command(words))


def start_command(active: ActiveRuns, words: list[str], command: str) -> StartedRun:
    """Start a command, and return its run."""
    guard_targets_now(active.context)
    started = active.children.start(words)
    return StartedRun(run_id=started["run"], trials=started["trials"], command=command)


@contextmanager
def problem_responses(active: ActiveRuns, form: StartRun | None) -> Iterator[None]:
    """Turn the problems of a request into a response that names the fields of the form."""
    try:
        yield
    except InvalidRunError as refused:
        raise InvalidRunError([*refused.problems, *_further_problems(active, form, refused.words)]) from None
    except NotStartedError as refused:
        raise InvalidRunError(attribute_problems(refused.problems, form)) from None
    except TooManyRunsError as full:
        raise HTTPException(409, str(full)) from None


def _further_problems(active: ActiveRuns, form: StartRun | None, words: Sequence[str]) -> list[StartProblem]:
    """Return the problems that only the command finds, so that all are reported at once."""
    if not any(word.startswith("--agent=") for word in words) or not any(
        word.startswith("--set=") for word in words
    ):
        return []
    try:
        active.children.ask([*words, "--estimate", "--format=json"])
    except NotStartedError as refused:
        return attribute_problems(refused.problems, form)
    return []
