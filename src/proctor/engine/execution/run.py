"""Execute a plan: run its trials, score each when it ends, decide each case after its last trial."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from proctor.agents.base import Agent, AgentInfo
from proctor.engine.execution.executor import MOST_ASIDE, LocalExecutor
from proctor.engine.execution.run_control import DRAIN, Progress
from proctor.engine.execution.run_recorder import ScoringRecord
from proctor.engine.execution.trial_queue import CaseState, TrialQueue, TrialState
from proctor.engine.execution.worker_engine import EngineError
from proctor.engine.execution.workers import WorkerPool
from proctor.engine.planning.plan import Plan
from proctor.engine.run_options import RunOptions
from proctor.engine.trial.agent_lifecycle import AgentLifecycle
from proctor.engine.trial.trial_runner import TrialRunner
from proctor.engine.usage.costs import AgentUsage, RunCosts, is_about_retries
from proctor.errors import EvalFileError, StoreError
from proctor.schema.evidence.trial import Failure, FailureKind
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult, SetSummary
from proctor.stores.base import VerdictRecord

_log = logging.getLogger("proctor")


@dataclass(slots=True, repr=False)
class Run:
    """The execution of one plan, from the opening of the agent to the summary in the store."""

    plan: Plan
    agent: Agent | None
    """`None` if recorded evidence is scored again and the agent is not run."""
    agent_label: str
    options: RunOptions
    progress: Progress
    warnings: list[str] = field(default_factory=list)
    scoring_warnings: list[str] = field(default_factory=list)
    """The warnings that concern the criteria; they are in `warnings`, too."""
    unreadable: list[SetSummary] = field(default_factory=list)
    """Sets that could not be read; the other sets run without them."""
    stored: ScoringRecord | None = None
    """The store that receives each trial as it ends; without one the result keeps everything in memory."""
    _results: list[CaseResult] = field(default_factory=list)
    _counts: Counter[Outcome] = field(default_factory=Counter)
    _spending: AgentUsage = field(default_factory=AgentUsage)
    _money: RunCosts = field(init=False)
    _counts_money: bool = False
    _queue: TrialQueue = field(init=False)
    _executor: LocalExecutor[TrialState, TrialState] | None = None
    _stopped_by: str = ""
    _not_passed: int = 0
    """Cases that did not pass in this process."""
    _earlier_seconds: float = 0.0
    _grows: bool = field(init=False)
    """Whether trials are added to a case until it is decided."""

    def __post_init__(self) -> None:
        self._money = RunCosts(self.options, self._spending, asks_judges=self.plan.asks_judges)
        rules = [chosen.rule for chosen in self.plan.sets if chosen.rule is not None]
        self._grows = self.options.until_decided or any(rule.at_most is not None for rule in rules)

    async def __call__(self) -> RunResult:
        """Run every trial and return the verdicts.

        Errors inside a trial or a metric become data. Cancelling this coroutine ends the trials under way, reports the
        results so far to the progress (`interrupted`), and passes the cancellation on.

        Raises:
            AgentLoadError: the agent's `open` or `describe` raised; no trial was run.
            SetupProblems: cases or criteria name calls that the agent cannot make, by its own description; no trial was run.
            StoreError: the run could not be written to the store; no trial was run.
        """
        run = RunResult(
            agent=self.agent_label,
            sets=[*(chosen.summary for chosen in self.plan.sets), *self.unreadable],
            num_runs=self.plan.num_runs,
            at_most=self.plan.trials if self._grows else 0,
            against=self.options.looks.base_run_id if self.options.looks is not None else "",
            warnings=self.warnings,
            started_at=time.time(),
        )
        began = time.perf_counter()
        on_workers = isinstance(
            self.agent, WorkerPool
        )  # they have their own deadlines, and start more slowly
        if isinstance(self.agent, WorkerPool):
            self.agent.warn = self._warn
        agent = AgentLifecycle(self.agent, self.agent_label, None if on_workers else self.options.timeout)
        info = await agent.open(self.plan)
        try:
            if self.stored is not None:
                await self.stored.meet(info)
            self._begin(run, info)
            runner = TrialRunner(self.agent, self.options, info, stored=self.stored)
            self.progress.run_started(run, self._trials_left())
            await self._carry_out(run, runner)
        except asyncio.CancelledError:
            run.interrupted = True
            raise
        finally:
            self._add_time(run, time.perf_counter() - began)
            if warning := await agent.close():
                run.warnings.append(warning)
            self._finish(run)
        return run

    def _begin(self, run: RunResult, info: AgentInfo | None) -> None:
        if self.stored is not None:
            self.stored.tokens = lambda: self._spending.tokens_now
            self.stored.begin(info)
            self.stored.share_budget(self.options)
            self.stored.writer.live_figures = self._live_figures
            run.run_id = self.stored.writer.run_id
            run.started_at = self.stored.writer.created_at
            self._counts.update(self.stored.earlier_outcomes())
            if (earlier := self.stored.earlier) is not None:
                self._spending.start_from(self.stored, earlier)
                self._money.start_from(self.stored, earlier, judged_anew=self.agent is None)
                known = [warning for warning in earlier.warnings if not is_about_retries(warning)]
                past = earlier.judging_warnings if self.agent is None else ()  # of other criteria
                run.warnings += [text for text in known if text not in run.warnings and text not in past]
                self._earlier_seconds = earlier.duration

    def _add_time(self, run: RunResult, seconds: float) -> None:
        if self.agent is None:  # scoring again does not change how long the run took
            run.duration, run.scoring_duration = self._earlier_seconds, seconds
        else:
            run.duration = self._earlier_seconds + seconds

    def _trials_left(self) -> int:
        left = sum(len(chosen.cases) for chosen in self.plan.sets) - self._counts.total()
        return min(self.plan.trials, left * self.plan.num_runs)

    async def _carry_out(self, run: RunResult, runner: TrialRunner) -> None:
        options = self.options
        limits = [limit for limit in (options.timeout, options.trial_timeout) if limit is not None]
        self._executor = LocalExecutor(
            runner,
            abandoned=runner.abandoned,
            on_done=self._trial_done,
            commit=None if self.stored is None else self._commit,
            concurrency=options.concurrency,
            shortest_timeout=min(limits, default=None),
            most_aside=_most_aside(options),
            commits_aside=_commits_aside(options, runs_agent=self.agent is not None),
        )
        asks_judges = self.plan.asks_judges
        if asks_judges:
            runner.set_aside = self._executor.set_aside
        self._counts_money = asks_judges or options.budget is not None
        self._watch_limits(run)
        self._queue = TrialQueue(
            self.plan,
            self.stored,
            self.agent is None,
            grows=self._grows,
            looks=options.looks,
            decide=self._decide_now,
            results=self._results,
        )
        trials = self._trials(run)
        try:
            await self._executor.run(trials)
        except StoreError as error:
            run.failure = _broken(error)
        except EngineError as error:
            rest = f"; `proctor resume {run.run_id}` runs the rest" if run.run_id else ""
            run.failure = Failure(where="workers", message=f"{error}{rest}")
        finally:
            # Executor and runner refer to each other: this cycle would keep all results until the next collection.
            self._executor = runner.set_aside = None
            self._queue.is_over = True
            if self.stored is None:
                for _ in trials:  # cases that were not reached get a place in the results, too
                    pass
            del self._queue

    def _watch_limits(self, run: RunResult) -> None:
        options, loop = self.options, asyncio.get_running_loop()
        if options.max_time is not None:
            loop.call_later(options.max_time, self._stop, f"max_time: {options.max_time:g} s are over", DRAIN)

        def interrupt(reason: str, drain: float | None) -> None:
            run.interrupted = True
            self._stop(reason, drain)

        def interrupt_from_thread(reason: str, drain: float | None) -> None:
            loop.call_soon_threadsafe(interrupt, reason, drain)

        options.listen(self._stop_for_limit)
        if options.stop is not None:
            options.stop.listen(interrupt_from_thread)
            if options.stop.reason:  # requested before the first trial: no trial begins
                interrupt(options.stop.reason, DRAIN)

    def _stop(self, reason: str, drain: float | None = None) -> None:
        """Begin no further trial; trials under way may finish, within `drain` seconds unless it is `None`."""
        if self._executor is not None and (not self._stopped_by or drain is not None):
            self._stopped_by = self._stopped_by or reason
            self._executor.stop(drain)  # again, if an interruption allows less time than a limit did

    def _stop_for_limit(self, reason: str) -> None:
        """Begin no trial that would cost money. Without an agent go on: answers of judges in the cache may still decide."""
        if self.agent is None:
            self._stopped_by = self._stopped_by or reason
        else:
            self._stop(reason)

    def _trials(self, run: RunResult) -> Iterator[TrialState | None]:
        """Yield the trials to do; end when a set turns out to have changed: trials under way are finished."""
        try:
            yield from self._queue.trials()
        except EvalFileError as error:
            run.failure = Failure(where="file", kind=FailureKind.NOT_LOADED, message=str(error))

    async def _commit(self, trial: TrialState) -> None:
        """Return when the trial, its scores and, with the last of a case, the verdict are on disk."""
        self._count_usage(trial)
        if self.stored is None or trial.lacks_user:
            return
        trial.store_evidence(self.stored)  # of a trial that was left behind before its evidence was complete
        if not trial.not_asked:
            self._complete(trial)
        await self.stored.commit(trial.outcome_records())

    def _count_usage(self, trial: TrialState) -> None:
        """Count what the agent used: before the commit, which reports it to other processes of the run."""
        if trial.trial is not None:
            self._spending.add(trial.case_state.position, trial.trial)

    def _complete(self, trial: TrialState) -> None:
        """Put a complete trial into its case, and decide the case when it was the last one."""
        state = trial.case_state
        state.trials[trial.number] = trial
        state.open -= 1
        if state.open == 0 and self._queue.is_complete(state):
            trial.decided = state.decide(keep_all=self._keeps_all)

    @property
    def _keeps_all(self) -> bool:
        """Whether the evidence of passed cases is kept."""
        return self.stored is not None or self.options.keep_evidence == "all"

    def _trial_done(self, trial: TrialState) -> None:
        state = trial.case_state
        if self.stored is None:
            self._count_usage(trial)
        if trial.evidence is not None:
            trial.trial = None  # the same evidence as JSON takes a tenth of the memory
        if self._counts_money:
            self._money.trial_done(state.metrics, trial.scores)
        if trial.not_asked:
            state.result.reason = trial.undecided_reason
            return
        if self.stored is None:
            self._complete(trial)
        decided = trial.decided
        if decided is not None and len(decided.trials) == 1:
            outcome = decided.trials[0].outcome
        else:
            outcome = trial.outcome
        self.progress.trial_finished(state.result.eval_set_id, state.case.eval_id, outcome)
        self._watch_spending()
        if decided is not None:
            self._case_done(decided)
        if self._grows:
            self._queue.look()

    def _watch_spending(self) -> None:
        spent, most, budget = self._spending, self.options.max_tokens, self.options.budget
        if most is None and budget is None:
            return
        used = spent.tokens_now if self.stored is None else self.stored.tokens_used(spent.tokens_now)
        if budget is not None:
            budget.check()
        if most is not None and used >= most:
            self._stop(f"max_tokens: the agent has used {used:,} of {most:,} tokens")
        elif spent.trials == spent.silent == 1:
            warnings = [spent.blind_spot() if most is not None else "", self._money.blind_spot()]
            for warning in filter(None, warnings):
                self._warn(warning)

    def _warn(self, text: str) -> None:
        """Pass on a warning now, while the user can still stop the run: to the progress, or else to the log."""
        getattr(self.progress, "warned", _log.warning)(text)

    def _decide_now(self, state: CaseState) -> None:
        """Decide a case outside of the work of a trial: after an interim look, or if the store has all but the verdict."""
        decided = state.decide(keep_all=self._keeps_all)
        if self.stored is not None:
            self.stored.put(VerdictRecord(state.position, decided))
        self._case_done(decided)

    def _case_done(self, result: CaseResult) -> None:
        self._counts[result.outcome] += 1
        self.progress.case_finished(result)
        most = 1 if self.options.fail_fast else self.options.max_failures
        self._not_passed += result.outcome not in (Outcome.PASSED, Outcome.SKIPPED)
        if most is not None and self._not_passed >= most:
            self._stop("fail_fast" if self.options.fail_fast else f"max_failures: {most} did not pass")

    def _finish(self, run: RunResult) -> None:
        """Complete the result of the run, and write its summary to the store."""
        if warning := self._spending.warning():
            run.warnings.append(warning)
        if isinstance(self.agent, WorkerPool):
            run.warnings += self.agent.warnings()
        warning = self._spending.blind_spot() if self.options.max_tokens is not None else ""
        if warning and warning not in run.warnings:
            run.warnings.append(warning)
        run.spent, run.unreported = self._money.spent(), self._spending.unreported
        run.judged_by = self._money.judged_by() if self._counts_money else []
        if warning := self._money.blind_spot():
            run.warnings.append(warning)
        not_run = sum(len(chosen.cases) for chosen in self.plan.sets) - self._counts.total()
        if not_run:
            run.stopped_by = self._stopped_by
        else:  # the request to stop came after the last trial
            run.interrupted = False
        run.cases = self._results
        if self.stored is not None:
            self._store_summary(run, self.stored, not_run)
        self.progress.run_finished(run)

    def _store_summary(self, run: RunResult, stored: ScoringRecord, not_run: int) -> None:
        """Write the summary of the run; the records that were written before stay readable if this fails."""
        from proctor.schema.results.manifest import RunSummary  # heavy, and only of use where a run is kept

        if not stored.is_open:
            return
        counts = self._counts + Counter({Outcome.NOT_RUN: not_run}) + Counter(stored.outcomes_of_gone)
        summary = RunSummary(
            outcome=run.outcome_for(counts),
            counts={outcome.value: count for outcome, count in counts.items()},
            duration=run.duration,
            judging_duration=run.scoring_duration,
            interrupted=run.interrupted,
            warnings=run.warnings,
            judging_warnings=self.scoring_warnings,
            stopped_by=run.stopped_by,
            failure=run.failure,
            models=sorted(self._spending.models),
            tokens=self._spending.tokens,
            spent=run.spent,
            attempts=self._spending.attempts,
            unreported=run.unreported,
            judged_by=run.judged_by,
            **self._losses(),
        )
        try:
            stored.finish(summary, complete=run.failure is None and not self._is_anything_left(not_run))
        except StoreError as error:
            run.failure = run.failure or _broken(error)
        run.completes_run = stored.completes_run
        try:
            run.cases = stored.cases()
            if run.judged_by:
                run.badges = stored.badges()
        except StoreError as error:
            run.failure = run.failure or _broken(error)

    def _live_figures(self) -> dict[str, int]:
        """Return what the store shows while the run is executed; another thread calls it."""
        executor = self._executor
        return {"in_flight": 0 if executor is None else executor.in_flight, **self._losses()}

    def _losses(self) -> dict[str, int]:
        """Return the lost workers of this process and of earlier ones."""
        earlier = None if self.stored is None else self.stored.earlier
        pool = self.agent if isinstance(self.agent, WorkerPool) else None
        return {
            name: getattr(earlier, name, 0) + getattr(pool, name, 0)
            for name in ("lost_workers", "lost_attempts")
        }

    def _is_anything_left(self, not_run: int) -> bool:
        """Return whether the run can be resumed; scoring again cannot make missing trials."""
        return bool(not_run and (self._stopped_by or self.agent is not None))


def _most_aside(options: RunOptions) -> int:
    """Return how many trials may wait for judges while others run; 0 if the first failure may end the run."""
    return 0 if options.fail_fast or options.max_failures is not None else MOST_ASIDE


def _commits_aside(options: RunOptions, *, runs_agent: bool) -> int:
    """Return how many trials may wait for their commits while others run; 0 if each trial may end the run.

    With an agent there are few: what it did is lost if the store cannot be written any more, and a kill repeats it.
    """
    most = _most_aside(options)
    if not runs_agent:
        return most
    is_limited = options.budget is not None or options.max_tokens is not None
    return 0 if is_limited else min(options.concurrency // 4, most)


def _broken(error: StoreError) -> Failure:
    return Failure(where="store", message=str(error))
