"""Going on with a run that was not finished: only what has no evidence is run, only what has no score is judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

from proctor.common.secrets import HIDDEN
from proctor.engine.execution.progress import Progress
from proctor.engine.execution.run_recorder import StoredRun
from proctor.engine.execution.stop_request import StopRequest
from proctor.engine.planning.run_options import OPTIONS, Group, Use, options_of
from proctor.errors import SetupError, SetupProblems
from proctor.registry import load_object
from proctor.runs.begin import described
from proctor.runs.evaluate import carry_out
from proctor.runs.failed_attempts import NoAttemptError, find_current_run, recorded_attempt
from proctor.runs.options import AgentLike, EvalSetLike, EvaluateOptions
from proctor.runs.queries import StoreLike, open_runs
from proctor.runs.resume_changes import changes, plain
from proctor.runs.setup.argument_checks import is_open
from proctor.runs.setup.prepare import prepare
from proctor.schema.results.manifest import AGAINST_RUN, USER_CODE, Manifest, RunRecord, RunState
from proctor.schema.results.run_result import Outcome, RunResult
from proctor.stores.baselines import base_name

if TYPE_CHECKING:
    from proctor.agents.base import AgentInfo
    from proctor.stores.adk_history import AdkFiles
    from proctor.stores.base import Committed, RunWriter, Store


class ResumeOptions(TypedDict, total=False):
    """The keyword arguments of `resume`."""

    store: StoreLike
    agent: AgentLike
    eval_sets: EvalSetLike | Sequence[EvalSetLike] | None
    judge: Any
    user: Any
    force: bool
    retry_errors: bool
    allow_unasserted: bool | None
    concurrency: int | None
    isolate: bool | None
    isolate_memory: str | int | None
    max_failures: int | None
    max_tokens: int | None
    max_time: float | None
    max_cost: float | None
    max_judge_calls: int | None
    max_text: int | None
    max_events: int | None
    results: Sequence[str] | None
    stop: StopRequest | None
    progress: Progress | None


async def resume(run: str | None = None, **options: Unpack[ResumeOptions]) -> RunResult:
    """Go on with a run, with the options that it had: trials with evidence are not run again.

    `run` is an id, the beginning of one, `latest` or `latest~1`; without it the newest unfinished run. `store` is where
    it is kept (a URL, a path, an open `Store`; default: the project's). `agent`, `eval_sets`, `judge` and `user` are needed
    where they were Python objects and cannot be found by name; what a judge has answered is not asked again. `force` goes
    on although the set, the config, the agent or a version is another one than at the start; what is there keeps its
    verdict. `retry_errors` runs again what ended in an error (both attempts are kept). `max_failures`, `max_tokens`,
    `max_time`, `max_cost`, `max_judge_calls`, `stop` are limits of this time, not those of the first; `concurrency`,
    `isolate`, `isolate_memory`, `max_text`, `max_events` and `progress` as for `evaluate`. `results` are the places in google-adk's form
    (`adk:DIR`) that the result is written to in the end; without it those that `proctor eval --store adk:DIR` wrote
    to, so that these files are whole. (Reports are written by the command line.)

    A run that is finished is returned as it is.

    Raises:
        SetupProblems: what is missing or differs.
        StoreError: there is no store, another process is at work on the run, or a place for its results cannot be
            written.
    """
    store = options.get("store")
    kept = open_runs(store) if not is_open(store) else store
    with recorded_attempt(kept, f"resume({'…' if run is None else repr(run)})", is_resume=True):
        return await _resume(kept, run_to_resume(kept, run), options)


async def _resume(kept: Store, run_id: str, options: ResumeOptions) -> RunResult:
    manifest = kept.manifest(run_id)
    retry_errors, force = options.get("retry_errors", False), options.get("force", False)
    if nothing_to_do(kept, run_id, retry_errors=retry_errors):
        return kept.load(run_id)
    _check_origin(manifest)
    results = _places(manifest, options.get("results"))
    agent, eval_sets = _agent(manifest, options.get("agent")), _sets(manifest, options.get("eval_sets"))
    prepared = prepare(agent, eval_sets, _options(manifest, {**options, "store": kept}))
    found = changes(kept, manifest, prepared)
    if found.said and not force:
        raise SetupProblems([*map(SetupError, found.said), SetupError(_way_out(manifest))])
    notes = [f"resumed although {said}" for said in found.said]
    prepared.warnings += notes
    prepared.notes += notes

    def begin(info: AgentInfo | None, committed: Committed) -> RunWriter:
        if _waits_for_its_turn(kept, manifest):
            return kept.resume(run_id, committed, added=found.added, agent=described(manifest.agent, info))
        _same_agent(manifest, info, force=force, warnings=prepared.warnings)
        return kept.resume(run_id, committed, added=found.added)

    going_on = StoredRun(
        kept, begin, positions=found.positions, gone=found.gone, resumed=True, retry_errors=retry_errors
    )
    result = await carry_out(prepared, options.get("progress"), going_on)
    for place in results:
        place.write(result)
    return result


def resume_sync(run: str | None = None, **options: Unpack[ResumeOptions]) -> RunResult:
    """Do what `resume` does, from code that is not asynchronous."""
    from proctor.engine.execution.event_loop import run_sync

    return run_sync(lambda: resume(run, **options))


def run_to_resume(store: Store, run: str | None) -> str:
    """Return the id of the run to go on with: the one named, else the newest unfinished one.

    Raises:
        UnknownNameError: there is no run of that name.
        SetupError: none is named, and none is unfinished; or it is named by `latest` and the last attempt to run failed.
    """
    if run is not None:
        return find_current_run(store, run, purpose="resume")
    newest = next(unfinished(store), None)
    if newest is None:
        raise NoAttemptError(
            "nothing to resume: no run is unfinished. `proctor runs` lists them; `proctor resume RUN` names one"
        )
    return newest.run_id


def unfinished(store: Store) -> Iterator[RunRecord]:
    """Return the runs that can be gone on with, newest first: one whose import was broken off cannot."""
    for record in store.runs():
        if record.state is RunState.UNFINISHED and not store.manifest(record.run_id).imported_from:
            yield record


def nothing_to_do(store: Store, run_id: str, *, retry_errors: bool) -> bool:
    """Tell whether a run is finished, and so `resume` would leave it as it is."""
    summary = store.summary(run_id, 1)
    finished = summary.outcome is not None and not summary.counts.get(Outcome.NOT_RUN, 0)
    if not (finished and retry_errors):
        return finished
    from proctor.engine.execution.run_recorder import cases_in_error

    return not cases_in_error(store, run_id, 1)


def _options(manifest: Manifest, now: Mapping[str, Any]) -> EvaluateOptions:
    """Return the options that the run had, but for its limits, and those that are given `now`."""
    kept = {name: value for name, value in manifest.options.items() if name not in _NOT_KEPT}
    for name in ("setup", "teardown"):
        if isinstance(kept.get(name), str):
            kept[name] = _hook(kept[name])
    if manifest.against and "against" in kept:
        kept["against"] = base_name(str(kept["against"]), manifest.against, now["store"])
    options: Any = {
        **kept,
        **{name: now[name] for name in options_of(Use.RESUME) if now.get(name) is not None},
    }
    taken: EvaluateOptions = options
    return taken


_NOT_KEPT = {"eval_sets", "outputs", AGAINST_RUN, USER_CODE} | {
    option.name for option in OPTIONS.values() if option.group is Group.LIMITS
}
"""Options of the first session that do not apply to this one: each session has its own limits."""


class Outputs(NamedTuple):
    """Where the command that began a run wrote its result besides the store."""

    reports: list[str]
    """`NAME=PATH`, each a file."""
    results: list[str]
    """`adk:DIR`."""


def outputs_of(manifest: Manifest) -> Outputs | None:
    """Return where the result of a run was also written to; `None` for one that was begun from Python."""
    outputs = manifest.options.get("outputs")
    if not isinstance(outputs, Mapping):
        return None
    return Outputs(*([str(place) for place in outputs.get(name, ())] for name in Outputs._fields))


def known_places(places: Sequence[str], option: str) -> Sequence[str]:
    """Return `places` of `outputs_of`; `option` names them again.

    Raises:
        SetupError: one has a secret in its name, which was not kept.
    """
    for place in places:
        if HIDDEN in place:
            raise SetupError(
                f"the run's result also went to {place}, and what is hidden there was not kept: name it with {option}"
            )
    return places


def _places(manifest: Manifest, given: Sequence[str] | None) -> list[AdkFiles]:
    """Return the places in google-adk's form that the result goes to."""
    from proctor.stores.adk_history import AdkFiles

    if given is None:
        kept = outputs_of(manifest)
        given = known_places(kept.results, "results=[…]") if kept else ()
    places = [AdkFiles.from_url(url) for url in given]
    for place in places:
        place.check()
    return places


def _hook(path: str) -> Any:
    try:
        return load_object(path)
    except (ImportError, AttributeError) as error:
        raise SetupError(f"the run's hook {path} cannot be loaded any more: {error}") from None


def _check_origin(manifest: Manifest) -> None:
    if file := manifest.imported_from:
        raise SetupError(
            f"run {manifest.run_id} was imported from {file}, and what it was told is not known here: it can be shown and "
            "judged again, and goes on only in the store that it was run in"
        )


def _agent(manifest: Manifest, given: AgentLike) -> AgentLike:
    _check_folder(manifest, needed=given is None)
    if given is not None:
        return given
    if manifest.agent.reference is None:
        raise SetupError(
            f"the agent {manifest.agent.label} of run {manifest.run_id} was an object in Python: "
            "give it again, resume(run, agent=…)"
        )
    if manifest.agent.reference.startswith("cmd:") and HIDDEN in manifest.agent.reference:
        raise SetupError(
            f"the agent of run {manifest.run_id} was {manifest.agent.reference}, and what is hidden there was not kept: "
            "give it again, resume(run, agent=…). Secrets in the environment need not be given again"
        )
    return manifest.agent.reference


def _sets(manifest: Manifest, given: Any) -> Any:
    if given is not None:
        return given
    named = manifest.options.get("eval_sets")
    if not named:
        raise SetupError(
            f"the eval sets of run {manifest.run_id} were objects in Python: give them again, resume(run, eval_sets=…)"
        )
    return named


def _check_folder(manifest: Manifest, *, needed: bool) -> None:
    """Names of agents, sets and configs mean what they meant only in the folder that they were given in."""
    if needed and manifest.folder and manifest.folder != str(Path.cwd()):
        raise SetupError(f"run {manifest.run_id} was begun in {manifest.folder}: resume it there")


def _way_out(manifest: Manifest) -> str:
    return (
        f"run {manifest.run_id} is not resumed: its results would be of two kinds. Undo the change, begin a new run, "
        "or go on all the same with --force (force=True)"
    )


def _waits_for_its_turn(store: Store, manifest: Manifest) -> bool:
    """Tell whether nobody has asked the agent yet: several were to run, and the process died before its turn."""
    asked = manifest.agent.version, manifest.agent.description
    return asked == (None, None) and not any(True for _ in store.attempts(manifest.run_id))


def _same_agent(manifest: Manifest, info: AgentInfo | None, *, force: bool, warnings: list[str]) -> None:
    """Compare what the agent says about itself with what it said when the run began."""
    before = manifest.agent
    version, description = (info.version, info.app_details) if info is not None else (None, None)
    if version == before.version and plain(description) == plain(before.description):
        return
    what = (
        f"the agent's version was {before.version!r} and is {version!r}"
        if version != before.version
        else f"the agent {before.label} describes itself differently (instructions or tools)"
    )
    if not force:
        raise SetupProblems([SetupError(what), SetupError(_way_out(manifest))])
    warnings.append(f"resumed although {what}")
