"""One trial: the conversation with the agent, its evidence in the store, its scores, and the reasons of missed ones."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from proctor.agents.base import Agent, AgentInfo
from proctor.common.safe_text import is_visible
from proctor.engine.execution.run_recorder import Answers, ScoringRecord
from proctor.engine.execution.trial_queue import USER, TrialState
from proctor.engine.execution.workers import WorkerPool
from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.planning.set_plan import SetPlan
from proctor.engine.run_options import RunOptions
from proctor.engine.scoring.score_trial import (
    add_explanations,
    order_of_asking,
    score_and_judge,
    score_trial,
    scores_of_stuck_trial,
    view_of,
)
from proctor.engine.trial.conversation import (
    HOOKS,
    ConversationRecorder,
    Play,
    TrialLimits,
    step_of,
)
from proctor.engine.trial.deadlines import TrialSlot
from proctor.engine.trial.evidence_limits import TurnCaps, first_loss
from proctor.engine.trial.failure_attribution import timed_out, user_failure
from proctor.engine.usage.costs import costs_of, metrics_not_asked
from proctor.metrics.base import is_adk_compatible
from proctor.schema.evidence.event import Event, WaitingEvent, recipe_of
from proctor.schema.evidence.trial import Failure, FailureKind, Trial
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content, Part
from proctor.schema.format.invocation import states_silence
from proctor.schema.results.score import MetricScore
from proctor.simulation.base import WHERE as SIMULATOR


class TrialRunner:
    """Does trials: talks to the agent, hands the evidence to the store, scores it, and explains missed thresholds."""

    def __init__(
        self,
        agent: Agent | None,
        options: RunOptions,
        info: AgentInfo | None,
        *,
        stored: ScoringRecord | None,
    ) -> None:
        """Keep the agent (`None`: every trial brings its evidence) and its description of itself."""
        self._options = options
        self._stored = stored
        self._explains_all = options.explain == "all"
        self.set_aside: Callable[[TrialSlot], None] | None = None
        """Gives the place of a trial whose judges are asked to the next trial; `None` in a run without judges."""
        if stored is not None and options.judges is not None:
            options.judges.remember(Answers(stored))
        self._recorder: ConversationRecorder | WorkerPool | None = None
        if isinstance(agent, WorkerPool):
            self._recorder = agent
        elif agent is not None:
            details = info.app_details if info else None
            self._recorder = ConversationRecorder(agent, limits_of(options), details)

    async def __call__(self, state: TrialState, slot: TrialSlot) -> TrialState:
        """Do one trial."""
        if state.evidence is None:
            trial = await self._record(state, slot)
        else:
            trial = Trial.model_validate_json(state.evidence)
        state.failure = self._failure(state, trial)
        if state.failure is not None and state.failure.kind is FailureKind.NOT_ASKED:
            state.not_asked = frozenset({USER})
            return state
        if self._stored is not None:
            state.store_evidence(self._stored)
        budget = self._options.budget
        if budget is not None and budget.max_cost is not None and state.trial is not None:
            budget.spend_on_agent(costs_of(trial))
        if state.failure is None:
            self._complete(state, trial, await self._score(state, trial, slot))
        return state

    def _complete(self, state: TrialState, trial: Trial, scores: list[MetricScore]) -> None:
        """Put the scores into the trial's state, with a fault of the user that they show, and judges that were not asked."""
        metrics = state.case_state.metrics
        if trial.played_user is not None:
            by_name = _scores_by_name(metrics, scores)
            state.failure = user_failure(trial, state.case_state.chosen.config, by_name)
        if self._options.budget is not None:
            state.not_asked = metrics_not_asked(self._options.budget, metrics, scores)
        state.scores = scores

    def _record(self, state: TrialState, slot: TrialSlot) -> Awaitable[Trial]:
        if self._recorder is None:
            raise RuntimeError("a trial without evidence needs an agent")
        case, play = state.case_state.case, None
        if case.conversation is None:
            if self._options.users is None:
                raise RuntimeError("a scenario needs a simulated user")
            play = Play(self._options.users.play, case, state.case_state.chosen.config)
        eval_set_id = state.case_state.result.eval_set_id
        return self._recorder.record(case, eval_set_id, state.number, slot, state, play)

    def _failure(self, state: TrialState, trial: Trial) -> Failure | None:
        """Return why the trial cannot be scored: it failed, its user spoiled it, or its evidence is incomplete or empty."""
        chosen = state.case_state.chosen
        failure = trial.failure
        if failure is None and trial.played_user is not None:
            failure = user_failure(trial, chosen.config)
        if failure is None and trial.notes:
            trial.failure = failure = _incomplete(trial)
        if failure is None and self._options.compat != "adk":
            failure = find_silence(trial, state.case_state.case, chosen)
            if failure is not None:
                trial.failure = failure
        return failure

    async def _score(self, state: TrialState, trial: Trial, slot: TrialSlot) -> list[MetricScore]:
        view = view_of(state.case_state.case, trial)
        metrics, state.new_scores = state.metrics_to_score(), []
        seconds = self._options.timeout
        if state.known_scores:
            view.scores = state.known_scores
        if self.set_aside is not None and any(bound.judge for bound in metrics):
            state.asked = order_of_asking(metrics)
            scores = await score_and_judge(
                metrics, view, slot=slot, seconds=seconds, scores=state.new_scores, aside=self.set_aside
            )
        else:
            scores = await score_trial(metrics, view, slot=slot, seconds=seconds, scores=state.new_scores)
        for bound, score in zip(metrics, scores, strict=True):
            if self._explains_all or (bound.threshold is not None and bound.is_missed_by(score)):
                slot.begin_turn(seconds)
                add_explanations(bound, view, score, everything=self._explains_all)
        return state.with_known_scores(scores)

    def abandoned(self, state: TrialState, slot: TrialSlot) -> TrialState:
        """Return the outcome of a trial that ignored its cancellation: a copy, because its task may still change `state`."""
        if isinstance(self._recorder, WorkerPool):
            self._recorder.release(slot)
        outcome = TrialState(
            state.case_state, state.number, state.attempt, state.evidence, state.known_scores
        )
        if state.evidence is None:
            outcome.trial = _copy_evidence(state)
        if state.new_scores is None:
            trial = outcome.trial or _copy_evidence(state)
            outcome.failure = abandoned_failure(trial, slot, self._options)
            return outcome
        metrics = state.metrics_to_score()
        ordered_metrics = state.asked or metrics
        by_name = _scores_by_name(
            ordered_metrics, scores_of_stuck_trial(ordered_metrics, state.new_scores, self._options.timeout)
        )
        outcome.scores = outcome.with_known_scores([by_name[metric.name] for metric in metrics])
        return outcome


def abandoned_failure(trial: Trial, slot: TrialSlot, options: RunOptions) -> Failure:
    """Put into a trial that it ignored its cancellation, and how long it took; return the failure."""
    trial.failure = failure = _fail_abandoned(trial, slot, options)
    trial.duration = round(max(0.0, time.time() - trial.started_at), 3) if trial.started_at else 0.0
    return failure


def _fail_abandoned(trial: Trial, slot: TrialSlot, options: RunOptions) -> Failure:
    turns = len(trial.turns)
    if slot.others:
        what = "the user did not answer in time, and ignored its cancellation: it was left behind"
        return timed_out(what, None, where=SIMULATOR, turn=turns)
    step = f"{step_of(slot)} did not end" if slot.step else "the agent did not answer"
    what = f"{step} in time, and ignored its cancellation: it was left behind"
    limit = options.trial_timeout if slot.expired == "trial" else options.timeout
    turn = turns - 1 if turns and not slot.step else None
    return timed_out(what, limit, where=slot.step if slot.step in HOOKS else "agent", turn=turn)


def _scores_by_name(metrics: Sequence[BoundMetric], scores: Sequence[MetricScore]) -> dict[str, MetricScore]:
    return {metric.name: score for metric, score in zip(metrics, scores, strict=True)}


def _incomplete(trial: Trial) -> Failure | None:
    """Return the failure of a trial whose answer was cut: a part of an answer shows neither a pass nor a failure."""
    lost = first_loss(trial.notes)
    if not lost:
        return None
    message = f"{lost}: it cannot be scored by the part that was kept; `--max-text` (`max_text`) keeps more"
    return Failure(where="agent", kind=FailureKind.UNUSABLE_ANSWER, message=message)


def _copy_evidence(state: TrialState) -> Trial:
    """Copy the evidence so far: an agent that was left behind may still change its own."""
    if state.trial is not None:
        return state.trial.model_copy(deep=True)
    result = state.case_state.result
    return Trial(eval_set_id=result.eval_set_id, eval_id=result.eval_id, number=state.number)


def limits_of(options: RunOptions) -> TrialLimits:
    """Return the limits of one trial."""
    return TrialLimits(
        timeout=options.timeout,
        trial_timeout=options.trial_timeout,
        retry_errors=options.retry_errors,
        setup=options.setup,
        teardown=options.teardown,
        caps=TurnCaps(max_text=options.max_text, max_events=options.max_events),
    )


# --- Turns in which the agent did nothing at all: an error of the agent, unless the case states silence ---------------


SILENT = (
    "the agent gave no text, no tool call and no other event; where the case expects silence, state it: "
    '`final_response` with one empty text (YAML: `expect: ""`)'
)


def find_silence(trial: Trial, case: EvalCase, plan: SetPlan) -> Failure | None:
    """Return the failure of the first turn in which the agent did nothing and that the case does not expect to be silent.

    An agent that does nothing satisfies every prohibition. Where nothing is decided, or a gating criterion has `compat`,
    a silent turn is scored like any other.
    """
    expected = case.conversation or case.opening or ()
    for index, turn in enumerate(trial.turns):
        if any(map(_shows_something, turn.events)):
            continue
        if index >= len(expected) or not states_silence(expected[index]):
            silence = Failure(where="agent", kind=FailureKind.EMPTY, message=SILENT, turn=index)
            return silence if _decides_by_proctor(plan) else None
    return None


def _decides_by_proctor(plan: SetPlan) -> bool:
    gating = [metric.name for metric in plan.metrics if metric.gate]
    criteria = (plan.config.criterion_for(name) for name in gating)
    return bool(gating) and not any(each is not None and is_adk_compatible(each) for each in criteria)


def _shows_something(event: Event) -> bool:
    """Whether an event has more than the usage of a model that answered nothing."""
    if type(event) is WaitingEvent and (recipe := recipe_of(event)) is not None:
        return recipe[0] != "text" or is_visible(recipe[3])
    if _has_content(event.content):
        return True
    if event.author.lower() == "user":
        return False
    if any(getattr(event, name) for name in _SIGNS):
        return True
    actions = (event.model_extra or {}).get("actions")
    return isinstance(actions, dict) and any(actions.values())


_SIGNS = (
    "state_delta",
    "error_code",
    "long_running_tool_ids",
    "skip_summarization",
    "grounding_metadata",
)
"""Fields of an event that show that the agent did something."""


def _has_content(content: Content | None) -> bool:
    """Whether a content has a visible text, or a part of another kind."""
    return any(
        is_visible(part.text) if part.text is not None else _is_stated(part)
        for part in (content.parts if content is not None else None) or ()
    )


def _is_stated(part: Part) -> bool:
    """Whether a part has any field; to dump the part would take ten times as long."""
    fields = part.__dict__
    return fields["function_call"] is not None or any(
        value is not None for value in (*fields.values(), *(part.model_extra or {}).values())
    )
