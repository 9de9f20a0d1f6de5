"""What did not pass in an earlier run: one that is kept, or one that a JSON report tells of."""

from __future__ import annotations

import json
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.errors import SetupError
from proctor.quick_dataclasses import dataclass, field

if TYPE_CHECKING:
    from proctor.stores.base import Store

_FINE = {"passed", "skipped"}


@dataclass(slots=True)
class Failed:
    """Cases to run again, by the id of their set, and the files of those sets."""

    cases: dict[str, list[str]] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    """The agent of a run that is kept; a report does not tell how its agent was named."""

    @property
    def is_empty(self) -> bool:
        """Whether everything passed."""
        return not self.cases and not self.files


def read_failed(name: str, store: str | None = None) -> Failed:
    """Return what did not pass in the run `name`, of any of its sets: failed, error, not run.

    `name` is a JSON report, or a run in the store: an id, the beginning of one, `latest` or `latest~1`. A file wins.

    Raises:
        SetupError: it is neither.
    """
    path = Path(name)
    if path.exists() or path.suffix or len(path.parts) > 1:
        return _of_report(path)
    from proctor.api.runs import open_runs

    with ExitStack() as until_read:
        try:
            kept = until_read.enter_context(closing(open_runs(store, read_only=True)))
            run_id = kept.find(name)
        except SetupError as problem:
            raise SetupError(f"--failed {name}: neither a report nor a run: {problem}") from None
        return _of_run(kept, run_id)


def _of_run(kept: Store, run_id: str) -> Failed:
    """Take what did not pass in the last judging of a run that is kept."""
    from proctor.schema.run import counting

    manifest = kept.manifest(run_id)
    outcomes = kept.outcomes(run_id, counting(kept.judgings(run_id)).number)
    failed = Failed(agents=[manifest.agent.reference] if manifest.agent.reference else [])
    for case in kept.planned(run_id):
        if outcomes.get(case.position, "not_run") not in _FINE:
            failed.cases.setdefault(case.eval_set_id, []).append(case.eval_id)
    for one in manifest.sets:
        _take_file(failed, one.eval_set_id, one.path, is_missing=one.failure is not None)
    return failed


def _of_report(path: Path) -> Failed:
    """Take what did not pass in any of the runs that a report tells of."""
    report = _read(path)
    failed = Failed()
    try:
        for run in report["runs"]:
            _add(failed, run)
        if not any(run["cases"] or run["sets"] for run in report["runs"]):
            raise SetupError(f"--failed {path}: the report has no cases; nothing can be said of what passed")
    except (KeyError, TypeError, AttributeError) as error:
        raise SetupError(
            f"--failed {path}: the report lacks {error}; write it anew with --report json={path}"
        ) from None
    return failed


def _add(failed: Failed, run: dict[str, Any]) -> None:
    for case in run["cases"]:
        if case["outcome"] not in _FINE:
            ids = failed.cases.setdefault(case["eval_set_id"], [])
            if case["eval_id"] not in ids:
                ids.append(case["eval_id"])
    for one in run["sets"]:
        _take_file(failed, one["eval_set_id"], one["path"], is_missing=bool(one["failure"]))


def _take_file(failed: Failed, eval_set_id: str, path: str | None, *, is_missing: bool) -> None:
    """Run a set's file again where a case of it did not pass, or none could be run at all."""
    if is_missing and not path:
        raise SetupError(
            f"--failed: the set {eval_set_id} could not be run then, and its file is not known: name the sets"
        )
    if is_missing and path:
        from proctor.files.eval_sets import open_eval_set

        source = open_eval_set(
            path, allow_duplicate_ids=True
        )  # its id may be another one now that it can be read
        failed.cases[source.eval_set_id] = list(source.ids())
    if path and path not in failed.files and (is_missing or eval_set_id in failed.cases):
        failed.files.append(path)


def _read(path: Path) -> dict[str, Any]:
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
