"""The description of a run: its manifest, the planned cases, and its summary."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import Any

from pydantic import Field

from proctor.common.safe_text import count_text
from proctor.errors import UnknownNameError
from proctor.schema.evidence.trial import Failure
from proctor.schema.format.wire_model import WireModel
from proctor.schema.results.model_usage import Spent, trial_cost
from proctor.schema.results.run_result import Outcome, RunKind
from proctor.schema.results.score import JudgedBy
from proctor.schema.serialize import json_hash

_MOST_NAMED = 5

UNKNOWN_MODULES = "?"
"""The value of a metric's modules or judge code if not all of them are known."""
AGAINST_RUN = "against_run"
"""Among the options of a manifest: the id of the run that it was to be compared with, until that was decided."""
USER_CODE = "user_code"
"""Among them, too: the reference of a simulated user that is a Python object, or the hash of the file that defines it."""


class RunState(StrEnum):
    """The state of a run."""

    RUNNING = "running"
    """A process is running it."""
    UNFINISHED = "unfinished"
    """No process is running it, and some trials were not reached: `proctor resume` continues the run."""
    FINISHED = "finished"


class MetricManifest(WireModel):
    """The definition of a metric at the time of scoring: enough to read its verdicts without loading the metric."""

    name: str
    definition: str
    """Hash of its code identity, criterion and prompts: a different hash is a different metric."""
    code: str = ""
    """Hash of its code identity alone; empty if unknown."""
    modules: str = ""
    """Hash of what a custom metric holds and of the project's modules that it imports, its own included; `?` where not
    all of them are known, empty for a built-in metric and in runs of older versions."""
    threshold: float | None = None
    gate: bool = True
    judge: str = ""
    """The name of the judge model in the config; empty for a metric without a judge."""
    judge_code: str = ""
    """Hash of what a judge holds that is not one of Proctor's models (a function, an object, an entry point), and of the
    project's modules that it imports; `?` where not all of it is known, empty otherwise and in runs of older versions."""
    prompts: dict[str, str] = Field(default_factory=dict)
    """The hashes of the judge prompts, by name."""
    score_range: tuple[float, float] | None = None
    """The lowest and the highest score; `None` if one of them has no limit, and in runs of older versions."""
    lowest_score: float | None = None
    """The lowest score of a metric without a `score_range`; `None` without a limit, and in runs of older versions."""
    highest_score: float | None = None
    """The highest score of a metric without a `score_range`; `None` without a limit, and in runs of older versions."""

    @property
    def score_limits(self) -> tuple[float, float] | None:
        """The lowest and the highest score, which are infinite without a limit; `None`: unknown."""
        low, high = self.lowest_score, self.highest_score
        if self.score_range or (low is None and high is None):
            return self.score_range
        return (-inf if low is None else low), (inf if high is None else high)


class SetManifest(WireModel):
    """One eval set of a run."""

    eval_set_id: str
    path: str | None = None
    """The path as the user gave it; `None` for a set built in Python."""
    content_hash: str = ""
    """Hash over the ids and hashes of the selected cases, in order."""
    cases: int = 0
    failure: Failure | None = None
    """Why the set could not be run (`keep_going`)."""
    num_runs: int = 1
    """Trials of each case."""


class JudgedSet(WireModel):
    """The scoring of one set: its config and metrics."""

    eval_set_id: str
    config_source: str = ""
    config: dict[str, Any] = Field(default_factory=dict)
    config_hash: str = ""
    metrics: list[MetricManifest] = Field(default_factory=list)
    skipped_metrics: dict[str, str] = Field(default_factory=dict)


class ScoringManifest(WireModel):
    """One scoring of a run's evidence: the configs and metrics, set by set."""

    number: int = 1
    """1 is the run's own scoring; each later `score` adds one."""
    created_at: float = 0.0
    sets: list[JudgedSet] = Field(default_factory=list)
    """In the order of the manifest's sets."""
    finished: bool = Field(default=False, exclude=True)
    """Whether it is complete, according to the store; not part of the serialized data."""


class AgentManifest(WireModel):
    """The agent under test."""

    reference: str | None = None
    """The AGENT string; `None` for an object given in Python, which cannot be resumed by itself."""
    label: str = ""
    version: str | None = None
    description: dict[str, Any] | None = None
    """The result of `describe()`: instructions and tools."""
    source_hash: str | None = None
    """Hash over the Python files that the agent was loaded from: its file, or those of its folder."""
    modules: dict[str, str] | None = None
    """Hash of each other file of the project that these import, by its path from the agent's folder; `None` if unknown, as in
    runs of older versions."""
    commit: str | None = None
    """The git commit of its folder, with the suffix `+` if files were modified."""

    @property
    def build(self) -> str:
        """Hash of the source and of the modules that it imports, or the version; empty if unknown."""
        if self.source_hash and self.modules:
            return json_hash([self.source_hash, self.modules])
        return self.source_hash or self.version or ""

    def source_change(self, now: AgentManifest) -> str:
        """Return how the source has changed until `now`, as a sentence with the modules; empty if no change is known."""
        sentence = f"the source of the agent {now.label} has changed"
        if self.source_hash != now.source_hash:
            return sentence
        if self.modules is None or now.modules is None:
            return ""
        files = sorted({file for file, _ in self.modules.items() ^ now.modules.items()})
        more = ", …" if len(files) > _MOST_NAMED else ""
        return f"{sentence}: {', '.join(files[:_MOST_NAMED])}{more}" if files else ""


class Manifest(WireModel):
    """The exact configuration of a run. It is written before the first agent call and never changed.
    If several agents run in sequence, all manifests are written when the first begins; the descriptions of the other agents
    are added when they start.
    """

    run_id: str
    kind: RunKind = RunKind.RUN
    created_at: float
    """Unix seconds."""
    agent: AgentManifest
    sets: list[SetManifest] = Field(default_factory=list)
    num_runs: int = 1
    options: dict[str, Any] = Field(default_factory=dict)
    """The options of the run as JSON: sufficient to resume it."""
    command: list[str] = Field(default_factory=list)
    """The command line, without secrets."""
    folder: str = ""
    """The working folder."""
    versions: dict[str, str] = Field(default_factory=dict)
    """Versions of Python, Proctor and the relevant packages."""

    @property
    def against(self) -> str:
        """The id of the baseline that the run was compared with during its execution; empty: none."""
        return str(self.options.get(AGAINST_RUN, ""))

    @property
    def unread_sets(self) -> dict[str, Failure]:
        """The ids of the eval sets that could not be run (`keep_going`), each with the cause."""
        return {one.eval_set_id: one.failure for one in self.sets if one.failure is not None}

    @property
    def imported_from(self) -> str:
        """The file that the run was imported from; empty for a run that was executed here."""
        imported = self.options.get("imported")
        return str(imported.get("file", "")) if isinstance(imported, dict) else ""

    @property
    def workers_text(self) -> str:
        """The workers that the run began with, such as `4 workers (processes)`; empty without `on`."""
        if not (on := self.options.get("on")):
            return ""
        return f"{count_text(self.options.get('workers') or DEFAULT_WORKERS, 'worker')} ({on})"


DEFAULT_WORKERS = 4
"""Workers of a run (`on`) that states no number."""


def counting(scorings: Sequence[ScoringManifest]) -> ScoringManifest:
    """Return the scoring whose verdicts count for the run: the last finished one, or else the run's own."""
    return next((scoring for scoring in reversed(scorings) if scoring.finished), scorings[0])


def scoring_number(scorings: Sequence[ScoringManifest], number: int | None) -> int:
    """Return the number of the scoring `number`; by default that of the scoring whose verdicts count.

    Raises:
        UnknownNameError: the run has no scoring with this number.
    """
    numbers = [scoring.number for scoring in scorings]
    if number is not None and number not in numbers:
        known = f"scoring{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"
        raise UnknownNameError(f"--scoring {number}: the run has {known}; `proctor score` adds another")
    return number or counting(scorings).number


def adds_trials(manifest: Manifest, first: ScoringManifest) -> bool:
    """Return whether trials were added until a decision, so that a case may have fewer than the maximum."""
    return bool(manifest.options.get("until_decided")) or any(
        (one.config.get("trials") or {}).get("until_decided") for one in first.sets
    )


class RunSummary(WireModel):
    """The summary of a run, for lists; written when the run ends, and again after it is resumed."""

    outcome: Outcome | None = None
    counts: dict[str, int] = Field(default_factory=dict)
    """Cases by outcome."""
    duration: float = 0.0
    """Seconds of execution; re-scoring has its own duration."""
    judging_duration: float | None = None
    """Seconds of re-scoring; `None` for the run's own scoring."""
    interrupted: bool = False
    warnings: list[str] = Field(default_factory=list)
    judging_warnings: list[str] = Field(default_factory=list)
    """The warnings about the criteria: they do not apply to other criteria."""
    stopped_by: str = ""
    """Why the run is incomplete (a limit, a signal); empty if it is complete."""
    failure: Failure | None = None
    """The failure that ended the run."""
    models: list[str] = Field(default_factory=list)
    """Model names in the evidence."""
    tokens: int = 0
    """Tokens that the agent reported."""
    spent: list[Spent] = Field(default_factory=list)
    """The usage of models, by purpose and model."""
    attempts: int = 0
    """Attempts at trials that `models`, `tokens` and `spent` cover, those that a trial repeated (`retry_errors`) among them."""
    unreported: int = 0
    """Those of them in which the agent reported no usage: what they took is not in `tokens` and `spent`."""
    judged_by: list[JudgedBy] = Field(default_factory=list)
    """Which models gave the verdicts of which metrics."""
    lost_workers: int = 0
    """Workers (`--on`) that ended during the run."""
    lost_attempts: int = 0
    """Attempts at trials that ended with them."""
    in_flight: int = 0
    """Trials that run now; only of a run that a process writes, and up to 15 seconds old."""
    audit: dict[str, Any] = Field(default_factory=dict)
    """What an audit found about sets, criteria and judges; empty for a run of an agent, and for an audit that is not finished."""

    def __bool__(self) -> bool:
        return self.outcome is Outcome.PASSED

    @property
    def trial_cost(self) -> float | None:
        """The mean cost of an attempt at a trial in US dollars, agent, simulated user and judges together; `None`: unknown."""
        return trial_cost(self.spent, self.attempts, self.unreported)

    @property
    def lost_text(self) -> str:
        """The workers that were lost, such as `1 worker lost with 2 attempts at trials`; empty if none was."""
        if not self.lost_workers:
            return ""
        workers, attempts = count_text(self.lost_workers, "worker"), count_text(self.lost_attempts, "attempt")
        return f"{workers} lost with {attempts} at trials"

    @property
    def live_text(self) -> str:
        """The trials that run now, such as `4 trials in flight`; empty if none does."""
        return f"{count_text(self.in_flight, 'trial')} in flight" if self.in_flight else ""


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """One planned case of a run."""

    position: int
    """Its position among all cases of the run, from 0."""
    eval_set_id: str
    eval_id: str
    content_hash: str
    """Hash of the case's JSON: it changes if the case is edited."""
    place: str
    """`file:line`; empty for a case built in Python."""


@dataclass(frozen=True, slots=True)
class RunAnnotation:
    """What people wrote about a run. It is not part of the run, and may change."""

    name: str = ""
    note: str = ""
    starred: bool = False

    def __bool__(self) -> bool:
        return bool(self.name or self.note or self.starred)


NO_ANNOTATION = RunAnnotation()


@dataclass(frozen=True, slots=True)
class RunRecord:
    """An entry in the list of runs."""

    run_id: str
    created_at: float
    agent: str
    sets: tuple[str, ...]
    num_runs: int
    cases: int
    state: RunState
    summary: RunSummary
    scorings: int = 1
    scoring: int = 1
    """The number of the scoring that counts, to which `summary` belongs."""
    kind: RunKind = RunKind.RUN
    unread_sets: tuple[str, ...] = ()
    """Those of `sets` that could not be run (`keep_going`)."""
    trials: int = 0
    """Attempts at trials whose evidence is stored."""

    def __bool__(self) -> bool:
        return bool(self.summary)

    @property
    def judgings(self) -> int:
        """Former name of `scorings`."""
        return self.scorings

    @property
    def judging(self) -> int:
        """Former name of `scoring`."""
        return self.scoring


@dataclass(frozen=True, slots=True)
class RunDetails:
    """What a store knows about a run apart from its cases."""

    record: RunRecord
    manifest: Manifest
    scorings: list[ScoringManifest]
    """Its scorings, in order."""


_BACK = re.compile(r"latest(?:~([0-9]{1,6}))?|previous")


def runs_back(name: str) -> int | None:
    """Return how many runs before the newest one `name` means; `None` if it is not `latest`, `latest~N` or `previous`."""
    match = _BACK.fullmatch(name)
    if match is None:
        return None
    return 1 if name == "previous" else int(match[1] or 0)
