"""A case while its trials are under way: what is there, what is still to do, and what it comes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from proctor.engine.execution.run_recorder import StoredRun
from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.planning.plan import SetPlan
from proctor.engine.scoring.verdict import decide, decide_only, with_reported
from proctor.engine.trial.played_conversation import spoiled
from proctor.schema.evidence.serialize import kept_json
from proctor.schema.evidence.trial import Failure, Trial
from proctor.schema.format.case import EvalCase
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, TrialResult
from proctor.schema.results.score import MetricScore
from proctor.stores.base import Record, ScoreRecord, StoredTrial, TrialRecord, VerdictRecord

USER = "the played user"
"""Stands among what was not asked where a cap kept the user's model from being asked."""
_DECIDED = MetricScore()
_PASSED = Outcome.PASSED  # a member's look-up in its enumeration takes ten times as long


@dataclass(slots=True, eq=False, repr=False)
class CaseState:
    """A case while its trials are under way."""

    chosen: SetPlan
    case: EvalCase
    position: int
    """Its place among all cases of the run."""
    metrics: list[BoundMetric]
    """Those that have something to do with this case."""
    trials: list[TrialState | None]
    open: int
    """How many of its trials are still to come."""
    result: CaseResult
    is_kept: bool = False
    """Whether the store has the case itself."""
    only_recorded: bool = False
    """Whether trials that were never made stay so: evidence is judged again, and nothing is run."""
    grows: bool = False
    """Whether `trials` are those so far: more are added while it is not decided."""
    content_hash: str = ""
    """Empty where nothing is kept."""
    skip: str = ""
    """Why the case is skipped whatever its trials show; empty where its metrics decide."""

    def more(self, count: int) -> list[Job]:
        """Make room for so many further trials, and return them."""
        first = len(self.trials)
        self.trials += [None] * count
        self.open += count
        return [Job(self, number) for number in range(first, first + count)]

    def as_it_stands(self) -> CaseResult:
        """Say what the case comes to by the trials that are in; nothing is changed by that."""
        result = CaseResult(self.result.eval_set_id, self.result.eval_id, Outcome.NOT_RUN)
        trials = [*self.trials]
        standing = CaseState(self.chosen, self.case, self.position, self.metrics, trials, 0, result)
        standing.skip = self.skip
        return standing.decide(keep_all=True)

    def verdict_record(self, decided: CaseResult) -> VerdictRecord:
        """What is to be written when the case is decided."""
        return VerdictRecord(self.position, decided)

    def decide(self, *, keep_all: bool) -> CaseResult:
        """Say what the case comes to, now that all its trials are in; evidence of passes is kept if `keep_all`."""
        trials = [trial for trial in self.trials if trial is not None]
        self.trials = []
        result = self.result
        result.rule = rule = self.chosen.rule
        if self.skip:
            self._skip(trials)
            return result
        if rule is None and len(trials) == 1 and trials[0].scores is not None and trials[0].failure is None:
            self._decide_only(trials[0], trials[0].scores, keep_all=keep_all)
            return result
        verdict = decide(
            self.metrics, [trial.scores for trial in trials], [trial.failure for trial in trials], rule
        )
        result.outcome, result.reason, result.metrics = verdict.outcome, verdict.reason, verdict.metrics
        result.missed = verdict.missed
        keep = keep_all or result.outcome is not _PASSED or bool(verdict.missed)
        result.trials = [
            trial.result(outcome, keep=keep) for trial, outcome in zip(trials, verdict.trials, strict=True)
        ]
        if not keep:
            _drop_scores(self.metrics, result.metrics)
        return result

    def _skip(self, trials: Sequence[TrialState]) -> None:
        """Report what the trials of a case that asserts nothing show; no metric decides."""
        verdict = decide(
            self.metrics, [trial.scores for trial in trials], [trial.failure for trial in trials]
        )
        for metric in verdict.metrics.values():
            metric.gate = False
            if metric.failure is None:
                metric.outcome = Outcome.INFORMATIONAL
        result = self.result
        result.outcome, result.reason, result.metrics = Outcome.SKIPPED, self.skip, verdict.metrics
        result.trials = [trial.result(Outcome.SKIPPED, keep=True) for trial in trials]

    def _decide_only(self, trial: TrialState, scores: list[MetricScore], *, keep_all: bool) -> None:
        """The same for its only trial, where that has scores: what is only reported is worked out if somebody looks."""
        result = self.result
        result.outcome, result.reason, deciding = decide_only(self.metrics, scores)
        keep = keep_all or result.outcome is not _PASSED
        result.trials = [trial.result(result.outcome, keep=keep)]
        if not keep:
            for place, bound in enumerate(self.metrics):
                if bound.gates:  # it is in `deciding`, and what that rests on (votes are large) is done with
                    scores[place] = _DECIDED
                    if not (verdict := deciding[bound.name]).is_warned:
                        verdict.per_trial = ()
        make = with_reported if keep else _with_reported_less_scores
        result.put_off_metrics(partial(make, self.metrics, scores, deciding))


@dataclass(slots=True, eq=False, repr=False)
class TrialState:
    """One trial that is done: its evidence, and its scores once there are any."""

    number: int
    evidence: Trial | bytes
    failure: Failure | None
    attempt: int = 0
    scores: list[MetricScore] | None = None
    """In the order of the case's metrics; `None` when the trial failed."""
    not_asked: frozenset[str] = frozenset()
    """Metrics whose judge may not be asked any more (a cap is reached): without them the trial is not decided."""

    @property
    def was_broken_off(self) -> bool:
        """Whether its user could not be asked to the end: nothing of it is kept, and it is begun anew."""
        return USER in self.not_asked

    @property
    def why_not_judged(self) -> str:
        """Say why it is not decided."""
        if self.was_broken_off:
            return "not run to its end: the model that plays the user may not be asked any more"
        return f"not judged: {', '.join(sorted(self.not_asked))} may ask no judge any more"

    def result(self, outcome: Outcome, *, keep: bool) -> TrialResult:
        """Return what came of it, with its evidence if that is to be kept."""
        evidence = self.as_json() if keep else None
        return TrialResult(self.number, outcome, evidence=evidence, failure=self.failure)

    def as_json(self) -> bytes:
        """Return the evidence as its JSON, a tenth of the memory."""
        return self.evidence if isinstance(self.evidence, bytes) else kept_json(self.evidence)


def _with_reported_less_scores(
    metrics: Sequence[BoundMetric], scores: Sequence[MetricScore], deciding: dict[str, MetricVerdict]
) -> dict[str, MetricVerdict]:
    verdicts = with_reported(metrics, scores, deciding)
    _drop_scores(metrics, verdicts)
    return verdicts


def _drop_scores(metrics: Sequence[BoundMetric], verdicts: dict[str, MetricVerdict]) -> None:
    """Save the memory of what makes up the verdicts on a pass, unless a warning stands there."""
    for bound in metrics:
        verdict = verdicts.get(bound.name)
        if verdict is not None and (bound.only_counts or not verdict.is_warned):
            verdict.per_trial = ()


@dataclass(slots=True, eq=False, repr=False)
class Job:
    """One trial to be done."""

    state: CaseState
    number: int
    attempt: int = 0
    evidence: bytes | None = None
    """What an earlier process recorded: the agent is not asked again."""
    known: dict[str, MetricScore] = field(default_factory=dict)
    """What an earlier process scored, by metric."""
    trial: Trial | None = None
    """The evidence so far, once there is any."""
    scores: list[MetricScore] | None = None
    """The scores so far, once the agent is done."""
    asking: list[BoundMetric] | None = None
    """The metrics in the order in which they are asked, where that is not the one they stand in."""
    decided: CaseResult | None = None
    """What the case came to, where this was its last trial."""

    def metrics(self) -> list[BoundMetric]:
        """Return the metrics that have not said anything about this trial yet."""
        if not self.known:
            return self.state.metrics
        return [metric for metric in self.state.metrics if metric.name not in self.known]

    def with_known(self, scores: Sequence[MetricScore]) -> list[MetricScore]:
        """Return the scores of all metrics, in their order: `scores` of `metrics()`, and what was known before."""
        if not self.known:
            return list(scores)
        fresh = iter(scores)
        known = (self.known.get(metric.name) for metric in self.state.metrics)
        return [score if score is not None else next(fresh) for score in known]

    def outcome_records(self, done: TrialState) -> list[Record]:
        """What is to be written when the trial is done: its scores, and the verdict with the last one of a case."""
        records: list[Record] = []
        if done.scores is not None:
            by_name = {
                metric.name: score
                for metric, score in zip(self.state.metrics, done.scores, strict=True)
                if metric.name not in self.known and metric.name not in done.not_asked
            }
            records.append(ScoreRecord(self.state.position, self.number, self.attempt, by_name))
        if self.decided is not None:
            records.append(VerdictRecord(self.state.position, self.decided))
        return records


def evidence_record(job: Job, trial: Trial) -> TrialRecord:
    """Return the evidence of a trial as it is kept; the first of a case brings the case."""
    state = job.state
    case = b"" if state.is_kept else kept_json(state.case)
    state.is_kept = True
    failed = trial.failure is not None
    return TrialRecord(state.position, job.number, job.attempt, kept_json(trial), failed, case)


def jobs_of(state: CaseState, stored: StoredRun | None) -> list[Job]:
    """Return what is to be done for a case; trials that are complete in the store are put into `state`."""
    if stored is None or not stored.resumed:
        return [Job(state, number) for number in range(len(state.trials))]
    there = {trial.number: trial for trial in stored.trials(state.position)}
    state.is_kept = bool(there)
    if state.grows:
        made = 1 + max(there, default=-1)
        state.trials = [None] * (made if state.only_recorded else max(made, len(state.trials)))
    if state.only_recorded and len(there) < len(state.trials):
        return []  # trials are missing: no verdict can be had without running them
    jobs = []
    for number in range(len(state.trials)):
        job = _continued(state, number, there.get(number), again=stored.retry_errors)
        if job is not None:
            jobs.append(job)
    state.open = len(jobs)
    return jobs


def _continued(state: CaseState, number: int, there: StoredTrial | None, *, again: bool) -> Job | None:
    """Return what is left to do for a trial of which `there` is in the store; `None` when nothing is."""
    if there is None:
        return Job(state, number)
    if there.failed:
        if again:
            return Job(state, number, there.attempt + 1)
        failure = Trial.model_validate_json(there.evidence).failure
        if failure is not None:  # else its user spoiled it, and that is told anew
            state.trials[number] = TrialState(number, there.evidence, failure, there.attempt)
            return None
    spoiled_by = _spoiled(state, there) if state.result.is_played else None
    if spoiled_by is not None and again:
        return Job(state, number, there.attempt + 1)
    known = {name: score for name, score in there.scores.items() if not (again and score.failure)}
    if all(metric.name in known for metric in state.metrics):
        scores = [known[metric.name] for metric in state.metrics]
        state.trials[number] = TrialState(number, there.evidence, spoiled_by, there.attempt, scores)
        return None
    return Job(state, number, there.attempt, there.evidence, known)


def _spoiled(state: CaseState, there: StoredTrial) -> Failure | None:
    """Return why a trial that an earlier process recorded is no evidence about the agent."""
    return spoiled(Trial.model_validate_json(there.evidence), state.chosen.config, there.scores)
