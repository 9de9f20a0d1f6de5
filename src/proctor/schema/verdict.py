"""What scores mean under their criteria: outcomes of metrics, trials, cases and runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from proctor.schema.score import MetricScore, Score
from proctor.schema.status import EvalStatus
from proctor.schema.trial import Failure, Trial


class Outcome(StrEnum):
    """How something ended. Only *passed* is green."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    """Something needed for the verdict could not be computed."""
    INCONCLUSIVE = "inconclusive"
    SKIPPED = "skipped"
    """Left out on purpose."""
    NOT_RUN = "not_run"
    """Not reached."""
    NOT_APPLICABLE = "not_applicable"
    """Of a metric: there was nothing to compare with."""
    INFORMATIONAL = "informational"
    """Of a metric: reported, never deciding."""

    @property
    def status(self) -> EvalStatus:
        """The same in ADK's words: passed 1, failed 2, informational 4, everything else NOT_EVALUATED (3)."""
        return _STATUS.get(self, EvalStatus.NOT_EVALUATED)


_STATUS = {
    Outcome.PASSED: EvalStatus.PASSED,
    Outcome.FAILED: EvalStatus.FAILED,
    Outcome.INFORMATIONAL: EvalStatus.INFORMATIONAL,
}

_WORST_FIRST = (Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.NOT_RUN, Outcome.PASSED)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Combine outcomes: failed before error before inconclusive before not run; only *passed* with a pass in it.

    Nothing at all, or nothing that decides, is an *error*: never green by absence.
    """
    found = set(outcomes)
    for outcome in _WORST_FIRST:
        if outcome in found:
            return outcome
    return Outcome.ERROR


@dataclass(slots=True)
class InvocationVerdict:
    """What a metric's score of one invocation means under its criterion."""

    score: float | None
    outcome: Outcome
    reason: str = ""
    details: dict[str, object] | None = None
    warning: str = ""

    @property
    def status(self) -> EvalStatus:
        """The outcome in ADK's words."""
        return self.outcome.status


@dataclass(slots=True)
class MetricVerdict:
    """What one metric means for one case, over all its trials."""

    name: str
    outcome: Outcome
    score: float | None = None
    """Mean over the trials that have one."""
    threshold: float | None = None
    gate: bool = True
    """Whether this metric takes part in the verdict."""
    reason: str = ""
    per_trial: list[MetricScore | None] = field(default_factory=list)
    """The score of each trial, in order; `None` where the trial gave nothing to score."""
    failure: Failure | None = None

    @property
    def status(self) -> EvalStatus:
        """The outcome in ADK's words."""
        return self.outcome.status

    @property
    def per_invocation(self) -> list[InvocationVerdict]:
        """What the metric says about each invocation of the first trial that it could score."""
        scored = next((score for score in self.per_trial if score is not None), None)
        return [self.judge(score) for score in scored.per_invocation] if scored else []

    @property
    def is_warned(self) -> bool:
        """Whether any of its scores carries a warning."""
        for score in self.per_trial:
            for each in score.per_invocation if score else ():
                if each.warning:
                    return True
        return False

    def outcome_in(self, trial: int) -> Outcome:
        """Return what the metric says about one trial (its place in `per_trial`) by itself."""
        if len(self.per_trial) == 1:
            return self.outcome
        score = self.per_trial[trial]
        if score is None or score.failure is not None:
            return Outcome.ERROR
        if self.threshold is None or not self.gate:
            return Outcome.INFORMATIONAL
        if score.value is None:
            return Outcome.NOT_APPLICABLE
        return Outcome.PASSED if score.value >= self.threshold else Outcome.FAILED

    def judge(self, score: Score) -> InvocationVerdict:
        """Hold one invocation's score against the threshold."""
        return InvocationVerdict(
            score.value, self._outcome_of(score), score.reason, score.details, score.warning
        )

    def _outcome_of(self, score: Score) -> Outcome:
        if self.outcome is Outcome.INFORMATIONAL:
            return Outcome.INFORMATIONAL
        if score.not_applicable:
            return Outcome.NOT_APPLICABLE
        if score.value is None or self.threshold is None:
            return Outcome.ERROR
        return Outcome.PASSED if score.value >= self.threshold else Outcome.FAILED


class TrialResult:
    """The outcome of one trial, with its evidence."""

    __slots__ = ("_evidence", "failure", "number", "outcome")

    def __init__(
        self, number: int, outcome: Outcome, *, evidence: Trial | bytes | None, failure: Failure | None = None
    ) -> None:
        """Take the `evidence` as a model, as its JSON (smaller; read when asked for), or `None` when dropped."""
        self.number = number
        self.outcome = outcome
        self.failure = failure
        self._evidence = evidence

    @property
    def trial(self) -> Trial | None:
        """The evidence; `None` when it was not kept (see `keep_evidence`)."""
        if isinstance(self._evidence, bytes):
            return Trial.model_validate_json(self._evidence)
        return self._evidence


@dataclass(slots=True, repr=False)
class CaseResult:
    """The verdict on one case and everything behind it."""

    eval_set_id: str
    eval_id: str
    outcome: Outcome
    reason: str = ""
    """The first thing to know: which metric failed and why, or what went wrong."""
    metrics: dict[str, MetricVerdict] = field(default_factory=dict)
    trials: list[TrialResult] = field(default_factory=list)
    place: str = ""
    """`file:line` of the case, where it came from a file."""

    def __repr__(self) -> str:
        return f"<CaseResult {self.eval_id}: {self.outcome.value}{': ' if self.reason else ''}{self.reason}>"

    @property
    def passed(self) -> bool:
        """Whether the case passed; an error is not a pass."""
        return self.outcome is Outcome.PASSED

    @property
    def status(self) -> EvalStatus:
        """The outcome in ADK's words."""
        return self.outcome.status


@dataclass(slots=True)
class SetSummary:
    """One eval set of a run: what it was and which config judged it."""

    eval_set_id: str
    path: str | None
    config_source: str
    """The config file's path, or in words where the criteria came from."""
    cases: int
    metrics: list[str] = field(default_factory=list)
    """Names of the metrics that ran, gating ones first."""
    skipped_metrics: dict[str, str] = field(default_factory=dict)
    """Metrics left out on purpose, and by what."""
    failure: Failure | None = None
    """Why the set could not be run at all (`keep_going`)."""


@dataclass(slots=True, repr=False)
class RunResult:
    """One execution: eval sets × agent × repeats."""

    agent: str
    cases: Sequence[CaseResult] = field(default_factory=list)
    """In the order of the sets and of the cases in them; of a stored run they are read as they are asked for."""
    sets: list[SetSummary] = field(default_factory=list)
    num_runs: int = 1
    warnings: list[str] = field(default_factory=list)
    started_at: float = 0.0
    duration: float = 0.0
    interrupted: bool = False
    """Whether somebody ended it before everything was run."""
    stopped_by: str = ""
    """Why not everything was run: a limit, a signal; empty when nothing was left out."""
    run_id: str = ""
    """Its name in the store; empty where it is not kept."""
    failure: Failure | None = None
    """Why the run itself could not go on (the store could not be written); its exit code is 3."""

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {outcome.value}" for outcome, count in self.counts.items())
        return f"<RunResult {self.agent}: {self.outcome.value} ({counts or 'no cases'})>"

    @property
    def outcome(self) -> Outcome:
        """Failed before error before inconclusive; passed only when every case passed."""
        found = [case.outcome for case in self.cases if case.outcome is not Outcome.SKIPPED]
        found += [Outcome.ERROR for summary in self.sets if summary.failure]
        return worst(found)

    @property
    def passed(self) -> bool:
        """Whether every case passed, and the run could be carried out."""
        return self.failure is None and self.outcome is Outcome.PASSED

    @property
    def counts(self) -> dict[Outcome, int]:
        """How many cases ended in each outcome."""
        return dict(Counter(case.outcome for case in self.cases))

    @property
    def exit_code(self) -> int:
        """0 passed, 1 failed, 3 error (or not all was run), 4 inconclusive."""
        return 3 if self.failure is not None else _EXIT_CODES.get(self.outcome, 3)

    def case(self, eval_id: str, eval_set_id: str | None = None) -> CaseResult:
        """Return the result of the case `eval_id`.

        Raises:
            KeyError: no such case in this run.
        """
        for result in self.cases:
            if result.eval_id == eval_id and eval_set_id in (None, result.eval_set_id):
                return result
        raise KeyError(eval_id)


_EXIT_CODES = {Outcome.PASSED: 0, Outcome.FAILED: 1, Outcome.ERROR: 3, Outcome.INCONCLUSIVE: 4}
