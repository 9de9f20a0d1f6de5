"""Which run is shown: its id, when it began, how it stands, by which judging."""

from __future__ import annotations

from typing import TextIO

from proctor.common.safe_text import clean, encodable
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.plain.run_list import ListedRun, short_commit, when
from proctor.reports.terminal.choose import is_terminal
from proctor.schema.results.manifest import RunState


def write_head(listed: ListedRun, judging: int, out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
    """Write one line about the run whose report follows."""
    run = listed.run
    parts = [
        f"judging {judging} of {run.judgings}" if run.judgings > 1 else "",
        run.state.value if run.state is not RunState.FINISHED else "",
        f"stopped by {run.summary.stopped_by}" if run.summary.stopped_by else "",
        f"imported from {listed.imported_from}" if listed.imported_from else "",
        f"commit {short_commit(listed.commit)}" if listed.commit else "",
    ]
    if is_terminal(out):
        from proctor.reports.terminal.console import Page

        page = Page(out, options)
        page.print()
        told = [f"run {listed.short}", when(run.created_at), *parts]
        page.print(page.joined(page.text(part, "dim") for part in told if part))
        return
    told = ["KEPT", run.run_id, when(run.created_at), *parts]
    line = "  ".join(part for part in told if part)
    out.write(encodable(clean(line), getattr(out, "encoding", None)) + "\n")
