"""The request of a new run like a stored one: the agent, the cases and the options of its manifest.

It only fills in the form. The options that the form has no field for do not pass through the client: the request names the run
(`options_of`), and `command_of` reads them from its manifest. An imported run is not named.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from proctor.authoring.eval_set_files import ListedFile
from proctor.common.secrets import hide_secrets
from proctor.engine.run_options import OPTIONS
from proctor.errors import EvalFileError, SetupError, UnknownNameError
from proctor.files.eval_sets.selectors import SET_SUFFIXES
from proctor.runs.load import CONFIG_OBJECT, is_config_object
from proctor.runs.setup.settings import load_settings, resolve_reference
from proctor.runs.storage.open import NoRunsError
from proctor.schema.results.manifest import Manifest, PlannedCase
from proctor.schema.results.run_result import Outcome
from proctor.stores.base import Store
from proctor.web.pages.start import RunRequest, StartRun
from proctor.web.server.context import ServerContext
from proctor.web.server.eval_set_edits import edit_session
from proctor.web.server.runs.run_command import file_below, option_words, startable
from proctor.web.server.runs.startable_sets import set_page
from proctor.web.server.runs.stored_options import folders_of, left_out_options, located

_MOST_RUNS = 20
"""Runs whose manifests are read to find the newest one of an eval set."""
_PASSED = (Outcome.PASSED, Outcome.SKIPPED)
_SEPARATE = {"agent", "eval_sets", "tags", "limit", "config", "criteria", "failed_of", "options_of"}
"""Fields of the request that are not copied from the options of the run."""


def repeat_run(
    store: Store, context: ServerContext, run: str, *, failures: bool = False, position: int | None = None
) -> RunRequest:
    """Return the request for all cases of a run, for those that did not pass, or for the one at `position`.

    Raises:
        UnknownNameError: there is no such run, or no case at `position`.
        SetupError: every case passed.
    """
    run_id = store.find(run)
    manifest = store.manifest(run_id)
    planned = list(_planned(store, run_id, position))
    request, notes = _agent_and_options(store, manifest, context)
    if failures:
        _check_failures(store, run_id)
        request |= {"failed_of": run_id, "eval_sets": []}
        request.pop("config", None)  # `--failed` takes that of the run
    else:
        request["eval_sets"] = [*_sets(manifest, planned, context.root, notes)]
    file = _file_of_case(manifest, planned, context) if position is not None else None
    return RunRequest(request=request, notes=notes, run_id=run_id, eval_set=file and file.id)


def run_of_set(context: ServerContext, eval_set: str, case: str | None, run: str | None = None) -> RunRequest:
    """Return the request for an eval set, or one of its cases, with the agent and the options of `run`, else of its newest run.

    If the store has no such run any more, a note says so.

    Raises:
        UnknownNameError: the project has no such set.
    """
    file = edit_session(context).sets.find(eval_set)
    chosen = [{"path": file.label, "cases": None if case is None else [case]}]
    run_id, notes = None, list[str]()
    request: dict[str, Any] = {"agent": _agent_of_folder(file.label, startable(context))}
    with suppress(NoRunsError), context.runs() as store:
        manifest, notes = _run_or_newest(store, run, file, context)
        if manifest is not None:
            run_id = manifest.run_id
            request, others = _agent_and_options(store, manifest, context)
            notes += others
    return RunRequest(request={**request, "eval_sets": chosen}, notes=notes, run_id=run_id, eval_set=file.id)


def _agent_and_options(
    store: Store, manifest: Manifest, context: ServerContext
) -> tuple[dict[str, Any], list[str]]:
    """Return the agent and the options of a run as fields of a request, and notes about what the request leaves out."""
    request = {"agent": _agent(manifest, context), **_options(manifest, context.root)}
    notes = [*_left_out(manifest, context.root)]
    if any(is_config_object(one.config_source) for one in store.details(manifest.run_id).scorings[0].sets):
        request["config"] = CONFIG_OBJECT  # no file: the run cannot start until another config is chosen
        notes.append("The config was an object in Python: choose a config file or metrics.")
    return request, notes


def _planned(store: Store, run_id: str, position: int | None) -> Iterator[PlannedCase]:
    if position is not None and position >= len(store.load(run_id).cases):
        raise UnknownNameError(f"run {run_id} has no case at position {position}")
    return store.planned(run_id, None if position is None else [position])


def _check_failures(store: Store, run_id: str) -> None:
    outcomes = store.outcomes(run_id, store.record(run_id).scoring)
    if all(outcomes.get(one.position) in _PASSED for one in store.planned(run_id)):
        raise SetupError(f"every case of run {run_id} passed: there are no failures to run again")


# --- the agent --------------------------------------------------------------------------------------------------------


def _agent(manifest: Manifest, context: ServerContext) -> str:
    """Return the name under which the page may start the agent; if it may not, the reference, which the check refuses."""
    reference = manifest.agent.reference
    if reference is None:
        return manifest.agent.label
    references = {resolve_reference(reference, folder) for folder in folders_of(manifest, context.root)}
    for name, known in startable(context).items():
        if known == reference or resolve_reference(known, context.root) in references:
            return name
    return hide_secrets(located(reference, manifest, context.root))


def _agent_of_folder(path: str, agents: dict[str, str]) -> str:
    """Return the agent in whose folder an eval set is, else the only one; empty if that does not decide."""
    own = [name for name, reference in agents.items() if path.startswith(f"{reference}/")]
    others = [name for name in agents if name != "replay"]
    candidates = own or others
    return candidates[0] if len(candidates) == 1 or own else ""


# --- the cases --------------------------------------------------------------------------------------------------------


def _sets(
    manifest: Manifest, planned: list[PlannedCase], root: Path, notes: list[str]
) -> Iterator[dict[str, Any]]:
    """Yield the sets of a run: whole if the run had all cases that are in the file now."""
    for one in manifest.sets:
        ids = [case.eval_id for case in planned if case.eval_set_id == one.eval_set_id]
        if not ids:
            continue
        if one.path is None:
            notes.append(f"The eval set {one.eval_set_id} was an object in Python: choose its file.")
            continue
        yield _chosen_set(located(one.path, manifest, root), ids, root, notes, is_several=len(planned) > 1)


def _chosen_set(
    path: str, ids: list[str], root: Path, notes: list[str], *, is_several: bool
) -> dict[str, Any]:
    """Return the choice of the cases `ids` of a file, as far as they are still there."""
    there = _ids_in_file(root, path)
    if missing := sorted({*ids} - (there or {*ids})):
        notes.append(f"{path} no longer has {_some(missing)}.")
    is_whole = there is not None and there <= {*ids} and is_several
    return {"path": path, "cases": None if is_whole else [one for one in ids if one not in missing]}


def _ids_in_file(root: Path, path: str) -> set[str] | None:
    """Return the ids of the cases of a file; `None` if it cannot be read, which the check of the request reports."""
    if file_below(root, path, SET_SUFFIXES) is None:
        return None
    page = set_page(root, path)
    return None if page.problem else {case.eval_id for case in page.cases}


def _some(names: list[str]) -> str:
    text = ", ".join(names[:5])
    return f"{text} and {len(names) - 5} more cases" if len(names) > 5 else text


def _file_of_case(
    manifest: Manifest, planned: list[PlannedCase], context: ServerContext
) -> ListedFile | None:
    """Return the file of the project that has the case; `None` if it is not there any more."""
    case = planned[0]
    path = next((one.path for one in manifest.sets if one.eval_set_id == case.eval_set_id), None)
    if path is None:
        return None
    label = located(path, manifest, context.root)
    if case.eval_id not in (_ids_in_file(context.root, label) or ()):
        return None
    return next((file for file in edit_session(context).sets.all() if file.label == label), None)


def _run_or_newest(
    store: Store, run: str | None, file: ListedFile, context: ServerContext
) -> tuple[Manifest | None, list[str]]:
    """Return the manifest of a run, or of the newest run of a file, and a note if the run is not in the store."""
    if run is not None:
        with suppress(UnknownNameError):
            return store.manifest(store.find(run)), []
    newest = _newest_run(store, file, context)
    if run is None:
        return newest, []
    instead = f"run {newest.run_id[:6]}, the newest of this set, is taken" if newest else "the defaults apply"
    return newest, [f"Run {run} is not in the store: {instead} instead."]


def _newest_run(store: Store, file: ListedFile, context: ServerContext) -> Manifest | None:
    """Return the manifest of the newest run with cases of a file."""
    try:
        set_id = edit_session(context).loader.source(file).eval_set_id
    except EvalFileError:  # the check of the request reports it
        return None
    ids = [entry.run_id for entry in store.index() if set_id in entry.sets][:_MOST_RUNS]
    for manifest in map(store.manifest, ids):
        if any(one.path and located(one.path, manifest, context.root) == file.label for one in manifest.sets):
            return manifest
    return None


# --- the options ------------------------------------------------------------------------------------------------------


def _options(manifest: Manifest, root: Path) -> dict[str, Any]:
    """Return the fields of the request that are options of the run."""
    fields = StartRun.model_fields.keys() - _SEPARATE
    options = {
        name: value
        for name, value in manifest.options.items()
        if name in fields
        and (value or type(value) in (int, float))  # 0 can be another value than the default
    }
    config = manifest.options.get("config")
    if isinstance(config, str):
        path = located(config, manifest, root)
        criteria = _generated_criteria(root, path)
        options |= {"config": path} if criteria is None else {"criteria": criteria}
    return options if manifest.imported_from else {**options, "options_of": manifest.run_id}


def _generated_criteria(root: Path, path: str) -> dict[str, Any] | None:
    """Return the metrics that were chosen on the page for the run; `None` for a config of the project."""
    if not path.startswith(".proctor/criteria/") or file_below(root, path, (".json",)) is None:
        return None
    try:
        criteria = json.loads((root / path).read_bytes())["criteria"]
        return {name: one if isinstance(one, dict) else {"threshold": one} for name, one in criteria.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # the file was edited
        return None


def _left_out(manifest: Manifest, root: Path) -> Iterator[str]:
    """Yield a note if the request leaves out options of the run."""
    options = left_out_options(manifest, root, load_settings(root))
    words = [
        hide_secrets(word)
        for name, value in options.items()
        for word in (option_words(name, value) if OPTIONS[name].flags else [f"{name}={value}"])
    ]
    if words:
        yield f"The page cannot repeat these options of run {manifest.run_id[:6]}, and leaves them out: {' '.join(words)}."
