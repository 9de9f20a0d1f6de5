"""What did not pass in an earlier run: one that is kept, or one that a JSON report tells of."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.errors import SetupError

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

    `name` is a JSON report, or a run in the store: an id, the beginning of one, or `latest`. A file wins.

    Raises:
        SetupError: it is neither.
    """
    path = Path(name)
    if path.exists() or path.suffix or len(path.parts) > 1:
        return _of_report(path)
    try:
        return _of_run(name, store)
    except SetupError as problem:
        raise SetupError(f"--failed {name}: neither a report nor a run: {problem}") from None


def _of_run(name: str, store: str | None) -> Failed:
    """Take what did not pass in the last judging of a run that is kept."""
    from proctor.api.runs import open_runs
    from proctor.schema.run import counting

    kept = open_runs(store, read_only=True)
    run_id = kept.find(name)
    manifest = kept.manifest(run_id)
    outcomes = kept.outcomes(run_id, counting(kept.judgings(run_id)).number)
    failed = Failed(agents=[manifest.agent.reference] if manifest.agent.reference else [])
    for case in kept.planned(run_id):
        if outcomes.get(case.position, "not_run") not in _FINE:
            failed.cases.setdefault(case.eval_set_id, []).append(case.eval_id)
    for one in manifest.sets:
        if one.path and (one.failure or one.eval_set_id in failed.cases):
            failed.files.append(one.path)
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
        again = one["eval_set_id"] in failed.cases or one["failure"]
        if again and one["path"] and one["path"] not in failed.files:
            failed.files.append(one["path"])


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
