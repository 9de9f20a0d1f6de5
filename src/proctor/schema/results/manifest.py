"""What a run was: its manifest, what was planned, and what is kept of it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import Field

from proctor.schema.evidence.trial import Failure
from proctor.schema.format.wire_model import WireModel
from proctor.schema.results.judged_by import JudgedBy
from proctor.schema.results.model_usage import Spent
from proctor.schema.results.run_result import Outcome

UNKNOWN_MODULES = "?"
"""For the modules of a metric, or the code of its judge, where not all of them are known."""
AGAINST_RUN = "against_run"
USER_CODE = "user_code"
"""Among the options of a manifest: the id of the run that it was to be compared with, until that was decided."""


class RunState(StrEnum):
    """Where a run stands."""

    RUNNING = "running"
    """A process is at work on it."""
    UNFINISHED = "unfinished"
    """Nobody is at work on it, and something was not reached: `proctor resume` goes on."""
    FINISHED = "finished"


class MetricManifest(WireModel):
    """One metric as it judged: enough to read its verdicts without being able to load it."""

    name: str
    definition: str
    """Hash of its code's identity, its criterion and its prompts: another one is another metric."""
    code: str = ""
    """Hash of its code's identity alone; empty where that is not known."""
    modules: str = ""
    """Hash of what a custom metric holds and of the project's modules that it imports, its own included; `?` where not
    all of them are known, empty for a built-in metric and in runs of older versions."""
    threshold: float | None = None
    gate: bool = True
    judge: str = ""
    """The model that it asks, as users name it; empty for one that asks none."""
    judge_code: str = ""
    """Hash of what a judge holds that is not one of Proctor's models (a function, an object, an entry point), and of the
    project's modules that it imports; `?` where not all of it is known, empty otherwise and in runs of older versions."""
    prompts: dict[str, str] = Field(default_factory=dict)
    """The hashes of the prompts that it asks with, by name."""

    def has_other_modules(self, other: MetricManifest) -> bool:
        """Return whether it is known that the modules of a custom metric changed."""
        return _differ(self.modules, other.modules)

    def has_other_judge_code(self, other: MetricManifest) -> bool:
        """Return whether it is known that the code of the judge changed."""
        return _differ(self.judge_code, other.judge_code)


def _differ(*hashes: str) -> bool:
    return len({*hashes} - {"", UNKNOWN_MODULES}) > 1


class SetManifest(WireModel):
    """One eval set of a run."""

    eval_set_id: str
    path: str | None = None
    """As it was given; `None` for a set made in Python."""
    content_hash: str = ""
    """Hash over the ids and hashes of its chosen cases, in order."""
    cases: int = 0
    failure: Failure | None = None
    """Why the set could not be run at all (`keep_going`)."""
    num_runs: int = 1
    """Trials of each case."""


class JudgedSet(WireModel):
    """How one set was judged."""

    eval_set_id: str
    config_source: str = ""
    config: dict[str, Any] = Field(default_factory=dict)
    config_hash: str = ""
    metrics: list[MetricManifest] = Field(default_factory=list)
    skipped_metrics: dict[str, str] = Field(default_factory=dict)


class Judging(WireModel):
    """One pass of judging over a run's evidence: with which configs and metrics, set by set."""

    number: int = 1
    """1 is the run's own; each later `score` adds one."""
    created_at: float = 0.0
    sets: list[JudgedSet] = Field(default_factory=list)
    """In the order of the manifest's sets."""
    finished: bool = Field(default=False, exclude=True)
    """Whether it came to its end; as its store says, not part of what is written down."""


class AgentManifest(WireModel):
    """The agent under test."""

    reference: str | None = None
    """The AGENT string; `None` for an object given in Python, which cannot be resumed by itself."""
    label: str = ""
    version: str | None = None
    description: dict[str, Any] | None = None
    """What `describe()` said: instructions and tools."""
    source_hash: str | None = None
    """Hash over the Python files that it was loaded from."""
    commit: str | None = None
    """The git commit its folder was at, with `+` behind it where files were changed."""


class Manifest(WireModel):
    """What exactly was run. Written before the first agent call, never changed.

    Of several agents that run one after the other all manifests are written when the first begins; what the others say
    about themselves is added when their turn comes.
    """

    run_id: str
    created_at: float
    """Unix seconds."""
    agent: AgentManifest
    sets: list[SetManifest] = Field(default_factory=list)
    num_runs: int = 1
    options: dict[str, Any] = Field(default_factory=dict)
    """What the run was told, as JSON: enough to go on with it."""
    command: list[str] = Field(default_factory=list)
    """The command line, secrets left out."""
    folder: str = ""
    """The working folder."""
    versions: dict[str, str] = Field(default_factory=dict)
    """Versions of Python, of proctor and of the packages that mattered."""

    @property
    def against(self) -> str:
        """The id of the run that it was held against while it was made; empty: none."""
        return str(self.options.get(AGAINST_RUN, ""))

    @property
    def imported_from(self) -> str:
        """The file that the run came from; empty for one that was carried out here."""
        imported = self.options.get("imported")
        return str(imported.get("file", "")) if isinstance(imported, dict) else ""


def counting(judgings: Sequence[Judging]) -> Judging:
    """Return the judging whose verdicts are the run's: the last one that was finished, or else the run's own."""
    return next((judging for judging in reversed(judgings) if judging.finished), judgings[0])


def was_added(manifest: Manifest, first: Judging) -> bool:
    """Whether trials were added until something was decided, so that a case may have fewer than there could be."""
    return bool(manifest.options.get("until_decided")) or any(
        (one.config.get("trials") or {}).get("until_decided") for one in first.sets
    )


class RunSummary(WireModel):
    """What came of a run, for lists; written when it ends, again when it is resumed."""

    outcome: Outcome | None = None
    counts: dict[str, int] = Field(default_factory=dict)
    """Cases by outcome."""
    duration: float = 0.0
    """Seconds that processes were at work on the run; judging it again takes time of its own."""
    judging_duration: float | None = None
    """Seconds that judging it again took; `None` for the run's own judging."""
    interrupted: bool = False
    warnings: list[str] = Field(default_factory=list)
    judging_warnings: list[str] = Field(default_factory=list)
    """Those among them that are about the criteria: by others they do not hold."""
    stopped_by: str = ""
    """Why not everything was run (a limit, a signal); empty when nothing was left out."""
    failure: Failure | None = None
    """Why the run itself could not go on."""
    models: list[str] = Field(default_factory=list)
    """Model names seen in the evidence."""
    tokens: int = 0
    """Tokens that the agent reported."""
    spent: list[Spent] = Field(default_factory=list)
    """What models took, by purpose and model."""
    judged_by: list[JudgedBy] = Field(default_factory=list)
    """Which models gave the verdicts of which metrics."""

    def __bool__(self) -> bool:
        return self.outcome is Outcome.PASSED


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """One case of a run, as it was planned."""

    position: int
    """Its place among all cases of the run, from 0."""
    eval_set_id: str
    eval_id: str
    content_hash: str
    """Hash of the case's JSON: an edited case has another one."""
    place: str
    """`file:line`; empty for a case made in Python."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One line of a list of runs."""

    run_id: str
    created_at: float
    agent: str
    sets: tuple[str, ...]
    num_runs: int
    cases: int
    state: RunState
    summary: RunSummary
    judgings: int = 1
    judging: int = 1
    """The one whose verdicts are the run's, and whose `summary` this is."""

    def __bool__(self) -> bool:
        return bool(self.summary)


_LETTERS = "23456789bcdfghjkmnpqrstvwxz"  # no vowels, so no words; nothing that looks like something else


def new_run_id() -> str:
    """Return a name for a run that no other one has: ten letters and digits, of which the first few usually suffice."""
    return "".join(secrets.choice(_LETTERS) for _ in range(10))
