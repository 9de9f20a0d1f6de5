"""One run: trials as the plan says, scored as they end, decided case by case, in the order of the sets."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from proctor.agents.base import Agent, AgentInfo
from proctor.causes import safe_str
from proctor.engine.criteria import BoundMetric
from proctor.engine.deadlines import Slot
from proctor.engine.executor import LocalExecutor
from proctor.engine.failures import timed_out
from proctor.engine.inference import TrialLimits, TrialRunner, settle
from proctor.engine.options import RunOptions
from proctor.engine.plan import Plan, SetPlan
from proctor.engine.progress import Progress
from proctor.engine.scoring import explain, given_up, score_trial, view_of
from proctor.engine.verdict import decide, decide_metric_once, trial_outcome
from proctor.errors import AgentLoadError, ProctorError
from proctor.schema.case import EvalCase
from proctor.schema.score import MetricScore
from proctor.schema.trial import Trial
from proctor.schema.verdict import CaseResult, Outcome, RunResult, SetSummary, TrialResult

_OFTEN = 50_000
"""New objects between two looks of the garbage collector while a run is under way (Python: 700)."""


@dataclass(slots=True, eq=False, repr=False)
class _CaseState:
    """A case while its trials are under way."""

    chosen: SetPlan
    index: int
    case: EvalCase
    metrics: list[BoundMetric]
    """Those that have something to do with this case."""
    trials: list[Trial | None]
    scores: list[list[MetricScore] | None]
    open: int
    result: CaseResult


@dataclass(slots=True, eq=False, repr=False)
class _Job:
    state: _CaseState
    number: int
    trial: Trial | None = None
    """The evidence so far, once there is any."""
    scores: list[MetricScore] | None = None
    """The scores so far, once the agent is done."""


@dataclass(slots=True, repr=False)
class _Done:
    trial: Trial
    scores: list[MetricScore] | None = None


@dataclass(slots=True, repr=False)
class Run:
    """Carries a plan out."""

    plan: Plan
    agent: Agent
    agent_label: str
    options: RunOptions
    progress: Progress
    warnings: list[str] = field(default_factory=list)
    unreadable: list[SetSummary] = field(default_factory=list)
    """Sets that could not be read, and that the others did not wait for."""
    _stopped: bool = False
    _results: list[CaseResult] = field(default_factory=list)
    _runner: TrialRunner | None = None
    _retried: list[str] = field(default_factory=list)

    async def __call__(self) -> RunResult:
        """Run every trial and return the verdicts.

        What happens inside a trial or a metric becomes data. Cancelling this coroutine ends the trials under way,
        tells the progress what there is so far (`interrupted`), and passes the cancellation on.

        Raises:
            AgentLoadError: the agent's `open` or `describe` raised; no trial was run.
        """
        run = RunResult(
            agent=self.agent_label,
            sets=[*(chosen.summary for chosen in self.plan.sets), *self.unreadable],
            num_runs=self.plan.num_runs,
            warnings=self.warnings,
            started_at=time.time(),
        )
        began = time.perf_counter()
        info = await self._open()
        self._runner = TrialRunner(self.agent, self._limits(), info.app_details if info else None)
        self.progress.run_started(run, self.plan.trials)
        try:
            with _fewer_collections():
                await self._carry_out()
        except asyncio.CancelledError:
            run.interrupted = True
            raise
        finally:
            run.cases = self._results
            if self._retried:
                run.warnings.append(_said_of(self._retried))
            run.duration = time.perf_counter() - began
            await self._close(run)
            self.progress.run_finished(run)
        return run

    async def _carry_out(self) -> None:
        options = self.options
        limits = [limit for limit in (options.timeout, options.trial_timeout) if limit is not None]
        executor: LocalExecutor[_Job, _Done] = LocalExecutor(
            self._work,
            abandoned=self._abandoned,
            on_done=self._trial_done,
            concurrency=options.concurrency,
            shortest_timeout=min(limits, default=None),
        )
        jobs = self._jobs()
        try:
            await executor.run(jobs, stopped=lambda: self._stopped)
        finally:
            for _ in jobs:  # what was not reached still gets its place in the results
                pass

    def _limits(self) -> TrialLimits:
        options = self.options
        return TrialLimits(
            timeout=options.timeout,
            trial_timeout=options.trial_timeout,
            retry_errors=options.retry_errors,
            setup=options.setup,
            teardown=options.teardown,
        )

    def _jobs(self) -> Iterator[_Job]:
        for chosen in self.plan.sets:
            for index in chosen.cases:
                state = self._begin_case(chosen, index)
                for number in range(self.plan.num_runs):
                    yield _Job(state, number)

    def _begin_case(self, chosen: SetPlan, index: int) -> _CaseState:
        case = chosen.source.case(index)
        result = CaseResult(
            chosen.summary.eval_set_id, case.eval_id, Outcome.NOT_RUN, place=chosen.source.where(index)
        )
        self._results.append(result)
        wanted = [
            m for m in chosen.metrics if case.final_session_state or "expected_state" not in m.facts.needs
        ]
        runs = self.plan.num_runs
        return _CaseState(chosen, index, case, wanted, [None] * runs, [None] * runs, runs, result)

    async def _work(self, job: _Job, slot: Slot) -> _Done:
        """One trial: talk to the agent, score what it did, say why where it missed."""
        if self._runner is None:
            raise RuntimeError("the run has not been opened")
        state = job.state
        set_id = state.result.eval_set_id
        trial = await self._runner.run(state.case, set_id, job.number, slot, partial(setattr, job, "trial"))
        if trial.failure is not None:
            return _Done(trial)
        view = view_of(state.case, trial)
        job.scores = []
        scores = await score_trial(
            state.metrics, view, slot=slot, seconds=self.options.timeout, scores=job.scores
        )
        everything = self.options.explain == "all"
        for bound, score in zip(state.metrics, scores, strict=True):
            if everything or decide_metric_once(bound, score) is Outcome.FAILED:
                explain(bound, view, score, everything=everything)
        return _Done(trial, scores)

    def _abandoned(self, job: _Job, slot: Slot) -> _Done:
        """Make the best of a trial that ignored its cancellation: what there is so far is its evidence."""
        trial = (job.trial or self._empty(job)).model_copy(deep=True)
        if job.scores is not None:
            return _Done(trial, given_up(job.state.metrics, job.scores, self.options.timeout))
        limit = self.options.trial_timeout if slot.expired == "trial" else self.options.timeout
        what = "the agent did not answer in time, and went on when it was cancelled: it was left behind"
        trial.failure = timed_out(what, limit, turn=len(trial.turns) - 1 if trial.turns else None)
        trial.duration = round(max(0.0, time.time() - trial.started_at), 3) if trial.started_at else 0.0
        return _Done(trial)

    def _empty(self, job: _Job) -> Trial:
        result = job.state.result
        return Trial(eval_set_id=result.eval_set_id, eval_id=result.eval_id, number=job.number)

    def _trial_done(self, job: _Job, done: _Done) -> None:
        state = job.state
        state.trials[job.number] = done.trial
        state.scores[job.number] = done.scores
        state.open -= 1
        if done.trial.attempts and (failure := done.trial.attempts[-1].failure) is not None:
            self._retried.append(f"{state.result.eval_set_id}/{state.case.eval_id}, {failure.cause}")
        self.progress.trial_finished(
            state.result.eval_set_id, state.case.eval_id, trial_outcome(state.metrics, done.scores)
        )
        if state.open == 0:
            self._finish_case(state)

    def _finish_case(self, state: _CaseState) -> None:
        trials = [trial for trial in state.trials if trial is not None]
        verdict = decide(state.metrics, state.scores, [trial.failure for trial in trials])
        result = state.result
        result.outcome, result.reason, result.metrics = verdict.outcome, verdict.reason, verdict.metrics
        keep = self.options.keep_evidence == "all" or result.outcome is not Outcome.PASSED
        result.trials = [
            TrialResult(trial.number, outcome, evidence=_kept(trial) if keep else None, failure=trial.failure)
            for trial, outcome in zip(trials, verdict.trials, strict=True)
        ]
        if not keep:
            for metric in result.metrics.values():
                if not metric.is_warned:
                    metric.per_trial = []
        state.trials, state.scores = [], []
        self.progress.case_finished(result)
        if self.options.fail_fast and result.outcome is not Outcome.PASSED:
            self._stopped = True

    async def _open(self) -> AgentInfo | None:
        """Open the agent and hear what it says about itself."""
        try:
            if (opener := getattr(self.agent, "open", None)) is not None:
                await settle(opener())
            if (describe := getattr(self.agent, "describe", None)) is not None:
                info: AgentInfo = await settle(describe())
                return info
        except ProctorError:
            raise
        except Exception as error:
            raise AgentLoadError(
                f"the agent {self.agent_label} could not be opened: {type(error).__name__}: {safe_str(error)}"
            ) from error
        return None

    async def _close(self, run: RunResult) -> None:
        close = getattr(self.agent, "close", None)
        if close is None:
            return
        try:
            await settle(close())
        except Exception as error:  # noqa: BLE001 - the verdicts stand; the user is told
            run.warnings.append(f"closing the agent raised {type(error).__name__}: {safe_str(error)}")


def _said_of(retried: list[str]) -> str:
    """What passed only after another attempt is not as sound as it looks."""
    trials = "1 trial was" if len(retried) == 1 else f"{len(retried)} trials were"
    return f"{trials} tried again after infrastructure errors: {'; '.join(retried[:3])}{' …' if len(retried) > 3 else ''}"


@contextmanager
def _fewer_collections() -> Iterator[None]:
    """Let the garbage collector look less often: a run makes many small objects that die by themselves."""
    before = gc.get_threshold()
    if 0 < before[0] < _OFTEN:
        gc.set_threshold(_OFTEN, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _kept(trial: Trial) -> Trial | bytes:
    """Evidence as its JSON, a tenth of the memory; as it is where JSON cannot hold it (a lone surrogate)."""
    try:
        text: Any = trial.__pydantic_serializer__.to_json(trial, exclude_none=True)
    except ValueError:
        return trial
    kept: bytes = text
    return kept
