"""Reports of commands that ran nothing: a requested report never stays as an earlier run left it."""

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
    """Write a configuration error that is raised inside into every requested report, and raise it again.

    Nothing is written once `has_run` is true: then the reports are those of a run.
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
    """Return the requested reports that can be written; what is wrong with the others is reported elsewhere."""
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
    """Write reports of nothing: of `runs` that hold a configuration error, or empty ones with `text` as their note.

    A report that cannot be written so (a plug-in may expect cases) is replaced by the text.
    """
    options = ReportOptions(color=False, exit_code=0 if is_empty else 2, note=text if is_empty else "")
    for output in outputs:
        try:
            output.write(runs, stdout, options)
        except Exception:  # noqa: BLE001  (a report may be a plug-in, and the old report must not stay)
            with suppress(OSError, SetupError):
                if output.path is not None:
                    with output.guard.open(output.path, output.name, errors="backslashreplace") as file:
                        file.write(f"proctor: {text}\n")
