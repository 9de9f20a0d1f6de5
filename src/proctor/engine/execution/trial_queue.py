"""The trials of a run, in the order in which they are made, and the state of their cases until they are decided."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from proctor.engine.execution.run_control import StoppingRule
from proctor.engine.execution.run_recorder import ScoringRecord
from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.planning.plan import Plan
from proctor.engine.planning.set_plan import SetPlan
from proctor.engine.scoring.verdict import bounds_of, decide, trial_outcome
from proctor.engine.trial.failure_attribution import user_failure
from proctor.schema.evidence.trial import Failure, Trial
from proctor.schema.format.case import EvalCase
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, TrialResult
from proctor.schema.results.score import MetricScore
from proctor.schema.serialize import kept_json
from proctor.stores.base import Record, ScoreRecord, StoredTrial, TrialRecord, VerdictRecord

USER = "the simulated user"
"""Is in `not_asked` of a trial if a cap kept the model of the simulated user from being asked."""
_READ_AHEAD = 200
"""Cases whose recorded trials are read together."""


@dataclass(slots=True, eq=False, repr=False)
class CaseState:
    """A case from its first trial to its verdict."""

    chosen: SetPlan
    case: EvalCase
    position: int
    """The place of the case among all cases of the run."""
    metrics: list[BoundMetric]
    """The metrics that apply to this case."""
    trials: list[TrialState | None]
    """The complete trials by number; `None` for a trial that is still to come."""
    open: int
    """The number of trials that are still to come."""
    result: CaseResult
    is_stored: bool = False
    """Whether the store has the case itself."""
    only_recorded: bool = False
    """Whether the agent is not run: recorded evidence is scored again, and missing trials stay missing."""
    grows: bool = False
    """Whether trials are added while the case is undecided."""
    content_hash: str = ""
    """Empty without a store."""
    skip: str = ""
    """The reason for which the case is skipped whatever its trials show; empty if its metrics decide."""

    def add_trials(self, count: int) -> list[TrialState]:
        """Add so many trials to the case, and return them."""
        first = len(self.trials)
        self.trials += [None] * count
        self.open += count
        return [TrialState(self, number) for number in range(first, first + count)]

    def set_trials_made(self, count: int) -> None:
        """Give the case the trials that earlier processes made, and at least as many as it begins with if the agent runs."""
        self.trials = [None] * (count if self.only_recorded else max(count, len(self.trials)))

    def provisional_result(self) -> CaseResult:
        """Decide the case by its complete trials, without changing its state."""
        result = CaseResult(self.result.eval_set_id, self.result.eval_id, Outcome.NOT_RUN)
        copy = CaseState(self.chosen, self.case, self.position, self.metrics, [*self.trials], 0, result)
        copy.skip = self.skip
        return copy.decide(keep_all=True)

    def decide(self, *, keep_all: bool) -> CaseResult:
        """Decide the case now that all its trials are complete; keep the evidence of passes if `keep_all`.

        The metrics of a case that asserts nothing decide nothing: it is skipped, with its trials as evidence.
        """
        trials = [trial for trial in self.trials if trial is not None]
        self.trials = []
        result, rule = self.result, self.chosen.rule
        verdict = decide(
            self.metrics,
            [trial.scores for trial in trials],
            [trial.failure for trial in trials],
            None if self.skip else rule,
        )
        result.rule, result.metrics = rule, verdict.metrics
        if self.skip:
            _decide_nothing(verdict.metrics.values())
            result.outcome, result.reason = Outcome.SKIPPED, self.skip
            result.trials = [trial.result(Outcome.SKIPPED, keep=True) for trial in trials]
            return result
        result.outcome, result.reason, result.missed = verdict.outcome, verdict.reason, verdict.missed
        keep = keep_all or result.outcome is not Outcome.PASSED or bool(verdict.missed)
        result.trials = [
            trial.result(outcome, keep=keep) for trial, outcome in zip(trials, verdict.trials, strict=True)
        ]
        if not keep:
            _drop_scores(self.metrics, result.metrics)
        return result


def _decide_nothing(verdicts: Iterable[MetricVerdict]) -> None:
    for metric in verdicts:
        metric.gate = False
        if metric.failure is None:
            metric.outcome = Outcome.INFORMATIONAL


def _drop_scores(metrics: Sequence[BoundMetric], verdicts: dict[str, MetricVerdict]) -> None:
    """Drop the scores behind the verdicts of a passed case to save memory, unless a score has a warning."""
    for bound in metrics:
        verdict = verdicts.get(bound.name)
        if verdict is not None and (bound.only_counts or not verdict.is_warned):
            verdict.drop_scores()


@dataclass(slots=True, eq=False, repr=False)
class TrialState:
    """One trial from its place in the queue to its outcome: evidence, scores, failure."""

    case_state: CaseState
    number: int
    attempt: int = 0
    evidence: bytes | None = None
    """The evidence as the store has it. If an earlier process recorded it, the agent is not asked again."""
    known_scores: dict[str, MetricScore] = field(default_factory=dict)
    """The scores of an earlier process, by metric."""
    trial: Trial | None = None
    """The evidence that this process records, from the first event on."""
    received: bytes = b""
    """The evidence as a worker sent it; a failure that is found here is not in it."""
    new_scores: list[MetricScore] | None = None
    """The scores that this process computes, in the order of `asked`; `None` while the agent is under way."""
    asked: list[BoundMetric] | None = None
    """The metrics in the order in which they are asked, if it is not the order of `metrics_to_score`."""
    scores: list[MetricScore] | None = None
    """The scores of a complete trial in the order of the case's metrics; `None` if it failed."""
    failure: Failure | None = None
    not_asked: frozenset[str] = frozenset()
    """Metrics whose judge a cap kept from being asked: the trial is not decided without them."""
    decided: CaseResult | None = None
    """The verdict of the case, if this was its last trial."""

    @property
    def is_complete(self) -> bool:
        """Whether the trial is scored or has failed."""
        return self.scores is not None or self.failure is not None

    @property
    def outcome(self) -> Outcome:
        """The outcome of a complete trial by itself."""
        return trial_outcome(self.case_state.metrics, None if self.failure is not None else self.scores)

    @property
    def lacks_user(self) -> bool:
        """Whether the simulated user could not be asked to the end: the trial is dropped, and run again on resume."""
        return USER in self.not_asked

    @property
    def undecided_reason(self) -> str:
        """Explain why the trial is not decided."""
        if self.lacks_user:
            return "not run to its end: the model of the simulated user may not be asked any more"
        return f"not scored: {', '.join(sorted(self.not_asked))} may ask no judge any more"

    def metrics_to_score(self) -> list[BoundMetric]:
        """Return the metrics that have no score for this trial yet."""
        metrics = self.case_state.metrics
        return [metric for metric in metrics if metric.name not in self.known_scores]

    def with_known_scores(self, scores: Sequence[MetricScore]) -> list[MetricScore]:
        """Return the scores of all metrics, in their order: `scores` of `metrics_to_score()`, and the known ones."""
        new = iter(scores)
        known = (self.known_scores.get(metric.name) for metric in self.case_state.metrics)
        return [score if score is not None else next(new) for score in known]

    def result(self, outcome: Outcome, *, keep: bool) -> TrialResult:
        """Return the result of the trial, with its evidence if `keep`."""
        evidence = self._evidence_json() if keep else None
        return TrialResult(self.number, outcome, evidence=evidence, failure=self.failure)

    def _evidence_json(self) -> bytes | None:
        """Return the evidence as JSON, which takes a tenth of the memory."""
        if self.evidence is None and self.trial is not None:
            return kept_json(self.trial)
        return self.evidence

    def store_evidence(self, stored: ScoringRecord) -> None:
        """Hand the new evidence to the store; the first trial of a case stores the case, too."""
        if self.evidence is not None or self.trial is None:
            return
        state = self.case_state
        case = b"" if state.is_stored else kept_json(state.case)
        state.is_stored = True
        failed = self.trial.failure is not None
        self.evidence = self.received if self.received and not failed else kept_json(self.trial)
        stored.put(TrialRecord(state.position, self.number, self.attempt, self.evidence, failed, case))

    def outcome_records(self) -> list[Record]:
        """Return the records of a complete trial: its new scores and, after the last trial of a case, the verdict."""
        records: list[Record] = []
        if self.scores is not None:
            by_name = {
                metric.name: score
                for metric, score in zip(self.case_state.metrics, self.scores, strict=True)
                if metric.name not in self.known_scores and metric.name not in self.not_asked
            }
            records.append(ScoreRecord(self.case_state.position, self.number, self.attempt, by_name))
        if self.decided is not None:
            records.append(VerdictRecord(self.case_state.position, self.decided))
        return records


# --- Trials that the store has already --------------------------------------------------------------------------------


def trials_to_do(state: CaseState, stored: Sequence[StoredTrial], *, again: bool) -> list[TrialState]:
    """Return the trials of a case that are not complete, `again` errors, too; put those that are complete into `state`."""
    recorded = {trial.number: trial for trial in stored}
    state.is_stored = bool(recorded)
    if state.grows:
        state.set_trials_made(1 + max(recorded, default=-1))
    if state.only_recorded and len(recorded) < len(state.trials):
        return []  # without the missing trials there is no verdict
    to_do = []
    for number in range(len(state.trials)):
        trial = _resume_trial(state, number, recorded.get(number), again=again)
        if trial.is_complete:
            state.trials[number] = trial
        else:
            to_do.append(trial)
    state.open = len(to_do)
    return to_do


def _resume_trial(state: CaseState, number: int, recorded: StoredTrial | None, *, again: bool) -> TrialState:
    """Return a trial with what the store has of it; `again`: errors are made again, as a further attempt."""
    if recorded is None:
        return TrialState(state, number)
    attempt, evidence = recorded.attempt, recorded.evidence
    if recorded.failed and again:
        return TrialState(state, number, attempt + 1)
    # the evidence of a trial that its simulated user spoiled has no failure: that is computed again
    if recorded.failed and (failure := Trial.model_validate_json(evidence).failure) is not None:
        return TrialState(state, number, attempt, evidence, failure=failure)
    failure = None
    if state.result.is_played:
        trial = Trial.model_validate_json(evidence)
        failure = user_failure(trial, state.chosen.config, recorded.scores)
    if failure is not None and again:
        return TrialState(state, number, attempt + 1)
    return _with_recorded_scores(state, recorded, failure, again=again)


def _with_recorded_scores(
    state: CaseState, recorded: StoredTrial, failure: Failure | None, *, again: bool
) -> TrialState:
    """Return a trial with its recorded scores, without errors if they are to be made `again`."""
    number, attempt, evidence = recorded.number, recorded.attempt, recorded.evidence
    known = {name: score for name, score in recorded.scores.items() if not (again and score.failure)}
    if all(metric.name in known for metric in state.metrics):
        scores = [known[metric.name] for metric in state.metrics]
        return TrialState(state, number, attempt, evidence, scores=scores, failure=failure)
    return TrialState(state, number, attempt, evidence, known)


# --- The queue --------------------------------------------------------------------------------------------------------


@dataclass(slots=True, repr=False)
class TrialQueue:
    """Hands out the trials of a run, adds trials to undecided cases, and reports which cases are complete."""

    plan: Plan
    stored: ScoringRecord | None
    only_recorded: bool
    """Whether the agent is not run: recorded evidence is scored again."""
    grows: bool
    """Whether a case may have fewer trials than planned: trials are added while it is undecided."""
    looks: StoppingRule | None
    """Ends the run at an interim look: until then every case gets one more trial a round. `None`: each case is decided by itself."""
    decide: Callable[[CaseState], None]
    """Decides a case whose trials are all complete when that is noticed outside of the work of a trial."""
    results: list[CaseResult]
    """The results of a run without a store, in the order of the cases."""
    is_over: bool = False
    """Whether no further trial is handed out."""
    _added: deque[TrialState] = field(default_factory=deque)
    _round: list[CaseState] = field(default_factory=list)
    _made: int = 0
    """Trials of a case in this round, if there are rounds."""
    _was_decided: bool = False
    """Whether an earlier process decided cases; with interim looks it then had looks enough."""
    _open: int = 0
    _all_begun: bool = False

    def trials(self) -> Iterator[TrialState | None]:
        """Yield the trials to do; `None`: none now, but there may be one when a trial that is under way ends.

        Raises:
            EvalFileError: a set has changed since it was planned.
        """
        if self.looks is not None:
            self._made = self._first_round(self.looks)
        undecided = self._undecided_cases()
        while some := list(islice(undecided, _READ_AHEAD)):
            recorded = dict(self.stored.trials([at for _, _, at in some])) if self.stored is not None else {}
            for chosen, place, position in some:
                while self._added:
                    yield self._added.popleft()
                state = self._new_state(chosen, place, position)
                yield from self._begin_case(state, recorded.pop(position, ()))
        self._all_begun = True
        self.look()
        while self._open and not self.is_over:
            yield self._added.popleft() if self._added else None

    def _undecided_cases(self) -> Iterator[tuple[SetPlan, int, int]]:
        """Yield the cases without a verdict in the store: set, place among its chosen cases, position in the run."""
        planned = ((chosen, place) for chosen in self.plan.sets for place in range(len(chosen.cases)))
        for ordinal, (chosen, place) in enumerate(planned):
            position = ordinal if self.stored is None else self.stored.position(ordinal)
            if self.stored is not None and self.stored.outcome(position) is not None:
                self._was_decided = True
            else:
                yield chosen, place, position

    def _first_round(self, looks: StoppingRule) -> int:
        """Return the trials of a case at the first look; of a resumed run, at the look that it was heading for."""
        if self.stored is None or not self.stored.resumed:
            return looks.next_round(0)
        return looks.next_round(max((number for _, number, _ in self.stored.attempts()), default=0))

    def _begin_case(self, state: CaseState, recorded: Sequence[StoredTrial]) -> list[TrialState]:
        if self.looks is not None:
            self._round.append(state)
        self._open += self.grows
        to_do = trials_to_do(state, recorded, again=self.stored is not None and self.stored.retry_errors)
        if not state.open and self.is_complete(state):  # the store has everything but the verdict
            self.decide(state)
        return to_do

    def _new_state(self, chosen: SetPlan, place: int, position: int) -> CaseState:
        index = chosen.cases[place]
        case = chosen.source.case(index)
        result = CaseResult(
            chosen.summary.eval_set_id, case.eval_id, Outcome.NOT_RUN, place=chosen.source.where(index)
        )
        result.is_played = case.conversation is None
        if self.stored is None:
            self.results.append(result)
        count = self._first_trials(chosen) if self.grows else chosen.num_runs
        return CaseState(
            chosen, case, position, chosen.metrics_for(case), [None] * count, count, result,
            only_recorded=self.only_recorded, grows=self.grows, skip=chosen.skip_reason(index),
            content_hash=chosen.content_hash(place),
        )  # fmt: skip

    def _first_trials(self, chosen: SetPlan) -> int:
        """Return how many trials a case begins with: the fewest that could decide it."""
        if self.looks is not None:
            return self._made
        rule = chosen.rule
        if rule is None or rule.at_most is None or self.only_recorded:
            return chosen.num_runs
        return bounds_of(rule).more(0, 0) or 1

    def is_complete(self, state: CaseState) -> bool:
        """Return whether a case without open trials is to be decided now; otherwise it gets more trials."""
        if not self.grows:
            return True
        if self.looks is not None:
            return False
        more = 0 if self.only_recorded else _more_trials(state)
        if more:
            self._added += state.add_trials(more)
        else:
            self._open -= 1
        return not more

    def look(self) -> None:
        """If the last trial of a round is complete (and stored), end the run or begin the next round."""
        looks = self.looks
        if looks is None or not self._all_begun or self.is_over or any(state.open for state in self._round):
            return
        self._end_round(looks)

    def _end_round(self, looks: StoppingRule) -> None:
        trials = self._made
        following = 0 if self.only_recorded or self._was_decided else looks.next_round(trials)
        results = ((state.content_hash, state.provisional_result()) for state in self._round)
        if following and not looks.is_decided(results, trials):
            self._made = following
            for state in self._round:
                self._added += state.add_trials(following - trials)
            return
        self.is_over = True
        for state in self._round:
            self.decide(state)


def _more_trials(state: CaseState) -> int:
    """Return how many trials to add to a case: the fewest that could decide it; 0 if it is decided or cannot be."""
    rule = state.chosen.rule
    if rule is None or rule.at_most is None or state.skip:
        return 0
    outcomes = [Outcome.ERROR if trial is None else trial.outcome for trial in state.trials]
    bounds = bounds_of(rule)
    passes = [outcome is Outcome.PASSED for outcome in outcomes]
    known = all(outcome in (Outcome.PASSED, Outcome.FAILED) for outcome in outcomes)
    if not known or bounds.decided(passes)[0]:  # more trials do not repair an error
        return 0
    return bounds.more(sum(passes), len(passes))
