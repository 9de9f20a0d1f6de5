"""A run as google-adk's `*.evalset_result.json`, for ADK's own tools (docs/exports.md)."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import ClassVar, TextIO

from proctor.common.safe_text import clean
from proctor.errors import SetupError
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.formats.json_data import json_writer
from proctor.schema.evidence.trial import CONFIGURATION
from proctor.schema.format.adk_results import ResultHeader, app_name_of, result_text, with_context
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult


class AdkReport:
    """One eval set's results in ADK's own form. ADK has one file for each set, so this takes runs of one set."""

    needs_evidence: ClassVar[bool] = True

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write the result of the one set that was run.

        Raises:
            SetupError: there are several sets or agents, which one file cannot hold.
        """
        if options.note or any(run.failure and run.failure.where == CONFIGURATION for run in runs):
            _write_nothing_run(runs, out, options.note)
            return
        sets = [one.eval_set_id for run in runs for one in run.sets if one.failure is None]
        if len(runs) != 1 or len(sets) != 1:
            raise SetupError(
                f"ADK's form has one file for each agent and eval set, and here are {len(runs)} x {len(sets)}; "
                "name a folder to export to, or run with --store adk:AGENTS_DIR"
            )
        run, write = runs[0], json_writer(out)
        header = ResultHeader(app_name_of(run), sets[0], run.started_at or time.time())
        for text in result_text(header, with_context(run)):
            write(text)
        write("\n")


def _write_nothing_run(runs: Sequence[RunResult], out: TextIO, note: str) -> None:
    """Write a result without a set: a configuration error as a case in error, or no case and a note."""
    run = RunResult("proctor", started_at=time.time())
    for broken in runs:
        if broken.failure is not None:
            run.cases = [CaseResult("", "configuration error", Outcome.ERROR, broken.failure.cause)]
    header = ResultHeader(app_name_of(run), "", run.started_at)
    text = "".join(result_text(header, with_context(run)))
    write = json_writer(out)
    write(text if not note else f'{text[:-2]},\n  "proctor_note": {json.dumps(clean(note))}\n}}')
    write("\n")
