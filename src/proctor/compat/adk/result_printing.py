"""The detailed results on standard output, as google-adk prints them; pandas and tabulate are not needed."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from proctor.common.safe_text import clean, encodable
from proctor.compat.adk.result_rows import Row
from proctor.reports.evidence.trajectory_diff import call_text
from proctor.schema.format.content import FunctionCall
from proctor.schema.results.run_result import MetricVerdict

COLUMNS = (
    "", "eval_status", "score", "threshold", "prompt", "expected_response", "actual_response",
    "expected_tool_calls", "actual_tool_calls",
)  # fmt: skip
WIDEST = 25
"""Characters in a line of a cell; the rest goes on below."""


def print_metric(metric: MetricVerdict, rows: Iterable[Row]) -> None:
    """Print one metric of one case: a summary line, and where it decides a table of the turns of all runs."""
    from rich.box import ASCII_DOUBLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=ASCII_DOUBLE_HEAD, show_lines=True)
    for name in COLUMNS:
        table.add_column(name, max_width=WIDEST, overflow="fold")
    for number, row in enumerate(rows if metric.gate else ()):
        figures = (f"EvalStatus.{row.status.name}", str(row.score), str(metric.threshold))
        table.add_row(str(number), *figures, *map(_cell, row.said(_call)))
    out = Console(file=sys.stdout, width=250, markup=False, highlight=False, emoji=False, color_system=None)
    out.print(_cell(summary(metric)), soft_wrap=True)
    if table.row_count:
        out.print(table)
        out.print()


def summary(metric: MetricVerdict) -> str:
    """The line that google-adk prints above its table."""
    return (
        f"Summary: `EvalStatus.{metric.status.name}` for Metric: `{metric.name}`. "
        f"Expected threshold: `{metric.threshold}`, actual value: `{metric.score}`."
    )


def _call(call: FunctionCall) -> str:
    return call_text(call.name or "", call.args)


def _cell(text: str) -> str:
    return encodable(clean(text, lines=True), getattr(sys.stdout, "encoding", None))
