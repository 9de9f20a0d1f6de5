"""One case that did not pass, as the terminal's report draws it: for reports that are not of a whole run."""

from __future__ import annotations

from typing import TextIO

from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.run_digest import Digest
from proctor.reports.terminal.case_table import CaseRows
from proctor.reports.terminal.console import Page
from proctor.schema.results.run_result import CaseResult, RunResult


def draw_failure(case: CaseResult, out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
    """Draw the row of `case` and its evidence on `out`."""
    page = Page(out, options)
    run = RunResult("", cases=[case], num_runs=max(1, len(case.trials)))
    CaseRows(page, run, Digest(), verbose=options.verbose, failures_only=True).draw()
