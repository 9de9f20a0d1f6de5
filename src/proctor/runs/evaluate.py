"""Running agents on eval sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Unpack

from proctor.errors import NothingToRunError, ProctorError, SetupError, SetupProblems
from proctor.runs.failed_attempts import recorded_attempt
from proctor.runs.observers import begun, ended
from proctor.runs.options import AgentLike, EvalSetLike, EvaluateOptions
from proctor.runs.setup.working_folder import user_folder

if TYPE_CHECKING:
    from proctor.engine.execution.progress import Progress
    from proctor.engine.execution.run_recorder import StoredRun
    from proctor.runs.setup.prepare import Prepared
    from proctor.schema.results.run_result import RunResult


async def evaluate(
    agent: AgentLike, eval_sets: EvalSetLike | Sequence[EvalSetLike], **options: Unpack[EvaluateOptions]
) -> RunResult:
    """Run every case of `eval_sets` against `agent` and judge what it did.

    `agent` is an AGENT string or an object: a function, a coroutine function, an object with `answer`, an agent of
    google-adk, openai-agents, pydantic-ai, LangGraph or LangChain. `eval_sets` is one set or several.

    Keyword arguments: `config` (found beside each set when not given), `default_config` (`"adk-rs"`: the criteria of
    adk-rs's `eval` where no config is found, in place of ADK's defaults), `num_runs` (trials per case; what the config
    says, else 1), `min_pass_rate`, `pass_k`, `confidence` (which share of them must pass: over what `trials` of the
    config says), `until_decided` (trials are added until each case is decided, up to `num_runs`; with `against`, the
    name of a run or baseline, until the comparison with that is, `margin` as `compare` takes it), `concurrency` (trials
    at once, 8), `timeout` (seconds per turn, 300; `None`: no limit), `trial_timeout`, `metrics` (only these of the
    config), `no_judge`, `limit` (cases per set), `tags`, `only` (case
    ids by set id; other sets are left out), `shard` (`"2/4"`: the second of four parts), `changed_since` (a commit of
    git: only cases whose content is another one now), `retry_errors` (further attempts after infrastructure errors and
    played users at fault),
    `fail_fast`, `max_failures`, `max_tokens`, `max_time`, `max_cost` (US dollars on models), `max_judge_calls`
    (limits: the run stops in order), `max_text` and `max_events` (what a turn may say: 2**20 characters a text,
    10,000 events), `stop` (a `StopRequest`), `keep_going` (a set that cannot be read is an error of its own, the
    others run), `allow_duplicate_ids`, `allow_unasserted` (a case that asserts nothing runs as *skipped*),
    `allow_unknown_keys` (keys that state an expectation and that nothing
    reads are only warned of), `warnings_as_errors` (any warning about the set-up is a configuration error),
    `compat="adk"`, `agent_name` (a sub-agent), `isolate` (run a Python agent in
    worker processes; `isolate_memory`, such as `"2GB"`, is what each may take), `setup` / `teardown` (around each
    trial), `judge` (whom metrics ask that ask a model: a name for criteria that name none, or for all of them a
    `ChatModel` or a function from messages to text or data), `user` (who plays the users of scenarios in place of the
    models that configs name: a name, a `ChatModel`, or a function from the conversation so far, and the scenario if it
    takes two arguments, to the next message or `None`), `store` (a URL, a path or a `Store`: the run is written there as it happens, and can be resumed;
    without one it is in memory only), `outputs` (where the caller writes the result besides, kept for `resume`:
    `{"reports": ["NAME=PATH"], "results": ["adk:DIR"]}`; nothing is written here), `keep_evidence` (`"failures"`
    keeps memory flat), `explain` (`"all"` gives reasons for passes, too), `progress`.

    Whatever happens inside a case is in the result: check `result.passed`, `result.outcome`, `result.exit_code`.

    Raises:
        SetupProblems: all that is wrong with the set-up, before the first agent call.
        NothingToRunError: nothing is wrong, and `shard` or `changed_since` leave no case.
    """
    from proctor.runs.begin import stored
    from proctor.runs.setup.prepare import prepare

    with recorded_attempt(options.get("store"), "evaluate(…)"):
        prepared = prepare(agent, eval_sets, options)
        if prepared.plan.asks_judges:
            from proctor.runs.estimate import tell_beforehand

            tell_beforehand(prepared, options.get("progress"))
        return ended(await carry_out(prepared, options.get("progress"), stored(prepared)))


def evaluate_sync(
    agent: AgentLike, eval_sets: EvalSetLike | Sequence[EvalSetLike], **options: Unpack[EvaluateOptions]
) -> RunResult:
    """Do what `evaluate` does, from code that is not asynchronous."""
    from proctor.engine.execution.event_loop import run_sync

    return run_sync(lambda: evaluate(agent, eval_sets, **options))


async def evaluate_matrix(
    agents: Sequence[AgentLike],
    eval_sets: EvalSetLike | Sequence[EvalSetLike],
    **options: Unpack[EvaluateOptions],
) -> list[RunResult]:
    """Evaluate several agents on the same sets, one after the other; the results are in the order of `agents`.

    In a store all runs are written down when the first begins: those that are not reached are unfinished runs there.
    An agent after the first that cannot be begun (it cannot be opened, the store is broken by then) has a result with
    a `failure` and no case run; those before it have theirs.

    An agent for which `shard` or `changed_since` leave no case (its folder has other sets) is left out.

    Raises:
        SetupProblems: all that is wrong with any of them, before the first agent call.
        NothingToRunError: nothing is wrong, and no agent has a case to run.
        AgentLoadError, StoreError: the first one could not be begun; nothing was run.
    """
    with recorded_attempt(options.get("store"), "evaluate_matrix(…)"):
        prepared = _prepared(agents, eval_sets, options)
        runs = await _one_after_the_other(prepared, options.get("progress"))
    from proctor.schema.results.run_result import RunResults

    return RunResults(ended(run) for run in runs)


@user_folder()
def _prepared(
    agents: Sequence[AgentLike], eval_sets: EvalSetLike | Sequence[EvalSetLike], options: EvaluateOptions
) -> list[Prepared]:
    """Prepare all agents, so that every problem of all of them is reported at once."""
    from proctor.runs.setup.prepare import prepare

    problems: list[SetupError] = [] if agents else [SetupError("no agent given")]
    prepared: list[Prepared] = []
    idle: list[NothingToRunError] = []
    for agent in agents:
        try:
            prepared.append(prepare(agent, eval_sets, options))
        except SetupProblems as found:
            problems += found.problems
        except NothingToRunError as found:
            idle.append(found)
    if idle and not prepared and not problems:
        raise idle[0]
    if problems:
        raise SetupProblems(list({str(problem): problem for problem in problems}.values()))
    _tell_apart(prepared)
    return prepared


def _tell_apart(prepared: Sequence[Prepared]) -> None:
    """Number agents of one name in what is reported: `bot`, `bot#2`; in a store each is a run with an id."""
    times: Counter[str] = Counter()
    for one in prepared:
        label = one.agent_label
        times[label] += 1
        if times[label] > 1:
            one.agent_label = f"{label}#{times[label]}"


async def _one_after_the_other(prepared: Sequence[Prepared], progress: Progress | None) -> list[RunResult]:
    from proctor.runs.begin import Matrix

    results: list[RunResult] = []
    with Matrix(prepared) as matrix:
        for index, one in enumerate(prepared):
            budget, before = one.options.budget, prepared[index - 1].options.budget
            if index and budget is not None and before is not None:
                budget.go_on_from(before)
            try:
                results.append(await carry_out(one, progress, matrix.stored(index)))
            except ProctorError as error:
                if not results:
                    raise
                results.append(matrix.not_begun(index, error))
    return results


async def carry_out(prepared: Prepared, progress: Progress | None, stored: StoredRun | None) -> RunResult:
    """Run what was prepared, writing it to a store where there is one."""
    from proctor.agents.load import imports_of
    from proctor.engine.execution.progress import Silent
    from proctor.engine.execution.run import Run
    from proctor.runs.setup.strict_warnings import refuse_warnings

    refuse_warnings(prepared)
    begun()
    run = Run(
        plan=prepared.plan,
        agent=prepared.agent,
        agent_label=prepared.agent_label,
        options=prepared.options,
        progress=progress or Silent(),
        warnings=prepared.warnings,
        judging_warnings=prepared.judging_warnings,
        unreadable=prepared.unreadable,
        stored=stored,
    )
    try:
        with nullcontext() if prepared.agent_ref is None else imports_of(prepared.agent_ref):
            return await run()
    finally:
        for asked in (prepared.options.judges, prepared.options.users):
            if asked is not None:
                await asked.close()
