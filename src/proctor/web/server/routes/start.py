"""Starting a run: what there is to choose from, what it will take, and the start itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query

from proctor.common.secrets import without_secrets
from proctor.runs.metrics.facts import metrics_page
from proctor.runs.metrics.page import MetricsPage
from proctor.runs.settings import load_settings
from proctor.runs.setup.judge_provider import judge_named
from proctor.schema.format.criterion import JudgeModelOptions
from proctor.web.pages.start import (
    AgentChoice,
    AgentsPage,
    Begun,
    EstimatePage,
    StartPage,
    StartProblem,
    StartProblems,
    StartRun,
    StartSet,
)
from proctor.web.server.runs.child_runs import NotStartedError, TooManyRunsError
from proctor.web.server.runs.form_errors import ProblemsError, attributed
from proctor.web.server.runs.live import Live, LiveHere
from proctor.web.server.runs.run_command import RefusedError, as_typed, command_of, startable
from proctor.web.server.runs.startable_sets import set_page, start_page
from proctor.web.server.security.allowed_agents import guard_targets_now

router = APIRouter()

_WRONG: dict[int | str, dict[str, Any]] = {
    422: {"model": StartProblems, "description": "All that is wrong; nothing was run."}
}


@router.get("/agents")
def list_agents(live: LiveHere) -> AgentsPage:
    """The agents that may be started from the page: those that the server was started with, and `replay`."""
    found = [
        AgentChoice(name=name, reference=without_secrets(given))
        for name, given in startable(live.context).items()
    ]
    why_not = live.why_no_runs()
    return AgentsPage(items=found, can_run=not why_not, why_not=why_not)


@router.get("/metrics")
def list_metrics(live: LiveHere) -> MetricsPage:
    """Every metric: what it measures, what it needs, its options and what each may be."""
    setting = load_settings(live.context.root).options.get("judge")
    return metrics_page(str(judge_named(None, setting) or JudgeModelOptions().judge_model))


@router.get("/start")
def get_start(live: LiveHere) -> StartPage:
    """The eval sets and configs below the project's folder, and what holds where nothing is said."""
    return start_page(live.context.root)


@router.get("/start/set")
def get_start_set(live: LiveHere, path: Annotated[str, Query(min_length=1, max_length=500)]) -> StartSet:
    """The cases of one eval set, to choose from."""
    return set_page(live.context.root, path)


@router.post("/estimates", responses=_WRONG)
def estimate_run(live: LiveHere, asked: StartRun) -> EstimatePage:
    """What a run would take, and what that rests on; all that is wrong with it where it could not be run."""
    with refusals(live, asked):
        words = command_of(asked, live.context)
        guard_targets_now(live.context)
        found = live.children.ask([*words, "--estimate", "--format=json"])
    purposes = [{"purpose": name, **figures} for name, figures in found.pop("purposes").items()]
    return EstimatePage.model_validate({**found, "purposes": purposes, "command": as_typed(words)})


@router.post("/runs", status_code=201, responses=_WRONG)
def start_run(live: LiveHere, asked: StartRun) -> Begun:
    """Start a run, in a process of its own. All that is wrong is said at once, and then nothing is run."""
    if why_not := live.why_no_runs():
        raise HTTPException(409, why_not)
    with refusals(live, asked):
        words = command_of(asked, live.context)
        return begun(live, words, as_typed(words))


def begun(live: Live, words: list[str], command: str) -> Begun:
    """Start what a command does, and return its run."""
    guard_targets_now(live.context)
    told = live.children.start(words)
    return Begun(run_id=told["run"], trials=told["trials"], command=command)


@contextmanager
def refusals(live: Live, asked: StartRun | None) -> Iterator[None]:
    """Turn what is wrong with what was asked for into an answer that names the fields."""
    try:
        yield
    except RefusedError as refused:
        raise ProblemsError([*refused.problems, *_others(live, asked, refused.words)]) from None
    except NotStartedError as refused:
        raise ProblemsError(attributed(refused.problems, asked)) from None
    except TooManyRunsError as full:
        raise HTTPException(409, str(full)) from None


def _others(live: Live, asked: StartRun | None, words: Sequence[str]) -> list[StartProblem]:
    """Return what is wrong besides: all of it is to be said at once."""
    if not any(word.startswith("--agent=") for word in words) or not any(
        word.startswith("--set=") for word in words
    ):
        return []
    try:
        live.children.ask([*words, "--estimate", "--format=json"])
    except NotStartedError as refused:
        return attributed(refused.problems, asked)
    return []
