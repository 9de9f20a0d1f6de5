"""Reports of commands that ran nothing, so that a requested report file never keeps the result of an earlier run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from proctor.cli.report_outputs import Output, parse_outputs
from proctor.common.error_text import safe_str
from proctor.errors import SetupError
from proctor.reports.base import ReportOptions
from proctor.runs.output_guard import OutputGuard
from proctor.schema.evidence.trial import CONFIGURATION, Failure, FailureKind
from proctor.schema.results.run_result import RunResult


@contextmanager
def reported_errors(
    given: Mapping[str, Any], guard: Callable[[], OutputGuard], has_run: Callable[[], bool] = lambda: False
) -> Iterator[None]:
    """Write a configuration error raised inside the block into every requested report, then re-raise it.

    If `has_run` returns true, write nothing: the reports then belong to a run.
    """
    try:
        yield
    except SetupError as error:
        if not has_run() and (given["reports"] or given["format_"]):
            failure = Failure(where=CONFIGURATION, kind=FailureKind.NOT_LOADED, message=safe_str(error))
            run = RunResult("proctor", failure=failure, started_at=time.time())
            write_nothing_run(usable_outputs(given, guard), [run], sys.stdout, failure.cause)
        raise


def usable_outputs(given: Mapping[str, Any], guard: Callable[[], OutputGuard]) -> list[Output]:
    """Return the requested reports that can be written; other code reports the problems of the rest."""
    found: dict[str, Output] = {}
    words = [*given["reports"], *([f"{given['format_']}=-"] if given["format_"] else [])]
    with suppress(SetupError):
        rule = guard()
        for word in words:
            with suppress(SetupError):
                (output,) = parse_outputs([word], None, rule)
                found.setdefault(str(output.path), output)
    return list(found.values())


def write_nothing_run(
    outputs: Sequence[Output], runs: Sequence[RunResult], stdout: TextIO, text: str, *, is_empty: bool = False
) -> None:
    """Write reports without cases: either `runs` hold a configuration error, or `text` becomes the note of an empty report.

    If a report format fails without cases (a plug-in may expect them), write `text` to its file instead.
    """
    options = ReportOptions(color=False, exit_code=0 if is_empty else 2, note=text if is_empty else "")
    for output in outputs:
        try:
            output.write(runs, stdout, options)
        except Exception:  # noqa: BLE001  (a report may be a plug-in, and the old report must not remain)
            with suppress(OSError, SetupError):
                if output.path is not None:
                    with output.guard.open(output.path, output.name, errors="backslashreplace") as file:
                        file.write(f"proctor: {text}\n")
