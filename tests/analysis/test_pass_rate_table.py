"""The pass rates of runs on a terminal: numbers are whole, and the drawing has the room that they leave."""

import io

import pytest

from proctor.analysis.history.pass_rates import _table
from proctor.reports.base import ReportOptions
from proctor.reports.terminal.block_drawing import draw_blocks
from proctor.schema.analysis.history import HistoryRun, MetricPoint
from proctor.schema.results.score import Outcome


@pytest.mark.parametrize("cases", [9, 120, 12_000])
@pytest.mark.parametrize("width", [80, 100])
def test_numbers_are_never_cut(cases: int, width: int) -> None:
    runs = [HistoryRun(f"run{n}", f"run00{n}", 1e9 + n, "agent", None, None, None, cases, 1) for n in (1, 2)]
    points = {run.run_id: MetricPoint(0.5, None, Outcome.PASSED, count=cases) for run in runs}
    out = io.StringIO()
    options = ReportOptions(width=width, color=False, symbols=True)
    draw_blocks(lambda look: [_table(runs, points, 9, look)], out, options)
    lines = out.getvalue().splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) <= width
    assert all(line.endswith(f"{round(cases / 2):,} of {cases:,}") for line in lines[1:])
    assert ("100 %" in lines[0]) == (width > 80 or cases < 12_000)
