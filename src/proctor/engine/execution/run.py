"""One run: trials as the plan says, scored as they end, decided case by case, in the order of the sets."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from proctor.agents.base import Agent, AgentInfo
from proctor.engine.execution.case_state import CaseState, Job, TrialState
from proctor.engine.execution.executor import LocalExecutor, fewer_collections
from proctor.engine.execution.progress import Progress
from proctor.engine.execution.run_recorder import StoredRun
from proctor.engine.execution.stop_request import DRAIN
from proctor.engine.execution.trial_queue import Supply
from proctor.engine.planning.plan import Plan
from proctor.engine.planning.run_options import RunOptions
from proctor.engine.scoring.verdict import trial_outcome
from proctor.engine.trial.agent_lifecycle import OpenedAgent
from proctor.engine.trial.trial_work import TrialWork, keep
from proctor.engine.usage.agent_usage import Spending, is_about_retries
from proctor.engine.usage.run_costs import Money
from proctor.errors import EvalFileError, StoreError
from proctor.schema.evidence.trial import Failure, FailureKind, Trial
from proctor.schema.results.outcome import outcome_of_run
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult, SetSummary

# a member's look-up in its enumeration takes ten times as long
_FINE = frozenset({Outcome.PASSED, Outcome.SKIPPED})


@dataclass(slots=True, repr=False)
class Run:
    """Carries a plan out."""

    plan: Plan
    agent: Agent | None
    """`None` where recorded evidence is judged again and nothing is run."""
    agent_label: str
    options: RunOptions
    progress: Progress
    warnings: list[str] = field(default_factory=list)
    judging_warnings: list[str] = field(default_factory=list)
    """Those of the warnings that are about the criteria."""
    unreadable: list[SetSummary] = field(default_factory=list)
    """Sets that could not be read, and that the others did not wait for."""
    stored: StoredRun | None = None
    """The store that it is written to while it happens; without one the result has everything in memory."""
    _results: list[CaseResult] = field(default_factory=list)
    _counts: Counter[Outcome] = field(default_factory=Counter)
    _spending: Spending = field(default_factory=Spending)
    _money: Money = field(init=False)
    _counts_money: bool = False
    _supply: Supply = field(init=False)
    _executor: LocalExecutor[Job, TrialState] | None = None
    _stopped_by: str = ""
    _not_passed: int = 0
    """Cases that did not pass since this process has been at work."""
    _earlier_seconds: float = 0.0

    def __post_init__(self) -> None:
        self._money = Money(self.options, self._spending, asks_judges=self.plan.asks_judges)

    @property
    def _grows(self) -> bool:
        return self.options.until_decided or any(
            chosen.rule is not None and chosen.rule.at_most is not None for chosen in self.plan.sets
        )

    async def __call__(self) -> RunResult:
        """Run every trial and return the verdicts.

        What happens inside a trial or a metric becomes data. Cancelling this coroutine ends the trials under way,
        tells the progress what there is so far (`interrupted`), and passes the cancellation on.

        Raises:
            AgentLoadError: the agent's `open` or `describe` raised; no trial was run.
            SetupProblems: what is stated about calls that the agent, by its own account, can never make; no trial was run.
            StoreError: the run could not be written down; no trial was run.
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
        agent = OpenedAgent(self.agent, self.agent_label, self.options.timeout)
        info = await agent.open(self.plan)
        try:
            self._begin(run, info)
            work = TrialWork(self.agent, self.options, info, stored=self.stored)
            self.progress.run_started(run, self._trials_left())
            with fewer_collections():
                await self._carry_out(run, work)
        except asyncio.CancelledError:
            run.interrupted = True
            raise
        finally:
            self._take_time(run, time.perf_counter() - began)
            if said := await agent.close():
                run.warnings.append(said)
            self._finish(run)
        return run

    def _begin(self, run: RunResult, info: AgentInfo | None) -> None:
        if self.stored is not None:
            self.stored.begin(info)
            run.run_id = self.stored.writer.run_id
            run.started_at = self.stored.store.manifest(
                run.run_id
            ).created_at  # also of a run that is resumed
            self._counts.update(self.stored.earlier_outcomes())
            if (earlier := self.stored.earlier) is not None:
                self._spending.begin_with(self.stored.attempts())
                self._money.begin_with(self.stored, earlier, judged_anew=self.agent is None)
                known = [said for said in earlier.warnings if not is_about_retries(said)]
                past = earlier.judging_warnings if self.agent is None else ()  # of other criteria
                run.warnings += [said for said in known if said not in run.warnings and said not in past]
                self._earlier_seconds = earlier.duration

    def _take_time(self, run: RunResult, seconds: float) -> None:
        if self.agent is None:  # the run took what it took
            run.duration, run.judging_duration = self._earlier_seconds, seconds
        else:
            run.duration = self._earlier_seconds + seconds

    def _trials_left(self) -> int:
        left = sum(len(chosen.cases) for chosen in self.plan.sets) - self._counts.total()
        return min(self.plan.trials, left * self.plan.num_runs)

    async def _carry_out(self, run: RunResult, work: TrialWork) -> None:
        options = self.options
        limits = [limit for limit in (options.timeout, options.trial_timeout) if limit is not None]
        self._executor = LocalExecutor(
            work,
            abandoned=work.abandoned,
            on_done=self._trial_done,
            commit=None if self.stored is None else self._commit,
            concurrency=options.concurrency,
            shortest_timeout=min(limits, default=None),
            most_aside=options.most_aside,
        )
        if self.plan.asks_judges:
            work.set_aside = self._executor.set_aside
        self._counts_money = self.plan.asks_judges or options.budget is not None
        self._watch_limits(run)
        self._supply = Supply(
            self.plan,
            self.stored,
            self.agent is None,
            grows=self._grows,
            looks=options.looks,
            decide=self._decide_now,
            results=self._results,
        )
        jobs = self._jobs(run)
        try:
            await self._executor.run(jobs)
        except StoreError as error:
            run.failure = _broken(error)
        finally:
            # Each knows the other: without this, all results would wait for the garbage collector.
            self._executor = work.set_aside = None
            self._supply.is_over = True
            if self.stored is None:
                for _ in jobs:  # what was not reached still gets its place in the results
                    pass
            del self._supply

    def _watch_limits(self, run: RunResult) -> None:
        options, loop = self.options, asyncio.get_running_loop()
        if options.max_time is not None:
            loop.call_later(options.max_time, self._stop, f"max_time: {options.max_time:g} s are over", DRAIN)

        def obey(reason: str, drain: float | None) -> None:
            run.interrupted = True
            self._stop(reason, drain)

        def hear(reason: str, drain: float | None) -> None:
            loop.call_soon_threadsafe(obey, reason, drain)

        options.listen(self._limit_reached)
        if options.stop is not None:
            options.stop.listen(hear)
            if options.stop.reason:  # asked for before anything began: then nothing does
                obey(options.stop.reason, DRAIN)

    def _stop(self, reason: str, drain: float | None = None) -> None:
        """Begin no further trial; what is under way may finish, within `drain` seconds where that is given."""
        if self._executor is not None and (not self._stopped_by or drain is not None):
            self._stopped_by = self._stopped_by or reason
            self._executor.stop(drain)  # again, where somebody has less patience than a limit had

    def _limit_reached(self, reason: str) -> None:
        """Begin no trial that would cost money; where none would, what judges answered before may still decide."""
        if self.agent is None:
            self._stopped_by = self._stopped_by or reason
        else:
            self._stop(reason)

    def _jobs(self, run: RunResult) -> Iterator[Job | None]:
        """The trials to run. None follows when a set turns out to have changed: what is under way is finished."""
        try:
            yield from self._supply.jobs()
        except EvalFileError as error:
            run.failure = Failure(where="file", kind=FailureKind.NOT_LOADED, message=str(error))

    async def _commit(self, job: Job, done: TrialState) -> None:
        """Return when the trial, its scores and, with the last of a case, the verdict are on disk."""
        if self.stored is None or done.was_broken_off:
            return
        if isinstance(done.evidence, Trial):  # it was left behind before its evidence was complete
            done.evidence = keep(self.stored, job, done.evidence)
        if not done.not_asked:
            self._take(job, done)
        await self.stored.commit(job.outcome_records(done))

    def _take(self, job: Job, done: TrialState) -> None:
        """Put a trial into its case, and decide the case when it was the last one."""
        state = job.state
        state.trials[job.number] = done
        state.open -= 1
        if state.open == 0 and self._supply.is_complete(state):
            job.decided = state.decide(
                keep_all=self.stored is not None or self.options.keep_evidence == "all"
            )

    def _trial_done(self, job: Job, done: TrialState) -> None:
        state = job.state
        if job.trial is not None:
            self._spending.add(state.position, job.trial)
        if self._counts_money:
            self._money.trial_done(state.metrics, done.scores)
        if done.not_asked:  # judged when the run is gone on with
            state.result.reason = done.why_not_judged
            return
        if self.stored is None:
            self._take(job, done)
        decided = job.decided
        if decided is not None and len(decided.trials) == 1:
            outcome = decided.trials[0].outcome
        else:
            outcome = trial_outcome(state.metrics, None if done.failure is not None else done.scores)
        self.progress.trial_finished(state.result.eval_set_id, state.case.eval_id, outcome)
        self._watch_spending()
        if decided is not None:
            self._case_done(decided)
        if self._grows:
            self._supply.trial_done()

    def _watch_spending(self) -> None:
        spent, most = self._spending, self.options.max_tokens
        if most is not None and spent.tokens_now >= most:
            self._stop(f"max_tokens: the agent has used {spent.tokens_now:,} of {most:,} tokens")
        elif spent.trials == spent.silent == 1:
            said = [spent.blind_spot() if most is not None else "", self._money.blind_spot()]
            tell = getattr(self.progress, "warned", None) or (lambda _: None)
            for text in filter(None, said):
                tell(text)  # while there is time to stop it by hand

    def _decide_now(self, state: CaseState) -> None:
        """Decide a case outside of the work of a trial: an earlier process left everything but the verdict, or a look did."""
        decided = state.decide(keep_all=self.stored is not None or self.options.keep_evidence == "all")
        if self.stored is not None:
            self.stored.put(state.verdict_record(decided))
        self._case_done(decided)

    def _case_done(self, result: CaseResult) -> None:
        self._counts[result.outcome] += 1
        self.progress.case_finished(result)
        most = 1 if self.options.fail_fast else self.options.max_failures
        self._not_passed += result.outcome not in _FINE
        if most is not None and self._not_passed >= most:
            self._stop("fail_fast" if self.options.fail_fast else f"max_failures: {most} did not pass")

    def _finish(self, run: RunResult) -> None:
        """Put together what came of the run, and write it down."""
        if said := self._spending.warning():
            run.warnings.append(said)
        said = self._spending.blind_spot() if self.options.max_tokens is not None else ""
        if said and said not in run.warnings:
            run.warnings.append(said)
        run.spent = self._money.spent()
        run.judged_by = self._money.judged_by() if self._counts_money else []
        if said := self._money.blind_spot():
            run.warnings.append(said)
        not_run = sum(len(chosen.cases) for chosen in self.plan.sets) - self._counts.total()
        if not_run:
            run.stopped_by = self._stopped_by
        else:  # whoever wanted to stop it came too late
            run.interrupted = False
        run.cases = self._results
        if self.stored is not None:
            self._finish_stored(run, self.stored, not_run)
        self.progress.run_finished(run)

    def _finish_stored(self, run: RunResult, stored: StoredRun, not_run: int) -> None:
        """Write down what came of the run; what could be written before stays readable whatever happens."""
        from proctor.schema.results.manifest import RunSummary  # heavy, and only of use where a run is kept

        if not stored.is_open:
            return
        counts = self._counts + Counter({Outcome.NOT_RUN: not_run}) + Counter(stored.outcomes_of_gone)
        summary = RunSummary(
            outcome=outcome_of_run(
                counts,
                set_missing=any(one.failure is not None for one in run.sets),
                broken_off=run.failure is not None,
            ),
            counts={outcome.value: count for outcome, count in counts.items()},
            duration=run.duration,
            judging_duration=run.judging_duration,
            interrupted=run.interrupted,
            warnings=run.warnings,
            judging_warnings=self.judging_warnings,
            stopped_by=run.stopped_by,
            failure=run.failure,
            models=sorted(self._spending.models),
            tokens=self._spending.tokens,
            spent=run.spent,
            judged_by=run.judged_by,
        )
        try:
            stored.finish(summary, complete=run.failure is None and not self._is_anything_left(not_run))
        except StoreError as error:
            run.failure = run.failure or _broken(error)
        try:
            kept = stored.load()
            run.cases, run.badges = kept.cases, kept.badges
        except StoreError as error:  # by now it cannot even be read
            run.failure = run.failure or _broken(error)

    def _is_anything_left(self, not_run: int) -> bool:
        """Tell whether there is something to go on with; a trial that was never made is nothing to judge again."""
        return bool(not_run and (self._stopped_by or self.agent is not None))


def _broken(error: StoreError) -> Failure:
    return Failure(where="store", message=str(error))
