"""The models of starting a run: the choices, the request, the estimate, and the problems."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from proctor.schema.format.wire_model import PageModel

Name = Annotated[str, Field(min_length=1, max_length=500)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Amount = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ChosenSet(PageModel):
    """An eval set of a new run."""

    path: Name
    """Its file, as `GET /api/start` lists it."""
    cases: list[Name] | None = None
    """Only these; null: all of it."""


class StartRun(PageModel):
    """A new run. The project's settings, else the defaults of `proctor eval`, apply to fields that are left out."""

    agent: Name
    """As `GET /api/agents` names it."""
    eval_sets: list[ChosenSet] = Field(default_factory=list)
    """Empty: the sets of `failed_of`."""
    failed_of: Name | None = None
    """The id of a run: only the cases that did not pass in it."""
    tags: list[Name] = Field(default_factory=list)
    limit: Count | None = None
    """Only this many first cases of each set."""
    config: Name | None = None
    """A config file, as `GET /api/start` lists it; null: the one next to each set, else ADK's defaults."""
    criteria: dict[Name, Any] | None = None
    """Metrics with their thresholds or options, instead of a config; as `criteria` in a config."""
    metrics: list[Name] | None = None
    """Only these of the config."""
    judge: Name | None = None
    no_judge: bool = False
    allow_unknown_keys: bool = False
    """Whether an unknown key that looks like an expectation is only a warning."""
    warnings_as_errors: bool = False
    """Whether any warning about sets or config is an error."""
    allow_unasserted: bool = False
    """Whether a case that asserts nothing runs as skipped; else it is an error."""
    num_runs: Count | None = None
    concurrency: Annotated[int, Field(ge=1, le=1_000)] | None = None
    timeout: Amount | None = None
    """The time limit of one turn in seconds."""
    retry_errors: Annotated[int, Field(ge=0, le=100)] | None = None
    max_cost: Amount | None = None
    """US dollars."""
    max_judge_calls: Count | None = None
    max_tokens: Count | None = None
    max_time: Amount | None = None
    """Seconds after which no trial starts."""
    max_failures: Count | None = None


class Begun(PageModel):
    """A run that was started."""

    run_id: str
    trials: int
    command: str
    """The equivalent command."""


class StartProblem(PageModel):
    """One problem of a request."""

    field: str
    """The field of `StartRun` that it concerns; empty if it concerns no single field."""
    message: str
    metric: str
    """The metric whose options it concerns; empty: none."""


class StartProblems(PageModel):
    """All problems of a request; nothing was started."""

    detail: str
    problems: list[StartProblem]


class Foreseen(PageModel):
    """An estimated figure with its prediction interval; one case alone gives no interval."""

    value: float
    low: float | None
    high: float | None


class PurposeFigures(PageModel):
    """The estimated usage of models for one purpose; null: unknown."""

    purpose: str
    calls: Foreseen | None
    tokens: Foreseen | None
    cost: Foreseen | None


class EstimatePage(PageModel):
    """The estimate of a run, and its basis."""

    cases: int
    trials: int
    confidence: float
    run_id: str | None
    """The run that is the basis; null: there is none."""
    seen: int
    """The number of cases of that run."""
    cost: Foreseen | None
    """The cost in US dollars, agent and judges together."""
    seconds: Foreseen | None
    """The duration of the whole run at this concurrency."""
    purposes: list[PurposeFigures]
    notes: list[str]
    """Notes on what the estimate does not cover."""
    command: str
    """The equivalent command."""


class AgentChoice(PageModel):
    """An agent that may be started from the page."""

    name: str
    reference: str
    """The AGENT argument of `proctor eval`, relative to the project's folder."""


class AgentsPage(PageModel):
    """The agents that may be started from the page."""

    items: list[AgentChoice]
    can_run: bool
    """Whether this server can start runs."""
    why_not: str


class StartCase(PageModel):
    """A case to choose."""

    eval_id: str
    tags: list[str]
    says: str
    """The beginning of the user's first message."""


class StartSet(PageModel):
    """An eval set with its cases."""

    path: str
    eval_set_id: str
    cases: list[StartCase]
    problem: str
    """Why it cannot be run; empty if it can."""
    config: str | None
    """The config that applies by default: next to the set, or in a parent folder."""


class SetFile(PageModel):
    """An eval set to choose."""

    path: str
    """Relative to the project's folder."""
    name: str


class StartPage(PageModel):
    """The choices for a new run, and the defaults."""

    sets: list[SetFile]
    configs: list[str]
    config: str | None
    """The project's config, the default; null: the one next to each set."""
    num_runs: int
    concurrency: int
    """The default."""
    max_cost: float | None
