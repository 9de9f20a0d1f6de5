"""How the runs of one agent, or of several side by side, are begun in their store."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from proctor.engine.execution.run_recorder import StoredRun
from proctor.errors import ProctorError, StoreError
from proctor.schema.evidence.trial import Failure, FailureKind
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult

if TYPE_CHECKING:
    from types import TracebackType

    from proctor.agents.base import AgentInfo
    from proctor.engine.planning.plan import SetPlan
    from proctor.runs.setup.prepare import Prepared
    from proctor.schema.results.manifest import AgentManifest, Manifest
    from proctor.stores.base import Committed, RunWriter, Store


def stored(prepared: Prepared) -> StoredRun | None:
    """Say how a run is begun in its store, once the agent has said what it is; `None` where it is kept nowhere."""
    if prepared.store is None:
        return None
    return StoredRun(prepared.store, lambda info, committed: _begun(prepared, info, committed))


def described(agent: AgentManifest, info: AgentInfo | None) -> AgentManifest:
    """Return what is known of an agent, with what it says about itself."""
    if info is None:
        return agent
    return agent.model_copy(update={"version": info.version, "description": info.app_details})


class Matrix:
    """The runs of several agents in their store, one after the other. Use as a context manager.

    All are written down when the first one begins. Those whose turn has not come are held, so that nobody else goes
    on with them; when the process dies they are unfinished runs like the one that was under way.
    """

    def __init__(self, prepared: Sequence[Prepared]) -> None:
        """Take what was prepared, in order."""
        self._prepared = prepared
        self._waiting: dict[str, tuple[Store, RunWriter]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        """Let go of the runs whose turn has not come; forget them, where an error says that it will not."""
        while self._waiting:
            run_id, (store, writer) = self._waiting.popitem()
            writer.close()
            if isinstance(error, ProctorError):
                with suppress(StoreError):
                    store.delete([run_id])

    def stored(self, index: int) -> StoredRun | None:
        """Say how the run of agent number `index` is begun; `None` where it is kept nowhere."""
        prepared = self._prepared[index]
        if prepared.store is None:
            return None

        def begin(info: AgentInfo | None, committed: Committed) -> RunWriter:
            return self._take_turn(prepared, info, committed) if index else self._begin_all(info, committed)

        return StoredRun(prepared.store, begin)

    def not_begun(self, index: int, error: ProctorError) -> RunResult:
        """Return the result of an agent that could not be begun when its turn came: others have run before it.

        A run of it that stands in the store is an unfinished one, which can be gone on with.
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
            run_id="" if prepared.store is None else _where(prepared)[1].run_id,
            failure=Failure(where=where, kind=kind, message=str(error)),
        )

    def _begin_all(self, info: AgentInfo | None, committed: Committed) -> RunWriter:
        first, *others = self._prepared
        writer = _begun(first, info, committed)
        try:
            for one in others:
                store, manifest = _where(one)
                self._waiting[manifest.run_id] = store, _begun(one, None, _nobody_waits)
        except BaseException:
            writer.close()
            raise
        return writer

    def _take_turn(self, prepared: Prepared, info: AgentInfo | None, committed: Committed) -> RunWriter:
        store, manifest = _where(prepared)
        self._waiting.pop(manifest.run_id)[1].close()
        return store.resume(manifest.run_id, committed, agent=described(manifest.agent, info))


def _not_run(chosen: SetPlan) -> Iterator[CaseResult]:
    ids = chosen.source.ids()
    for index in chosen.cases:
        yield CaseResult(
            chosen.summary.eval_set_id, ids[index], Outcome.NOT_RUN, place=chosen.source.where(index)
        )


def _begun(prepared: Prepared, info: AgentInfo | None, committed: Committed) -> RunWriter:
    from proctor.engine.planning.judging_manifest import judging_of, planned_cases

    store, manifest = _where(prepared)
    manifest.agent = described(manifest.agent, info)
    judging = judging_of(prepared.plan, prepared.unreadable, created_at=manifest.created_at)
    return store.begin(manifest, planned_cases(prepared.plan), judging, committed)


def _where(prepared: Prepared) -> tuple[Store, Manifest]:
    if prepared.store is None or prepared.manifest is None:
        raise RuntimeError("it was prepared without a store")
    return prepared.store, prepared.manifest


def _nobody_waits(_tokens: Sequence[object], _error: Exception | None) -> None:
    """What is written down before its turn has no trials that wait to be on disk."""
