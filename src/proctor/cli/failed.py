"""What did not pass in an earlier run, read from its JSON report."""

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

    @property
    def is_empty(self) -> bool:
        """Whether everything passed."""
        return not self.cases and not self.files


def read_failed(path: Path) -> Failed:
    """Return what did not pass in the run (or in any of the runs) that `path` reports: failed, error, not run.

    Raises:
        SetupError: it is not a JSON report of Proctor.
    """
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
    how = f"it takes a report that was written with --report json={path}"
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
