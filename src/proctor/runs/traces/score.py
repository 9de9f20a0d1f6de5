"""Traces as evidence: what an agent did elsewhere is judged here, and nothing is run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event as Signal
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from proctor.common.secrets import redacted
from proctor.engine.execution.progress import Progress
from proctor.engine.execution.run_recorder import StoredRun
from proctor.engine.execution.stop_request import StopRequest
from proctor.engine.planning.assertions import remedies
from proctor.engine.planning.case_problems import in_case
from proctor.engine.planning.judging_manifest import judging_of, planned_cases, set_manifests
from proctor.errors import EvalFileError, SetupError, SetupProblems, StoreError
from proctor.files.traces.conversations import Traced, read_conversations
from proctor.runs.evaluate import carry_out
from proctor.runs.observers import ended
from proctor.runs.options import ConfigLike, EvalSetLike
from proctor.runs.queries import StoreLike, open_store
from proctor.runs.setup.argument_checks import is_open
from proctor.runs.setup.prepare import Prepared, prepare
from proctor.runs.traces.match_cases import Matched, as_given, match, own_cases
from proctor.runs.traces.to_trials import trial_of
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.serialize import kept_json
from proctor.schema.format.content import Content
from proctor.schema.results.manifest import AgentManifest, Manifest
from proctor.schema.results.run_result import RunResult
from proctor.stores.base import TrialRecord

if TYPE_CHECKING:
    from proctor.agents.base import AgentInfo, Session
    from proctor.engine.planning.plan import Plan
    from proctor.stores.base import Committed, RunWriter, Store

TracesLike = str | Path | Sequence[str | Path]
"""Files of traces, or folders of them; one, or several that are one collection."""


class TraceOptions(TypedDict, total=False):
    """The keyword arguments of `score_trace`, beside the traces and the sets."""

    config: ConfigLike
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
    store: StoreLike
    explain: Literal["all", "failures"]
    stop: StopRequest | None
    progress: Progress | None


async def score_trace(
    traces: TracesLike,
    eval_sets: EvalSetLike | Sequence[EvalSetLike] | None = None,
    **options: Unpack[TraceOptions],
) -> RunResult:
    """Judge what OpenTelemetry traces tell of an agent; no agent is called. Returns the run.

    `traces` are files (OTLP's JSON, whole or a request a line; spans as an SDK prints them; google-adk's SQLite file) or
    folders of them. `eval_sets` says what was expected: each conversation is put to the case that its spans name
    (`proctor.eval_id`, `test.case.name`), whose id is its conversation's, or whose user says the same. A case that
    no conversation belongs to is an error; a conversation that belongs to no case is told in `warnings`. Of several
    that belong to one case, each is judged, as `case`, `case#2` … Without sets each conversation is a case of its own,
    and only metrics that compare with nothing can judge it: `config` must name them.

    A conversation of which something is missing (contents that were not captured, a span that never ended) is an error
    that says what. `config`, `metrics`, `no_judge`, `allow_unasserted`, `judge`, `compat`, `allow_unknown_keys`,
    `warnings_as_errors`, `concurrency`, `timeout`, `max_cost`, `max_judge_calls`, `explain`, `stop` and `progress` are as for
    `evaluate`; `store` is where the run is kept
    (default: nowhere).

    Raises:
        EvalFileError: a trace cannot be read, or no agent's span is in any.
        SetupProblems: what is wrong with sets and criteria.
    """
    if unknown := options.keys() - TraceOptions.__annotations__.keys():
        raise SetupProblems([SetupError(f"there is no option {name!r}") for name in sorted(unknown)])
    paths = [traces] if isinstance(traces, str | Path) else list(traces)
    traced = read_traces(paths)
    store = options.get("store")
    kept = open_store(store or "memory:") if not is_open(store) else store
    sets = own_cases(traced.conversations) if eval_sets is None else eval_sets
    planned = {**options, "store": kept}
    if eval_sets is None:  # what is wrong is then the criteria, which `_refuse_comparing` names
        planned["allow_unasserted"] = True
    prepared = _prepared(sets, planned, paths)
    if eval_sets is None:
        _refuse_comparing(prepared)
        _refuse_unasserted(prepared, allowed=bool(options.get("allow_unasserted")))
        matched = as_given(prepared.plan, traced.conversations)
    else:
        matched = match(prepared.plan, traced.conversations)
    prepared.warnings += [*traced.doubts, *matched.warnings]
    result = await carry_out(prepared, options.get("progress"), _stored(kept, prepared, matched, paths))
    if store is None:  # it was kept for as long as it took
        result.cases, result.run_id = list(result.cases), ""
        kept.close()
    return ended(result)


def score_trace_sync(
    traces: TracesLike,
    eval_sets: EvalSetLike | Sequence[EvalSetLike] | None = None,
    **options: Unpack[TraceOptions],
) -> RunResult:
    """Do what `score_trace` does, from code that is not asynchronous."""
    from proctor.engine.execution.event_loop import run_sync

    return run_sync(lambda: score_trace(traces, eval_sets, **options))


def read_traces(paths: Sequence[str | Path]) -> Traced:
    """Read the traces.

    Raises:
        EvalFileError: one cannot be read, or no agent is in any of them.
    """
    traced = read_conversations(paths)
    if not traced.conversations:
        where = ", ".join(map(str, paths)) or "no trace given"
        raise EvalFileError(
            f"{where}: there is no span of an agent, a model or a tool in it. Expected spans with "
            "`gen_ai.operation.name` (invoke_agent, chat, execute_tool …), as OpenTelemetry's GenAI conventions have them"
        )
    return traced


class _Traced:
    """Stands where a run has its agent; it is never asked."""

    def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Refuse to answer."""
        raise RuntimeError("what was traced is judged, and nobody is asked")


def _prepared(
    sets: EvalSetLike | Sequence[EvalSetLike], options: Mapping[str, Any], paths: Sequence[str | Path]
) -> Prepared:
    """Plan the judging, as of a run whose agent has already answered."""
    given = {name: value for name, value in options.items() if value is not None}
    prepared = prepare(_Traced(), sets, given, plays=False)  # type: ignore[arg-type]  # names are checked above
    prepared.agent, prepared.agent_label = None, _label(paths)
    return prepared


def _manifest(prepared: Prepared, paths: Sequence[str | Path]) -> Manifest:
    """Return what the run is, with the traces in place of an agent."""
    if prepared.manifest is None:
        raise RuntimeError("it was prepared without a store")
    manifest = prepared.manifest
    manifest.agent = AgentManifest(label=prepared.agent_label)
    manifest.sets = set_manifests(
        prepared.plan, prepared.unreadable
    )  # with the cases that came more than once
    names = ", ".join(redacted([str(path) for path in paths]))
    manifest.options = {**manifest.options, "imported": {"file": names, "form": "trace"}}
    return manifest


def _label(paths: Sequence[str | Path]) -> str:
    first = Path(paths[0]).name
    return f"trace:{first}" if len(paths) == 1 else f"trace:{first} and {len(paths) - 1} more"


def _refuse_comparing(prepared: Prepared) -> None:
    """Refuse metrics that compare with what a set expects, where there is none.

    Raises:
        SetupProblems: there is such a metric.
    """
    named = {
        one.name: one
        for chosen in prepared.plan.sets
        for one in chosen.metrics
        if one.name in chosen.config.criteria
    }
    comparing = [name for name, one in named.items() if one.facts.needs & {"expected", "expected_state"}]
    if comparing:
        raise SetupProblems(
            [
                SetupError(
                    f"{name} compares with what an eval set expects, and none is given: give --set (`eval_sets`), or "
                    "--config with metrics that compare with nothing (rubrics, safety, trajectory rules …)"
                )
                for name in comparing
            ]
        )


def _refuse_unasserted(prepared: Prepared, *, allowed: bool) -> None:
    """Refuse criteria that find nothing to check in the conversations of the traces.

    Raises:
        SetupProblems: there are conversations for which no gating metric asserts anything.
    """
    refused = [
        in_case(reason, chosen.source, index)
        for chosen in prepared.plan.sets
        if chosen.assertions is not None
        for index, reason in chosen.assertions.unasserted.items()
    ]
    if refused and not allowed:
        raise SetupProblems([*refused, *remedies()])


# --- into the store ---------------------------------------------------------------------------------------------------


def _stored(store: Store, prepared: Prepared, matched: Matched, paths: Sequence[str | Path]) -> StoredRun:
    """Say how the run is begun: its evidence is written down first, and judged from there, as that of any run."""

    def begin(_: AgentInfo | None, committed: Committed) -> RunWriter:
        written, manifest = _Written(committed), _manifest(prepared, paths)
        judging = judging_of(prepared.plan, prepared.unreadable, created_at=manifest.created_at)
        writer = store.begin(manifest, planned_cases(prepared.plan), judging, written)
        for record in _records(prepared.plan, matched):
            writer.put([record], written.token if record.position % _AT_ONCE == 0 else None)
            if record.position % _AT_ONCE == 0:
                written.wait()
        writer.put([], written.token)
        written.wait()
        return writer

    return StoredRun(store, begin, resumed=True)


_AT_ONCE = 100
"""Conversations on their way to the disk at a time."""


def _records(plan: Plan, matched: Matched) -> Iterator[TrialRecord]:
    position = -1
    for number, chosen in enumerate(plan.sets):
        for index in chosen.cases:
            position += 1
            case = chosen.source.case(index)
            where, set_id = (number, index), chosen.summary.eval_set_id
            trial = trial_of(matched.told.get(where), case, set_id, claimed=matched.claimed.get(where, 0))
            yield TrialRecord(position, 0, 0, kept_json(trial), trial.failure is not None, kept_json(case))


class _Written:
    """Waits until what was put is on disk; who else waits for it hears of it, too."""

    def __init__(self, committed: Committed) -> None:
        self._committed = committed
        self._signal = Signal()
        self._error: Exception | None = None
        self.token = object()

    def __call__(self, tokens: Sequence[object], error: Exception | None) -> None:
        if error is not None or self.token in tokens:
            self._error = self._error or error
            self._signal.set()
        self._committed(tokens, error)

    def wait(self) -> None:
        """Return when it is there.

        Raises:
            StoreError: it could not be written.
        """
        self._signal.wait()
        self._signal.clear()
        if self._error is not None:
            raise self._error if isinstance(self._error, StoreError) else StoreError(str(self._error))
