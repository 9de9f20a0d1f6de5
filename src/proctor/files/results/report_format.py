"""The form of Proctor's own result files: the cases of a JSON report, and the lines of JSON Lines.

`RecordedRun` is a run of any result file. Unknown keys are ignored, and optional keys have defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, Field

from proctor.schema.evidence.trial import Failure, Trial
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.run_result import (
    CaseResult,
    MetricVerdict,
    RunResult,
    SetSummary,
    TrialResult,
    TrialRule,
)
from proctor.schema.results.score import MetricScore, Outcome, Score


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals that a file states for the whole run; its cases are checked against them."""

    outcome: Outcome
    counts: Mapping[Outcome, int]
    """Cases by outcome."""


@dataclass(frozen=True, slots=True)
class RecordedCase:
    """One case of a result file."""

    result: CaseResult
    expected: list[Invocation] | None = None
    """The expected invocations, if the file contains them, as ADK's results do."""
    trials: int | None = None
    """The stated number of trials; `None` if the file does not state it."""
    passed: int | None = None
    """The stated number of passed trials."""
    contradiction: str = ""
    """A contradiction that was found when the case was read."""


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One run of a result file."""

    form: str
    """`adk`, `json` or `jsonl`."""
    head: RunResult
    """The run without its cases."""
    cases: Callable[[], Iterator[RecordedCase]]
    """Reads the cases; each call starts at the first one."""
    criteria: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The criteria by set and metric, if the file contains them."""
    totals: Totals | None = None
    """`None` for ADK's files, which state no totals."""
    contradictions: list[str] = field(default_factory=list)
    """Contradictions that were found when the file was read."""

    @property
    def result(self) -> RunResult:
        """The whole run, in memory."""
        self.head.cases = [each.result for each in self.cases()]
        return self.head


class InvocationForm(BaseModel):
    """The score of one invocation."""

    outcome: Outcome = Outcome.ERROR
    score: float | None = None
    reason: str = ""
    warning: str = ""
    not_applicable: bool | None = None
    details: dict[str, Any] | None = None

    def score_of(self) -> Score:
        """Return the engine's model."""
        not_applicable = self.not_applicable
        if not_applicable is None:  # older reports contain only the outcome
            not_applicable = self.outcome is Outcome.NOT_APPLICABLE
        return Score(self.score, self.reason, self.details, not_applicable, self.warning)


class ScoreForm(BaseModel):
    """The score of one trial."""

    score: float | None = None
    reason: str = ""
    not_applicable: bool = False
    details: dict[str, Any] | None = None
    failure: Failure | None = None
    invocations: list[InvocationForm] = Field(default_factory=list)

    def score_of(self) -> MetricScore:
        """Return the engine's model."""
        scores = [each.score_of() for each in self.invocations]
        return MetricScore(self.score, scores, self.reason, self.details, self.not_applicable, self.failure)


class MetricForm(BaseModel):
    """The verdict of a metric for one case; only a JSON report has `trials`."""

    outcome: Outcome
    score: float | None = None
    threshold: float | None = None
    gate: bool = True
    reason: str = ""
    failure: Failure | None = None
    trials: list[ScoreForm | None] = Field(default_factory=list)

    def verdict(self, name: str, per_trial: list[MetricScore | None]) -> MetricVerdict:
        """Return the engine's model."""
        return MetricVerdict(
            name, self.outcome, self.score, self.threshold, self.gate, self.reason, per_trial, self.failure
        )


class RateForm(BaseModel):
    """The share of a case's trials that passed."""

    passed: int
    of: int


class VerdictForm(BaseModel):
    """The verdict on a case."""

    outcome: Outcome
    pass_rate: RateForm | None = None
    reason: str = ""
    place: str = ""
    missed: str = ""
    played: bool = False
    rule: TrialRule | None = None
    metrics: dict[str, MetricForm] = Field(default_factory=dict)

    def case(self, eval_set_id: str, eval_id: str) -> CaseResult:
        """Return the case without its metrics and trials."""
        return CaseResult(
            eval_set_id,
            eval_id,
            self.outcome,
            self.reason,
            place=self.place,
            rule=self.rule,
            missed=self.missed,
            is_played=self.played,
        )


class LineVerdictForm(VerdictForm):
    """The verdict on a case in each of its lines."""

    number: int = Field(ge=0)
    """The place of the case in its run, from 0."""
    trials: int = Field(ge=0)
    """The number of its trials, with one line each."""


class AttemptForm(BaseModel):
    """An earlier attempt at a trial that was repeated."""

    attempt: int = 0
    outcome: Outcome = Outcome.ERROR
    failure: Failure | None = None
    evidence: Trial | None = None

    def result(self, number: int) -> TrialResult:
        """Return the engine's model."""
        return TrialResult(
            number, self.outcome, evidence=self.evidence, failure=self.failure, attempt=self.attempt
        )


class TrialForm(BaseModel):
    """One trial of a JSON report."""

    number: int
    attempt: int = 0
    outcome: Outcome
    failure: Failure | None = None
    evidence: Trial | None = None
    earlier_attempts: list[AttemptForm] = Field(default_factory=list)

    def result(self) -> TrialResult:
        """Return the engine's model."""
        result = TrialResult(
            self.number, self.outcome, evidence=self.evidence, failure=self.failure, attempt=self.attempt
        )
        result.earlier = [attempt.result(self.number) for attempt in self.earlier_attempts]
        return result


class CaseForm(VerdictForm):
    """One case of a JSON report."""

    eval_set_id: str
    eval_id: str
    trials: list[TrialForm] = Field(default_factory=list)

    def result(self) -> CaseResult:
        """Return the engine's model."""
        case = self.case(self.eval_set_id, self.eval_id)
        for name, metric in self.metrics.items():
            scores = [each.score_of() if each else None for each in metric.trials]
            case.metrics[name] = metric.verdict(name, scores)
        case.trials = [trial.result() for trial in self.trials]
        return case


class SetForm(BaseModel):
    """One eval set of a JSON report."""

    eval_set_id: str
    path: str | None = None
    config_source: str = ""
    cases: int = 0
    metrics: list[str] = Field(default_factory=list)
    skipped_metrics: dict[str, str] = Field(default_factory=dict)
    num_runs: int = 1
    rule: TrialRule | None = None
    failure: Failure | None = None

    def summary(self) -> SetSummary:
        """Return the engine's model."""
        return SetSummary(
            self.eval_set_id,
            self.path,
            self.config_source,
            self.cases,
            self.metrics,
            self.skipped_metrics,
            self.failure,
            self.num_runs,
            self.rule,
        )


class RunForm(BaseModel):
    """One run of a JSON report, without its cases."""

    agent: str
    run_id: str | None = None
    outcome: Outcome | None = None
    counts: dict[Outcome, int] | None = None
    num_runs: int = 1
    started_at: float | None = None
    duration: float | None = None
    judging_duration: float | None = None
    interrupted: bool = False
    stopped_by: str | None = None
    failure: Failure | None = None
    warnings: list[str] = Field(default_factory=list)
    sets: list[SetForm] = Field(default_factory=list)
    cases: list[CaseForm]


class ReportForm(BaseModel):
    """A JSON report."""

    proctor_report: int
    runs: list[RunForm]


class TotalsForm(BaseModel):
    """The totals of the run in each line."""

    outcome: Outcome
    counts: dict[Outcome, int]


class LineForm(BaseModel):
    """One line of JSON Lines: a trial, a case without trials, a set that could not be run, or a run that was stopped."""

    eval_set_id: str | None
    eval_id: str | None
    trial: int | None
    attempt: int | None = None
    outcome: Outcome
    scores: dict[str, ScoreForm] = Field(default_factory=dict)
    failure: Failure | None = None
    case: LineVerdictForm | None = None
    evidence: Trial | None = None
    started_at: float | None = None
    earlier_attempts: list[AttemptForm] = Field(default_factory=list)
    agent: str = ""
    run_id: str | None = None
    run: TotalsForm

    def result(self) -> TrialResult:
        """Return the engine's model."""
        form = TrialForm(
            number=self.trial or 0,
            attempt=self.attempt or 0,
            outcome=self.outcome,
            failure=self.failure,
            evidence=self.evidence,
            earlier_attempts=self.earlier_attempts,
        )
        return form.result()


class HeadVerdictForm(BaseModel):
    """The part of a line's verdict that concerns the run."""

    number: int = Field(ge=0)
    rule: TrialRule | None = None
    metrics: dict[str, Any] = Field(default_factory=dict)


class HeadForm(BaseModel):
    """The part of a line that concerns the run; reading it takes a fraction of the time."""

    eval_set_id: str | None
    eval_id: str | None
    trial: int | None
    failure: Failure | None = None
    case: HeadVerdictForm | None = None
    started_at: float | None = None
    agent: str = ""
    run_id: str | None = None
    run: TotalsForm
