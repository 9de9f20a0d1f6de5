"""Export of runs to the formats that other tools read (docs/reference/results/exports.md)."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from proctor.common.error_text import safe_repr
from proctor.errors import SetupError
from proctor.reports.base import ReportOptions, load_report
from proctor.schema.results.run_result import RunResult

if TYPE_CHECKING:
    from proctor.runs.output_guard import OutputGuard

ADK = "adk"

FORMATS = ("json", "jsonl", "csv", "csv-raw", ADK)
"""The reports that are made for other tools. Any other report can be exported as well."""


def export_run(  # noqa: PLR0913 - `beside` is a former name
    run: RunResult,
    format: str,  # noqa: A002 - the name of the option
    out: TextIO | str | Path,
    *,
    app_name: str | None = None,
    extras: object | None = None,
    beside: object | None = None,
    overwrite: bool = False,
    make_parents: bool = False,
    stores: Sequence[Path] = (),
) -> list[Path]:
    """Write `run` as `format` to a stream or a file, one case at a time. Return the paths of the written files.

    `format` is the name of a report (`FORMATS`, or any other). Files are written atomically. The ADK format has one file per
    eval set: `out` is then a folder, which is created if it does not exist, unless `out` ends in `.json`; `app_name` is
    ADK's name of the agent (default: the agent's label). `extras` provides the stored run to reports that show more than a
    result contains (`beside` is its former name). Replacing an existing file that is not an earlier export of this format needs `overwrite`; a missing
    parent folder needs `make_parents`. Files that Proctor reads or keeps (`stores`: store files) are never overwritten.

    Raises:
        UnknownNameError: no report has this name.
        SetupError: one file cannot hold the run in this format, or a file cannot be written.
    """
    if not isinstance(run, RunResult):
        raise SetupError(f"run: expected a result, such as `load_run` returns, got {safe_repr(run)}")
    report = load_report(format)
    options = ReportOptions(extras=beside if extras is None else extras)
    if not isinstance(out, str | Path):
        report.write([run], out, options=options)
        return []
    from proctor.runs.output_guard import OutputGuard
    from proctor.runs.storage.open import default_store

    guard = OutputGuard(overwrite, make_parents, stores=[default_store(), *stores])
    if format == ADK and _is_folder(out):
        return _write_adk_folder(run, Path(out), app_name, guard)
    path = Path(out)
    if str(out).endswith(_SLASHES) or path.is_dir():
        raise SetupError(f"{out} is a folder, and {format} goes to one file: name a file in it")
    try:
        with guard.open(path, format) as file:
            report.write([run], file, options=options)
    except OSError as error:
        raise SetupError(f"{path}: cannot be written: {error.strerror or error}") from error
    return [path]


def _write_adk_folder(run: RunResult, folder: Path, app_name: str | None, guard: OutputGuard) -> list[Path]:
    from proctor.stores.adk_history import AdkFiles

    guard.check_folder(folder)
    return AdkFiles(folder, app_name).write_flat(run)


_SLASHES = ("/",) if os.sep == "/" else ("/", os.sep)


def _is_folder(out: str | Path) -> bool:
    """Return whether ADK's files go into the folder `out`, rather than into one file with that name."""
    path = Path(out)
    if str(out).endswith(_SLASHES):
        return True
    return path.is_dir() if path.exists() else path.suffix.lower() != ".json"


def export_to_adk(run: RunResult, agents_dir: str | Path, *, app_name: str | None = None) -> list[Path]:
    """Write the results of `run` to `AGENTS_DIR/<app>/.adk/eval_history`, where `adk web` finds them.

    Raises:
        StoreError: the folder does not exist, or a file cannot be written.
    """
    from proctor.stores.adk_history import AdkFiles

    files = AdkFiles(Path(agents_dir), app_name)
    files.check()
    return files.write(run, timestamp=run.started_at or time.time())
