"""Read which cases did not pass in an earlier run, from the store or from a JSON report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.common.secrets import HIDDEN
from proctor.errors import SetupError
from proctor.runs.load import is_config_object
from proctor.schema.evidence.trial import CONFIGURATION

if TYPE_CHECKING:
    from proctor.schema.results.manifest import Manifest
    from proctor.stores.base import Store

_FINE = {"passed", "skipped"}


@dataclass(slots=True)
class FailedCases:
    """Cases to re-run, by the id of their set, with the files and options of the earlier run."""

    cases: dict[str, list[str]] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    """AGENT strings of the run; empty for a report, which does not contain them."""
    labels: list[str] = field(default_factory=list)
    """The labels of the agents in reports."""
    options: dict[str, Any] = field(default_factory=dict)
    """`config`, `agent_name` and `default_config` of the run; a key is absent if the run did not have it."""
    unknown: dict[str, str] = field(default_factory=dict)
    """Options that the user must give, with the reason: the value was a Python object or is not recorded."""
    is_of_store: bool = False
    """Whether the agent and the config come from a run in the store."""

    @property
    def is_empty(self) -> bool:
        """Whether everything passed."""
        return not self.cases and not self.files

    def known_agents(self, of_settings: Sequence[str]) -> tuple[list[str], str]:
        """Return the agents of the run (a report has only their labels), and why one is not known."""
        from proctor.agents.reference import read_reference

        names = ", ".join(dict.fromkeys(self.labels))
        why = self.unknown.get("--agent", f"the report does not record how its agent {names} is named")
        if "--agent" in self.unknown:
            return [], why
        if self.is_of_store:
            return self.agents, why
        return [one for one in of_settings if read_reference(one).label in self.labels], why

    def restored(self, options: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
        """Return the options of a new run: `names` and the default config are those of the earlier run."""
        other_options = {name: value for name, value in options.items() if name not in names}
        return other_options | {
            name: value for name, value in self.options.items() if name in (*names, "default_config")
        }


def find_failed_cases(name: str, store: str | None = None) -> FailedCases:
    """Return the cases that did not pass in the run `name`: failed, error, inconclusive or not run.

    `name` is a JSON report, or a run in the store: an id or its prefix, `latest` or `latest~1`. A file takes precedence.

    Raises:
        SetupError: `name` is neither, or it is relative to the newest run and the last attempt to run failed.
    """
    path = Path(name)
    if path.exists() or path.suffix or len(path.parts) > 1:
        failed = _failed_cases_of_report(path)
        run_ids = [str(run["run_id"]) for run in _parse_report(path)["runs"] if run.get("run_id")]
        _add_stored_agents(failed, run_ids, store)
        return failed
    from proctor.runs.attempts import find_current_run
    from proctor.runs.storage.open import open_runs

    with ExitStack() as until_read:
        try:
            run_store = until_read.enter_context(closing(open_runs(store, read_only=True)))
            run_id = find_current_run(run_store, name, purpose="failed")
        except SetupError as problem:
            raise SetupError(f"--failed {name}: neither a report nor a run: {problem}") from None
        return _failed_cases_of_run(run_store, run_id)


def _failed_cases_of_run(store: Store, run_id: str) -> FailedCases:
    """Read the cases that did not pass from the latest scores of a stored run."""
    manifest = store.manifest(run_id)
    outcomes = store.outcomes(run_id, store.record(run_id).scoring)
    failed = FailedCases()
    _add_manifest(failed, store, manifest)
    for case in store.planned(run_id):
        if outcomes.get(case.position, "not_run") not in _FINE:
            failed.cases.setdefault(case.eval_set_id, []).append(case.eval_id)
    for one in manifest.sets:
        path = _from_folder(manifest, one.path) if one.path else None
        _add_file(failed, one.eval_set_id, path, is_missing=one.failure is not None)
        if path is None and one.eval_set_id in failed.cases:
            failed.unknown["--set"] = (
                f"the eval set {one.eval_set_id} of run {run_id} was an object in Python"
            )
    return failed


def _add_stored_agents(failed: FailedCases, run_ids: Sequence[str], store: str | None) -> None:
    """Add the AGENT strings of those runs of a report that are in the store."""
    from proctor.runs.storage.open import open_runs

    with suppress(SetupError), closing(open_runs(store, read_only=True)) as run_store:
        for run_id in run_ids:
            with suppress(SetupError):
                _add_manifest(failed, run_store, run_store.manifest(run_store.find(run_id)))


def _add_manifest(failed: FailedCases, store: Store, manifest: Manifest) -> None:
    """Add the agent and the config of a run."""
    agent, run_id = manifest.agent, manifest.run_id
    failed.is_of_store = True
    failed.labels.append(agent.label)
    if agent.reference is None or HIDDEN in agent.reference:
        why = (
            "was an object in Python, or is not recorded"
            if agent.reference is None
            else "has a hidden secret in its name"
        )
        failed.unknown["--agent"] = f"the agent {agent.label} of run {run_id} {why}"
    elif (reference := _from_folder(manifest, agent.reference)) not in failed.agents:
        failed.agents.append(reference)
    if isinstance(name := manifest.options.get("agent_name"), str):
        failed.options["agent_name"] = name
    _add_config(failed, store, manifest)


def _add_config(failed: FailedCases, store: Store, manifest: Manifest) -> None:
    config, run_id = manifest.options.get("config"), manifest.run_id
    if isinstance(config, str):
        failed.options["config"] = _from_folder(manifest, config)
    elif config is not None or any(
        is_config_object(judged.config_source) for judged in store.scorings(run_id)[0].sets
    ):
        failed.unknown["--config"] = f"the config of run {run_id} was an object in Python"
    if "default_config" in manifest.options:
        failed.options["default_config"] = manifest.options["default_config"]


def _from_folder(manifest: Manifest, reference: str) -> str:
    """Return a recorded path relative to the working folder; unchanged if the recorded folder no longer exists."""
    from proctor.runs.setup.settings import relative_to_working_folder, resolve_reference

    folder = Path(manifest.folder)
    if not manifest.folder or folder == Path.cwd() or not folder.is_dir():
        return reference
    return relative_to_working_folder(resolve_reference(reference, folder))


def other_agents(agents: Sequence[str], failed: FailedCases) -> list[str]:
    """Return those of `agents` that the earlier run did not have."""
    from proctor.agents.reference import read_reference

    if failed.agents and "--agent" not in failed.unknown:
        known = [(one.label, one.folder) for one in map(read_reference, failed.agents)]
        return [one for one in agents if (read_reference(one).label, read_reference(one).folder) not in known]
    return [one for one in agents if read_reference(one).label not in failed.labels]


def _failed_cases_of_report(path: Path) -> FailedCases:
    """Read the cases that did not pass in any run of a report."""
    report = _parse_report(path)
    failed = FailedCases()
    try:
        for run in report["runs"]:
            if (run.get("failure") or {}).get("where") == CONFIGURATION:
                raise SetupError(
                    f"--failed {path}: that command ended with a configuration error, and nothing was run: "
                    f"{run['failure']['message']}"
                )
            _add(failed, run)
            failed.labels.append(str(run["agent"]))
        if not any(run["cases"] or run["sets"] for run in report["runs"]):
            raise SetupError(f"--failed {path}: the report has no cases; so it is unknown which passed")
    except (KeyError, TypeError, AttributeError) as error:
        raise SetupError(
            f"--failed {path}: the report lacks {error}; write it again with --report json={path}"
        ) from None
    return failed


def _add(failed: FailedCases, run: dict[str, Any]) -> None:
    for case in run["cases"]:
        if case["outcome"] not in _FINE:
            ids = failed.cases.setdefault(case["eval_set_id"], [])
            if case["eval_id"] not in ids:
                ids.append(case["eval_id"])
    for one in run["sets"]:
        _add_file(failed, one["eval_set_id"], one["path"], is_missing=bool(one["failure"]))


def _add_file(failed: FailedCases, eval_set_id: str, path: str | None, *, is_missing: bool) -> None:
    """Add the file of a set if any of its cases did not pass, or if the set could not be run at all."""
    if is_missing and not path:
        raise SetupError(
            f"--failed: the set {eval_set_id} could not be run then, and its file is not known: name the sets"
        )
    if is_missing and path:
        from proctor.files.eval_sets.source import open_eval_set

        source = open_eval_set(
            path, allow_duplicate_ids=True
        )  # its id may have changed now that the file is valid
        failed.cases[source.eval_set_id] = list(source.ids())
    if path and path not in failed.files and (is_missing or eval_set_id in failed.cases):
        failed.files.append(path)


def _parse_report(path: Path) -> dict[str, Any]:
    how = f"it takes a run that is kept (`proctor runs`), or a report that was written with --report json={path}"
    try:
        report = json.loads(path.read_bytes())
    except OSError as error:
        raise SetupError(f"--failed {path}: {error.strerror}; {how}") from None
    except ValueError as error:
        raise SetupError(f"--failed {path}: not JSON ({error}); {how}") from None
    if not isinstance(report, dict) or "proctor_report" not in report:
        raise SetupError(f"--failed {path}: not a report of Proctor; {how}")
    if report["proctor_report"] != 1:
        raise SetupError(
            f"--failed {path}: a report of version {report['proctor_report']}, and this reads version 1"
        )
    return report
