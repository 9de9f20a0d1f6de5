"""Starting a run: the agents, metrics and eval sets to choose from, the estimate, the start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query

from proctor.common.secrets import hide_secrets
from proctor.runs.metrics.facts import metrics_page
from proctor.runs.metrics.metric_list import MetricsPage
from proctor.runs.setup.judge_provider import judge_named
from proctor.runs.setup.settings import load_settings
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
from proctor.web.server.runs.active_runs import ActiveRuns, ActiveRunsDep
from proctor.web.server.runs.child_runs import NotStartedError, TooManyRunsError
from proctor.web.server.runs.form_errors import ProblemsError, attribute_problems
from proctor.web.server.runs.run_command import InvalidRunError, command_of, display_command, startable
from proctor.web.server.runs.startable_sets import set_page, start_page
from proctor.web.server.security.allowed_agents import guard_targets_now

router = APIRouter()

_WRONG: dict[int | str, dict[str, Any]] = {
    422: {"model": StartProblems, "description": "All problems; nothing was run."}
}


@router.get("/agents")
def list_agents(active: ActiveRunsDep) -> AgentsPage:
    """List the agents that the page may start: those of the server's start or settings, and `replay`."""
    agents = [
        AgentChoice(name=name, reference=hide_secrets(reference))
        for name, reference in startable(active.context).items()
    ]
    why_not = active.why_no_runs()
    return AgentsPage(items=agents, can_run=not why_not, why_not=why_not)


@router.get("/metrics")
def list_metrics(active: ActiveRunsDep) -> MetricsPage:
    """List the metrics with their descriptions, needs and options."""
    setting = load_settings(active.context.root).judge
    return metrics_page(str(judge_named(None, setting) or JudgeModelOptions().judge_model))


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


@router.post("/estimates", responses=_WRONG)
def estimate_run(active: ActiveRunsDep, asked: StartRun) -> EstimatePage:
    """Estimate the cost and the duration of a run; if it cannot be run, report all problems."""
    with problem_responses(active, asked):
        words = command_of(asked, active.context)
        guard_targets_now(active.context)
        estimate = active.children.ask([*words, "--estimate", "--format=json"])
    purposes = [{"purpose": name, **figures} for name, figures in estimate.pop("purposes").items()]
    return EstimatePage.model_validate({**estimate, "purposes": purposes, "command": display_command(words)})


@router.post("/runs", status_code=201, responses=_WRONG)
def start_run(active: ActiveRunsDep, asked: StartRun) -> Begun:
    """Start a run in a separate process. If there are problems, report all of them and run nothing."""
    if why_not := active.why_no_runs():
        raise HTTPException(409, why_not)
    with problem_responses(active, asked):
        words = command_of(asked, active.context)
        return start_command(active, words, display_command(words))


def start_command(active: ActiveRuns, words: list[str], command: str) -> Begun:
    """Start a command, and return its run."""
    guard_targets_now(active.context)
    started = active.children.start(words)
    return Begun(run_id=started["run"], trials=started["trials"], command=command)


@contextmanager
def problem_responses(active: ActiveRuns, asked: StartRun | None) -> Iterator[None]:
    """Turn the problems of a request into a response that names the fields of the form."""
    try:
        yield
    except InvalidRunError as refused:
        raise ProblemsError([*refused.problems, *_further_problems(active, asked, refused.words)]) from None
    except NotStartedError as refused:
        raise ProblemsError(attribute_problems(refused.problems, asked)) from None
    except TooManyRunsError as full:
        raise HTTPException(409, str(full)) from None


def _further_problems(active: ActiveRuns, asked: StartRun | None, words: Sequence[str]) -> list[StartProblem]:
    """Return the problems that only the command finds, so that all are reported at once."""
    if not any(word.startswith("--agent=") for word in words) or not any(
        word.startswith("--set=") for word in words
    ):
        return []
    try:
        active.children.ask([*words, "--estimate", "--format=json"])
    except NotStartedError as refused:
        return attribute_problems(refused.problems, asked)
    return []
