"""Choose the form that suits a stream: drawn on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TextIO

from proctor.reports.base import DEFAULTS, Report, ReportOptions
from proctor.reports.content.text_blocks import BuildBlocks
from proctor.schema.results.run_result import RunResult


def show(runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
    """Write `runs` to `out` in the form that suits it."""
    report_for(out).write(runs, out, options=options)


def write_blocks(build: BuildBlocks, out: TextIO, options: ReportOptions = DEFAULTS) -> None:
    """Write text blocks to `out` in the form that suits it; rich is loaded only for a terminal."""
    if is_terminal(out):
        from proctor.reports.terminal.block_drawing import draw_blocks

        draw_blocks(build, out, options)
        return
    from proctor.reports.plain.block_lines import write_plain

    write_plain(build, out, options)


def report_for(out: TextIO) -> Report:
    """Return the report that suits `out`; rich is loaded only for a terminal."""
    if is_terminal(out):
        from proctor.reports.terminal.run import TerminalReport

        return TerminalReport()
    from proctor.reports.plain.run import PlainReport

    return PlainReport()


def is_terminal(out: TextIO) -> bool:
    """Return whether `out` is a terminal that can do more than print lines."""
    return not out.closed and out.isatty() and os.environ.get("TERM", "").lower() not in {"dumb", "unknown"}
