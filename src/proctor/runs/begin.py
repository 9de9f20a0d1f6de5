"""Begin a run in its store; for several agents, in the order of their runs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from proctor.engine.execution.run_recorder import StoredRun
from proctor.errors import ProctorError, StoreError
from proctor.schema.evidence.trial import Failure, FailureKind
from proctor.schema.results.manifest import AgentManifest, Manifest
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult

if TYPE_CHECKING:
    from types import TracebackType

    from proctor.agents.base import AgentInfo
    from proctor.engine.planning.set_plan import SetPlan
    from proctor.runs.setup.prepare import Prepared
    from proctor.stores.base import Committed, RunWriter, Store


def stored_run(prepared: Prepared) -> StoredRun | None:
    """Return how to begin a run in its store once the agent has described itself; `None` if no store is used."""
    if prepared.store is None:
        return None
    return StoredRun(prepared.store, lambda info, committed: _begin(prepared, info, committed))


def add_description(agent: AgentManifest, info: AgentInfo | None) -> AgentManifest:
    """Return the manifest of an agent, completed with the agent's description of itself."""
    if info is None:
        return agent
    return agent.model_copy(update={"version": info.version, "description": info.app_details})


class Matrix:
    """The runs of several agents, executed one after the other in their store. Use as a context manager.

    The first run to begin writes all runs to the store. Later runs stay locked until their turn, so that no other process
    resumes them. If the process dies, they are unfinished runs, like the one that was in progress.
    """

    def __init__(self, prepared: Sequence[Prepared]) -> None:
        """Take the prepared runs, in order."""
        self._prepared = prepared
        self._waiting: dict[str, tuple[Store, RunWriter]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        """Release the runs that have not started. Delete them if an error prevents them from starting."""
        while self._waiting:
            run_id, (store, writer) = self._waiting.popitem()
            writer.close()
            if isinstance(error, ProctorError):
                with suppress(StoreError):
                    store.delete([run_id])

    def stored_run(self, index: int) -> StoredRun | None:
        """Return how to begin the run of agent number `index`; `None` if no store is used."""
        prepared = self._prepared[index]
        if prepared.store is None:
            return None

        def begin(info: AgentInfo | None, committed: Committed) -> RunWriter:
            return self._take_turn(prepared, info, committed) if index else self._begin_all(info, committed)

        return StoredRun(prepared.store, begin)

    def not_begun(self, index: int, error: ProctorError) -> RunResult:
        """Return the result of an agent that could not start after other agents have run.

        If the store has a run for the agent, that run is unfinished and can be resumed.
        """
        prepared = self._prepared[index]
        kind, where = FailureKind.NOT_LOADED, "agent"
        if isinstance(error, StoreError):
            kind, where = FailureKind.RAISED, "store"
        sets = prepared.plan.sets
        return RunResult(
            agent=prepared.agent_label,
            cases=[case for chosen in sets for case in _not_run(chosen)],
            sets=[*(chosen.summary for chosen in sets), *prepared.unreadable],
            num_runs=prepared.plan.num_runs,
            warnings=prepared.warnings,
            started_at=time.time(),
            run_id="" if prepared.store is None else _store_and_manifest(prepared)[1].run_id,
            failure=Failure(where=where, kind=kind, message=str(error)),
        )

    def _begin_all(self, info: AgentInfo | None, committed: Committed) -> RunWriter:
        first, *others = self._prepared
        writer = _begin(first, info, committed)
        try:
            for one in others:
                store, manifest = _store_and_manifest(one)
                self._waiting[manifest.run_id] = store, _begin(one, None, _ignore_commit)
        except BaseException:
            writer.close()
            raise
        return writer

    def _take_turn(self, prepared: Prepared, info: AgentInfo | None, committed: Committed) -> RunWriter:
        store, manifest = _store_and_manifest(prepared)
        self._waiting.pop(manifest.run_id)[1].close()
        return store.resume(manifest.run_id, committed, agent=add_description(manifest.agent, info))


def _not_run(chosen: SetPlan) -> Iterator[CaseResult]:
    ids = chosen.source.ids()
    for index in chosen.cases:
        yield CaseResult(
            chosen.summary.eval_set_id, ids[index], Outcome.NOT_RUN, place=chosen.source.where(index)
        )


def _begin(prepared: Prepared, info: AgentInfo | None, committed: Committed) -> RunWriter:
    from proctor.runs.setup.manifest import judging_of, planned_cases

    store, manifest = _store_and_manifest(prepared)
    manifest.agent = add_description(manifest.agent, info)
    judging = judging_of(prepared.plan, prepared.unreadable, created_at=manifest.created_at)
    return store.begin(manifest, planned_cases(prepared.plan), judging, committed)


def _store_and_manifest(prepared: Prepared) -> tuple[Store, Manifest]:
    if prepared.store is None or prepared.manifest is None:
        raise RuntimeError("it was prepared without a store")
    return prepared.store, prepared.manifest


def _ignore_commit(_tokens: Sequence[object], _error: Exception | None) -> None:
    """Ignore commits: a run that has not started has no trials to wait for."""
