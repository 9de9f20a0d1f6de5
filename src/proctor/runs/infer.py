"""Run an agent without scoring it, and score recorded evidence: the two halves of a run, separately."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.agents.base import Agent
from proctor.engine.execution.run_control import NoProgress
from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.planning.case_checks import cannot_run
from proctor.engine.planning.criteria import bind
from proctor.engine.planning.set_plan import EvalSetSource
from proctor.engine.run_options import RunOptions
from proctor.errors import SetupError, SetupProblems
from proctor.runs.attempts import begun
from proctor.runs.setup.judge_and_user import JudgesOnDemand, UsersOnDemand
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.config import EvalConfig, UserSimulatorConfig
from proctor.schema.results.run_result import CaseResult, Outcome, SetSummary
from proctor.schema.serialize import kept_json
from proctor.simulation.base import Users


async def infer(
    agent: Agent,
    label: str,
    eval_set: EvalSet,
    *,
    only: Sequence[str] = (),
    concurrency: int = 8,
    simulator: UserSimulatorConfig | None = None,
    users: Users | None = None,
) -> AsyncIterator[Trial]:
    """Run the cases of `eval_set` (only those in `only`, if given) once each; yield the evidence of each trial when it ends.

    Nothing is scored and no verdict is decided. `simulator` configures the simulated users of scenarios, or `users` provides
    them. An exception of the agent becomes the trial's `failure`.

    Raises:
        SetupProblems: some cases cannot be run; the agent was not called.
        AgentLoadError: the agent could not be opened.
    """
    from proctor.engine.planning.plan import Plan
    from proctor.engine.planning.set_plan import SetPlan
    from proctor.runs.evaluate import carry_out
    from proctor.runs.setup.prepare import Prepared

    source = EvalSetSource(eval_set)
    chosen = [index for index, eval_id in enumerate(source.ids()) if not only or eval_id in only]
    config, users = EvalConfig(user_simulator_config=simulator), users or UsersOnDemand()
    if problems := [
        problem for index in chosen for problem in _user_problems(source.case(index), users, config)
    ]:
        raise SetupProblems(problems)
    summary = SetSummary(source.eval_set_id, None, "", len(chosen))
    plan = Plan([SetPlan(source, summary, [], config, cases=chosen)], 1)
    watch = _FinishedCases()
    prepared = Prepared(agent, label, plan, RunOptions(num_runs=1, concurrency=concurrency, users=users))
    run = asyncio.create_task(carry_out(prepared, watch, None))
    run.add_done_callback(lambda _: watch.ended.put_nowait(None))
    try:
        while (result := await watch.ended.get()) is not None:
            if (trial := result.trials[0].trial) is not None:
                yield trial
        await run
    finally:
        run.cancel()  # has no effect once the task is done


def _user_problems(case: EvalCase, users: Users, config: EvalConfig) -> Iterator[SetupError]:
    problem = cannot_run(case)
    user_problems = users.problems(case, config) if case.conversation_scenario is not None else ()
    for reason in (*([problem] if problem else ()), *user_problems):
        yield SetupError(f"case {case.eval_id!r}: {reason}")


class _FinishedCases(NoProgress):
    """Put each finished case into a queue."""

    def __init__(self) -> None:
        self.ended: asyncio.Queue[CaseResult | None] = asyncio.Queue()

    def case_finished(self, result: CaseResult) -> None:
        self.ended.put_nowait(result)


@dataclass(frozen=True, slots=True)
class Metrics:
    """The metrics of a config, bound and validated."""

    config: EvalConfig
    bound: list[BoundMetric]
    judges: JudgesOnDemand
    """The judges of the metrics that need one."""

    @classmethod
    def of(cls, config: EvalConfig, own: Mapping[str, Any] | None = None) -> Metrics:
        """Bind the metrics of `config`. `own` maps the names of metrics that only this caller knows to their factories.

        Raises:
            SetupProblems: the errors in the criteria.
        """
        own = own or {}
        others = {name: value for name, value in config.criteria.items() if name not in own}
        judges = JudgesOnDemand()
        bound = bind(config.model_copy(update={"criteria": others}), RunOptions(judges=judges))
        metrics = {metric.name: metric for metric in bound.metrics}
        problems = list(bound.problems)
        for name, factory in own.items():
            if (criterion := config.criterion_for(name)) is not None:
                try:
                    metrics[name] = BoundMetric(
                        factory(criterion), criterion.threshold, gate=factory.facts.gates
                    )
                except SetupError as problem:
                    problems.append(problem)
        if problems:
            raise SetupProblems(problems)
        order = dict.fromkeys([*config.criteria, *metrics])
        return cls(config, [metrics[name] for name in order if name in metrics], judges)


async def judge(
    recorded: Sequence[tuple[EvalCase, Trial]], metrics: Metrics, *, concurrency: int = 8
) -> AsyncIterator[tuple[int, CaseResult]]:
    """Score recorded trials without an agent; yield the position and the result of each case when it is done."""
    from proctor.engine.execution.executor import LocalExecutor
    from proctor.engine.execution.trial_queue import CaseState, TrialState
    from proctor.engine.planning.case_checks import skip_reason
    from proctor.engine.planning.set_plan import SetPlan
    from proctor.engine.trial.trial_runner import TrialRunner

    begun()
    options = RunOptions(concurrency=concurrency, explain="all", judges=metrics.judges)
    runner = TrialRunner(None, options, None, stored=None)
    done: asyncio.Queue[tuple[int, CaseResult] | None] = asyncio.Queue()

    def state_of(position: int, case: EvalCase, trial: Trial) -> TrialState:
        chosen = SetPlan(
            _NO_SOURCE, SetSummary(trial.eval_set_id, None, "", 1), metrics.bound, metrics.config
        )
        result = CaseResult(trial.eval_set_id, case.eval_id, Outcome.NOT_RUN)
        state = CaseState(chosen, case, position, chosen.metrics_for(case), [None], 1, result)
        state.skip = skip_reason(case, metrics.bound)
        return TrialState(state, 0, evidence=kept_json(trial))

    def decide(trial: TrialState) -> None:
        state = trial.case_state
        state.trials[0] = trial
        done.put_nowait((state.position, state.decide(keep_all=True)))

    executor = LocalExecutor(
        runner,
        abandoned=runner.abandoned,
        on_done=decide,
        concurrency=concurrency,
        shortest_timeout=options.timeout,
    )
    trials = (state_of(position, *pair) for position, pair in enumerate(recorded))
    run = asyncio.create_task(executor.run(trials))
    run.add_done_callback(lambda _: done.put_nowait(None))
    try:
        while (one := await done.get()) is not None:
            yield one
        await run
    finally:
        run.cancel()  # has no effect once the task is done
        await metrics.judges.close()


_NO_SOURCE: Any = None
"""Placeholder for the source of a set: the cases are given directly."""
