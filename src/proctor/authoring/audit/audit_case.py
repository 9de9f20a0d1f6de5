"""Audit one case: score its recorded conversation and every mutant, with the metrics, the criteria and the verdict rules of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.authoring.audit.make_mutants import Mutant, mutants_of
from proctor.authoring.audit.mutant import Events, Operator, Recording
from proctor.common.error_text import safe_str
from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.planning.set_plan import SetPlan
from proctor.engine.scoring.score_trial import (
    add_explanations,
    before_judges,
    score_alone,
    score_trial,
    view_of,
)
from proctor.engine.scoring.verdict import decide
from proctor.engine.trial.trial_runner import find_silence
from proctor.schema.analysis.audit_result import AGENTS, CaseAudit, Fate, MetricAudit, MutantFate
from proctor.schema.evidence.convert_events import RecordedInvocations
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.wire_model import twin
from proctor.schema.results.score import MetricScore, MetricVerdict, Outcome

SILENCE = "a turn without answer and call"
_MOST_ALIKE = 20
"""Earlier cases with the same messages that a case is compared with, so that the time stays linear."""


@dataclass(frozen=True, slots=True)
class Scored:
    """The verdict on one conversation."""

    outcome: Outcome
    reason: str = ""
    failed: Sequence[str] = ()
    """The gating metrics that failed it."""
    scores: Mapping[str, float | None] = field(default_factory=dict)
    """The score of each metric; `None` where it does not apply."""
    computed: Sequence[MetricScore] = ()
    """What the metrics of the case returned, in their order."""


class CaseScorer:
    """Scores conversations as trials of one case."""

    def __init__(
        self, plan: SetPlan, recording: Recording, seconds: float | None, *, judges: bool = False
    ) -> None:
        """Score with the metrics of the plan; with those that ask judges only if `judges`."""
        self._plan, self._recording, self._seconds = plan, recording, seconds
        every = [metric for metric in plan.metrics_for(recording.case) if not metric.only_counts]
        self._metrics = every if judges else before_judges(every)
        self._is_partial = len(self._metrics) < len(every)
        self._is_quick = all(metric.is_quick for metric in self._metrics)

    @property
    def metrics(self) -> Sequence[BoundMetric]:
        """The metrics that apply to the case."""
        return self._metrics

    @property
    def is_quick(self) -> bool:
        """Whether no metric runs code of the user or asks a judge."""
        return self._is_quick

    def is_skipped(self, index: int) -> bool:
        """Return whether nothing decides the case at that place of its set."""
        return bool(self._plan.skip_reason(index))

    async def score(
        self, turns: Sequence[Events], state: dict[str, Any] | None, *, explained: bool = False
    ) -> Scored:
        """Return the verdict on a conversation with these turns that ends in this session state."""
        case = self._recording.case
        trial = self._trial(turns, state)
        silence = find_silence(trial, case, self._plan)
        if silence is not None:  # an error of the agent: never passed
            return Scored(Outcome.FAILED, silence.cause, [SILENCE])
        return self._verdict(await self._scores(trial, self._unchanged(turns), explained=explained))

    def _unchanged(self, turns: Sequence[Events]) -> dict[int, Invocation]:
        """Return the invocations of the turns that are as recorded; none if a metric could change what it reads."""
        recording = self._recording
        same = [index for index, events in enumerate(turns) if events is recording.turns[index]]
        return {index: recording.invocations[index] for index in same} if self._is_quick else {}

    def verdicts(
        self, turns: Sequence[Events], state: dict[str, Any] | None, computed: Sequence[MetricScore]
    ) -> tuple[Trial, Mapping[str, MetricVerdict]]:
        """Return a conversation as a trial, and the verdict of each metric from its scores, with the warnings."""
        trial = self._trial(turns, state)
        view = view_of(self._recording.case, trial)
        view.scores = {metric.name: score for metric, score in zip(self._metrics, computed, strict=True)}
        for metric, score in zip(self._metrics, computed, strict=True):
            add_explanations(metric, view, score, everything=True)
        return trial, decide(self._metrics, [computed], [None]).metrics

    async def _scores(
        self, trial: Trial, invocations: Mapping[int, Invocation], *, explained: bool
    ) -> list[MetricScore]:
        view = view_of(self._recording.case, trial)
        view.actual = RecordedInvocations(trial.turns, trial.app_details, invocations)
        if self._is_quick:
            scores = await score_trial(self._metrics, view)
        else:
            scores = await score_alone(self._metrics, view, self._seconds)
        for metric, score in zip(self._metrics, scores, strict=True) if explained else ():
            add_explanations(metric, view, score, everything=False)
        return scores

    def _trial(self, turns: Sequence[Events], state: dict[str, Any] | None) -> Trial:
        return trial_of(self._plan.source.eval_set_id, self._recording, turns, state)

    def _verdict(self, scores: Sequence[MetricScore]) -> Scored:
        verdict = decide(self._metrics, [scores], [None])
        failed = [name for name, one in verdict.metrics.items() if one.gate and one.outcome is Outcome.FAILED]
        values = {name: one.score for name, one in verdict.metrics.items() if _has_decided(one)}
        if self._is_partial and not values and not any(score.failure for score in scores):
            return Scored(Outcome.PASSED, computed=scores)  # the judges decide
        return Scored(verdict.outcome, verdict.reason, failed, values, scores)


def trial_of(
    eval_set_id: str, recording: Recording, turns: Sequence[Events], state: dict[str, Any] | None
) -> Trial:
    """Return a conversation with these turns that ends in this session state as a trial of the recorded case."""
    trial_turns = [
        turn if events is own else twin(turn, events=[*events])
        for turn, own, events in zip(recording.evidence, recording.turns, turns, strict=True)
    ]
    before = recording.initial_state
    if trial_turns and state is not None and state != before:
        change = recording.state_change if state is recording.state else Event.changed(state)
        trial_turns[-1] = twin(trial_turns[-1], events=[*trial_turns[-1].events, change])
    final_state = before if state is None else state
    return twin(recording.empty_trial, eval_set_id=eval_set_id, turns=trial_turns, final_state=final_state)


def _has_decided(verdict: MetricVerdict) -> bool:
    return verdict.outcome in (Outcome.PASSED, Outcome.FAILED)


# --- One case: the oracle, and every mutant -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that its case does not notice."""

    mutant: Mutant
    scored: Scored


@dataclass(frozen=True, slots=True)
class AuditedCase:
    """A recorded case, and the mutants that it does not notice; none if nothing decides it."""

    audit: CaseAudit
    plan: SetPlan
    index: int
    recording: Recording
    survivors: Sequence[Survivor]

    @property
    def is_sound(self) -> bool:
        """Whether there is a conversation, and it passes if anything decides."""
        return self.recording.is_recorded and not self.audit.contradicts

    @property
    def metrics(self) -> Sequence[BoundMetric]:
        """The metrics that scored the mutants that survive."""
        return CaseScorer(self.plan, self.recording, None, judges=True).metrics


class CaseAuditor:
    """Audits the cases of one set, and knows those that it has seen."""

    def __init__(self, operators: Sequence[Operator], seed: int, tally: Mapping[str, MetricAudit]) -> None:
        self._operators, self._seed, self._tally = operators, seed, tally
        self._earlier: dict[tuple[str, ...], list[tuple[Recording, CaseScorer]]] = {}

    async def audit(self, one: CaseAudit, recording: Recording, scorer: CaseScorer) -> list[Survivor]:
        """Fill in the result of a case; return the mutants that survive."""
        if recording.is_recorded:
            oracle = await scorer.score(recording.turns, recording.state, explained=True)
            one.problem = contradiction(oracle)
            one.contradicts = bool(one.problem)
            if not one.problem:
                self._note_outcome(oracle, counts=False)
            if not scorer.is_quick:
                self._note_unstable_metrics(oracle, await scorer.score(recording.turns, recording.state))
        used = [each for each in self._operators if each.family == AGENTS or not one.problem]
        survivors: list[Survivor] = []
        one.mutants = [
            await self._fate(outcome, one, scorer, survivors)
            for operator in used
            for outcome in _make_mutants(recording, operator, self._seed)
        ]
        if not one.problem:
            messages = tuple(" ".join(each.lower().split()) for each in recording.messages)
            alike = self._earlier.setdefault(messages, [])
            one.same_as = await _indistinguishable_case(recording, scorer, alike)
            alike.append((recording, scorer))
        return survivors

    async def _fate(
        self, mutant: Mutant | MutantFate, one: CaseAudit, scorer: CaseScorer, survivors: list[Survivor]
    ) -> MutantFate:
        if isinstance(mutant, MutantFate):  # it could not be made
            return mutant
        scored = await scorer.score(mutant.turns, mutant.state)
        if not one.problem:
            self._note_outcome(scored, counts=mutant.operator.family != AGENTS)
        fate = fate_of(mutant, scored)
        if fate.fate is Fate.SURVIVED:
            survivors.append(Survivor(mutant, scored))
        return fate

    def _note_outcome(self, scored: Scored, *, counts: bool) -> None:
        """Note what each metric decided; `counts`: it is a mutant, not the recording or an agent that must fail."""
        for name, score in scored.scores.items():
            is_failed = name in scored.failed
            self._tally[name].scored += counts
            self._tally[name].failed += counts and is_failed
            decides = scored.outcome is not Outcome.ERROR and not {*scored.failed} - {name}
            self._tally[name].add_score(score, is_failed=is_failed, decides=decides)

    def _note_unstable_metrics(self, oracle: Scored, again: Scored) -> None:
        """Note which metrics give the same conversation another score."""
        for name in oracle.scores.keys() | again.scores.keys():
            self._tally[name].varied += oracle.scores.get(name) != again.scores.get(name)


def _make_mutants(recording: Recording, operator: Operator, seed: int) -> Iterator[Mutant | MutantFate]:
    """Yield the mutants of an operator; one that cannot be made is an error, and the operator makes no other."""
    try:
        yield from mutants_of(recording, operator, seed)
    except Exception as error:  # noqa: BLE001 - an odd conversation must not end the audit
        reason = f"it could not be made: {type(error).__name__}: {safe_str(error)}"
        yield MutantFate(operator.name, Fate.ERROR, "no mutant", reason=reason)


def contradiction(oracle: Scored) -> str:
    """Explain where the recorded conversation does not pass its own case; empty if it passes."""
    return "" if oracle.outcome is Outcome.PASSED else oracle.reason or f"the verdict is {oracle.outcome}"


def fate_of(mutant: Mutant, scored: Scored) -> MutantFate:
    """Return what became of a mutant."""
    fates = {Outcome.PASSED: Fate.SURVIVED, Outcome.FAILED: Fate.CAUGHT}
    fate = fates.get(scored.outcome, Fate.ERROR)
    reason = scored.reason if fate is Fate.ERROR else ""
    return MutantFate(mutant.operator.name, fate, mutant.fault, mutant.turn, scored.failed, reason)


async def _indistinguishable_case(
    recording: Recording, scorer: CaseScorer, earlier: Sequence[tuple[Recording, CaseScorer]]
) -> str:
    """Return an earlier case with the same messages, if each of the two passes with the other's conversation."""
    for other, its_scorer in earlier[-_MOST_ALIKE:]:
        first = await scorer.score(other.turns, other.state)
        if first.outcome is not Outcome.PASSED:
            continue
        second = await its_scorer.score(recording.turns, recording.state)
        if second.outcome is Outcome.PASSED:
            return other.case.eval_id
    return ""
