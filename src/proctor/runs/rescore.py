"""New verdicts over recorded evidence: another config, another metric, another threshold; no agent is asked."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, Unpack

from proctor.engine.execution.progress import Progress
from proctor.engine.execution.run_recorder import StoredRun
from proctor.engine.execution.stop_request import StopRequest
from proctor.engine.planning.judging_manifest import judged_set
from proctor.engine.planning.plan import Plan, PlannedSet, SetPlan, make_plan
from proctor.engine.planning.run_options import RunOptions, Use, options_of
from proctor.errors import SetupError, SetupProblems
from proctor.runs.evaluate import carry_out
from proctor.runs.failed_attempts import find_current_run
from proctor.runs.options import ConfigLike
from proctor.runs.queries import StoreLike, open_runs
from proctor.runs.setup.argument_checks import is_open, name_of_run
from proctor.runs.setup.find_config import read_config
from proctor.runs.setup.judge_provider import JudgesOnDemand, budget_of, judge_again
from proctor.runs.setup.prepare import Prepared
from proctor.schema.format.case import EvalCase
from proctor.schema.format.config import EvalConfig
from proctor.schema.results.manifest import (
    JudgedSet,
    Judging,
    Manifest,
    PlannedCase,
    SetManifest,
    counting,
    was_added,
)
from proctor.schema.results.run_result import RunResult
from proctor.schema.results.set_summary import NOT_JUDGED, SetSummary

if TYPE_CHECKING:
    from proctor.agents.base import AgentInfo
    from proctor.stores.base import Committed, RunWriter, Store


class RescoreOptions(TypedDict, total=False):
    """The keyword arguments of `rescore`."""

    config: ConfigLike
    store: StoreLike
    metrics: Collection[str] | None
    no_judge: bool
    allow_unasserted: bool
    judge: Any
    compat: str | None
    allow_unknown_keys: bool
    warnings_as_errors: bool
    concurrency: int
    timeout: float | None
    max_cost: float | None
    max_judge_calls: int | None
    explain: Literal["all", "failures"]
    stop: StopRequest | None
    progress: Progress | None


async def rescore(run: str | RunResult = "latest", **options: Unpack[RescoreOptions]) -> RunResult:
    """Judge a run's recorded evidence again and return the new verdicts; the earlier ones stay in its history.

    `run` is an id, the beginning of one, `latest`, `latest~1`, or a result that has a `run_id`. `config` (a path, an
    `EvalConfig`, a dict) judges every set of the run; without it each set is judged with the config that it was
    judged with last. `store` is where the run is kept (default: the project's). `metrics`, `no_judge`,
    `allow_unasserted`, `judge` (default: the run's), `compat`, `allow_unknown_keys`, `warnings_as_errors`, `concurrency`,
    `timeout`, `max_cost`, `max_judge_calls`, `explain`, `stop`,
    `progress` as for `evaluate`. The cases are those that were run, whatever became of their files; a case with a
    trial missing stays *not run*.

    Raises:
        SetupProblems: what is wrong with the config.
        SetupError: the last attempt to run failed, and the run is named by `latest`.
        StoreError: there is no store, or it cannot be written.
    """
    store = options.get("store")
    kept = open_runs(store) if not is_open(store) else store
    run_id = _id_of(kept, run)
    manifest = kept.manifest(run_id)
    recorded = list(_recorded_sets(kept, manifest))
    prepared = _prepared(recorded, _configs(kept, manifest, options.get("config")), options, manifest)
    prepared.agent_label = manifest.agent.label
    prepared.unreadable = [
        SetSummary(one.eval_set_id, one.path, NOT_JUDGED, 0, failure=one.failure)
        for one in manifest.sets
        if one.failure is not None
    ]

    def begin(_: AgentInfo | None, committed: Committed) -> RunWriter:
        judging = _judging(counting(kept.judgings(run_id)), recorded, prepared.plan)
        return kept.judge_again(run_id, judging, committed)

    positions = [position for chosen in prepared.plan.sets for position in _positions(chosen)]
    gone = sorted({case.position for case in kept.planned(run_id)}.difference(positions))
    judged = StoredRun(kept, begin, positions=positions, gone=gone, resumed=True)
    return await carry_out(prepared, options.get("progress"), judged)


def rescore_sync(run: str | RunResult = "latest", **options: Unpack[RescoreOptions]) -> RunResult:
    """Do what `rescore` does, from code that is not asynchronous."""
    from proctor.engine.execution.event_loop import run_sync

    return run_sync(lambda: rescore(run, **options))


def _id_of(store: Store, run: str | RunResult) -> str:
    name = name_of_run(run)
    return find_current_run(store, name, purpose="score") if isinstance(run, str) else store.find(name)


class RecordedSet:
    """The cases of one set of a run, as they were run; those of which nothing was recorded are left out."""

    def __init__(self, store: Store, run_id: str, summary: SetManifest, cases: Sequence[PlannedCase]) -> None:
        self._store, self._run_id, self._summary = store, run_id, summary
        self._cases = [case for case in cases if store.case(run_id, case.position) is not None]
        self.positions = [case.position for case in self._cases]

    @property
    def eval_set_id(self) -> str:
        """The id of the set."""
        return self._summary.eval_set_id

    @property
    def label(self) -> str | None:
        """Where the set came from."""
        return self._summary.path

    @property
    def num_runs(self) -> int:
        """Trials of each case."""
        return self._summary.num_runs

    def ids(self) -> Sequence[str]:
        """The ids of the cases, in order."""
        return [case.eval_id for case in self._cases]

    def case(self, index: int) -> EvalCase:
        """Read one case as it was run."""
        content = self._store.case(self._run_id, self.positions[index])
        return EvalCase.model_validate_json(content or b"{}")

    def where(self, index: int) -> str:
        """`file:line` of a case, at the time."""
        return self._cases[index].place

    def __iter__(self) -> Iterator[EvalCase]:
        """Read every case, in order."""
        return map(self.case, range(len(self._cases)))


def _recorded_sets(store: Store, manifest: Manifest) -> Iterator[RecordedSet]:
    planned = list(store.planned(manifest.run_id))
    begun = sum(summary.cases for summary in manifest.sets)
    added = planned[begun:]  # by `resume --force`, when a set had grown: they stand behind all others
    begun = 0
    for summary in manifest.sets:
        own = [case for case in added if case.eval_set_id == summary.eval_set_id]
        added = [case for case in added if case.eval_set_id != summary.eval_set_id]
        yield RecordedSet(store, manifest.run_id, summary, [*planned[begun : begun + summary.cases], *own])
        begun += summary.cases


def _configs(store: Store, manifest: Manifest, given: ConfigLike) -> _Given:
    """Return the config of each set with where it came from, and what is doubtful."""
    if given is not None:
        config, source, warnings = read_config(given)
        first = store.judgings(manifest.run_id)[0]
        as_added = [(_as_added(config, one), source) for one in first.sets]
        return _Given(as_added, warnings, first)
    last = counting(store.judgings(manifest.run_id))
    configs = [(EvalConfig.model_validate(one.config), one.config_source) for one in last.sets]
    warned = store.summary(manifest.run_id, last.number).judging_warnings
    return _Given(configs, warned, store.judgings(manifest.run_id)[0])


def _as_added(config: EvalConfig, first: JudgedSet) -> EvalConfig:
    """Return the config as it has to judge trials that were added until each case was decided, where these were."""
    was_added = (first.config.get("trials") or {}).get("until_decided")
    if not was_added or config.trials is None or config.trials.confidence is None:
        return config
    return config.model_copy(update={"trials": config.trials.model_copy(update={"until_decided": True})})


class _Given(NamedTuple):
    configs: list[tuple[EvalConfig, str]]
    warnings: list[str]
    first: Judging
    """The run's own judging."""


def _prepared(
    recorded: Sequence[RecordedSet], given: _Given, options: Mapping[str, Any], manifest: Manifest
) -> Prepared:
    wanted = [
        PlannedSet(source, config, origin, num_runs=source.num_runs)
        for source, (config, origin) in zip(recorded, given.configs, strict=True)
        if source.positions
    ]
    if not wanted:
        raise SetupError("nothing was recorded in this run: `proctor resume` goes on with it")
    taken = {name: options[name] for name in options_of(Use.SCORE) if options.get(name) is not None}
    taken.setdefault("allow_unasserted", bool(manifest.options.get("allow_unasserted")))
    budget = budget_of(options)
    judges = JudgesOnDemand(judge_again(options.get("judge"), manifest), budget=budget)
    if wrong := judges.problems():
        raise SetupProblems(wrong)
    added = was_added(manifest, given.first)
    run_options = RunOptions(**taken, judges=judges, budget=budget, until_decided=added)
    try:
        plan = make_plan(wanted, run_options)
    except SetupProblems as found:
        from proctor.runs.setup.problem_locations import placed

        raise placed(found) from None
    warnings = list(dict.fromkeys([*given.warnings, *plan.warnings, *plan.skips]))
    if not (options.get("allow_unknown_keys") or manifest.options.get("allow_unknown_keys")):
        _refuse_keys(recorded)
    is_strict = bool(options.get("warnings_as_errors"))
    return Prepared(
        None, "", plan, run_options, list(warnings), warnings, plan.skips, warnings_as_errors=is_strict
    )


def _refuse_keys(recorded: Sequence[RecordedSet]) -> None:
    """Refuse recorded cases in which a key states an expectation that nothing reads.

    Raises:
        SetupProblems: one error per key.
    """
    from proctor.files.eval_sets.strictness import keys_of_models, refuse_keys

    refuse_keys(
        [
            f"{source.where(index)}: case {case.eval_id!r}: {message.partition('.')[2]}"
            for source in recorded
            for index, case in enumerate(source)
            for message in keys_of_models([case])[0]
        ]
    )


def _positions(chosen: SetPlan) -> list[int]:
    source = chosen.source
    return [source.positions[index] for index in chosen.cases] if isinstance(source, RecordedSet) else []


def _judging(last: Judging, recorded: Sequence[RecordedSet], plan: Plan) -> Judging:
    """Say how each set of the run is judged; one of which nothing was recorded stays as it was."""
    planned = {id(chosen.source): chosen for chosen in plan.sets}
    sets = [
        judged_set(planned[id(source)]) if id(source) in planned else before
        for source, before in zip(recorded, last.sets, strict=True)
    ]
    return Judging(created_at=time.time(), sets=sets)
