"""The work of one trial: talk to the agent, write down what it did, score it, say why where it missed."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from proctor.agents.base import Agent, AgentInfo
from proctor.common.safe_text import is_visible
from proctor.engine.execution.case_state import USER, CaseState, Job, TrialState, evidence_record
from proctor.engine.execution.run_recorder import Answers, StoredRun
from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.planning.plan import SetPlan
from proctor.engine.planning.run_options import RunOptions
from proctor.engine.scoring.score_trial import explain, given_up, score_trial, view_of
from proctor.engine.trial.deadlines import Slot
from proctor.engine.trial.evidence_limits import Caps, what_was_lost
from proctor.engine.trial.failure_attribution import timed_out
from proctor.engine.trial.played_conversation import Play, spoiled
from proctor.engine.trial.trial_runner import HOOKS, TrialLimits, TrialRunner, step_of
from proctor.engine.usage.agent_costs import costs_of
from proctor.engine.usage.run_costs import not_asked
from proctor.metrics.base import CaseView, is_adk_compatible
from proctor.schema.evidence.event import Event, WaitingEvent, recipe_of
from proctor.schema.evidence.trial import Failure, FailureKind, Trial
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content
from proctor.schema.format.invocation import Invocation, states_silence
from proctor.schema.results.score import MetricScore
from proctor.simulation.base import WHERE as SIMULATOR


class TrialWork:
    """Does trials; what the agent did is handed to the store, if there is one, before anything is said about it."""

    def __init__(
        self, agent: Agent | None, options: RunOptions, info: AgentInfo | None, *, stored: StoredRun | None
    ) -> None:
        """Take the agent (`None`: every job brings its evidence) and what it said about itself."""
        self._options = options
        self._stored = stored
        self._everything = options.explain == "all"
        self.set_aside: Callable[[Slot], None] | None = None
        """Gives the place of a trial that is being judged to the next one; where judges are asked at all."""
        if stored is not None and options.judges is not None:
            options.judges.remember(Answers(stored))
        self._runner = None
        if agent is not None:
            self._runner = TrialRunner(agent, _limits(options), info.app_details if info else None)

    async def __call__(self, job: Job, slot: Slot) -> TrialState:
        """Do one trial."""
        trial = (
            await self._ask(job, slot) if job.evidence is None else Trial.model_validate_json(job.evidence)
        )
        failure = trial.failure or spoiled(trial, job.state.chosen.config)
        if failure is None and trial.notes:
            trial.failure = failure = _incomplete(trial)
        if failure is None and self._options.compat != "adk":
            trial.failure = failure = find_silence(trial, job.state.case, job.state.chosen)
        done = TrialState(job.number, trial, failure, job.attempt)
        if failure is not None and failure.kind is FailureKind.NOT_ASKED:
            done.not_asked = frozenset({USER})  # it is begun anew when the run is gone on with
            return done
        if self._stored is not None:
            done.evidence = job.evidence or keep(self._stored, job, trial)
        budget = self._options.budget
        if budget is not None and budget.max_cost is not None and job.trial is not None:
            budget.spend_on_agent(costs_of(trial))
        if failure is None:
            done.scores = scores = await self._scores(job, trial, slot)
            if trial.played_user is not None:
                done.failure = spoiled(trial, job.state.chosen.config, _by_name(job, scores))
            if budget is not None:
                done.not_asked = not_asked(budget, job.state.metrics, done.scores)
        return done

    def _ask(self, job: Job, slot: Slot) -> Awaitable[Trial]:
        if self._runner is None:
            raise RuntimeError("there is no agent to ask, and no evidence")
        state = job.state
        play = None if state.case.conversation is not None else self._play(state)
        return self._runner.run(state.case, state.result.eval_set_id, job.number, slot, job, play)

    def _play(self, state: CaseState) -> Play:
        if self._options.users is None:
            raise RuntimeError("there is nobody to play the user")
        return Play(self._options.users, state.case, state.chosen.config)

    async def _scores(self, job: Job, trial: Trial, slot: Slot) -> list[MetricScore]:
        view = view_of(job.state.case, trial)
        metrics, job.scores = job.metrics(), []
        if job.known:
            view.scores = job.known
        if self.set_aside is not None and any(bound.judge for bound in metrics):
            scores = await self._judged(job, metrics, view, slot)
        else:
            scores = await score_trial(
                metrics, view, slot=slot, seconds=self._options.timeout, scores=job.scores
            )
        for bound, score in zip(metrics, scores):  # noqa: B905 - a score each; `strict` takes longer than the loop
            if self._everything or (bound.threshold is not None and bound.is_missed_by(score)):
                slot.begin_turn(self._options.timeout)
                explain(bound, view, score, everything=self._everything)
        return job.with_known(scores)

    async def _judged(
        self, job: Job, metrics: list[BoundMetric], view: CaseView, slot: Slot
    ) -> list[MetricScore]:
        """Score a trial with metrics among which some ask a judge; meanwhile others have its place."""
        from proctor.engine.scoring.judge_scheduling import in_order, score_and_judge

        job.asking = in_order(metrics)
        return await score_and_judge(
            metrics, view, slot=slot, seconds=self._options.timeout, scores=job.scores, aside=self.set_aside
        )

    def abandoned(self, job: Job, slot: Slot) -> TrialState:
        """Make the best of a trial that ignored its cancellation: what there is so far is its evidence."""
        options = self._options
        if job.scores is not None:
            trial: Trial | bytes = job.evidence or _frozen(job)
            metrics = job.asking or job.metrics()
            said = given_up(metrics, job.scores, options.timeout)
            by_name = {metric.name: score for metric, score in zip(metrics, said, strict=True)}
            scores = [by_name[metric.name] for metric in job.metrics()]
            return TrialState(job.number, trial, None, job.attempt, job.with_known(scores))
        trial = _frozen(job)
        trial.failure = _left_behind(trial, slot, options)
        trial.duration = round(max(0.0, time.time() - trial.started_at), 3) if trial.started_at else 0.0
        return TrialState(job.number, trial, trial.failure, job.attempt)


def _left_behind(trial: Trial, slot: Slot, options: RunOptions) -> Failure:
    turns = len(trial.turns)
    if slot.others:
        what = "the user did not answer in time, and went on when it was cancelled: it was left behind"
        return timed_out(what, None, where=SIMULATOR, turn=turns)
    who = f"{step_of(slot)} did not end" if slot.step else "the agent did not answer"
    what = f"{who} in time, and went on when it was cancelled: it was left behind"
    limit = options.trial_timeout if slot.expired == "trial" else options.timeout
    turn = turns - 1 if turns and not slot.step else None
    return timed_out(what, limit, where=slot.step if slot.step in HOOKS else "agent", turn=turn)


def _by_name(job: Job, scores: list[MetricScore]) -> dict[str, MetricScore]:
    return {metric.name: score for metric, score in zip(job.state.metrics, scores, strict=True)}


def keep(stored: StoredRun, job: Job, trial: Trial) -> bytes:
    """Hand the evidence of a trial to the store and return it as it is kept."""
    record = evidence_record(job, trial)
    stored.put(record)
    job.evidence = record.evidence
    return record.evidence


def _incomplete(trial: Trial) -> Failure | None:
    """What an answer that is not there whole comes to: neither a pass nor a failure can be read from a part."""
    lost = what_was_lost(trial.notes)
    if not lost:
        return None
    message = f"{lost}: it cannot be judged by the part that was kept; `--max-text` (`max_text`) keeps more"
    return Failure(where="agent", kind=FailureKind.UNUSABLE_ANSWER, message=message)


def _frozen(job: Job) -> Trial:
    """The evidence so far, out of the reach of an agent that goes on."""
    result = job.state.result
    empty = Trial(eval_set_id=result.eval_set_id, eval_id=result.eval_id, number=job.number)
    return (job.trial or empty).model_copy(deep=True)


def _limits(options: RunOptions) -> TrialLimits:
    return TrialLimits(
        timeout=options.timeout,
        trial_timeout=options.trial_timeout,
        retry_errors=options.retry_errors,
        setup=options.setup,
        teardown=options.teardown,
        caps=Caps(max_text=options.max_text, max_events=options.max_events),
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
    for index, turn in enumerate(trial.turns):
        if not any(map(_shows_something, turn.events)) and not _expects_silence(_expected(case), index):
            silence = Failure(where="agent", kind=FailureKind.EMPTY, message=SILENT, turn=index)
            return silence if _decides_by_proctor(plan) else None
    return None


def _decides_by_proctor(plan: SetPlan) -> bool:
    gating = [metric.name for metric in plan.metrics if metric.gate]
    criteria = (plan.config.criterion_for(name) for name in gating)
    return bool(gating) and not any(each is not None and is_adk_compatible(each) for each in criteria)


def _expected(case: EvalCase) -> Sequence[Invocation]:
    return case.conversation or case.opening or ()


def _expects_silence(expected: Sequence[Invocation], index: int) -> bool:
    return index < len(expected) and states_silence(expected[index])


def _shows_something(event: Event) -> bool:
    """Whether an event has more than the usage of a model that answered nothing."""
    if type(event) is WaitingEvent and (recipe := recipe_of(event)) is not None:
        return recipe[0] != "text" or is_visible(recipe[3])
    if event.author.lower() == "user" and not _has_content(event.content):
        return False
    actions = (event.model_extra or {}).get("actions")
    return bool(
        event.state_delta
        or event.error_code
        or event.long_running_tool_ids
        or event.skip_summarization
        or event.grounding_metadata
        or _has_content(event.content)
        or (isinstance(actions, dict) and any(actions.values()))
    )


def _has_content(content: Content | None) -> bool:
    """Whether a content has a visible text, or a part of another kind."""
    return any(
        is_visible(part.text) if part.text is not None else bool(part.model_dump(exclude_none=True))
        for part in (content.parts if content is not None else None) or ()
    )
