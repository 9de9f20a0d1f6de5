"""One case that did not pass, as the terminal's report draws it: for reports that are not of a whole run."""

from __future__ import annotations

from typing import TextIO

from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.digest import Digest
from proctor.reports.page import Page
from proctor.reports.rows import CaseRows
from proctor.schema.verdict import CaseResult, RunResult


def draw_failure(case: CaseResult, out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
    """Draw the row of `case` and its evidence on `out`."""
    page = Page(out, options)
    run = RunResult("", cases=[case], num_runs=max(1, len(case.trials)))
    CaseRows(page, run, Digest(), verbose=options.verbose, failures_only=True).draw()
