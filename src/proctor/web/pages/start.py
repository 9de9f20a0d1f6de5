"""Starting a run: what there is to choose from, what is asked for, what it will take, and what is wrong with it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from proctor.schema.results.page_model import PageModel

Name = Annotated[str, Field(min_length=1, max_length=500)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Amount = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ChosenSet(PageModel):
    """An eval set of a run to be started."""

    path: Name
    """Its file, as `GET /api/start` lists it."""
    cases: list[Name] | None = None
    """Only these; null: all of it."""


class StartRun(PageModel):
    """A run to be started. What is left out is as the project's settings say, else as `proctor eval` has it."""

    agent: Name
    """As `GET /api/agents` names it."""
    eval_sets: list[ChosenSet] = Field(default_factory=list)
    """None: those of `failed_of`."""
    failed_of: Name | None = None
    """Only the cases that did not pass in this run."""
    tags: list[Name] = Field(default_factory=list)
    limit: Count | None = None
    """Only the first so many cases of each set."""
    config: Name | None = None
    """A config file, as `GET /api/start` lists it; null: the one beside each set, else ADK's defaults."""
    criteria: dict[Name, Any] | None = None
    """Metrics with their thresholds or options, in place of a config: as under `criteria` in one."""
    metrics: list[Name] | None = None
    """Only these of the config."""
    judge: Name | None = None
    no_judge: bool = False
    allow_unknown_keys: bool = False
    """Whether keys that state an expectation and that nothing reads are only warned of."""
    warnings_as_errors: bool = False
    """Whether any warning about sets or config refuses the run."""
    allow_unasserted: bool = False
    """Run a case that asserts nothing, as skipped; else it is refused."""
    num_runs: Count | None = None
    concurrency: Annotated[int, Field(ge=1, le=1_000)] | None = None
    timeout: Amount | None = None
    """Seconds that one turn may take."""
    retry_errors: Annotated[int, Field(ge=0, le=100)] | None = None
    max_cost: Amount | None = None
    """US dollars."""
    max_judge_calls: Count | None = None
    max_tokens: Count | None = None
    max_time: Amount | None = None
    """Seconds after which no trial begins."""
    max_failures: Count | None = None


class Begun(PageModel):
    """A run that was started."""

    run_id: str
    trials: int
    command: str
    """The command line that does the same."""


class StartProblem(PageModel):
    """One thing that is wrong with what was asked for."""

    field: str
    """The field of `StartRun` that it is about; empty where it is about none alone."""
    message: str
    metric: str
    """The metric whose options it is about; empty: none."""


class StartProblems(PageModel):
    """Why nothing was started."""

    detail: str
    problems: list[StartProblem]


class Foreseen(PageModel):
    """A figure of a run to come, with the interval that it will lie in; no interval: one case says nothing of it."""

    value: float
    low: float | None
    high: float | None


class PurposeFigures(PageModel):
    """What calls for one purpose will take; null: not known."""

    purpose: str
    calls: Foreseen | None
    tokens: Foreseen | None
    cost: Foreseen | None


class EstimatePage(PageModel):
    """What a run will take, and what that rests on."""

    cases: int
    trials: int
    confidence: float
    run_id: str | None
    """The run that it rests on; null: none, and little is known."""
    seen: int
    """Cases of that run."""
    cost: Foreseen | None
    """US dollars, agent and judges together."""
    seconds: Foreseen | None
    """Of the whole run at this concurrency."""
    purposes: list[PurposeFigures]
    notes: list[str]
    """What it does not know."""
    command: str
    """The command line that does the same."""


class AgentChoice(PageModel):
    """An agent that may be started from the page."""

    name: str
    reference: str
    """What `proctor eval` is given, as seen from the project's folder."""


class AgentsPage(PageModel):
    """The agents that may be started from the page."""

    items: list[AgentChoice]
    can_run: bool
    """Whether runs can be started here at all."""
    why_not: str


class StartCase(PageModel):
    """A case to choose."""

    eval_id: str
    tags: list[str]
    says: str
    """How it begins, shortened."""


class StartSet(PageModel):
    """An eval set with its cases."""

    path: str
    eval_set_id: str
    cases: list[StartCase]
    problem: str
    """Why it cannot be run; empty where it can."""
    config: str | None
    """The config that judges it where none is named: beside it, or in a folder above."""


class SetFile(PageModel):
    """An eval set to choose."""

    path: str
    """As seen from the project's folder."""
    name: str


class StartPage(PageModel):
    """What there is to choose from."""

    sets: list[SetFile]
    configs: list[str]
    config: str | None
    """The project's config, which holds where none is named; null: the one beside each set."""
    num_runs: int
    concurrency: int
    """What holds where nothing is said."""
    max_cost: float | None
